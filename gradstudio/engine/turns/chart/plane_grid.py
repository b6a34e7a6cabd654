"""Squares of a plane, and their points: the middles of the pixels of a picture."""

import torch
from torch import Tensor

from gradstudio.protocol.messages.charts import SIDE

Span = tuple[float, float, float, float]


def grid(span: Span, like: Tensor, side: int = SIDE) -> Tensor:
    """The points of the plane `(side * side, 2)`: the upper row first, each at the middle of its pixel."""
    left, right, low, high = span
    middles = (torch.arange(side, dtype=torch.float64) + 0.5) / side
    x, y = left + (right - left) * middles, high - (high - low) * middles
    return torch.stack((x.repeat(side), y.repeat_interleave(side)), 1).to(like.device, like.dtype)


def square_around(points: Tensor, known: Span | None, margin: float) -> Span:
    """A square around points `(count, 2)`, with room at its edge; what it was, while that has half as much."""
    finite = points[torch.isfinite(points).all(1)]
    if not len(finite):
        return known or (-1.0, 1.0, -1.0, 1.0)
    low, high = finite.amin(0).tolist(), finite.amax(0).tolist()
    if known is not None and _holds(known, low, high, (known[1] - known[0]) * (1 - 1 / margin) / 4):
        return known
    half = max(high[0] - low[0], high[1] - low[1]) / 2 * margin or 1.0
    x, y = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
    return x - half, x + half, y - half, y + half


def _holds(span: Span, low: list[float], high: list[float], room: float) -> bool:
    """Whether all between two corners is in a square, so far from its edge."""
    left, right, bottom, top = span
    is_across = left + room <= low[0] and high[0] <= right - room
    return is_across and bottom + room <= low[1] and high[1] <= top - room
