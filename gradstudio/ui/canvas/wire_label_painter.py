"""Paints what came back along wires: an arrow and a number on a plate of its own, in batches."""

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.ui.canvas.batches import draw_rects
from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.geometry import Box
from gradstudio.ui.canvas.look import Look
from gradstudio.ui.canvas.marks import paint_arrow
from gradstudio.ui.canvas.wire_labels import ARROW, EDGE, HEIGHT, ROLE, WireLabel, label_width, scale_at


def paint_labels(painter: QPainter, look: Look, camera: Camera, labels: Iterable[WireLabel]) -> None:
    """Quiet plates: the ground of the canvas, letters in the colour of gradients."""
    shown = list(labels)
    if not shown:
        return
    rects = np.array([(label.box.x, label.box.y, label.box.width, label.box.height) for label in shown])
    rects[:, :2] -= (camera.x, camera.y)
    rects *= camera.zoom
    painter.setPen(QPen(look.faded("line", 0.9), 1.0))
    painter.setBrush(look.color("canvas"))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_rects(painter, rects)
    for label in shown:
        _paint_words(painter, look, camera, label, look.gradient)


def paint_lit_label(painter: QPainter, look: Look, camera: Camera, label: WireLabel, role: str = "backward") -> None:
    """One label that is meant now: letters on a full ground of that colour."""
    shown = camera.box_to_view(label.box)
    painter.setPen(QPen(look.color("canvas"), 2.0))
    painter.setBrush(look.color(role))
    painter.drawRoundedRect(QRectF(shown.x - 2, shown.y - 1, shown.width + 4, shown.height + 2), 4, 4)
    _paint_words(painter, look, camera, label, look.color("canvas"))


def label_at(look: Look, text: str, x: float, y: float, zoom: float) -> WireLabel:
    """A label with its middle at a scene point, for a wire whose own found no room."""
    scale = scale_at(zoom)
    width, height = label_width(look.meter, text) * scale, HEIGHT * scale
    return WireLabel(text, Box(x - width / 2, y - height / 2, width, height))


def _paint_words(painter: QPainter, look: Look, camera: Camera, label: WireLabel, color: QColor) -> None:
    scale = label.box.height * camera.zoom / HEIGHT
    painter.save()
    painter.translate(*camera.to_view(label.box.x, label.box.y))
    painter.scale(scale, scale)
    left = EDGE + ARROW if label.arrow else EDGE / 2
    if label.arrow:
        paint_arrow(painter, color, QPointF(EDGE + 3, HEIGHT / 2), 3.4, back=True)
    painter.setFont(look.meter.font(ROLE))
    painter.setPen(color)
    rect = QRectF(left, 0, label.box.width * camera.zoom / scale - left, HEIGHT)
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, label.text)
    painter.restore()
