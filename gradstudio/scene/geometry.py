"""Where things are on the canvas: rectangles, frames of blocks. Plain numbers, no Qt; `arrays` has what takes many."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Indices: TypeAlias = "NDArray[np.intp]"
Corners = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle."""
FEW: Final = 64
"""So many rectangles are looked through one by one as fast as by numpy."""

UPWARDS: Final = 0.501
"""Added before a place is cut to a whole device pixel: one between two goes to the same of them after every pan, which
Python's `round` does not do, nor a half whose last digits have got lost."""
GRID: Final = 8.0
"""Scene pixels that dragged cards snap to."""
PATH_POINTS: Final = 22
"""Points of a flattened wire: 21 segments, so that every 3rd or 7th point still ends at the port."""
STUB: Final = 22.0
"""How far a backward wire leaves a card before it turns."""
CORNER: Final = 14.0
FORWARD: Final = 12.0
"""A wire that goes less far to the right than this goes backwards, around the cards."""
LANE: Final = 20.0
"""Distance of a backward wire's lane from the cards it goes around."""
LEAST_PULL: Final = 24.0
MOST_PULL: Final = 180.0
"""A curve leaves and reaches its ports level for so far: half of the way, within these."""
FRAME_PADDING: Final = 18.0
FRAME_TITLE: Final = 26.0
FREE_STEP: Final = 32.0
"""Scene pixels between the places that are tried for a new card."""
EMPTY_FRAME: Final = (240.0, 96.0)
_PARTS: Final = [k / (PATH_POINTS - 1) for k in range(PATH_POINTS)]
BERNSTEIN: Final = [((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3) for t in _PARTS]
"""The share of each of the four points of a curve in each point of its path."""


class Box(msgspec.Struct, frozen=True, gc=False):
    """A rectangle in scene pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def contains(self, x: float, y: float) -> bool:
        """Whether the point is inside or on the edge."""
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height

    def grown(self, by: float) -> "Box":
        """The rectangle with `by` more on every side."""
        return Box(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, dx: float, dy: float) -> "Box":
        """The rectangle elsewhere."""
        return Box(self.x + dx, self.y + dy, self.width, self.height)

    def is_within(self, other: "Box") -> bool:
        """Whether all of it lies in another."""
        return other.contains(self.x, self.y) and other.contains(self.right, self.bottom)

    def meets(self, other: "Box") -> bool:
        """Whether the two share a point."""
        beside = other.x > self.x + self.width or self.x > other.x + other.width
        return not beside and other.y <= self.y + self.height and self.y <= other.y + other.height


def union(boxes: Iterable[Box]) -> Box | None:
    """The smallest rectangle around all of them; None around nothing."""
    found = list(boxes)
    if not found:
        return None
    x, y = min([box.x for box in found]), min([box.y for box in found])
    right, bottom = max([box.x + box.width for box in found]), max([box.y + box.height for box in found])
    return Box(x, y, right - x, bottom - y)


def frame_box(
    members: Iterable[Box], rows_height: float = 0.0, minimum_width: float = 0.0, left: float = FRAME_PADDING
) -> Box | None:
    """A block's frame: its members, padding (more at the left), a title strip, and rows of ports below the title."""
    inner = union(members)
    if inner is None:
        return None
    top = FRAME_TITLE + rows_height + FRAME_PADDING * 0.75
    width = max(inner.width + left + FRAME_PADDING, minimum_width)
    return Box(inner.x - left, inner.y - top, width, inner.height + top + FRAME_PADDING)


def nearest_grid_multiple(value: float, grid: float = GRID) -> float:
    """The nearest multiple of the grid."""
    return round(value / grid) * grid


def visible(bounds: Floats, view: Box, margin: float = 4.0) -> "NDArray[np.bool_]":
    """Which rectangles (left, top, right, bottom) can show in the view."""
    seen: NDArray[np.bool_] = (
        (bounds[:, 0] <= view.right + margin)
        & (bounds[:, 2] >= view.x - margin)
        & (bounds[:, 1] <= view.bottom + margin)
        & (bounds[:, 3] >= view.y - margin)
    )
    return seen


def few_visible(rectangles: Iterable[Corners], view: Box, margin: float = 4.0) -> list[int]:
    """The numbers of those that can show in the view, of a few."""
    low_x = view.x - margin
    high_x = view.x + view.width + margin
    low_y = view.y - margin
    high_y = view.y + view.height + margin
    return [
        k
        for k, (left, top, right, bottom) in enumerate(rectangles)
        if left <= high_x and right >= low_x and top <= high_y and bottom >= low_y
    ]


def free_corner(seen: Box, size: tuple[float, float], taken: list[Box]) -> tuple[float, float]:
    """Where a rectangle of that size meets none of the others: near the middle of what is seen, else around it."""
    width, height = size
    middle = seen.x + (seen.width - width) / 2, seen.y + (seen.height - height) / 2
    steps = sorted(
        ((i * FREE_STEP, j * FREE_STEP) for i in range(-40, 41) for j in range(-40, 41)),
        key=lambda step: step[0] ** 2 + step[1] ** 2,
    )
    spots = [
        Box(nearest_grid_multiple(middle[0] + dx), nearest_grid_multiple(middle[1] + dy), width, height)
        for dx, dy in steps
    ]
    inside = [spot for spot in spots if seen.contains(spot.x, spot.y) and seen.contains(spot.right, spot.bottom)]
    found = next((spot for spot in (*inside, *spots) if not any(spot.meets(box) for box in taken)), spots[0])
    return found.x, found.y
