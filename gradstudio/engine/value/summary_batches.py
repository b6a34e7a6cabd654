"""Summaries of many tensors at once: those of one shape are laid behind one another, and numpy is asked once for all.

A call of numpy or torch costs more than its work on some thousands of numbers. The sums are the same to the last bit
as those of each tensor alone (`tensor_summary`): along the last axis of what is contiguous numpy adds as it adds one
row, and `vecdot` asks BLAS row by row. What is unusual is left to be summarised alone, and so is what is not
contiguous: BLAS adds a vector with steps in another order.
"""

from collections.abc import Iterator, Sequence
from math import prod, sqrt

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter

from gradstudio.engine.value.rank_spread import Here
from gradstudio.engine.value.tensor_preview import previews_of_arrays
from gradstudio.engine.value.tensor_summary import NUMPY_UP_TO, PYTHON_UP_TO, TAME, dtype_name
from gradstudio.protocol.messages.records import Summary

LEAST = 3
"""So many of one shape are laid together; fewer are summarised alone."""
AT_ONCE = 1 << 16
"""Elements that are laid together: what stays in a processor's own memory."""
_KINDS = frozenset({Tensor, Parameter})
_DTYPES = frozenset({torch.float32, torch.float64})
_STRIDED = torch.strided


def summarise_alike(tensors: Sequence[Tensor], max_values: int = 64) -> list[Summary | None]:
    """The summaries of those that have several of their shape among them, as `summarise` gives them; None: alone.

    Call it outside the program's modes. One of several ranks has each summarised alone, with its spread.
    """
    found: list[Summary | None] = [None] * len(tensors)
    if Here.rank is not None:
        return found
    groups: dict[tuple[torch.dtype, torch.Size], list[int]] = {}
    fewest = max(PYTHON_UP_TO, max_values)
    for place, tensor in enumerate(tensors):
        kind = tensor.dtype
        if (
            kind in _DTYPES
            and tensor.__class__ in _KINDS
            and fewest < tensor.numel() <= NUMPY_UP_TO  # early: most of a small program's are fewer
            and tensor.is_cpu
            and tensor.layout is _STRIDED
            and not tensor.is_nested
            and tensor.is_contiguous()
        ):
            key = kind, tensor.shape
            if key in groups:
                groups[key].append(place)
            else:
                groups[key] = [place]
    for (kind, shape), places in groups.items():
        if len(places) < LEAST:
            continue
        for some in _portions(places, max(AT_ONCE // prod(shape), LEAST)):
            for place, summary in zip(
                some, _of_one_shape([tensors[place] for place in some], kind, shape), strict=True
            ):
                found[place] = summary
    return found


def _portions(places: list[int], size: int) -> Iterator[list[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))


def _of_one_shape(tensors: list[Tensor], kind: torch.dtype, size: torch.Size) -> Sequence[Summary | None]:
    """The summaries of tensors of one shape; None where a value is not tame, or the numbers may be a picture's."""
    try:
        laid = torch.stack(tensors).numpy()
    except RuntimeError:  # what torch does not lay together: names, tensors without memory
        return [None] * len(tensors)
    shape, count = tuple(size), prod(size)
    rows = laid.reshape(len(tensors), count)
    lows, highs = np.minimum.reduce(rows, axis=1).tolist(), np.maximum.reduce(rows, axis=1).tolist()
    usual = [
        low > -TAME and high < TAME and not (low == 0 and high == 1) for low, high in zip(lows, highs, strict=True)
    ]
    if not all(usual):
        return [None] * len(tensors)
    totals, squares = np.add.reduce(rows, axis=1).tolist(), np.vecdot(rows, rows).tolist()
    name = dtype_name(kind)
    return [
        Summary(
            dtype=name, shape=shape, minimum=low, maximum=high, mean=total / count, rms=sqrt(square / count),
            preview=preview,
        )
        if total - total == 0 and square - square == 0 else None
        for low, high, total, square, preview in zip(
            lows, highs, totals, squares, previews_of_arrays(laid), strict=True
        )
    ]  # fmt: skip
