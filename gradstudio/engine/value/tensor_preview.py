"""The picture of a tensor on its card: at most 32 x 32 of its values as float32."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gradstudio.protocol.messages.records import Preview

EDGE = 32
LEAST_EDGE = 8
"""Pictures of fewer rows or columns are no pictures."""
MOST_PICTURES = 16
FEW_PICTURES = 4
_FLOAT32 = np.dtype(np.float32)
NUMPY_NATIVE = frozenset({torch.float32, torch.float64})


def preview_of(tensor: Tensor, pictures: bool = False) -> Preview:
    """The preview of a dense tensor with at least one element, detached.

    Of complex numbers it holds the magnitude. A 1-d tensor is one row; of more than two
    dimensions it is the last two at index 0 of the others.

    Args:
        pictures: the numbers are grey values: where the shape is that of a batch of pictures, the first few are taken.
    """
    batch = _batch(tensor) if pictures else None
    sheet = _contact_sheet(batch) if batch is not None else None
    if sheet is not None:
        return sheet
    if tensor.is_cpu and tensor.dtype in NUMPY_NATIVE:
        return preview_of_array(tensor.numpy())
    dimensions = tensor.dim()
    whole = True
    if dimensions > 2:
        whole = all(size == 1 for size in tensor.shape[:-2])
        tensor = tensor[(0,) * (dimensions - 2)]
    rows, columns = (1, tensor.numel()) if dimensions < 2 else tensor.shape
    step_rows = -(-rows // EDGE)
    step_columns = -(-columns // EDGE)
    if step_rows > 1 or step_columns > 1:
        whole = False
        tensor = tensor[::step_columns] if dimensions < 2 else tensor[::step_rows, ::step_columns]
    taken = -(-rows // step_rows), -(-columns // step_columns)
    return Preview(*taken, _float32_bytes(tensor), step_rows, step_columns, whole)


def preview_of_array(array: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> Preview:
    """The same of real numbers that numpy already has, and that are no pictures."""
    dimensions = array.ndim
    whole = True
    if dimensions > 2:
        whole = all(size == 1 for size in array.shape[:-2])
        array = array[(0,) * (dimensions - 2)]
    rows, columns = array.shape if dimensions >= 2 else (1, array.size)
    if rows <= EDGE and columns <= EDGE:
        return Preview(rows, columns, _bytes(array), 1, 1, whole)
    step_rows = -(-rows // EDGE)
    step_columns = -(-columns // EDGE)
    array = array[::step_columns] if dimensions < 2 else array[::step_rows, ::step_columns]
    taken = -(-rows // step_rows), -(-columns // step_columns)
    return Preview(*taken, _bytes(array), step_rows, step_columns, whole=False)


def previews_of_arrays(laid: "np.ndarray[Any, np.dtype[Any]]") -> list[Preview]:
    """The same of each of several arrays of one shape, `(arrays, *shape)`."""
    dimensions = laid.ndim - 1
    whole = True
    if dimensions > 2:
        whole = all(size == 1 for size in laid.shape[1:-2])
        first: Any = (slice(None), *(0,) * (dimensions - 2))
        laid = laid[first]
    rows, columns = laid.shape[1:] if dimensions >= 2 else (1, laid[0].size)
    step_rows = -(-rows // EDGE)
    step_columns = -(-columns // EDGE)
    if step_rows > 1 or step_columns > 1:
        whole = False
        laid = laid[:, ::step_columns] if dimensions < 2 else laid[:, ::step_rows, ::step_columns]
    rows = -(-rows // step_rows)
    columns = -(-columns // step_columns)
    data = _bytes(laid)
    size = rows * columns * _FLOAT32.itemsize
    return [
        Preview(rows, columns, data[start : start + size], step_rows, step_columns, whole)
        for start in range(0, len(data), size)
    ]


def _bytes(array: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> bytes:
    return array.tobytes() if array.dtype == _FLOAT32 else array.astype(_FLOAT32).tobytes()


def _batch(tensor: Tensor) -> Tensor | None:
    """`(pictures, rows, columns)`; of rows of a square number of values, and of the first channel."""
    if tensor.dim() == 2:
        side = math.isqrt(tensor.shape[1])
        if side * side != tensor.shape[1] or tensor.shape[0] == tensor.shape[1]:
            return None
        tensor = tensor[:MOST_PICTURES].reshape(-1, side, side)
    elif tensor.dim() == 4:
        tensor = tensor[:, 0]
    return tensor if tensor.dim() == 3 and tensor.shape[0] > 1 and min(tensor.shape[1:]) >= LEAST_EDGE else None


def _contact_sheet(batch: Tensor) -> Preview | None:
    """As many pictures as there is room for, at least a few: large ones lose rows and columns; None: not one fits."""
    step = max(1, math.ceil(math.sqrt(batch[0].numel() / (EDGE * EDGE / FEW_PICTURES))))
    small = batch[:MOST_PICTURES, ::step, ::step]
    rows = small.shape[1]
    columns = small.shape[2]
    if rows * columns > EDGE * EDGE:
        return None
    small = small[: EDGE * EDGE // (rows * columns)]
    taken = small.reshape(-1, columns)
    return Preview(taken.shape[0], columns, _float32_bytes(taken), step, step, whole=False, tile_rows=rows)


def _float32_bytes(tensor: Tensor) -> bytes:
    if tensor.is_complex():
        tensor = tensor.abs()
    if tensor.device.type != "cpu" or tensor.dtype not in (torch.float32, torch.float64, torch.int64, torch.bool):
        tensor = tensor.to(torch.float32).cpu()
    return tensor.numpy().astype(np.float32).tobytes()
