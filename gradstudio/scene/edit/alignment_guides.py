"""Lines that show what a dragged card stands in line with, and pull it there. Numbers only, no Qt.

Read from arrays: a step of a drag over a thousand cards asks for all of them.
"""

from typing import Final, NamedTuple

import numpy as np

from gradstudio.scene.geometry import Box, Floats

NEAR: Final = 0.01
"""Scene pixels within which two edges are in line."""
MOST_LINES: Final = 3
"""So many of one direction are drawn; more tell nothing."""


class Line(NamedTuple):
    """A guide in scene pixels; a `gap` is one of two that are equal."""

    x1: float
    y1: float
    x2: float
    y2: float
    gap: bool = False


class Pull(NamedTuple):
    """How far a drag goes with guides, which directions they decided, and the lines to be drawn."""

    dx: float
    dy: float
    across: bool = False
    down: bool = False
    lines: tuple[Line, ...] = ()


class Guides:
    """What one drag may come in line with."""

    def __init__(self, others: Floats, moving: Box) -> None:
        """`others` are left, top, right, bottom of what stands still, `(cards, 4)`; `moving` where the drag began."""
        self._others, self._moving = others, moving

    def pull(self, dx: float, dy: float, reach: float) -> Pull:
        """A drag by (dx, dy), pulled to what is nearer than `reach` scene pixels in each direction."""
        if not len(self._others):
            return Pull(dx, dy)
        box = self._moving.moved(dx, dy)
        span = np.array([box.x, box.y, box.right, box.bottom], dtype=np.float64)
        by_x = _nearest(self._others, span, 0, reach)
        by_y = _nearest(self._others, span, 1, reach)
        span[[0, 2]] += by_x or 0.0
        span[[1, 3]] += by_y or 0.0
        lines: list[Line] = []
        if by_x is not None:
            lines += _lines(self._others, span, 0)
        if by_y is not None:
            lines += _lines(self._others, span, 1)
        return Pull(dx + (by_x or 0.0), dy + (by_y or 0.0), by_x is not None, by_y is not None, tuple(lines))


def _nearest(others: Floats, span: Floats, axis: int, reach: float) -> float | None:
    """By how much the rectangle has to move to be in line; edges before gaps where both are as near."""
    low, high = span[axis], span[axis + 2]
    edges = others[:, [axis, axis + 2]].ravel()
    middles = (others[:, axis] + others[:, axis + 2]) / 2
    offsets = np.concatenate([edges - low, edges - high, middles - (low + high) / 2])
    gaps = [offset for offset, _ in _gaps(others, span, axis)]
    found = np.concatenate([offsets, gaps]) if gaps else offsets
    k = int(np.abs(found).argmin())
    return float(found[k]) if abs(found[k]) <= reach else None


def _gaps(others: Floats, span: Floats, axis: int) -> list[tuple[float, tuple[tuple[float, float], ...]]]:
    """Offsets that make the gap to a neighbour equal to another one, with the ends of both gaps at that offset."""
    cross = 1 - axis
    row = others[(others[:, cross] < span[cross + 2]) & (others[:, cross + 2] > span[cross])]
    if not len(row):
        return []
    low = float(span[axis])
    high = float(span[axis + 2])
    starts = row[:, axis]
    ends = row[:, axis + 2]
    middle = (low + high) / 2
    before, after = row[ends <= middle], row[starts >= middle]
    found: list[tuple[float, tuple[tuple[float, float], ...]]] = []
    left = before[before[:, axis + 2].argmax()] if len(before) else None
    right = after[after[:, axis].argmin()] if len(after) else None
    if left is not None:
        farther = before[before[:, axis + 2] <= left[axis]]
        if len(farther):
            end, start = float(farther[:, axis + 2].max()), float(left[axis])
            at = float(left[axis + 2]) + start - end
            found.append((at - low, ((end, start), (float(left[axis + 2]), at))))
    if right is not None:
        farther = after[after[:, axis] >= right[axis + 2]]
        if len(farther):
            end, start = float(right[axis + 2]), float(farther[:, axis].min())
            at = float(right[axis]) - (start - end)
            found.append((at - high, ((at, float(right[axis])), (end, start))))
    if left is not None and right is not None:
        by = (float(left[axis + 2]) + float(right[axis])) / 2 - middle
        found.append((by, ((float(left[axis + 2]), low + by), (high + by, float(right[axis])))))
    return found


def _lines(others: Floats, span: Floats, axis: int) -> list[Line]:
    """What the rectangle is in line with where it stands now."""
    cross, lines = 1 - axis, list[Line]()
    own = (span[axis], span[axis + 2], (span[axis] + span[axis + 2]) / 2)
    theirs = (others[:, axis], others[:, axis + 2], (others[:, axis] + others[:, axis + 2]) / 2)
    for k, at in enumerate(own):
        near = [np.abs(values - at) <= NEAR for j, values in enumerate(theirs) if (j == 2) == (k == 2)]
        which = np.logical_or.reduce(near)
        if which.any() and len(lines) < MOST_LINES:
            start = min(float(others[which, cross].min()), float(span[cross]))
            end = max(float(others[which, cross + 2].max()), float(span[cross + 2]))
            lines.append(Line(at, start, at, end) if axis == 0 else Line(start, at, end, at))
    if not lines:
        middle = float(span[cross] + span[cross + 2]) / 2
        pairs = next((pairs for offset, pairs in _gaps(others, span, axis) if abs(offset) <= NEAR), ())
        for start, end in pairs:
            lines.append(
                Line(start, middle, end, middle, True) if axis == 0 else Line(middle, start, middle, end, True)
            )
    return lines
