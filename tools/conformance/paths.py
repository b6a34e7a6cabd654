"""Paths: which path of the catalogue a callable of torch has."""

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face

REFLECTED = {
    "__radd__": "operator.add",
    "__rsub__": "operator.sub",
    "__rmul__": "operator.mul",
    "__rdiv__": "operator.truediv",
    "__rtruediv__": "operator.truediv",
    "__rfloordiv__": "operator.floordiv",
    "__rmod__": "operator.mod",
    "__rpow__": "operator.pow",
    "__rmatmul__": "operator.matmul",
    "__rand__": "operator.and_",
    "__ror__": "operator.or_",
    "__rxor__": "operator.xor",
    "__rlshift__": "operator.lshift",
    "__rrshift__": "operator.rshift",
}
"""Operators of Tensor whose operands stand the other way round on a canvas: ``2 - x``."""
DUNDERS = {
    "__getitem__": "operator.getitem",
    "__and__": "operator.and_",
    "__or__": "operator.or_",
    "__xor__": "operator.xor",
}
DUNDERS |= {f"__{name}__": f"operator.{name}" for name in (
    "add sub mul truediv floordiv mod pow matmul lshift rshift neg invert eq ne lt le gt ge abs pos".split()
)}  # fmt: skip


@cache
def known() -> dict[int, str]:
    """The path of every callable in the catalogue, by its identity."""
    found: dict[int, str] = {}
    for row in load():
        if row.face in (Face.FUNCTION, Face.CONSTRUCTOR, Face.METHOD):
            target = resolve(row.path)
            if target is not None:
                found.setdefault(id(target), row.path)
    return found


@cache
def properties() -> dict[int, str]:
    """The key of every attribute of tensors, by the identity of its descriptor."""
    found: dict[int, str] = {}
    for row in load():
        if row.face is Face.ATTRIBUTE and row.symbol:
            descriptor = _descriptor(row.symbol)
            if descriptor is not None:
                found[id(descriptor)] = row.path
    return found


def _descriptor(name: str) -> Any:
    return next((vars(cls)[name] for cls in torch.Tensor.__mro__ if name in vars(cls)), None)


def resolve(path: str) -> Any:
    """What Python finds under a path; None when there is nothing."""
    head, *rest = path.split(".")
    value: Any = {"torch": torch, "operator": operator}.get(head)
    for name in rest:
        value = getattr(value, name, None)
    return value


def path_of(function: Callable[..., Any], name: str = "") -> tuple[str, bool] | None:
    """The path of a callable, and whether its first two arguments stand the other way round there.

    Args:
        function: what torch is called with.
        name: what PyTorch's database calls it, which decides between two names of one function.
    """
    for prefix in ("torch.", "torch.Tensor."):
        path = prefix + name
        if name and load().overloads(path) and resolve(path) is function:
            return path, False
    word = getattr(function, "__name__", "")
    is_slot = word.startswith("__") and getattr(torch.Tensor, word, None) is function
    if is_slot and word in REFLECTED:
        return REFLECTED[word], True
    if is_slot and word in DUNDERS:
        return DUNDERS[word], False
    if word == "__get__":
        key = properties().get(id(getattr(function, "__self__", None)))
        return (key, False) if key is not None else None
    path = known().get(id(function), "")
    return (path, False) if path else None
