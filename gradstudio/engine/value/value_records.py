"""Records of values: what is told of a tensor, a number, a list, a module … (semantics §13)."""

import math
from collections.abc import Callable
from itertools import count

import numpy as np
import torch
from torch import Tensor

from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.value.lazy_modules import buffers_of, parameters_of
from gradstudio.engine.value.object_words import words_of
from gradstudio.engine.value.rank_spread import number_spread
from gradstudio.engine.value.tensor_shards import held_part
from gradstudio.engine.value.tensor_summary import list_count, outline, spell_numbers, summarise
from gradstudio.engine.value.view_state import grad_fn_of, is_leaf
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    TensorRecord,
    TupleRecord,
)

MAX_ITEMS = 64
MAX_TEXT = 10_000
SERIAL = "gradstudio_serial"
_SERIALS = count(1)
LARGEST_INTEGER = 1 << 63
PRINTED_BITS = 14_000
"""Python prints at most 4,300 digits."""
DEVICES: dict[torch.device, str] = {}
_TEXTS = (str, torch.dtype, torch.device, torch.layout, torch.memory_format, slice, type(...), np.dtype)


def record_of(value: object, max_values: int = 64, *, light: bool = False) -> Record:
    """The record of any value a statement may give; a `light` one tells only dtype and shape of a tensor's numbers."""
    if isinstance(value, Tensor):
        return tensor_record(value, max_values, light=light)
    if value is None:
        return PlainRecord(what="none", class_name="NoneType")
    if isinstance(value, bool | int | float | complex):
        return _number_record(value, type(value).__name__)
    if isinstance(value, tuple | list):
        items = tuple(record_of(item, max_values) for item in value[:MAX_ITEMS])
        return TupleRecord(class_name=type(value).__name__, length=len(value), items=items)
    if isinstance(value, _TEXTS):
        return PlainRecord(what="text", class_name=type(value).__name__, value=str(value)[:MAX_TEXT])
    return _record_of_object(value, max_values)


def tensors_in(value: object) -> list[Tensor]:
    """The tensor, or those in a list or tuple of any depth."""
    if isinstance(value, Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, list | tuple) else []


def tensor_record(tensor: Tensor, max_values: int = 64, *, light: bool = False) -> TensorRecord | ObjectRecord:
    """The record of a tensor as it is now; nested tensors, which have no plain shape, tell only their class."""
    if tensor.is_nested:
        return ObjectRecord(class_name=type(tensor).__name__)
    strided = tensor.layout is torch.strided
    grad_fn = grad_fn_of(tensor)
    storage = tensor.untyped_storage() if strided else None
    device = tensor.device
    return TensorRecord(
        device=DEVICES.get(device) or device_name(device),
        summary=outline(tensor) if light else summarise(tensor, max_values),
        stride=tensor.stride() if strided else None,
        requires_grad=tensor.requires_grad,
        is_leaf=grad_fn is None and is_leaf(tensor),
        grad_fn=None if grad_fn is None else type(grad_fn).__name__,
        version=None if tensor.is_inference() else tensor._version,
        contiguous=strided and tensor.is_contiguous(),
        size_bytes=0 if storage is None else held_part(tensor).untyped_storage().nbytes(),
        storage=0 if storage is None else serial_of(storage),
    )


def serial_of(storage: torch.UntypedStorage) -> int:
    """A number of its own for each storage: addresses are used again, these are not.

    torch keeps a storage's Python object, and what is noted on it, as long as the storage lives.
    """
    serial: int = getattr(storage, SERIAL, 0)
    if not serial:
        serial = next(_SERIALS)
        setattr(storage, SERIAL, serial)
    return serial


def requires_grad(value: object) -> bool:
    """Whether gradients can flow into a value: a tensor, a list that holds one, a module's parameters."""
    if isinstance(value, Tensor):
        return value.requires_grad
    if isinstance(value, list | tuple):
        return any(map(requires_grad, value))
    if isinstance(value, torch.nn.Module):
        return any(parameter.requires_grad for parameter in value.parameters())
    return False


def device_name(device: torch.device) -> str:
    """``cuda:0`` for a device; remembered, for it is asked with every value."""
    name = DEVICES.get(device)
    if name is None:
        name = DEVICES[device] = str(device)
    return name


def _number_record(value: complex, class_name: str) -> PlainRecord:
    """Of a number of Python's, whose class is so called."""
    told = _number(value)
    spread = None
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(told, str)):
        spread = number_spread(value, class_name)
    return PlainRecord(what="number", class_name=class_name, value=told, spread=spread)


def _number(value: complex) -> object:
    if isinstance(value, np.generic):
        value = value.item()  # float64 is a float as well
    if isinstance(value, int) and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        return str(value) if value.bit_length() <= PRINTED_BITS else _about(value)
    return spell_numbers(value)


def _about(value: int) -> str:
    """A whole number that Python does not print, for it has thousands of digits: ``about -1.0714e+9029``."""
    size = math.log10(abs(value))
    return f"about {'-' if value < 0 else ''}{10 ** (size % 1):.4f}e+{int(size)}"


def _record_of_object(value: object, max_values: int) -> Record:
    makers: tuple[tuple[type, Callable[..., Record]], ...] = (
        (torch.nn.Module, _module_record),
        (torch.optim.Optimizer, _optimizer_record),
        (np.ndarray, _array_record),
        (np.generic, _scalar_record),
    )
    for kind, make in makers:
        if isinstance(value, kind):
            return make(value, max_values)
    return ObjectRecord(class_name=type(value).__name__, words=words_of(value) if freedom.is_for_code else "")


def _module_record(module: torch.nn.Module, max_values: int) -> ModuleRecord:
    return ModuleRecord(
        class_name=type(module).__name__,
        training=module.training,
        parameters=_tensor_records(dict(parameters_of(module)), max_values),
        buffers=_tensor_records(dict(buffers_of(module)), max_values),
    )


def _tensor_records(tensors: dict[str, Tensor], max_values: int) -> dict[str, TensorRecord]:
    records = {name: tensor_record(tensor, max_values) for name, tensor in tensors.items()}
    return {name: record for name, record in records.items() if isinstance(record, TensorRecord)}


def _optimizer_record(optimizer: torch.optim.Optimizer, _max_values: int) -> OptimizerRecord:
    groups = tuple(
        {key: _number(value) for key, value in group.items() if isinstance(value, bool | int | float)}
        for group in optimizer.param_groups
    )
    leaves = tuple(
        (serial_of(tensor.untyped_storage()), tensor.requires_grad)
        for group in optimizer.param_groups
        for tensor in group["params"]
        if tensor.layout is torch.strided and not torch.nn.parameter.is_lazy(tensor)
    )
    return OptimizerRecord(class_name=type(optimizer).__name__, groups=groups, leaves=leaves)


def _scalar_record(number: "np.generic", _max_values: int) -> Record:
    """A number of numpy's own, `float32`, as a number of that class."""
    value = number.item()
    if not isinstance(value, bool | int | float | complex):
        return ObjectRecord(class_name=type(number).__name__)
    return _number_record(value, type(number).__name__)


def _array_record(array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", max_values: int) -> ArrayRecord:
    told = list_count(array.shape) <= max_values and array.dtype.kind in "biufc"
    value = spell_numbers(array.tolist()) if told else None
    return ArrayRecord(dtype=str(array.dtype), shape=tuple(array.shape), value=value)
