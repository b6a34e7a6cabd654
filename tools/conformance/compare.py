"""Compare: whether what the engine and the exported script tell is what torch gave, bit for bit."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from gradstudio.protocol.messages.records import PlainRecord, Record, Summary, TensorRecord, TupleRecord

MAX_VALUES = 20_000
"""Exact values are asked for up to this many elements; of larger tensors the extremes are compared, and all their
bits in the exported script."""


def record_at(record: Record, way: tuple[int, ...]) -> Record | None:
    """The record that a way through tuples leads to."""
    for step in way:
        if not isinstance(record, TupleRecord) or step >= len(record.items):
            return None
        record = record.items[step]
    return record


def differs(record: Record | None, expected: Tensor, *, values: bool = True) -> str:
    """What is not the same; "" when all is."""
    if not isinstance(record, TensorRecord):
        return f"no tensor but {type(record).__name__}"
    return summary_differs(record.summary, expected, values=values)


def summary_differs(summary: Summary | None, expected: Tensor | None, *, values: bool = True) -> str:
    """As `differs`, of a gradient's summary; both may be None."""
    if summary is None or expected is None:
        return "" if (summary is None) == (expected is None) else "a gradient is there on one side only"
    dtype = str(expected.dtype).removeprefix("torch.")
    if summary.dtype.removeprefix("torch.") != dtype:
        return f"dtype {summary.dtype} instead of {dtype}"
    if tuple(summary.shape) != tuple(expected.shape):
        return f"shape {tuple(summary.shape)} instead of {tuple(expected.shape)}"
    if not values or not expected.numel():
        return ""
    wanted = plain_array(expected)
    if summary.value is None:
        return "" if expected.numel() > MAX_VALUES and _extremes_agree(summary, wanted) else "no exact values were sent"
    return arrays_differ(np.array(summary.value, dtype=wanted.dtype).reshape(wanted.shape), wanted)


def _extremes_agree(summary: Summary, wanted: "np.ndarray[Any, Any]") -> bool:
    finite = wanted[np.isfinite(wanted)]
    if not finite.size or summary.minimum is None or summary.maximum is None:
        return summary.minimum is None
    return summary.minimum == finite.min() and summary.maximum == finite.max()


def plain_differs(record: Record | None, expected: Any) -> str:
    """Of a result that is no tensor: a number, a text, a list of numbers."""
    if isinstance(record, TupleRecord) and isinstance(expected, list | tuple):
        if record.length != len(expected):
            return f"{record.length} items instead of {len(expected)}"
        pairs = zip(record.items, expected, strict=False)
        return next((text for item, value in pairs if (text := plain_differs(item, value))), "")
    if not isinstance(record, PlainRecord):
        return f"no plain value but {type(record).__name__}"
    if record.class_name != type(expected).__name__:
        return f"a {record.class_name} instead of a {type(expected).__name__}"
    shown = record.value
    if isinstance(expected, complex):
        expected = [expected.real, expected.imag]
        same = (
            [str(float(part)) for part in shown] == [str(float(part)) for part in expected]
            if isinstance(shown, list)
            else False
        )
        return "" if same else f"{shown} instead of {expected}"
    if isinstance(expected, float):
        return "" if shown is not None and str(float(str(shown))) == str(expected) else f"{shown} instead of {expected}"
    if isinstance(expected, bool | int) or expected is None:
        return "" if shown == expected else f"{shown} instead of {expected}"
    return "" if str(shown) == str(expected) else f"{shown} instead of {expected}"


def tensors_differ(given: Tensor, expected: Tensor, *, values: bool = True) -> str:
    """Two tensors of torch."""
    if given.dtype is not expected.dtype:
        return f"dtype {given.dtype} instead of {expected.dtype}"
    if given.shape != expected.shape:
        return f"shape {tuple(given.shape)} instead of {tuple(expected.shape)}"
    return arrays_differ(plain_array(given), plain_array(expected)) if values and expected.numel() else ""


def plain_array(tensor: Tensor) -> "np.ndarray[Any, Any]":
    """Every element exactly; a complex one is two numbers."""
    tensor = tensor.detach()
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.to(torch.complex128) if tensor.dtype is torch.complex32 else tensor)
    if tensor.dtype.is_floating_point:
        return tensor.to(torch.float64).numpy()
    return tensor.numpy()


def arrays_differ(given: "np.ndarray[Any, Any]", expected: "np.ndarray[Any, Any]") -> str:
    """Element by element: nan is nan, zeros have signs."""
    if given.dtype.kind != "f":
        same = given == expected
    else:
        both_nan = np.isnan(given) & np.isnan(expected)
        same = both_nan | ((given == expected) & (np.signbit(given) == np.signbit(expected)))
    if bool(np.all(same)):
        return ""
    wrong = int(np.size(same) - np.count_nonzero(same))
    first = np.flatnonzero(~np.ravel(same))[0]
    told, wanted = np.ravel(given)[first], np.ravel(expected)[first]
    return f"{wrong} of {np.size(same)} values, the first {told!r} instead of {wanted!r}"
