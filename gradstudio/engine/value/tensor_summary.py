"""Figures of a tensor's numbers, made cheaply: never a standard deviation, non-finite counted only if there is one.

The tiers were measured in the engine spike: Python for up to 64 elements, numpy up to 8192,
torch's own reductions above. Call it outside the program's modes (`neutral`).
"""

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from operator import mul
from struct import Struct
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gradstudio.engine.value.rank_spread import Here, lent, with_shard, with_spread
from gradstudio.engine.value.tensor_preview import EDGE, NUMPY_NATIVE, preview_of, preview_of_array
from gradstudio.engine.value.tensor_shards import distributed, held_part, shard_of
from gradstudio.protocol.messages.records import Nested, Preview, Summary

SAMPLE_ABOVE = 1 << 24
SAMPLE = 1 << 22
DENSE_UP_TO = 1 << 20
PYTHON_UP_TO = 64
"""Up to so many elements Python's own sums are quicker than numpy's."""
NUMPY_UP_TO = 8192
TAME = 1e15
"""Below this magnitude no sum or square of up to `NUMPY_UP_TO` float32 overflows, so nothing warns."""
_NARROW = frozenset({torch.float16, torch.bfloat16, *(d for n, d in vars(torch).items() if n.startswith("float8_"))})
DTYPE_NAMES = {d: str(d).removeprefix("torch.") for d in vars(torch).values() if isinstance(d, torch.dtype)}
_STRIDED = torch.strided
MAX_OUTLINES = 4096
_OUTLINES: dict[tuple[torch.dtype, tuple[int, ...]], Summary] = {}
_ADD = np.add.reduce
_MINIMUM = np.minimum.reduce
_MAXIMUM = np.maximum.reduce


class Figures(NamedTuple):
    """Statistics over finite values, and how many are not."""

    minimum: float | int | None = None
    maximum: float | int | None = None
    mean: float | None = None
    rms: float | None = None
    nan: int = 0
    posinf: int = 0
    neginf: int = 0


NOTHING = Figures()


def dtype_name(dtype: torch.dtype) -> str:
    """``float32`` for ``torch.float32``."""
    return DTYPE_NAMES.get(dtype) or str(dtype).removeprefix("torch.")


def summarise(tensor: Tensor, max_values: int = 64, *, is_compared: bool = True) -> Summary:
    """The summary of a tensor of any dtype, layout and device.

    Args:
        max_values: exact values are included up to this many elements.
        is_compared: ranks may hold the same bytes of it.
    """
    if (shared := distributed(tensor)) is not None:
        shard = shard_of(shared)
        return with_shard(summarise(held_part(shared), max_values, is_compared=not shard.is_part), shard)
    kind = tensor.dtype
    dtype = DTYPE_NAMES.get(kind) or dtype_name(kind)
    if tensor.is_nested:
        return Summary(dtype=dtype, shape=())
    if Here.rank is not None:
        tensor = lent(tensor)
    try:
        if kind in NUMPY_NATIVE and tensor.is_cpu and tensor.layout is _STRIDED:
            count = tensor.numel()
            if 0 < count <= PYTHON_UP_TO:
                small = _of_few
            elif 0 < count <= NUMPY_UP_TO:
                small = _of_small
            else:
                small = None
            summary = small(tensor, dtype, max_values) if small is not None and count <= SAMPLE_ABOVE else None
            if summary is not None:
                return summary if Here.rank is None else with_spread(summary, tensor, Here.rank, is_compared)
        summary = _of_any(lent(tensor), dtype, max_values)
        return summary if Here.rank is None else with_spread(summary, tensor, Here.rank, is_compared)
    except (RuntimeError, TypeError, ValueError):  # a dtype or layout torch has no reductions for (float4, opaque)
        if tensor._is_zerotensor():  # what some backwards give where all is zero: it has no memory to look into
            return summarise(torch.zeros_like(tensor), max_values, is_compared=is_compared)
        return Summary(dtype=dtype, shape=tuple(tensor.shape))


def outline(tensor: Tensor) -> Summary:
    """What is told of a tensor before there is time for its numbers: dtype and shape."""
    if (shared := distributed(tensor)) is not None:
        return with_shard(outline(held_part(shared)), shard_of(shared))
    kind = tensor.dtype
    shape = () if tensor.is_nested else tensor.shape
    found = _OUTLINES.get((kind, shape))
    if found is None:
        if len(_OUTLINES) > MAX_OUTLINES:
            _OUTLINES.clear()
        found = _OUTLINES[kind, shape] = Summary(dtype=dtype_name(kind), shape=tuple(shape))
    return found


def list_count(shape: Sequence[int]) -> int:
    """How many numbers or empty lists the nested lists of that shape hold: (10**9, 0) has no elements, but lists."""
    return math.prod(itertools.takewhile(bool, shape))


def spell_numbers(values: Nested, not_finite: bool = True, tensor: Tensor | None = None) -> Nested:
    """Nested lists as records hold them: "nan", "inf", "-inf" and [re, im]."""
    if not not_finite and (tensor is None or not tensor.is_complex()):
        return values
    if isinstance(values, list):
        return [spell_numbers(value) for value in values]
    if isinstance(values, complex):
        return [spell_numbers(values.real), spell_numbers(values.imag)]
    if isinstance(values, float) and not math.isfinite(values):
        if values != values:
            return "nan"
        if values > 0:
            return "inf"
        return "-inf"
    return values


@cache
def _floats(count: int) -> Callable[..., bytes]:
    """What makes bytes of so many numbers as float32; Python's arrays tell each to the audit wall."""
    return Struct(f"{count}f").pack


def _of_few(tensor: Tensor, dtype: str, max_values: int) -> Summary | None:
    """Of at most `PYTHON_UP_TO` elements, as a list; None where a value is not tame, or it may be a picture."""
    value = tensor.tolist()
    shape = tuple(tensor.shape)
    dimensions = len(shape)
    if dimensions == 1:
        flat = value
        rows = 1
        columns = shape[0]
    elif dimensions == 2:
        flat, (rows, columns) = list(itertools.chain.from_iterable(value)), shape
    elif dimensions == 0:
        flat = [value]
        rows = 1
        columns = 1
    else:
        return _of_small(tensor, dtype, max_values)
    low, high = min(flat), max(flat)
    if not (low > -TAME and high < TAME) or (low == 0 and high == 1) or rows > EDGE or columns > EDGE:
        return _of_small(tensor, dtype, max_values)
    count = len(flat)
    total = sum(flat)
    square = sum(map(mul, flat, flat))
    if not (total - total == 0 and square - square == 0):
        return None
    return Summary(
        dtype=dtype, shape=shape, minimum=low, maximum=high, mean=total / count, rms=math.sqrt(square / count),
        value=None if count > max_values else value, preview=Preview(rows, columns, _floats(count)(*flat)),
    )  # fmt: skip


def _of_small(tensor: Tensor, dtype: str, max_values: int) -> Summary | None:
    """The common case in few calls; None where a value is not tame, or the numbers may be a picture's."""
    if tensor.is_neg():
        return None
    array: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = lent(tensor).detach().numpy()
    count = array.size
    flat = array.reshape(-1)
    low, high = float(_MINIMUM(flat)), float(_MAXIMUM(flat))
    if not (low > -TAME and high < TAME) or (low == 0 and high == 1):
        return None
    wide = flat.astype(np.float64) if count <= PYTHON_UP_TO else flat
    total = float(_ADD(wide))
    square = float(wide.dot(wide))
    if not (total - total == 0 and square - square == 0):
        return None
    return Summary(
        dtype=dtype, shape=array.shape, minimum=low, maximum=high, mean=total / count, rms=math.sqrt(square / count),
        value=None if count > max_values else array.tolist(), preview=preview_of_array(array),
    )  # fmt: skip


def _of_any(tensor: Tensor, dtype: str, max_values: int) -> Summary:
    shape = tuple(tensor.shape)
    count = tensor.numel()
    if count == 0 or tensor.is_meta or tensor.is_quantized:
        told = count == 0 and not tensor.is_meta and list_count(shape) <= max_values
        return Summary(dtype=dtype, shape=shape, value=tensor.tolist() if told else None)
    if tensor.layout is not torch.strided:
        return _of_sparse(tensor, dtype, max_values)
    with np.errstate(all="ignore"):
        return _of_dense(tensor, dtype, max_values)


def _of_dense(tensor: Tensor, dtype: str, max_values: int) -> Summary:
    plain = tensor.detach()
    shape = tuple(tensor.shape)
    count = tensor.numel()
    if plain.is_neg() or plain.is_conj():
        plain = plain.resolve_neg().resolve_conj()
    if plain.dtype in _NARROW:
        plain = (_sample(plain) if count > SAMPLE_ABOVE else plain).float()
    if plain.numel() == count:
        listed = plain.tolist() if count <= max(max_values, PYTHON_UP_TO) else None
        is_held = count <= SAMPLE_ABOVE and plain.data_ptr() == tensor.data_ptr()
        figures = _figures(_sample(plain) if count > SAMPLE_ABOVE else plain, listed, is_held)
        preview = preview_of(plain, _are_grey_values(dtype, figures))
    else:
        listed = None
        figures = _figures(plain, None)
        preview = preview_of(tensor.detach())
    minimum, maximum, mean, rms, nan, posinf, neginf = figures
    odd = bool(nan or posinf or neginf)
    is_long = count > max_values
    return Summary(
        dtype=dtype, shape=shape, minimum=minimum, maximum=maximum, mean=mean, rms=rms, nan=nan, posinf=posinf,
        neginf=neginf, sampled=count > SAMPLE_ABOVE, preview=preview,
        value=None if listed is None or is_long else spell_numbers(listed, odd, plain),
    )  # fmt: skip


def _are_grey_values(dtype: str, figures: Figures) -> bool:
    """Whether numbers look like a picture's: bytes, or floats that fill 0 ... 1."""
    return dtype == "uint8" or ("float" in dtype and figures.minimum == 0 and figures.maximum == 1)


def _figures(tensor: Tensor, listed: Nested, is_held: bool = False) -> Figures:
    if tensor.is_complex():
        return _of_complex(tensor)
    count = tensor.numel()
    if listed is not None and count <= PYTHON_UP_TO:
        return _of_list(_flat(listed, tensor.dim()))
    if tensor.dtype in NUMPY_NATIVE:
        return _of_floats(tensor, is_held)
    return _of_integers(tensor)


def _flat(listed: Nested, dimensions: int) -> list[float]:
    if dimensions == 0:
        return [listed]  # type: ignore[list-item]  # a 0-d tensor's list is its number
    for _ in range(dimensions - 1):
        listed = [value for row in listed for value in row]  # type: ignore[attr-defined]  # nested lists
    return listed  # type: ignore[return-value]  # flat by now


def _of_list(values: list[float]) -> Figures:
    count = len(values)
    total = math.fsum(values) if len(values) < 3 else sum(values)
    if total - total == 0:
        square = sum([value * value for value in values]) if count > 1 else values[0] * values[0]
        if square - square == 0:
            rms = math.sqrt(square / count)
            return Figures(min(values) + 0, max(values) + 0, total / count, rms)  # + 0: True is 1
    return _of_array(np.asarray(values, dtype=np.float64))


def _of_array(array: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Figures:
    """Exactly, in float64, with everything counted: the rare way, for what holds non-finite or huge values."""
    nan, posinf, neginf = (int(np.count_nonzero(mask)) for mask in (np.isnan(array), array == np.inf, array == -np.inf))
    finite = array[np.isfinite(array)] if nan or posinf or neginf else array
    if not finite.size:
        return Figures(nan=nan, posinf=posinf, neginf=neginf)
    scale = float(np.abs(finite).max()) or 1.0
    rms = scale * math.sqrt(float(np.mean(np.square(finite / scale))))
    mean = scale * float(np.mean(finite / scale))
    return Figures(float(finite.min()), float(finite.max()), mean, rms, nan, posinf, neginf)


def _of_floats(tensor: Tensor, is_held: bool) -> Figures:
    count = tensor.numel()
    if count <= NUMPY_UP_TO and tensor.device.type == "cpu":
        flat = tensor.numpy().ravel()
        total = float(np.add.reduce(flat))
        square = float(np.dot(flat, flat))
        low, high = float(np.minimum.reduce(flat)), float(np.maximum.reduce(flat))
    else:
        dense = _in_memory_order(tensor)
        low, high, total, square = _shared_reductions(dense) if is_held else _reductions(dense)
    if total - total == 0 and square - square == 0:
        return Figures(low, high, total / count, math.sqrt(square / count))
    return _of_array(_to_numpy(tensor))


class figures_shared(AbstractContextManager[None]):  # noqa: N801 - used like torch.no_grad
    """While nothing is written and every tensor is held: views of the same numbers in the same order are asked once."""

    __slots__ = ("_is_outer",)
    known: dict[tuple[int, int, torch.dtype], tuple[float, float, float, float]] | None = None

    def __enter__(self) -> None:
        """Nothing is known."""
        self._is_outer = figures_shared.known is None
        if self._is_outer:
            figures_shared.known = {}

    def __exit__(self, *_: object) -> None:
        """Forget all."""
        if self._is_outer:
            figures_shared.known = None


def _in_memory_order(tensor: Tensor) -> Tensor:
    """The same numbers as they lie in memory where only the dimensions are in another order: that is read quickest."""
    if tensor.is_contiguous() or tensor.dim() < 2:
        return tensor
    strides = tensor.stride()
    order = sorted(range(tensor.dim()), key=strides.__getitem__, reverse=True)
    permuted = tensor.permute(order)
    return permuted if permuted.is_contiguous() else tensor


def _shared_reductions(tensor: Tensor) -> tuple[float, float, float, float]:
    known = figures_shared.known
    if known is None or not tensor.is_contiguous():
        return _reductions(tensor)
    key = tensor.data_ptr(), tensor.numel(), tensor.dtype
    found = known.get(key)
    if found is None:
        found = known[key] = _reductions(tensor)
    return found


def _reductions(tensor: Tensor) -> tuple[float, float, float, float]:
    if tensor.is_cpu and tensor.numel() <= DENSE_UP_TO and tensor.is_contiguous():
        # numpy's least, largest and product take half the time of torch's, its sum three times as long
        array = tensor.view(-1).numpy()
        return float(_MINIMUM(array)), float(_MAXIMUM(array)), tensor.sum().item(), float(array.dot(array))
    low, high = torch.aminmax(tensor)
    total = tensor.sum()
    if tensor.is_contiguous():
        flat = tensor.view(-1)
        square = torch.dot(flat, flat)
    else:
        square = torch.linalg.vector_norm(tensor).square()
    if tensor.device.type == "cpu":
        return low.item(), high.item(), total.item(), square.item()
    one_transfer = torch.stack((low, high, total, square)).tolist()
    return one_transfer[0], one_transfer[1], one_transfer[2], one_transfer[3]


def _of_integers(tensor: Tensor) -> Figures:
    array = tensor.cpu().numpy()
    wide = array.astype(np.float64)
    low, high = int(array.min()), int(array.max())
    return Figures(low, high, float(wide.mean()), math.sqrt(float(np.mean(np.square(wide)))))


def _of_complex(tensor: Tensor) -> Figures:
    nan = torch.isnan(tensor)
    infinite = torch.isinf(tensor) & ~nan
    return Figures(nan=int(nan.sum()), posinf=int(infinite.sum()))


def _of_sparse(tensor: Tensor, dtype: str, max_values: int) -> Summary:
    count = tensor.numel()
    if count <= DENSE_UP_TO:
        return summarise(tensor.detach().to_dense(), max_values)
    stored = tensor.detach()
    values = (stored if stored.layout is torch.sparse_coo else stored.to_sparse()).coalesce().values()
    if values.numel() == 0:
        return Summary(dtype=dtype, shape=tuple(tensor.shape), minimum=0.0, maximum=0.0, mean=0.0, rms=0.0)
    figures = summarise(values, 0)
    share = values.numel() / count
    return Summary(
        dtype=dtype, shape=tuple(tensor.shape), nan=figures.nan, posinf=figures.posinf, neginf=figures.neginf,
        minimum=None if figures.minimum is None else min(figures.minimum, 0),
        maximum=None if figures.maximum is None else max(figures.maximum, 0),
        mean=None if figures.mean is None else figures.mean * share,
        rms=None if figures.rms is None else figures.rms * math.sqrt(share),
    )  # fmt: skip


def _sample(tensor: Tensor) -> Tensor:
    """At most `SAMPLE` elements spread over the tensor, without copying the whole."""
    while tensor.numel() > SAMPLE:
        dimension = max(range(tensor.dim()), key=tensor.size)
        step = min(tensor.size(dimension), math.ceil(tensor.numel() / SAMPLE))
        index = [slice(None)] * tensor.dim()
        index[dimension] = slice(None, None, step)
        tensor = tensor[tuple(index)]
    return tensor.contiguous()


def _to_numpy(tensor: Tensor) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    return tensor.cpu().numpy().astype(np.float64)
