"""Parts that no wire joins, put down as words on a page: side by side, small ones in piles, then the next line."""

import math
from collections.abc import Sequence

Extent = tuple[float, float]
GAP_X = 90.0
GAP_Y = 70.0
PILE_GAP = 50.0
LEAST_WIDTH = 1800.0
BLOCK_WIDTH = 900.0
"""Within a block, which stands among other things, lines may be as short as this."""
ASPECT = 1.9
"""How much wider than high all of it should be."""
PILE = 1.35
"""How much wider than its pile a part in it may be."""


def pack(extents: Sequence[Extent], least: float = LEAST_WIDTH) -> list[Extent]:
    """The top left corner of each part, pixels; they stay in their order, line by line and pile by pile.

    Args:
        extents: width and height of each.
        least: lines are not shorter than this.
    """
    area = sum((width + GAP_X) * (height + PILE_GAP) for width, height in extents)
    page = _Page(max([least, math.sqrt(ASPECT * area), *(width for width, _ in extents)]))
    return [page.put(width, height) for width, height in extents]


class _Page:
    """A page while parts are put down on it.

    Attributes:
        width: of a line.
        top, height: of the line that is being filled.
        left, pile_width, pile_height: of its last pile.
    """

    def __init__(self, width: float) -> None:
        self.width = width
        self.top = self.height = self.left = self.pile_width = self.pile_height = 0.0

    def put(self, width: float, height: float) -> Extent:
        """The corner of the next part."""
        if self.pile_width and self._fits_the_pile(width, height):
            y = self.pile_height + PILE_GAP
            self.pile_width, self.pile_height = max(self.pile_width, width), y + height
            return self.left, self.top + y
        if self.pile_width:
            self.left += self.pile_width + GAP_X
        if self.left and self.left + width > self.width:
            self.top, self.left, self.height = self.top + self.height + GAP_Y, 0.0, 0.0
        self.pile_width, self.pile_height = width, height
        self.height = max(self.height, height)
        return self.left, self.top

    def _fits_the_pile(self, width: float, height: float) -> bool:
        wide = width <= PILE * self.pile_width and self.left + width <= self.width
        return wide and self.pile_height + PILE_GAP + height <= self.height
