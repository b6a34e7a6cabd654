"""Which names of a namespace hold other values than before, and what is left of one that was written over."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from gradstudio.engine.meta.inference_results import Ports, Unknown
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.protocol.messages.inference import PortInference


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


def carries_another(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a value that was there before a turn is one of another kind after it."""
    carried = (name for name in changed_names(before, after) if name in before)
    return any(not are_alike(before[name], after[name]) for name in carried)


def is_unsure(value: object) -> bool:
    """Whether only a run tells what a condition on a value says."""
    return isinstance(value, Unknown) or any(tensor.is_meta for tensor in tensors_in(value))


def tell_varying(first: Ports, outside: Ports, now: Ports) -> None:
    """What a turn of a loop tells otherwise than the first, or than what stood outside, "varies"."""
    for key, port in list(first.items()):
        if port is not outside.get(key) and now.get(key) != port:
            first[key] = PortInference(node=key[0], output=key[1], known_after_run=True)
