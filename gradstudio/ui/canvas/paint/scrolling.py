"""A picture of the canvas shifted with the view, and what stays to be painted of it."""

from collections.abc import Callable

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box


def scrolled(
    picture: QPixmap, before: Camera, camera: Camera, size: Box, paint: Callable[[QPainter, Box], None]
) -> QPixmap | None:
    """The picture as another camera shows it; None when nothing of it stays, or pixels would not fall on pixels.

    Args:
        picture: as `before` showed it.
        size: of the view, view pixels.
        paint: is told to paint each part of the view (view pixels) that came into it.
    """
    ratio = picture.devicePixelRatio()
    dx, dy = ((old - new) * camera.zoom for old, new in ((before.x, camera.x), (before.y, camera.y)))
    is_near = abs(dx) < size.width and abs(dy) < size.height and _is_whole(dx * ratio) and _is_whole(dy * ratio)
    if camera.zoom != before.zoom or not is_near:
        return None
    shifted = QPixmap(picture.size())
    shifted.setDevicePixelRatio(ratio)
    painter = QPainter(shifted)
    painter.drawPixmap(QPointF(dx, dy), picture)
    for strip in _strips(dx, dy, size.width, size.height):
        paint(painter, strip)
    painter.end()
    return shifted


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) < 1e-3


def _strips(dx: float, dy: float, width: float, height: float) -> list[Box]:
    """The parts of a view that a shift by (dx, dy) leaves unpainted."""
    strips = []
    if dx:
        strips.append(Box(0 if dx > 0 else width + dx, 0, abs(dx), height))
    if dy:
        strips.append(Box(0, 0 if dy > 0 else height + dy, width, abs(dy)))
    return strips
