"""A line with a glow around a card, kept as a picture: its wide strokes take longer than all else of a step."""

from math import floor
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from gradstudio.scene.geometry import UPWARDS, Box

GLOW: Final = ((6.0, 0.10), (4.0, 0.16), (2.5, 0.28))
LINE: Final = 2.0
ROOM: Final = 8
"""View pixels around the box that the glow may take."""
MOST: Final = 48
"""So many pictures are kept, and none of more device pixels than these."""
LARGEST: Final = 1_000_000
Key = tuple[int, int, int, float, float]


class GlowCache:
    """Pictures of outlines by size and colour; the latest are kept, very large ones are drawn each time."""

    def __init__(self) -> None:
        """None is known."""
        self._kept: dict[Key, QPixmap] = {}

    def paint(self, painter: QPainter, box: Box, color: QColor, radius: float) -> None:
        """The outline of a box in view pixels, on whole device pixels as cards are."""
        ratio = painter.device().devicePixelRatioF()
        x, y = floor(box.x * ratio + UPWARDS) / ratio, floor(box.y * ratio + UPWARDS) / ratio
        room = round(ROOM * ratio) / ratio
        width, height = round(box.width * ratio), round(box.height * ratio)
        key = (width, height, color.rgba(), round(radius * ratio, 2), ratio)
        if width * height > LARGEST:
            _draw(painter, QRectF(x, y, width / ratio, height / ratio), color, radius)
            return
        pixmap = self._kept.get(key)
        if pixmap is None:
            if len(self._kept) >= MOST:
                del self._kept[next(iter(self._kept))]
            pixmap = self._kept[key] = _rendered(width, height, ratio, color, radius)
        painter.drawPixmap(QPointF(x - room, y - room), pixmap)


def _rendered(width: int, height: int, ratio: float, color: QColor, radius: float) -> QPixmap:
    """The picture of a box of so many device pixels, with room for the glow."""
    room = round(ROOM * ratio)
    pixmap = QPixmap(width + 2 * room, height + 2 * room)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw(painter, QRectF(room / ratio, room / ratio, width / ratio, height / ratio), color, radius)
    painter.end()
    return pixmap


def _draw(painter: QPainter, rect: QRectF, color: QColor, radius: float) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    glow = QColor(color)
    for width, alpha in GLOW:
        glow.setAlphaF(alpha)
        painter.setPen(QPen(glow, width * 2))
        painter.drawRoundedRect(rect, radius, radius)
    painter.setPen(QPen(color, LINE))
    painter.drawRoundedRect(rect, radius, radius)
