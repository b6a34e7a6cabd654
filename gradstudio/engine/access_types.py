"""The types whose values a drawn program may hold, and what it may read of each, call on it or write to it.

Most names are rows of the catalogue; the rest stands here. A module has besides what was put into it: parameters,
buffers, modules, and numbers or other data under a name of its own.
"""

import builtins
import inspect
import string
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from types import FunctionType, MethodType
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from gradstudio.engine.errors import AccessRefused
from gradstudio.graph.analysis.incomplete_reasons import TENSOR_ATTRIBUTES
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face

_LISTED: Final[dict[type, str]] = {
    Tensor: " ".join(TENSOR_ATTRIBUTES),
    nn.Module: "all_weights",
    torch.optim.Optimizer: "",
    torch.optim.lr_scheduler.LRScheduler: "base_lrs last_epoch optimizer",
    torch.amp.GradScaler: "",
    torch.Generator: "",
    torch.UntypedStorage: "",
    torch.Size: "",
    torch.autograd.graph.Node: "",
    nn.Sequential: "",
    nn.ModuleList: "",
    torch.finfo: "",
    torch.iinfo: "",
    torch.device: "",
    torch.dtype: "is_floating_point is_complex is_signed itemsize",
    torch.utils.data.DataLoader: "dataset batch_size drop_last num_workers",
    torch.utils.data.TensorDataset: "tensors",
    torch.utils.data.Subset: "dataset indices",
    torch.utils.data.ConcatDataset: "datasets cumulative_sizes",
    np.ndarray: "",
    np.generic: "shape dtype ndim size real imag itemsize nbytes T",
    np.dtype: "name kind char itemsize",
    type(np.zeros(0).flags): "c_contiguous f_contiguous owndata writeable aligned contiguous forc fnc",
    np.finfo: "max min eps tiny smallest_normal resolution bits dtype",
    np.iinfo: "max min bits dtype",
    np.random.Generator: "",
    np.random.RandomState: "",
    str: "",
    list: "",
    dict: "",
    tuple: "",
    set: "",
    frozenset: "",
    type(None): "",
    int: "real imag",
    float: "real imag",
    complex: "real imag",
    range: "start stop step",
    slice: "start stop step",
    type: "__name__",
    PurePath: "parent",
}
"""Beside the catalogue's: attributes that hold data."""
_HOMES: Final[dict[str, tuple[type, ...]]] = {
    "torch.Tensor": (Tensor,),
    "torch.nn.Module": (nn.Module,),
    "torch.nn.Sequential": (nn.Sequential,),
    "torch.nn.ModuleList": (nn.ModuleList,),
    "torch.optim.Optimizer": (torch.optim.Optimizer,),
    "torch.optim.lr_scheduler.LRScheduler": (torch.optim.lr_scheduler.LRScheduler,),
    "torch.optim.lr_scheduler.ReduceLROnPlateau": (torch.optim.lr_scheduler.ReduceLROnPlateau,),
    "torch.amp.GradScaler": (torch.amp.GradScaler,),
    "torch.Generator": (torch.Generator,),
    "torch.UntypedStorage": (torch.UntypedStorage,),
    "torch.Size": (torch.Size,),
    "torch.finfo": (torch.finfo,),
    "torch.iinfo": (torch.iinfo,),
    "torch.device": (torch.device,),
    "torch.autograd.graph.Node": (torch.autograd.graph.Node,),
    "numpy.ndarray": (np.ndarray, np.generic),
    "numpy.random.Generator": (np.random.Generator, np.random.RandomState),
    "builtins.str": (str,),
    "builtins.list": (list,),
    "builtins.dict": (dict,),
    "builtins.int": (int,),
    "python": (list,),
}
"""Whose rows the catalogue's paths are."""
_OF_ALL: Final = frozenset({"__class__"})
_WRITTEN: Final[dict[type, frozenset[str]]] = {Tensor: frozenset({"grad", "data", "requires_grad", "names"})}
_OF_GROUPS: Final = frozenset({"lr", "learning_rate", "momentum", "weight_decay"})
"""What is written to an optimizer by mistake; other names are read of it where a kernel runs."""
_PUT: Final = (int, float, complex, str, type(None), Tensor)
_DATA: Final = (
    *(int, float, complex, str, bytes, bool, type(None), Tensor, nn.Module, np.ndarray, np.generic, np.dtype),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Generator, range, slice),
)
_MISSING: Final = object()
_attributes: dict[type, frozenset[str]] = {}
_methods: dict[type, frozenset[str]] = {}
_of_programs: "WeakKeyDictionary[type, dict[Face, frozenset[str]]]" = WeakKeyDictionary()
"""What is listed for types: of those that a module holds for ever, and of classes that go with their program."""
_OURS: Final = ("<gradstudio>", str(__file__).removesuffix("access_types.py"))
"""Where the functions of definitions come from: the program's text, and what the engine puts around them."""


def reach(value: Any, name: str) -> Any:
    """The value itself, when a program may read this attribute of it.

    Raises:
        AccessRefused: it may not.
    """
    if name in attributes_of(type(value)):
        return value
    return _own(value, name)


def method(value: Any, name: str) -> Any:
    """The value itself, when a program may call this method of it, or a module that it holds; a text by its twin.

    Raises:
        AccessRefused: it may not.
    """
    if name in methods_of(type(value)):
        return _Text(value) if name == "format" and isinstance(value, str) else value
    return _own(value, name)


def callee(value: Any) -> Any:
    """The value itself, when a program may call it: a module, a class of layers, a definition, a built-in function.

    Raises:
        AccessRefused: it may not.
    """
    if isinstance(value, nn.Module) or _may_be_called(value):
        return value
    if not callable(value):
        return each_callee(value) if isinstance(value, dict | list | tuple) else value
    raise AccessRefused(f"a drawing calls modules and definitions, not {_article(type(value).__name__)}")


def each_callee(values: Any) -> Any:
    """The values that a program gives to what may call them, when it may call each.

    Raises:
        AccessRefused: one of them it may not.
    """
    if not isinstance(values, Iterable):
        return values
    kept = values if isinstance(values, dict | list | tuple | Tensor) else tuple(values)
    for value in kept.values() if isinstance(kept, dict) else kept:
        callee(value)
    return kept


def writable(value: Any, name: str) -> Any:
    """The value itself, when a program may bind this attribute of it.

    Raises:
        AccessRefused: it may not.
    """
    if isinstance(value, nn.Module) and not name.startswith("_") and not callable(getattr(type(value), name, None)):
        return value
    if any(isinstance(value, kind) and name in names for kind, names in _WRITTEN.items()):
        return value
    if (_is_free(value, name) or not hasattr(value, "__dict__")) and _is_missing(value, name):
        return value
    if _was_put(value, name):
        return value
    raise AccessRefused(f"'.{name[:60]}' of {_article(type(value).__name__)} is not among what a drawing may write")


def attributes_of(kind: type) -> frozenset[str]:
    """What may be read of values of a type."""
    names = _attributes.get(kind)
    return _names_of(kind, Face.ATTRIBUTE, _attributes) if names is None else names


def methods_of(kind: type) -> frozenset[str]:
    """What may be called on values of a type."""
    names = _methods.get(kind)
    return _names_of(kind, Face.METHOD, _methods) if names is None else names


def _names_of(kind: type, face: Face, known: dict[type, frozenset[str]]) -> frozenset[str]:
    """The names listed for a type, asked once."""
    if getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind:
        names = known[kind] = _listed_for(kind, face)
        return names
    by_face = _of_programs.setdefault(kind, {})
    if face not in by_face:
        by_face[face] = _listed_for(kind, face)
    return by_face[face]


def _listed_for(kind: type, face: Face) -> frozenset[str]:
    always = _OF_ALL if face is Face.ATTRIBUTE else frozenset[str]()
    return always.union(*(names for base, names in _listed(face).items() if issubclass(kind, base)))


@cache
def built_in_functions() -> dict[str, Any]:
    """Python's own functions and types that the catalogue has."""
    rows = (row.path for row in load() if row.face is Face.FUNCTION and row.path.startswith("builtins."))
    words = {path.removeprefix("builtins.") for path in rows}
    words |= {"float", "int", "bool", "complex", "str", "range", "slice", "list", "tuple", "len"}
    return {word: getattr(builtins, word) for word in words} | {"type": _class_of}


def _class_of(value: object, /) -> type[Any]:
    """``type(x)``: the class of a value; no other is made."""
    return type(value)


_class_of.__name__ = _class_of.__qualname__ = "type"


@cache
def _listed(face: Face) -> dict[type, frozenset[str]]:
    """The catalogue's attributes or methods by type, with what stands here."""
    names = {kind: set(words.split() if face is Face.ATTRIBUTE else ()) for kind, words in _LISTED.items()}
    for row in load():
        home, _, word = row.path.rpartition(".")
        for kind in _HOMES.get(home, ()) if row.face is face else ():
            names.setdefault(kind, set()).add(row.symbol or word)
    return {kind: frozenset(words) for kind, words in names.items()}


def _own(value: Any, name: str) -> Any:
    """The value itself, when it has under this name what was put there, or nothing at all: then Python says so."""
    if isinstance(value, nn.Module) and _holds(value, name):
        return value
    if isinstance(value, tuple) and _is_field(type(value), name):
        return value
    if _was_put(value, name):
        return value
    if _is_missing(value, name):
        return value
    raise AccessRefused(f"'.{name[:60]}' of {_article(type(value).__name__)} is not among what a drawing may use")


def _holds(module: nn.Module, name: str) -> bool:
    """Whether a module has this parameter, buffer or module, or data under a name of its own."""
    own = module.__dict__
    if any(name in own[held] for held in ("_parameters", "_buffers", "_modules") if held in own):
        return True
    return name in own and not name.startswith("_") and _is_data(own[name])


def _is_free(value: Any, name: str) -> bool:
    """Whether Python takes a name that torch does not know, by mistake or as a mark, and nothing reads it."""
    if isinstance(value, torch.optim.Optimizer):
        return name in _OF_GROUPS
    return isinstance(value, Tensor) and not name.startswith("_")


def _was_put(value: Any, name: str) -> bool:
    """Whether a number, a text or a tensor was put there under such a name."""
    return _is_free(value, name) and isinstance(getattr(value, "__dict__", {}).get(name, _MISSING), _PUT)


def _is_missing(value: Any, name: str) -> bool:
    """Whether it is of a listed type, whose attributes are those that can be seen, and this is none of them."""
    return isinstance(value, tuple(_LISTED)) and inspect.getattr_static(value, name, _MISSING) is _MISSING


def _is_data(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_data, value.values()))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return all(map(_is_data, value))
    return isinstance(value, _DATA)


def _is_field(kind: type, name: str) -> bool:
    """Whether it is a field of a named tuple, or of torch's results: ``x.max(dim=1).values``."""
    return name in getattr(kind, "_fields", getattr(kind, "__match_args__", ()))


@cache
def _called_by_identity() -> frozenset[int]:
    return frozenset(map(id, built_in_functions().values()))


def _may_be_called(value: Any) -> bool:
    function = value.__func__ if type(value) is MethodType else value
    if type(function) is FunctionType:
        return function.__code__.co_filename.startswith(_OURS)
    if isinstance(value, type):
        return id(value) in _called_by_identity() or (value is not nn.Module and issubclass(value, nn.Module))
    return id(value) in _called_by_identity()


def _article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} '{word[:60]}'"


class _Fields(string.Formatter):
    """Puts values into a text; what a hole reads of them is asked for as everywhere."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first, parts = string._string.formatter_field_name_split(field_name)  # type: ignore[attr-defined]  # C part, no stubs
        value = self.get_value(first, args, kwargs)
        for is_attribute, part in parts:
            value = getattr(reach(value, part), part) if is_attribute else value[part]
        return value, first


class _Text(str):
    """A text whose `format` asks before it reads."""

    __slots__ = ()

    def format(self, /, *values: object, **named: object) -> str:
        return _Fields().vformat(self, values, named)
