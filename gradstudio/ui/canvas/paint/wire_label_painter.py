"""Paints what came back along wires: an arrow and a number on a plate of its own, in batches."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.scene.camera import Camera
from gradstudio.scene.wire.wire_labels import ARROW, EDGE, HEIGHT, ROLE, WireLabel
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_lines, draw_rects
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_arrow


def paint_labels(
    painter: QPainter, style: CanvasStyle, camera: Camera, labels: Iterable[WireLabel], *, stale: bool = False
) -> None:
    """Quiet plates: the ground of the canvas, letters in the colour of gradients, paler of a run that is stale."""
    shown = list(labels)
    if not shown:
        return
    import numpy as np

    _paint_ties(painter, style, camera, shown)
    rects = np.array([(label.box.x, label.box.y, label.box.width, label.box.height) for label in shown])
    rects[:, :2] -= (camera.x, camera.y)
    rects *= camera.zoom
    painter.setPen(QPen(style.faded("line", 0.9), 1.0))
    painter.setBrush(style.color("canvas"))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_rects(painter, rects)
    ink = style.stale.gradient if stale else style.gradient
    for label in shown:
        _paint_words(painter, style, camera, label, ink)


def _paint_ties(painter: QPainter, style: CanvasStyle, camera: Camera, labels: Iterable[WireLabel]) -> None:
    """Lines from labels that have no room on their wires down (or up) to them."""
    import numpy as np

    tied = [(label.box.center, label.foot) for label in labels if label.foot is not None]
    if not tied:
        return
    lines = np.array([(*middle, *foot) for middle, foot in tied])
    lines -= (camera.x, camera.y, camera.x, camera.y)
    lines *= camera.zoom
    painter.setPen(QPen(style.gradient, 1.0, Qt.PenStyle.DotLine))
    draw_lines(painter, lines)


def paint_lit_label(
    painter: QPainter,
    style: CanvasStyle,
    camera: Camera,
    label: WireLabel,
    role: str = "backward",
    *,
    hollow: bool = False,
) -> None:
    """One label that is meant now: letters on a full ground of that colour; `hollow`: only its edge in the colour."""
    _paint_ties(painter, style, camera, (label,))
    shown, color, ground = camera.box_to_view(label.box), style.color(role), style.color("canvas")
    painter.setPen(QPen(color, 1.4) if hollow else QPen(ground, 2.0))
    painter.setBrush(ground if hollow else color)
    painter.drawRoundedRect(QRectF(shown.x - 2, shown.y - 1, shown.width + 4, shown.height + 2), 4, 4)
    _paint_words(painter, style, camera, label, color if hollow else ground)


def _paint_words(painter: QPainter, style: CanvasStyle, camera: Camera, label: WireLabel, color: QColor) -> None:
    scale = label.box.height * camera.zoom / HEIGHT
    painter.save()
    painter.translate(*camera.to_view(label.box.x, label.box.y))
    painter.scale(scale, scale)
    paint_arrow(painter, color, QPointF(EDGE + 3, HEIGHT / 2), 3.4, back=True)
    painter.setFont(style.meter.font(ROLE))
    painter.setPen(color)
    left = EDGE + ARROW
    width = label.box.width * camera.zoom / scale
    painter.drawText(QRectF(left, 0, width - left, HEIGHT), Qt.AlignmentFlag.AlignVCenter, label.text)
    painter.restore()
