"""One element (or all) of a value replaced at its birth: out of place where it can be, graph and leafness kept."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.errors import CannotTry
from gradstudio.engine.value.tensor_summary import dtype_name
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.protocol.messages.debugging import Change

Number = float | int | bool


class _Replaced(torch.autograd.Function):
    """Another tensor in the place of the first; gradients go to the first as if nothing had happened."""

    @staticmethod
    def forward(ctx: Any, original: Tensor, other: Tensor) -> Tensor:
        """The other, bit for bit."""
        return other.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The gradient as it came."""
        return grads[0], None


def override_value(value: object, change: Change, called: str, alias: bool = False) -> object:
    """The value as it is to be, or the same object where it could only be changed itself (a leaf, a module).

    Args:
        called: how the value is called in words.
        alias: another statement made it, and what that gave is to stay as it is.

    Raises:
        CannotTry: why it cannot be changed so.
    """
    return replace_at_path(value, change.path, called, lambda found: _other(found, change, called, alias))


def hook_on_gradient(value: object, change: Change, called: str, arrived: Callable[[], None]) -> None:
    """Change each gradient that arrives at the value; `arrived` is told.

    Raises:
        CannotTry: none can arrive there, or it has no such element.
    """

    def hook(grad: Tensor | None) -> Tensor | None:
        if grad is None:
            return None
        arrived()
        other = grad.clone()
        other[change.index if change.index is not None else ...] = change.value
        return other

    def attach(found: object) -> object:
        if not isinstance(found, Tensor):
            raise CannotTry(f"{called} is no tensor, so no gradient arrives at it.")
        if not found.requires_grad:
            raise CannotTry(f"{called} does not require grad, so no gradient arrives at it.")
        _check_index(change.index, tuple(found.shape), called)
        cast_number(change.value, found.dtype, called)
        found.register_hook(hook)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return found

    replace_at_path(value, change.path, called, attach)


def replace_at_path(value: object, path: str, called: str, make: Callable[[object], object]) -> object:
    """The value with what stands at `path` in it made anew: an item of a list, a parameter of a module.

    Raises:
        CannotTry: nothing stands there.
    """
    if not path:
        return make(value)
    if isinstance(value, nn.Module):
        tensors = {**dict(value.named_parameters()), **dict(value.named_buffers())}
        if path not in tensors:
            raise CannotTry(f"{called} has no parameter {path}.")
        found = tensors[path]
        other = make(found)
        if isinstance(other, Tensor) and other is not found:
            found.data.copy_(other)
        return value
    first, _, rest = path.partition(".")
    if not isinstance(value, list | tuple) or not first.isdigit() or int(first) >= len(value):
        raise CannotTry(f"{called} has no item {path}.")
    place = int(first)
    other = replace_at_path(value[place], rest, f"{called}[{place}]", make)
    if other is value[place]:
        return value
    if isinstance(value, list):
        value[place] = other
        return value
    items = [*value[:place], other, *value[place + 1 :]]
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def cast_number(value: Number, dtype: torch.dtype, called: str) -> Number:
    """The number as a tensor of that dtype takes it.

    Raises:
        CannotTry: it would not be kept as it is.
    """
    name = dtype_name(dtype)
    if dtype is torch.bool:
        return _boolean(value, f"{called} is {name}")
    if dtype.is_floating_point or dtype.is_complex:
        return float(value)
    try:
        limits = torch.iinfo(dtype)
    except TypeError:
        raise CannotTry(f"{called} is {name}: its elements cannot be changed by hand.") from None
    whole = _whole(value, f"{called} is {name}")
    if not limits.min <= whole <= limits.max:
        raise CannotTry(f"{called} is {name}: {whole} is not between {limits.min} and {limits.max}.")
    return whole


def _other(value: object, change: Change, called: str, alias: bool) -> object:
    if isinstance(value, Tensor):
        return _other_tensor(value, change, called, alias)
    if not isinstance(value, bool | int | float | complex):
        raise CannotTry(f"{called} is neither a tensor nor a number, so there is nothing to change.")
    if change.index:
        raise CannotTry(f"{called} is a single number: it has no element {list(change.index)}.")
    if isinstance(value, bool):
        return _boolean(change.value, f"{called} is a bool")
    if isinstance(value, int):
        return _whole(change.value, f"{called} is an int")
    return type(value)(change.value)


def _other_tensor(tensor: Tensor, change: Change, called: str, alias: bool) -> Tensor:
    if tensor.is_nested or tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise CannotTry(f"{called} is no plain dense tensor: its elements cannot be changed by hand.")
    _check_index(change.index, tuple(tensor.shape), called)
    number = cast_number(change.value, tensor.dtype, called)
    element = change.index if change.index is not None else ...
    if tensor.requires_grad and is_leaf(tensor) and not alias:
        if any(size > 1 and stride == 0 for size, stride in zip(tensor.shape, tensor.stride(), strict=True)):
            tensor.data = tensor.data.clone(memory_format=torch.contiguous_format)
        tensor.data[element] = number
        return tensor
    with torch.no_grad():
        other = tensor.detach().clone()
        other[element] = number
    if not tensor.requires_grad:
        return other
    with torch.enable_grad():
        return _Replaced.apply(tensor, other)  # type: ignore[no-any-return, no-untyped-call]  # torch leaves it untyped


def _check_index(index: tuple[int, ...] | None, shape: tuple[int, ...], called: str) -> None:
    if index is None:
        return
    inside = len(index) == len(shape) and all(0 <= i < size for i, size in zip(index, shape, strict=True))
    if not inside:
        raise CannotTry(f"{called} has no element {list(index)}: its shape is {list(shape)}.")


def _boolean(value: Number, kind: str) -> bool:
    if value not in (0, 1):
        raise CannotTry(f"{kind}: {value} is neither True nor False.")
    return bool(value)


def _whole(value: Number, kind: str) -> int:
    if not math.isfinite(value) or int(value) != value:
        raise CannotTry(f"{kind}: {value} is no whole number.")
    return int(value)
