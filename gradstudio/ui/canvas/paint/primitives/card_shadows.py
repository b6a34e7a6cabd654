"""Soft shadows of cards, cut from one kept picture: corners as they are, edges stretched."""

import math
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

RADIUS: Final = 8.0
MARGIN: Final = 14.0
"""Room around a card for its shadow and ports."""
LAYERS: Final = 5
CORNER: Final = MARGIN + RADIUS + 8.0
"""Scene pixels from the picture's edge within which a shadow is curved."""


class CardShadows:
    """Keeps the picture for the scale it was last asked for."""

    def __init__(self) -> None:
        """Nothing is painted yet."""
        self._key: tuple[int, float] | None = None
        self._patch = QPixmap()

    def paint(self, painter: QPainter, style: CanvasStyle, width: float, height: float, scale: float) -> None:
        """The shadow of a card in a pixmap of `width` x `height` device pixels at `scale` device per scene pixel."""
        corner = math.ceil(CORNER * scale)
        if width < 2 * corner or height < 2 * corner:
            painter.save()
            painter.scale(scale, scale)
            painter.translate(MARGIN, MARGIN)
            paint_shadow(painter, style, width / scale - 2 * MARGIN, height / scale - 2 * MARGIN)
            painter.restore()
            return
        patch = self._patch_for(style, corner, scale)
        for left, from_left, wide, from_wide in _parts(width, corner):
            for top, from_top, tall, from_tall in _parts(height, corner):
                if wide == corner or tall == corner:
                    painter.drawPixmap(
                        QRectF(left, top, wide, tall), patch, QRectF(from_left, from_top, from_wide, from_tall)
                    )

    def _patch_for(self, style: CanvasStyle, corner: int, scale: float) -> QPixmap:
        if self._key != (id(style), scale):
            side = 2 * corner + 1
            self._patch = QPixmap(side, side)
            self._patch.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._patch)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(scale, scale)
            painter.translate(MARGIN, MARGIN)
            paint_shadow(painter, style, side / scale - 2 * MARGIN, side / scale - 2 * MARGIN)
            painter.end()
            self._key = (id(style), scale)
        return self._patch


def paint_shadow(painter: QPainter, style: CanvasStyle, width: float, height: float) -> None:
    """The soft shadow of a card of that size."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.faded("card_shadow", 1 / LAYERS))
    for k in range(LAYERS):
        grow = LAYERS - k
        painter.drawRoundedRect(
            QRectF(-grow, 2.0 - grow, width + 2 * grow, height + 2 * grow), RADIUS + grow, RADIUS + grow
        )


def _parts(length: float, corner: int) -> tuple[tuple[float, float, float, float], ...]:
    """(where, where in the picture, how long, how long in the picture) of corner, edge, corner."""
    return (
        (0, 0, corner, corner),
        (corner, corner, length - 2 * corner, 1),
        (length - corner, corner + 1, corner, corner),
    )
