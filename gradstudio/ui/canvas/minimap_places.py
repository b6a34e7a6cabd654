"""Rectangles for the minimap: in a corner of the view, as a button along the edges, and opened from the button."""

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QRect, QSize

from gradstudio.ui.state.settings import Corner

GAP_PX: Final = 12
"""Between it and the edges of the view."""
FOLDED_PX: Final = 26
"""The side of the button to which it is folded."""
STEP_PX: Final = 13
"""Between the places that are tried for the button."""


def place_in_corner(corner: Corner, size: QSize, room: QRect) -> QRect:
    """A rectangle of that size whose corner lies in the same corner of another one."""
    placed = QRect(room.topLeft(), size)
    if corner.endswith("right"):
        placed.moveRight(room.right())
    if corner.startswith("bottom"):
        placed.moveBottom(room.bottom())
    return placed


def button_places(corner: Corner, room: QRect) -> Iterator[QRect]:
    """Places for the button: the corner, then along the two edges that meet there, the nearest first."""
    first = place_in_corner(corner, QSize(FOLDED_PX, FOLDED_PX), room)
    inward_x = STEP_PX if corner.endswith("left") else -STEP_PX
    inward_y = STEP_PX if corner.startswith("top") else -STEP_PX
    for dx, dy in ((inward_x, 0), (0, inward_y)):
        place = QRect(first)
        while room.contains(place):
            yield place
            place = place.translated(dx, dy)


def opened_from(button: QRect, corner: Corner, size: QSize, room: QRect) -> QRect:
    """The map with its corner where the button has it, pushed inside of the room."""
    opened = place_in_corner(corner, size, button)
    opened.moveLeft(min(max(opened.left(), room.left()), room.right() + 1 - size.width()))
    opened.moveTop(min(max(opened.top(), room.top()), room.bottom() + 1 - size.height()))
    return opened
