"""Paints the chart of a card: which it is, its caption, and why there is none."""

from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from gradstudio.protocol.messages.charts import (
    BoundaryDrawn,
    Chart,
    ConfusionDrawn,
    CurveShown,
    DescentDrawn,
    HistogramDrawn,
    ImagesDrawn,
    NoChart,
    PointsDrawn,
)
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.section_heights import CHART
from gradstudio.ui.canvas.paint.chart.captions import caption
from gradstudio.ui.canvas.paint.chart.contour_painter import paint_descent
from gradstudio.ui.canvas.paint.chart.curve_painter import paint_curve
from gradstudio.ui.canvas.paint.chart.image_painter import paint_images
from gradstudio.ui.canvas.paint.chart.matrix_painter import paint_matrix
from gradstudio.ui.canvas.paint.chart.plane_painter import paint_plane
from gradstudio.ui.canvas.paint.chart.ridge_painter import paint_ridges
from gradstudio.ui.canvas.paint.primitives.canvas_style import STALE_OPACITY, CanvasStyle

LEAST_PX: Final = 14.0
"""Of less height a chart shows nothing."""


def paint_chart(painter: QPainter, style: CanvasStyle, chart: Chart, top: float, width: float, *, stale: bool) -> None:
    """What stands on a card of that width, from `top` on."""
    room = QRectF(PADDING, top, width - 2 * PADDING, CHART)
    if isinstance(chart, NoChart):
        _paint_reason(painter, style, chart.why, room)
        return
    painter.save()
    painter.setOpacity(painter.opacity() * (STALE_OPACITY if stale else 1.0))
    if words := next((text for text in caption(chart) if style.meter.width(text, "small") <= room.width()), ""):
        painter.setPen(style.color("text_dim"))
        style.meter.write(painter, "small", words, room.left(), room.top(), style.line)
        room.setTop(room.top() + style.line + 2)
    _paint(painter, style, chart, room)
    painter.restore()


def paint_distant_chart(painter: QPainter, style: CanvasStyle, chart: Chart, body: QRectF) -> bool:
    """On a card that is seen from afar: the picture alone; whether there is one."""
    if isinstance(chart, NoChart) or body.height() < LEAST_PX:
        return False
    _paint(painter, style, chart, body, words=False)
    return True


def _paint(painter: QPainter, style: CanvasStyle, chart: Chart, room: QRectF, *, words: bool = True) -> None:
    match chart:
        case ConfusionDrawn():
            paint_matrix(painter, style, chart, room, words=words)
        case ImagesDrawn():
            paint_images(painter, style, chart, room, words=words)
        case HistogramDrawn():
            paint_ridges(painter, style, chart, room, words=words)
        case CurveShown():
            paint_curve(painter, style, chart, room, words=words)
        case DescentDrawn():
            paint_descent(painter, style, chart, room, words=words)
        case BoundaryDrawn():
            paint_plane(painter, style.theme, chart, room)
        case PointsDrawn():
            box = paint_plane(painter, style.theme, chart, room)
            if not words:
                return
            across, up = ("target", "prediction") if chart.kind == "prediction" else ("1st", "2nd")
            painter.setPen(style.color("text_dim"))
            style.meter.write(painter, "small", up, box.left() + 4, box.top() + 1, style.line)
            right = box.right() - 4 - style.meter.width(across, "small")
            style.meter.write(painter, "small", across, right, box.bottom() - style.line - 1, style.line)


def _paint_reason(painter: QPainter, style: CanvasStyle, why: str, room: QRectF) -> None:
    painter.setPen(style.color("unknown_value"))
    lines = style.meter.wrapped(why, "small", room.width())
    for number, text in enumerate(lines[: int(room.height() / style.line)]):
        style.meter.write(painter, "small", text, room.left(), room.top() + style.line * number, style.line)
