"""Paints the fields of literals on cards and frames: as wide as the words beside them allow."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.scene.card.card_layout import ROW, InputRow
from gradstudio.scene.card.field_choices import is_switch
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

EDGE: Final = 6.0
"""Between a field's rim and its text: at least three view pixels where cards are drawn with their rows."""


def field_rect(style: CanvasStyle, row: InputRow, before: float, behind: float) -> QRectF | None:
    """Where a field is drawn: what its own text leaves of its room goes to the words beside it.

    Args:
        before: where the words before it end, `behind`: where those behind it begin, scene pixels of the card.
    """
    if row.field is None:
        return None
    rect = qt_rect(row.field)
    higher = min(ROW - 1, max(rect.height(), style.meter.least + 2)) - rect.height()
    rect.adjust(0, -higher / 2, 0, higher / 2)
    if before <= rect.left() and rect.right() <= behind:
        return rect
    spare = rect.width() - style.meter.width(row.shown, _role(row)) - EDGE - _right_edge(row)
    if is_switch(row.parameter) and before - rect.left() > spare:
        spare = rect.width() - _right_edge(row) - 2.0  # the switch alone says it, too
    # what is cut all the same says it in half of its room, and its name is whole
    for_name = spare if spare >= 0.0 else rect.width() / 2
    left = min(max(0.0, before - rect.left()), for_name)
    right = min(max(0.0, rect.right() - behind), max(0.0, spare - left))
    return rect.adjusted(left, 0, -right, 0)


def paint_field(painter: QPainter, style: CanvasStyle, row: InputRow, rect: QRectF) -> None:
    """The small field that shows an unwired port's literal."""
    needed = row.required and row.state == "empty"
    painter.setBrush(style.color("field"))
    edge = QPen(style.faded("warning", 0.9), 1.0, Qt.PenStyle.DashLine) if needed else QPen(style.color("line"), 1.0)
    painter.setPen(edge)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    inner = rect.adjusted(EDGE, 0, -_right_edge(row), 0)
    if is_switch(row.parameter):
        _paint_switch(painter, style, QRectF(rect.right() - 24, rect.center().y() - 5, 20, 10), row)
    elif row.has_list:
        _paint_chevron(painter, style, QPointF(rect.right() - 9, rect.center().y()))
    role = _role(row)
    usual = "text_dim" if row.faint else "text"
    painter.setPen(style.color("warning" if needed else usual))
    if is_switch(row.parameter) and style.meter.width(row.shown, role) > inner.width():
        return
    text = style.meter.elided(row.shown, role, inner.width())
    style.meter.write(painter, role, text, inner.x(), inner.y(), inner.height())


def _role(row: InputRow) -> str:
    return "mono_italic" if row.faint else "mono"


def _right_edge(row: InputRow) -> float:
    """What is kept free of text at a field's right end: for a switch, for the sign of a list."""
    if is_switch(row.parameter):
        return 26.0
    return 14.0 if row.has_list else EDGE


def _paint_switch(painter: QPainter, style: CanvasStyle, rect: QRectF, row: InputRow) -> None:
    """A switch at the end of a field: to the right and coloured when it is on."""
    is_on = (row.text or row.parameter.default) == "True"
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.color("accent") if is_on else style.faded("text_dim", 0.45))
    painter.drawRoundedRect(rect, 5, 5)
    painter.setBrush(style.color("card"))
    painter.drawEllipse(QPointF(rect.right() - 5 if is_on else rect.left() + 5, rect.center().y()), 3.5, 3.5)


def _paint_chevron(painter: QPainter, style: CanvasStyle, at: QPointF) -> None:
    painter.setPen(QPen(style.color("text_dim"), 1.3))
    painter.drawPolyline(
        [QPointF(at.x() - 3, at.y() - 1.5), QPointF(at.x(), at.y() + 1.5), QPointF(at.x() + 3, at.y() - 1.5)]
    )


def qt_rect(box: Box) -> QRectF:
    """The box as Qt has it."""
    return QRectF(box.x, box.y, box.width, box.height)
