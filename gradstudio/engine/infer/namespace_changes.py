"""Which names of a namespace hold other values than before."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor


class _Missing:
    """Stands for a name that was not bound."""


def changed_names(before: dict[str, Any], now: dict[str, Any]) -> Iterable[str]:
    """The names that are bound to another value than before, or were not bound."""
    return [name for name, value in now.items() if value is not before.get(name, _Missing)]


def are_alike(first: Any, last: Any) -> bool:
    """Whether two values are one, or tensors of the same shape, dtype and `requires_grad`."""
    if isinstance(first, Tensor) and isinstance(last, Tensor):
        same = first.shape == last.shape and first.dtype == last.dtype
        return same and first.requires_grad == last.requires_grad
    return first is last and not isinstance(first, list)
