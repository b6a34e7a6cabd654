"""Paints what came back along wires: an arrow and a number on a plate of its own, in batches."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.ui.canvas.batches import draw_rects
from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.geometry import Box
from gradstudio.ui.canvas.look import Look
from gradstudio.ui.canvas.marks import paint_arrow
from gradstudio.ui.canvas.wire_labels import ARROW, EDGE, HEIGHT, ROLE, WireLabel

LEGIBLE: Final = 0.62
"""Below this zoom labels are hidden; hovering a wire shows its own."""


def paint_labels(painter: QPainter, look: Look, camera: Camera, labels: Iterable[WireLabel]) -> None:
    """Quiet plates: the ground of the canvas, letters in the colour of gradients."""
    shown = list(labels)
    if not shown or camera.zoom < LEGIBLE:
        return
    zoom = camera.zoom
    rects = np.array([(label.box.x, label.box.y, label.box.width, label.box.height) for label in shown])
    rects[:, :2] -= (camera.x, camera.y)
    rects *= zoom
    painter.setPen(QPen(look.faded("line", 0.9), 1.0))
    painter.setBrush(look.color("canvas"))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_rects(painter, rects)
    for label in shown:
        _paint_words(painter, look, camera, label, look.gradient)


def paint_lit_label(painter: QPainter, look: Look, camera: Camera, label: WireLabel) -> None:
    """One label that is meant now: letters on a full ground. Its size does not fall below that at 80 %."""
    shown = camera.box_to_view(label.box)
    scale = max(0.8, camera.zoom)
    rect = QRectF(0, 0, label.box.width * scale, HEIGHT * scale)
    rect.moveCenter(QPointF(*shown.center))
    painter.setPen(QPen(look.color("canvas"), 2.0))
    painter.setBrush(look.color("backward"))
    painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 4, 4)
    near = Camera(scale, label.box.x - rect.x() / scale, label.box.y - rect.y() / scale)
    _paint_words(painter, look, near, label, look.color("canvas"))


def lit_label(look: Look, text: str, x: float, y: float) -> WireLabel:
    """A label with its middle at a scene point, for a wire whose own found no room."""
    width = look.meter.width(text, ROLE) + ARROW + 2 * EDGE
    return WireLabel(text, Box(x - width / 2, y - HEIGHT / 2, width, HEIGHT))


def _paint_words(painter: QPainter, look: Look, camera: Camera, label: WireLabel, color: QColor) -> None:
    painter.save()
    painter.translate(*camera.to_view(label.box.x, label.box.y))
    painter.scale(camera.zoom, camera.zoom)
    paint_arrow(painter, color, QPointF(EDGE + 3, HEIGHT / 2), 3.4, back=True)
    painter.setFont(look.meter.font(ROLE))
    painter.setPen(color)
    rect = QRectF(EDGE + ARROW, 0, label.box.width - EDGE - ARROW, HEIGHT)
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, label.text)
    painter.restore()
