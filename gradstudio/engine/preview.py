"""The picture of a tensor on its card: at most 32 x 32 of its values as float32."""

import numpy as np
import torch
from torch import Tensor

from gradstudio.protocol.records import Preview

EDGE = 32


def preview_of(tensor: Tensor) -> Preview:
    """The preview of a dense tensor with at least one element, detached.

    Of complex numbers it holds the magnitude. A 1-d tensor is one row; of more than two
    dimensions it is the last two at index 0 of the others.
    """
    dimensions = tensor.dim()
    whole = True
    if dimensions > 2:
        whole = all(size == 1 for size in tensor.shape[:-2])
        tensor = tensor[(0,) * (dimensions - 2)]
    rows, columns = (1, tensor.numel()) if dimensions < 2 else tensor.shape
    step_rows, step_columns = -(-rows // EDGE), -(-columns // EDGE)
    if step_rows > 1 or step_columns > 1:
        whole = False
        tensor = tensor[::step_columns] if dimensions < 2 else tensor[::step_rows, ::step_columns]
    taken = -(-rows // step_rows), -(-columns // step_columns)
    return Preview(*taken, _float32_bytes(tensor), step_rows, step_columns, whole)


def _float32_bytes(tensor: Tensor) -> bytes:
    if tensor.is_complex():
        tensor = tensor.abs()
    if tensor.device.type != "cpu" or tensor.dtype not in (torch.float32, torch.float64, torch.int64, torch.bool):
        tensor = tensor.to(torch.float32).cpu()
    return tensor.numpy().astype(np.float32).tobytes()
