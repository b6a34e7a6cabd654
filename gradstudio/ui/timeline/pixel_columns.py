"""Cells too narrow to be drawn one by one, merged into columns of a pixel. No Qt here."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradstudio.ui.timeline.tick_arrays import BACKWARD, NOT_FINITE, Cells
from gradstudio.ui.timeline.time_scale import Scale

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Run = tuple[float, float, float]
"""Left edge and width in pixels, and height as a share of the lane."""

LEVELS = 8
"""Heights that a merged column can have."""


class Columns(NamedTuple):
    """Runs of equal columns: of each way, the cells lit on each, and what is not finite."""

    forward: list[Run]
    backward: list[Run]
    lit_forward: list[Run]
    lit_backward: list[Run]
    odd_forward: list[Run]
    odd_backward: list[Run]


def cells_in_view(cells: Cells, scale: Scale, width_px: float) -> tuple[int, int]:
    """The range of cells in view."""
    first = max(int(scale.first), 0)
    return min(first, len(cells)), min(len(cells), int(scale.cell(width_px)) + 1)


def merge_columns(cells: Cells, scale: Scale, width_px: float, lit: tuple[int, ...]) -> Columns:
    """The cells in view as runs of columns."""
    first, last = cells_in_view(cells, scale, width_px)
    width = max(int(width_px), 1)
    places = ((np.arange(first, last) - scale.first) * scale.cell_px).astype(np.int64)
    ends = np.maximum(((np.arange(first, last) + 1 - scale.first) * scale.cell_px).astype(np.int64), places + 1)
    marks = cells.marks[first:last]
    backward = (marks & BACKWARD) > 0
    odd = (marks & NOT_FINITE) > 0
    chosen = np.isin(cells.codes[first:last], lit) if lit else np.zeros(last - first, bool)
    spans = (places, ends, width)
    up, down = _counts(~backward, *spans), _counts(backward, *spans)
    total = np.maximum(up + down, 1.0)
    return Columns(
        _runs(_level(up / total)),
        _runs(_level(down / total)),
        _runs(_any(chosen & ~backward, *spans)),
        _runs(_any(chosen & backward, *spans)),
        _runs(_any(odd & ~backward, *spans)),
        _runs(_any(odd & backward, *spans)),
    )


def _counts(which: Bools, places: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], width: int) -> Floats:
    """How many of the cells cover each column."""
    begin = np.bincount(np.clip(places[which], 0, width), minlength=width + 1)
    end = np.bincount(np.clip(ends[which], 0, width), minlength=width + 1)
    return np.cumsum(begin - end)[:width].astype(np.float64)


def _any(which: Bools, places: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], width: int) -> Floats:
    return (_counts(which, places, ends, width) > 0).astype(np.float64)


def _level(share: Floats) -> Floats:
    """Few heights, so that neighbours become one run; what is there at all is seen."""
    return np.ceil(share * LEVELS) / LEVELS


def _runs(heights: Floats) -> list[Run]:
    edges = np.flatnonzero(np.diff(heights)) + 1
    starts = np.concatenate(([0], edges))
    ends = np.concatenate((edges, [len(heights)]))
    return [
        (float(start), float(end - start), float(heights[start]))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        if heights[start] > 0
    ]
