"""Signs of how a node is worn: a pin, the way through a bypassed card."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from gradstudio.operators.model import Family
from gradstudio.scene.card.card_layout import HEADER, CardLayout
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle


def paint_pin(painter: QPainter, rect: QRectF, ink: QColor) -> None:
    """A drawing pin, seen from the side."""
    x, y, side = rect.x(), rect.y(), rect.width()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawRoundedRect(QRectF(x + side * 0.2, y, side * 0.6, side * 0.2), 1, 1)
    painter.drawRect(QRectF(x + side * 0.33, y + side * 0.15, side * 0.34, side * 0.35))
    painter.drawRoundedRect(QRectF(x + side * 0.12, y + side * 0.48, side * 0.76, side * 0.16), 1, 1)
    painter.setPen(QPen(ink, 1.2))
    painter.drawLine(QPointF(x + side / 2, y + side * 0.62), QPointF(x + side / 2, y + side))


def bypass_ends(layout: CardLayout) -> tuple[QPointF, QPointF] | None:
    """Where what a bypassed card passes on comes in and goes out; None when nothing comes in."""
    ways = [row for row in layout.inputs if row.state == "wired" and row.family is not Family.MODULE]
    if not ways or not layout.outputs:
        return None
    return QPointF(ways[0].x, ways[0].y), QPointF(layout.outputs[0].x, layout.outputs[0].y)


def paint_bypass(painter: QPainter, style: CanvasStyle, layout: CardLayout, height: float) -> None:
    """Its rows step back, and a line leads through it from what comes in to what goes out."""
    if not layout.display_flags.collapsed:
        painter.fillRect(QRectF(1, HEADER, layout.width - 2, height - HEADER - 4), style.faded("card", 0.62))
    ends = bypass_ends(layout)
    if ends is None:
        return
    start, end = ends
    path = QPainterPath(start)
    reach = layout.width * 0.4
    path.cubicTo(start + QPointF(reach, 0), end - QPointF(reach, 0), end)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.color("accent"), 2.2))
    painter.drawPath(path)
    tip = path.pointAtPercent(0.5)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.color("accent"))
    painter.drawPolygon(QPolygonF([tip + QPointF(6, 0), tip + QPointF(-5, -5), tip + QPointF(-5, 5)]))
