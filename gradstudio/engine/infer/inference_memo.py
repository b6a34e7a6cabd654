"""What a statement makes of tensors without data, remembered by the kinds of its inputs.

Two layers of one network differ in names only: what was worked out for the first holds for the
second. A recipe says how a result follows from the inputs, so that views stay views and what is
the same object stays the same.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradstudio.engine.access import MODULES
from gradstudio.engine.infer.name_table import NameTable
from gradstudio.engine.meta.inference_results import StatementResult
from gradstudio.engine.meta.meta_tensors import META, non_leaf
from gradstudio.engine.meta.module_state import module_state
from gradstudio.engine.value.view_state import is_leaf

MAX_RECIPES = 20_000
Signature = tuple[object, ...]
Memo = dict[int, StatementResult]
"""What statements gave, by the hash of their node, their text and what made what they read."""
_ABSENT = object()
_PLAIN = (bool, int, float, complex, str, torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format)


class Same(NamedTuple):
    """The input of that number itself."""

    place: int


class View(NamedTuple):
    """A view of the input of that number."""

    place: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int


class New(NamedTuple):
    """A tensor with storage of its own."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    requires_grad: bool
    leaf: bool
    inference: bool


class Several(NamedTuple):
    """A list or tuple of results."""

    kind: type
    items: tuple[Any, ...]


class Constant(NamedTuple):
    """A number, or what else is the same each time."""

    value: Any


def kind_of(value: Any, key: object, device: str) -> object:
    """What the results can depend on, of an input; None where that is not known.

    Args:
        key: what the input came from, device: where it lies.
    """
    if isinstance(value, Tensor):
        if not value.is_meta or value.layout is not torch.strided or value.is_nested or value.is_quantized:
            return None
        modes = (value.requires_grad, value.requires_grad and is_leaf(value), value.is_inference(), type(value))
        return (value.shape, value.stride(), value.storage_offset(), value.dtype, modes, device)
    if value is None or isinstance(value, _PLAIN):
        return (type(value), value)
    if isinstance(value, nn.Module):
        state = module_state(value) if key is not None else None
        return ("module", key, device, state) if state is not None else None
    if type(value) is tuple:
        kinds = tuple(kind_of(item, None, device) for item in value)
        return None if None in kinds else kinds
    return None


def recipe_of(value: Any, inputs: list[Any]) -> Any:
    """How a result follows from the inputs; None when that cannot be said."""
    for place, given in enumerate(inputs):
        if given is value and isinstance(value, Tensor):
            return Same(place)
    if isinstance(value, Tensor):
        return _tensor_recipe(value, inputs)
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        items = tuple(recipe_of(item, inputs) for item in value)
        return None if None in items else Several(type(value), items)
    return Constant(value) if value is None or isinstance(value, _PLAIN) else None


def apply_recipe(recipe: Any, inputs: list[Any]) -> Any:
    """The result, of these inputs."""
    match recipe:
        case Same(place=place):
            return inputs[place]
        case View(place=place, shape=shape, stride=stride, offset=offset):
            return inputs[place].as_strided(shape, stride, offset)
        case New():
            return _new(recipe)
        case Several(kind=kind, items=items):
            return kind(apply_recipe(item, inputs) for item in items)
        case _:
            return recipe.value


def _tensor_recipe(value: Tensor, inputs: list[Any]) -> Any:
    if kind_of(value, None, "") is None or type(value) is not Tensor:
        return None
    storage = value.untyped_storage()._cdata
    for place, given in enumerate(inputs):
        if isinstance(given, Tensor) and given.untyped_storage()._cdata == storage:
            same = (
                given.dtype == value.dtype and (given.requires_grad and torch.is_grad_enabled()) == value.requires_grad
            )
            plain = same and not value.is_inference() and not given.is_inference()
            return View(place, tuple(value.shape), value.stride(), int(value.storage_offset())) if plain else None
    if any(_holds(given, storage) for given in inputs if isinstance(given, nn.Module)):
        return None
    leaf = is_leaf(value)
    return New(tuple(value.shape), value.stride(), value.dtype, value.requires_grad, leaf, value.is_inference())


def _holds(module: nn.Module, storage: int) -> bool:
    """Whether a parameter or a buffer lies there."""
    held = (*module.parameters(), *module.buffers())
    return any(not is_lazy(one) and one.untyped_storage()._cdata == storage for one in held)


def _new(recipe: New) -> Tensor:
    with _inference(recipe.inference):
        twin = torch.empty_strided(recipe.shape, recipe.stride, dtype=recipe.dtype, device=META)
    if not recipe.requires_grad:
        return twin
    return twin.requires_grad_() if recipe.leaf else non_leaf(twin)


class _nothing:  # noqa: N801 - used like contextlib.nullcontext, without its cost
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_NOTHING = _nothing()


def _inference(wanted: bool) -> Any:
    return _NOTHING if torch.is_inference_mode_enabled() == wanted else torch.inference_mode(wanted)


class Recipe(NamedTuple):
    """How all results of a statement follow from its inputs; `guessed` and `device` as in `StatementResult`."""

    results: list[Any]
    guessed: bool
    device: str

    @property
    def is_new(self) -> bool:
        """Whether no result shares its storage with what is read, or is more than a tensor without data."""
        return all(type(one) is New for one in self.results)


Recipes = dict[Signature, Recipe]
"""By operator, text and kinds of inputs."""


def repeat(recipe: Recipe, inputs: list[Any]) -> StatementResult:
    """What a statement gives of these inputs."""
    results = [apply_recipe(one, inputs) for one in recipe.results]
    return StatementResult(results, {}, recipe.guessed, recipe.device, recipe=recipe if recipe.is_new else None)


def forget_modules(memo: Memo, changed: set[int]) -> None:
    """Forget what gave modules that were changed afterwards, or hold one that was; by their ids."""
    if not changed:
        return
    for key, known in list(memo.items()):
        results = known.results if isinstance(known.results, list) else []
        modules = [value for value in results if isinstance(value, nn.Module)]
        if any(id(part) in changed for module in modules for part in module.modules()):
            del memo[key]


def recipe_for(known: StatementResult, inputs: list[Any]) -> Recipe | None:
    """How a statement's results follow from these inputs; None where that cannot be said."""
    if not isinstance(known.results, list) or known.changed or known.absent:
        return None
    made = [recipe_of(value, inputs) for value in known.results]
    return Recipe(made, known.guessed, known.device) if None not in made else None


def kinds_of(names: NameTable, reads: tuple[str, ...]) -> Signature | None:
    """What results can depend on, of all that a statement reads; None where a number could be among it."""
    kinds: list[object] = []
    has_tensors = False
    for name in reads:
        value = names.values.get(name, _ABSENT)
        if value is _ABSENT or name in MODULES:
            kinds.append(name)
            continue
        kind = kind_of(value, names.origins.get(name) or names.keys.get(name), names.devices.get(name, ""))
        if kind is None:
            return None
        has_tensors = has_tensors or isinstance(value, Tensor | nn.Module)
        kinds.append(kind)
    return tuple(kinds) if has_tensors else None
