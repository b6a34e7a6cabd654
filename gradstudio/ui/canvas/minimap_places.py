"""Rectangles for the minimap: in a corner of the view, as a button along the edges, and opened from the button."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QTransform

from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Corners
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


def free_button(corner: Corner, room: QRect, taken: Sequence[QRect]) -> QRect:
    """The first place for the button that meets nothing; the corner where there is none."""
    free = (button for button in button_places(corner, room) if not meets_any(button, taken))
    return next(free, None) or next(button_places(corner, room))


def in_view(camera: Camera, corners: Iterable[Corners]) -> list[QRect]:
    """Rectangles of the scene as pixels of the view, with those beside them: what only touches one meets it too."""
    rects = [QRectF(QPointF(left, top), QPointF(right, bottom)) for left, top, right, bottom in corners]
    to_view = QTransform(camera.zoom, 0.0, 0.0, camera.zoom, -camera.x * camera.zoom, -camera.y * camera.zoom)
    return [to_view.mapRect(rect).toAlignedRect().adjusted(-1, -1, 1, 1) for rect in rects]


def meets_any(here: QRect, taken: Sequence[QRect]) -> bool:
    """Whether one of the others lies there."""
    return bool([other for other in taken if other.intersects(here)])


def opened_from(button: QRect, corner: Corner, size: QSize, room: QRect) -> QRect:
    """The map with its corner where the button has it, pushed inside of the room."""
    opened = place_in_corner(corner, size, button)
    opened.moveLeft(min(max(opened.left(), room.left()), room.right() + 1 - size.width()))
    opened.moveTop(min(max(opened.top(), room.top()), room.bottom() + 1 - size.height()))
    return opened
