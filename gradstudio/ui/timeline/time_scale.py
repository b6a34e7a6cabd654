"""Which cells of the timeline are in view, and where. No Qt here."""

from typing import NamedTuple

MAX_CELL_PX, WIDEST_FIT_PX = 180.0, 96.0
TAIL_PX = 34.0
"""Room behind the last cell for the word "now"."""
STEP = 1.25
"""A notch of the wheel."""


class Scale(NamedTuple):
    """Cells in a row of pixels.

    Attributes:
        first: the cell at the left edge, a fraction of one included; `cell_px` how wide a cell is.
    """

    first: float = 0.0
    cell_px: float = 1.0

    def x(self, cell: float) -> float:
        """Where a cell begins."""
        return (cell - self.first) * self.cell_px

    def cell(self, x: float) -> float:
        """The cell at a place, and how far in it."""
        return self.first + x / self.cell_px


def fit_all(count: int, width_px: float) -> Scale:
    """Everything in view, as wide as it may be."""
    room = max(width_px - TAIL_PX, 1.0)
    return Scale(0.0, min(WIDEST_FIT_PX, room / max(count, 1)))


def zoom_at(scale: Scale, notches: float, at_px: float, count: int, width_px: float) -> Scale:
    """Nearer or farther; the cell under the pointer stays there."""
    least = fit_all(count, width_px).cell_px
    cell_px = min(max(scale.cell_px * STEP**notches, least), max(MAX_CELL_PX, least))
    return clamp(Scale(scale.cell(at_px) - at_px / cell_px, cell_px), count, width_px)


def pan_by(scale: Scale, by_px: float, count: int, width_px: float) -> Scale:
    """Moved along."""
    return clamp(scale._replace(first=scale.first + by_px / scale.cell_px), count, width_px)


def reveal(scale: Scale, cell: float, count: int, width_px: float) -> Scale:
    """Moved as little as brings a cell into view."""
    room = width_px - TAIL_PX
    x = scale.x(cell)
    if x < 0:
        scale = scale._replace(first=cell)
    elif x + scale.cell_px > room:
        scale = scale._replace(first=cell + 1 - room / scale.cell_px)
    return clamp(scale, count, width_px)


def clamp(scale: Scale, count: int, width_px: float) -> Scale:
    """Without empty room that could be filled."""
    most = max(count - (width_px - TAIL_PX) / scale.cell_px, 0.0)
    return scale._replace(first=min(max(scale.first, 0.0), most))


def is_fitted(scale: Scale, count: int, width_px: float) -> bool:
    """Whether everything is in view, so that it may follow what is added."""
    return scale.cell_px <= fit_all(count, width_px).cell_px * 1.0001
