"""Tensors of the user's as stored tensors of a document."""

import torch
from torch import Tensor

from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.graph.model import StoredTensor

MOST_BYTES = 1 << 30
"""Of all stored tensors of a module together."""


def as_stored(tensor: Tensor, source: str) -> StoredTensor:
    """Its values, row by row.

    Raises:
        Inexpressible: safetensors has no such dtype.
    """
    dtype = str(tensor.dtype).removeprefix("torch.")
    plain = tensor.detach().to("cpu").contiguous()
    try:
        if plain.dtype == torch.complex64:
            plain = torch.view_as_real(plain)
        data = plain.reshape(-1).view(torch.uint8).numpy().tobytes()
        return stored_tensor(data, dtype, tuple(tensor.shape), source)
    except (StopIteration, RuntimeError, TypeError) as error:
        raise Inexpressible(f"A tensor of dtype {dtype} cannot be stored beside a document: {error}.") from error


def line_of(tensor: StoredTensor, stem: str) -> str:
    """The expression that loads it."""
    return f'load_file(HERE / "{stem}.tensors/{tensor.digest}.safetensors")["data"]'
