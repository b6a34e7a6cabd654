"""A recorded call as the line of Python that a person would have typed."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gradstudio.engine.bring.value_literals import NotWritable, literal
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "remainder": "%", "gt": ">",
    "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!=",
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__div__": "/", "__matmul__": "@",
    "__pow__": "**", "__mod__": "%", "__floordiv__": "//", "__and__": "&", "__or__": "|", "__xor__": "^",
    "__lshift__": "<<", "__rshift__": ">>", "__gt__": ">", "__ge__": ">=", "__lt__": "<", "__le__": "<=",
    "__eq__": "==", "__ne__": "!=",
}  # fmt: skip
REFLECTED = {
    "__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rdiv__": "/", "__rtruediv__": "/", "__rmatmul__": "@",
    "__rpow__": "**", "__rmod__": "%", "__rfloordiv__": "//", "__rand__": "&", "__ror__": "|", "__rxor__": "^",
    "__rlshift__": "<<", "__rrshift__": ">>",
}  # fmt: skip
AUGMENTED = {
    "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=", "__idiv__": "/=", "__ipow__": "**=",
    "__imod__": "%=", "__ifloordiv__": "//=", "__iand__": "&=", "__ior__": "|=", "__ixor__": "^=",
    "__ilshift__": "<<=", "__irshift__": ">>=",
}  # fmt: skip
PREFIX = {"neg": "-", "__neg__": "-", "__invert__": "~", "__pos__": "+"}
METHOD = "torch.Tensor."
_PACKAGES = (("torch.nn.functional.", "F."), ("torch.nn.", "nn."))
Spell = Callable[[Any], str]


def is_in_catalogue(path: str) -> bool:
    """Whether the catalogue, or the language, has what was called."""
    word = path.removeprefix(METHOD)
    if word.endswith((".__get__", ".__set__")):
        name, _, face = word.rpartition(".")
        return load().get(METHOD + name + ("=" if face == "__set__" else "")) is not None
    if word != path and (word in REFLECTED or word in AUGMENTED or word in INFIX or word in PREFIX):
        return True
    return word in ("__getitem__", "__setitem__", "__abs__") or bool(load().overloads(path))


def statement_of(path: str, arguments: tuple[Any, ...], keywords: dict[str, Any], spell: Spell) -> tuple[str, bool]:
    """The text of a call, and whether it is a statement by itself that gives nothing a name.

    Raises:
        NotWritable: an argument cannot be written.
    """
    word = path.removeprefix(METHOD)
    if word == path:
        return _function(path, arguments, keywords, spell), False
    first, rest = spell(arguments[0]), arguments[1:]
    match word:
        case "__getitem__":
            return f"{first}[{_index(rest[0], spell)}]", False
        case "__setitem__":
            return f"{first}[{_index(rest[0], spell)}] = {spell(rest[1])}", True
        case "__abs__":
            return f"abs({first})", False
        case _ if word.endswith(".__get__"):
            return f"{first}.{word.removesuffix('.__get__')}", False
        case _ if word.endswith(".__set__"):
            return f"{first}.{word.removesuffix('.__set__')} = {spell(rest[0])}", True
        case _ if word in AUGMENTED:
            return f"{first} {AUGMENTED[word]} {spell(rest[0])}", True
        case _ if word in PREFIX and not rest and not keywords:
            return f"{PREFIX[word]}{first}", False
        case _:
            return _infix_or_method(word, first, rest, keywords, spell)


def _infix_or_method(
    word: str, first: str, rest: tuple[Any, ...], keywords: dict[str, Any], spell: Spell
) -> tuple[str, bool]:
    if word in REFLECTED and len(rest) == 1:
        return f"{_bracketed(spell(rest[0]))} {REFLECTED[word]} {first}", False
    if word in INFIX and len(rest) == 1 and not keywords:
        return f"{first} {INFIX[word]} {spell(rest[0])}", False
    given = _given(METHOD + word, rest, keywords, spell)
    return f"{first}.{word}({given})", False


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _function(path: str, arguments: tuple[Any, ...], keywords: dict[str, Any], spell: Spell) -> str:
    short = next((new + path[len(old) :] for old, new in _PACKAGES if path.startswith(old)), path)
    return f"{short}({_given(path, arguments, keywords, spell)})"


def call_of_layer(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], spell: Spell) -> str:
    """The call of a layer bound to the name.

    Raises:
        NotWritable: an argument cannot be written.
    """
    given = [spell(value) for value in arguments] + [f"{word}={spell(value)}" for word, value in keywords.items()]
    return f"{name}({', '.join(given)})"


def _given(path: str, arguments: tuple[Any, ...], keywords: dict[str, Any], spell: Spell) -> str:
    rows = load().overloads(path)
    given = [spell(value) for value in arguments]
    for word, value in keywords.items():
        text = spell(value)
        if not _goes_without_saying(rows, path, word, value, text):
            given.append(f"{word}={text}")
    return ", ".join(given)


def _goes_without_saying(rows: tuple[Operator, ...], path: str, word: str, value: Any, text: str) -> bool:
    """Whether leaving a keyword out means the same: torch's own functions pass on all they have."""
    if word.startswith("_") or (word in ("dtype", "layout", "out", "generator") and value is None):
        return True
    if word == "device" and (value is None or str(value) == "cpu"):
        return True
    found = [parameter for row in rows if (parameter := row.parameter(word)) is not None]
    if found:
        return all(parameter.default == text for parameter in found)
    return value is None or value == _default_of(path, word)


def _default_of(path: str, word: str) -> object:
    found: Any = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    try:
        return inspect.signature(found).parameters[word].default
    except (TypeError, ValueError, KeyError):
        return inspect.Parameter.empty


def _index(index: Any, spell: Spell) -> str:
    if isinstance(index, tuple) and index:
        return ", ".join(_one_index(item, spell) for item in index) + ("," if len(index) == 1 else "")
    return _one_index(index, spell)


def _one_index(index: Any, spell: Spell) -> str:
    if not isinstance(index, slice):
        return spell(index)
    parts = ["" if part is None else spell(part) for part in (index.start, index.stop, index.step)]
    return ":".join(parts if parts[2] else parts[:2])


def speller(name_of: Callable[[Tensor], str]) -> Spell:
    """Spells arguments: tensors by their names, all else as literals."""

    def spell(value: Any) -> str:
        if isinstance(value, Tensor):
            return name_of(value)
        if isinstance(value, tuple) and not isinstance(value, torch.Size):
            inside = [spell(item) for item in value]
            return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"
        if isinstance(value, list):
            return f"[{', '.join(spell(item) for item in value)}]"
        return literal(value)

    return spell


__all__ = ["NotWritable", "call_of_layer", "is_in_catalogue", "speller", "statement_of"]
