"""Paints the empty room on a card before a run: faint outlines of what will stand there, and what inference says."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gradstudio.scene.card.card_layout import PADDING, CardLayout
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.scene.card.section_heights import CELL, EDGE, LINE, STATE, STRIP, Placeholder
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

FAINT: Final = 0.3
"""So much of the colour of dim text have the outlines."""
NUMBER_PX: Final = (30.0, 13.0)
CELLS_WIDTH: Final = 46.0
SIGN: Final = 8.0


def paint_placeholder(painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections) -> None:
    """Outlines result by result; dtype and device stand where they will stand after the run."""
    y = layout.height + well.leaves.height
    words = well.expected
    if not well.awaited:
        _paint_words(painter, style, words, PADDING, y + EDGE, layout.width - 2 * PADDING)
        return
    for each in well.awaited:
        inner = QRectF(PADDING, y + EDGE + each.lead, layout.width - 2 * PADDING, each.height)
        value = _value_box(each, inner)
        _outline(painter, style)
        if value.height() > 0:
            painter.drawRect(value)
        if each.gradient:
            _paint_gradient(painter, each, inner)
        beside = each.kind == "picture" and value.height() > 0
        left = value.right() + 10 if beside else inner.left()
        top = inner.top() + (LINE if beside else LINE + each.value if each.kind == "strip" else each.value)
        _paint_words(painter, style, words, left, top, inner.right() - left)
        words = ""
        y += each.height + EDGE + each.lead


def _outline(painter: QPainter, style: CanvasStyle) -> None:
    painter.setPen(QPen(style.faded("text_dim", FAINT), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _value_box(each: Placeholder, inner: QRectF) -> QRectF:
    """Where the value will stand."""
    left, top = inner.left() + 0.5, inner.top() + 1.5
    match each.kind:
        case "number":
            return QRectF(left, top + (each.value - NUMBER_PX[1]) / 2 - 1, *NUMBER_PX) if each.value else QRectF()
        case "cells":
            return QRectF(left, top, min(CELLS_WIDTH, inner.width()), max(each.value - 4, CELL - 3))
        case "picture":
            return QRectF(left, top, min(each.value - 4, inner.width() * 0.4), each.value - 4)
        case "strip":
            return QRectF(left, top, inner.width() - 1, STRIP)
        case _:
            return QRectF(left, top, min(64.0, inner.width()), LINE - 4) if each.value else QRectF()


def _paint_gradient(painter: QPainter, each: Placeholder, inner: QRectF) -> None:
    """The hollow sign of a gradient to come, and its picture where it will have one."""
    x, y = inner.left() + 2.5, inner.top() + each.height - each.gradient + (STATE - SIGN) / 2
    painter.drawPolygon(QPolygonF([QPointF(x, y), QPointF(x + SIGN, y), QPointF(x + SIGN / 2, y + SIGN)]))
    if each.kind == "picture" and each.gradient > STATE:
        left, side = x + SIGN + 8, each.gradient - 10
        box = QRectF(left, inner.top() + each.height - each.gradient + 3.5, min(side, inner.right() - left), side)
        painter.drawRect(box)


def _paint_words(painter: QPainter, style: CanvasStyle, words: str, x: float, y: float, width: float) -> None:
    if words:
        painter.setPen(style.color("unknown_value"))
        style.meter.write(painter, "mono_italic", style.meter.elided(words, "mono_italic", width), x, y, LINE)
