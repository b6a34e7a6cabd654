"""What this process, if it is one of several ranks, adds to each summary: its own share of the spread over ranks."""

import hashlib

import msgspec
import torch
from torch import Tensor

from gradstudio.protocol.messages.ranks import Digest, Spread
from gradstudio.protocol.messages.records import Summary

DIGEST_BYTES = 8
COMPARED_UP_TO = 1 << 24
"""Elements; more are not read once more only to be compared."""


def with_spread(summary: Summary, tensor: Tensor, rank: int) -> Summary:
    """The summary of a tensor with the spread of one rank."""
    return msgspec.structs.replace(summary, spread=Spread.of(rank, summary, digest(tensor)))


def digest(tensor: Tensor) -> Digest:
    """Of the tensor's bytes in the order of its elements; b"" where they are not compared.

    Equal tensors of one dtype have equal digests; -0.0 and 0.0 are different bytes.
    """
    if tensor.is_meta or tensor.layout is not torch.strided or tensor.numel() > COMPARED_UP_TO or tensor.is_quantized:
        return b""
    plain = tensor.detach().resolve_neg().resolve_conj().cpu().contiguous().reshape(-1)
    data = plain.view(torch.uint8).numpy().data if plain.numel() else b""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()
