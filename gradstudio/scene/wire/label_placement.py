"""Where words about a port are put so that they cover nothing: beside its card, above it or below it. No Qt."""

from collections.abc import Iterable
from typing import Final

from gradstudio.scene.geometry import Box

HEIGHT: Final = 18.0
"""Of a plate, view pixels."""
GAP: Final = 8.0
CLEAR: Final = 2.0
"""Least distance to what is not to be covered."""


def place_label(
    port: tuple[float, float], card: Box, width: float, taken: Iterable[Box], view: Box, *, upward: bool
) -> Box:
    """A free place for a plate near an output port, view pixels; the least bad one where none is free.

    `upward`: above the port rather than below it. `taken` is what it must not cover, the card of the port included;
    `view` is what can be seen.
    """
    x, y = port
    beside = [Box(x + GAP, y + 12.0 + k, width, HEIGHT) for k in (0.0, 18.0)]
    over = [Box(x + GAP, y - 12.0 - HEIGHT - k, width, HEIGHT) for k in (0.0, 18.0)]
    rows = [Box(card.right - width, card.y - HEIGHT - 5.0 - k, width, HEIGHT) for k in (0.0, 22.0)]
    below = [
        Box(left, card.bottom + 5.0 + k, width, HEIGHT) for k in (0.0, 22.0) for left in (card.right - width, card.x)
    ]
    first, then = (over, beside) if upward else (beside, over)
    places = [*first, *then, *rows, *below]
    inside = [place for place in places if view.contains(place.x, place.y) and view.contains(place.right, place.bottom)]
    boxes = list(taken)
    return next((place for place in inside if not _covers(place, boxes)), (inside or places)[-1])


def _covers(place: Box, boxes: list[Box]) -> bool:
    grown = place.grown(CLEAR)
    return any(grown.meets(box) for box in boxes)
