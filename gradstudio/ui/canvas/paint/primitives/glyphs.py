"""Small drawn signs: ports by kind, badges, signs of gradient states."""

import math
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from gradstudio.operators.model import Family
from gradstudio.protocol.messages.records import GradState
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

PORT: Final = 5.2
"""Radius of a port, scene pixels."""
RIM: Final = 2.6


def paint_port(
    painter: QPainter, at: QPointF, family: Family, color: QColor, ground: QColor, *, filled: bool, leaf: bool = False
) -> None:
    """A port's sign; `leaf` is a leaf that requires grad (a square). `ground` parts it from the card."""
    painter.setPen(QPen(ground, RIM))
    painter.setBrush(ground)
    _shape(painter, at, family, PORT + 1.2, leaf)
    painter.setPen(QPen(color, 1.7, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.MiterJoin))
    painter.setBrush(color if filled else ground)
    _shape(painter, at, family, PORT - 0.6, leaf)
    _inner(painter, at, family, color, ground)


def _shape(painter: QPainter, at: QPointF, family: Family, radius: float, leaf: bool) -> None:
    match family:
        case Family.TENSOR | Family.ARRAY | Family.TUPLE | Family.UNKNOWN if not leaf:
            painter.drawEllipse(at, radius, radius)
        case Family.TENSOR:
            painter.drawRect(QRectF(at.x() - radius + 0.4, at.y() - radius + 0.4, 2 * radius - 0.8, 2 * radius - 0.8))
        case Family.NUMBER:
            painter.drawPolygon(_regular(at, radius + 1.0, 4, 0.0))
        case Family.TEXT:
            painter.drawPolygon(_regular(QPointF(at.x() - 0.6, at.y()), radius + 1.0, 3, 0.0))
        case Family.MODULE | Family.OPTIMIZER:
            painter.drawPolygon(_regular(at, radius + 0.6, 6, math.pi / 6))
        case Family.NONE:
            painter.drawLines(
                [
                    QLineF(at.x() - radius + 1, at.y() - radius + 1, at.x() + radius - 1, at.y() + radius - 1),
                    QLineF(at.x() - radius + 1, at.y() + radius - 1, at.x() + radius - 1, at.y() - radius + 1),
                ]
            )
        case _:
            side = radius * 1.5
            painter.drawRect(QRectF(at.x() - side / 2, at.y() - side / 2, side, side))


def _inner(painter: QPainter, at: QPointF, family: Family, color: QColor, ground: QColor) -> None:
    """The second ring of a tuple, the bar of optimizers and arrays."""
    if family is Family.TUPLE:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ground, 1.3))
        painter.drawEllipse(at, PORT - 2.6, PORT - 2.6)
    elif family in (Family.OPTIMIZER, Family.ARRAY):
        painter.setPen(QPen(ground, 1.6))
        painter.drawLine(QLineF(at.x(), at.y() - PORT + 1.6, at.x(), at.y() + PORT - 1.6))


def _regular(at: QPointF, radius: float, corners: int, turn: float) -> QPolygonF:
    points = (turn + 2 * math.pi * k / corners for k in range(corners))
    return QPolygonF([QPointF(at.x() + radius * math.cos(a), at.y() + radius * math.sin(a)) for a in points])


def paint_pill(painter: QPainter, rect: QRectF, text: str, ink: QColor, *, strong: bool = False) -> None:
    """A short text in a rounded edge on the ground that is there, so that it can be read; the font is the painter's."""
    edge = QColor(ink)
    edge.setAlphaF(1.0 if strong else 0.6)
    painter.setPen(QPen(edge, 1.6 if strong else 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = rect.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.drawRoundedRect(inner, inner.height() / 2, inner.height() / 2)
    painter.setPen(ink)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def paint_state(painter: QPainter, style: CanvasStyle, rect: QRectF, state: GradState) -> None:
    """The sign of a gradient's state, within a square of about 13 pixels."""
    gradient, faint = style.gradient, style.color("unknown_value")
    painter.setBrush(Qt.BrushStyle.NoBrush)
    match state:
        case "value":
            _nabla(painter, rect, gradient, filled=True)
        case "accumulated":
            _nabla(painter, rect.translated(-1.5, 1.0), style.color("warning"), filled=False)
            _nabla(painter, rect.translated(2.5, -1.0), style.color("warning"), filled=True)
        case "cut":
            _scissors(painter, rect, style.color("warning"))
        case "not_required":
            painter.setPen(QPen(faint, 1.4))
            middle = rect.center().y()
            painter.drawLine(QLineF(rect.left() + 2, middle, rect.right() - 2, middle))
        case "not_retained":
            _nabla(painter, rect, gradient, filled=False)
        case "not_reached":
            painter.setPen(QPen(faint, 1.2, Qt.PenStyle.DotLine))
            painter.drawEllipse(rect.adjusted(1.5, 1.5, -1.5, -1.5))
        case _:
            _nabla(painter, rect, faint, filled=False, pen_style=Qt.PenStyle.DotLine)


def _nabla(
    painter: QPainter, rect: QRectF, color: QColor, *, filled: bool, pen_style: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> None:
    painter.setPen(QPen(color, 1.2, pen_style))
    painter.setBrush(QBrush(color) if filled else QBrush(Qt.BrushStyle.NoBrush))
    left, right = rect.left() + 2, rect.right() - 2
    painter.drawPolygon(
        QPolygonF(
            [
                QPointF(left, rect.top() + 2.5),
                QPointF(right, rect.top() + 2.5),
                QPointF(rect.center().x(), rect.bottom() - 2),
            ]
        )
    )


def _scissors(painter: QPainter, rect: QRectF, color: QColor) -> None:
    painter.setPen(QPen(color, 1.3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    x, y, s = rect.left(), rect.top(), rect.width()
    painter.drawEllipse(QPointF(x + 0.24 * s, y + 0.27 * s), 0.14 * s, 0.14 * s)
    painter.drawEllipse(QPointF(x + 0.24 * s, y + 0.73 * s), 0.14 * s, 0.14 * s)
    painter.drawLine(QLineF(x + 0.36 * s, y + 0.34 * s, x + 0.95 * s, y + 0.74 * s))
    painter.drawLine(QLineF(x + 0.36 * s, y + 0.66 * s, x + 0.95 * s, y + 0.26 * s))


def paint_warning(painter: QPainter, style: CanvasStyle, rect: QRectF, role: str) -> None:
    """A disc with an exclamation mark in the colour of a role."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.color(role))
    painter.drawEllipse(rect)
    painter.setPen(style.color("card"))
    painter.setFont(style.meter.font("badge"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "!")


def paint_arrow(painter: QPainter, color: QColor, at: QPointF, size: float, *, back: bool) -> None:
    """A filled triangle around a point: to the right, or back to the left."""
    way = -size if back else size
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPolygon(
        QPolygonF(
            [
                QPointF(at.x() + way, at.y()),
                QPointF(at.x() - way * 0.8, at.y() - size),
                QPointF(at.x() - way * 0.8, at.y() + size),
            ]
        )
    )


def paint_check(painter: QPainter, style: CanvasStyle, rect: QRectF, *, ok: bool) -> None:
    """Gradcheck agreed (a tick) or not (a cross), on a disc."""
    color = style.color("ok" if ok else "danger")
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(rect)
    painter.setPen(QPen(style.color("card"), 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    x, y, s = rect.x(), rect.y(), rect.width()
    if ok:
        painter.drawPolyline(
            [
                QPointF(x + 0.26 * s, y + 0.54 * s),
                QPointF(x + 0.43 * s, y + 0.7 * s),
                QPointF(x + 0.74 * s, y + 0.32 * s),
            ]
        )
        return
    painter.drawLines(
        [
            QLineF(x + 0.3 * s, y + 0.3 * s, x + 0.7 * s, y + 0.7 * s),
            QLineF(x + 0.7 * s, y + 0.3 * s, x + 0.3 * s, y + 0.7 * s),
        ]
    )
