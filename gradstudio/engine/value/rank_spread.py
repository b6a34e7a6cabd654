"""What this process, if it is one of several ranks, adds to each summary: its own share of the spread over ranks."""

import hashlib
import math

import msgspec
import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack

from gradstudio.protocol.messages.ranks import Digest, Spread
from gradstudio.protocol.messages.records import Shard, Summary

DIGEST_BYTES = 8
COMPARED_UP_TO = 1 << 24
"""Elements; more are not read once more only to be compared."""
_PLAIN = (Tensor, torch.nn.Parameter)


class Here:
    """Which of several ranks this process is.

    Attributes:
        rank: None: it is none; set before anything is summarised.
    """

    rank: int | None = None


def lent(tensor: Tensor) -> Tensor:
    """The same numbers behind a storage of their own, where they can be had so.

    torch resizes no storage any more that numpy has seen. Programs do (`resize_`, `out=`), and FSDP2 frees and fills
    that of a parameter so.
    """
    if type(tensor) not in _PLAIN or not tensor.is_cpu or tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
        return tensor
    try:
        return from_dlpack(torch._C._to_dlpack(tensor.detach())) if tensor.data_ptr() else tensor
    except (RuntimeError, BufferError):  # sparse, negated by a flag, a narrow dtype, or wrapped by a transform
        return tensor


def with_spread(summary: Summary, tensor: Tensor, rank: int, is_compared: bool) -> Summary:
    """The summary of a tensor with the spread of one rank; `is_compared`: others may hold the same bytes."""
    spread = Spread.of(rank, summary, digest(tensor) if is_compared else b"")
    return msgspec.structs.replace(summary, spread=spread)


def number_spread(value: float, class_name: str) -> Spread | None:
    """The share of this rank in the spread of a plain number; None where there is one rank.

    A bool is 0 or 1. Whole numbers have to be of 64 bits: those are what crosses a pipe.
    """
    if Here.rank is None:
        return None
    is_finite = math.isfinite(value)
    figure = int(value) if isinstance(value, bool) else value
    told = Summary(
        dtype=class_name, shape=(), minimum=figure if is_finite else None, maximum=figure if is_finite else None,
        nan=int(math.isnan(value)), posinf=int(math.isinf(value)),
    )  # fmt: skip
    return Spread.of(Here.rank, told, hashlib.blake2b(repr(value).encode(), digest_size=DIGEST_BYTES).digest())


def with_shard(summary: Summary, shard: Shard) -> Summary:
    """The summary of a part, as that of the tensor it is a part of; ranks with other parts are not compared."""
    spread = summary.spread
    if spread is not None:
        layout = f"{summary.dtype} {list(shard.whole)} {', '.join(shard.placements)}"
        spread = msgspec.structs.replace(spread, layout=layout, parts=shard.is_part)
    return msgspec.structs.replace(summary, shard=shard, spread=spread)


def digest(tensor: Tensor) -> Digest:
    """Of the tensor's bytes in the order of its elements; b"" where they are not compared.

    Equal tensors of one dtype have equal digests; -0.0 and 0.0 are different bytes.
    """
    if tensor.is_meta or tensor.layout is not torch.strided or tensor.numel() > COMPARED_UP_TO or tensor.is_quantized:
        return b""
    plain = tensor.detach().resolve_neg().resolve_conj().cpu().contiguous().reshape(-1)
    data = plain.view(torch.uint8).numpy().data if plain.numel() else b""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()
