"""Paints the leaves of a module on its card: a row each, with a port to read it by."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.operators.model import Family
from gradstudio.scene import value_format
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.parameter_rows import GRADIENT, LEAF, MORE, ParameterRow, ParameterRows
from gradstudio.scene.items import LEAF_EDGE
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_port, paint_state

SIGN: Final = 12.0
INDENT: Final = 3.0
GAP: Final = 7.0
Align = Qt.AlignmentFlag


def paint_parameter_rows(
    painter: QPainter, style: CanvasStyle, leaves: ParameterRows, top: float, width: float
) -> None:
    """All rows below `top`; the painter's origin is the card's top left corner."""
    for row in leaves.rows:
        y = top + LEAF_EDGE + row.y
        if style.is_compact and row.gradient:
            _paint_in_one_line(painter, style, row, QRectF(PADDING, y, width - 2 * PADDING, row.height))
            continue
        _paint_first_line(painter, style, row, QRectF(PADDING, y, width - 2 * PADDING, LEAF))
        if row.height > LEAF:
            _paint_gradient(painter, style, row, QRectF(PADDING, y + LEAF - 1, width - 2 * PADDING, GRADIENT))
    if leaves.more:
        painter.setFont(style.meter.font("small"))
        painter.setPen(style.color("text_dim"))
        words = style.meter.elided(leaves.more, "small", width - 2 * PADDING)
        higher = max(0.0, style.line - MORE)  # large letters begin where the rows, which they have room in, end
        style.meter.write(painter, "small", words, PADDING, top + LEAF_EDGE + leaves.more_y - higher, style.line)


def paint_leaf_ports(painter: QPainter, style: CanvasStyle, leaves: ParameterRows, top: float, width: float) -> None:
    """The sign of every row: a square where it learns, else a hollow circle."""
    for row in leaves.rows:
        at = QPointF(width, top + LEAF_EDGE + row.y + LEAF / 2)
        color = style.family(Family.TENSOR, row.dtype)
        paint_port(painter, at, Family.TENSOR, color, style.color("card"), filled=row.learns, leaf=row.learns)


def _paint_first_line(painter: QPainter, style: CanvasStyle, row: ParameterRow, line: QRectF) -> None:
    """Name and shape at the left, the values at the right, in as many digits as there is room for."""
    meter = style.meter
    name = meter.elided(row.path, "mono", line.width() * 0.62)
    _text(painter, style, name, "mono", style.color("text"), line)
    left = line.left() + meter.width(name, "mono") + GAP
    shape = row.shape if meter.width(row.shape, "mono") <= line.right() - left else ""
    _text(painter, style, shape, "mono", style.color("text_dim"), QRectF(left, line.y(), line.right() - left, LEAF))
    room = line.right() - left - meter.width(shape, "mono") - GAP
    roles = ("mono_italic",) if row.guessed else ("mono", "mono_small")
    tries = [(text, role) for role in roles for text in row.values if meter.width(text, role) <= room]
    if tries:
        color = style.color("unknown_value" if row.guessed else "text")
        _text(painter, style, *tries[0], color, line, Align.AlignRight)


def _paint_in_one_line(painter: QPainter, style: CanvasStyle, row: ParameterRow, line: QRectF) -> None:
    """Where letters are large for their card: the gradient at the right, in the place of the values."""
    has_value = row.state in ("value", "accumulated")
    role, beside_name = ("mono" if has_value else "small_italic"), style.meter.width(row.path, "mono") + GAP
    room = max(line.width() / 2, line.width() - beside_name) - SIGN - 4
    words = _gradient_words(style, row, role, room)
    left = line.right() - style.meter.width(words, role)
    paint_state(painter, style, QRectF(left - SIGN - 4, line.center().y() - SIGN / 2, SIGN, SIGN), row.state)
    color = style.gradient if has_value else style.color("unknown_value")
    _text(painter, style, words, role, color, QRectF(left, line.y(), line.right() - left, line.height()))
    room = left - SIGN - GAP - 4 - line.left()
    name = f"{row.path} {row.shape}"
    if style.meter.width(name, "mono") > room:
        name = style.meter.elided(row.path, "mono", room)
    _text(painter, style, name, "mono", style.color("text"), line)


def _gradient_words(style: CanvasStyle, row: ParameterRow, role: str, room: float) -> str:
    """The norm of a gradient with as many digits as fit, or the state's words."""
    if row.grad is None:
        return style.meter.elided(row.gradient, role, room)
    if style.meter.width(row.gradient, role) <= room:
        return row.gradient
    one = value_format.single(row.grad)
    texts = (value_format.norm_words(row.grad),) if one is None else value_format.number_wordings(one)
    return next((text for text in texts if style.meter.width(text, role) <= room), "")


def _paint_gradient(painter: QPainter, style: CanvasStyle, row: ParameterRow, line: QRectF) -> None:
    sign = QRectF(line.left() + INDENT, line.top() + (GRADIENT - SIGN) / 2, SIGN, SIGN)
    paint_state(painter, style, sign, row.state)
    has_value = row.state in ("value", "accumulated")
    color = style.gradient if has_value else style.color("unknown_value")
    body = line.adjusted(INDENT + SIGN + 5, 0, 0, 0)
    _text(painter, style, row.gradient, "mono" if has_value else "small_italic", color, body)
    if row.state == "accumulated":
        left = style.meter.width(row.gradient, "mono") + 8
        words = style.meter.elided("accumulated", "small_italic", body.width() - left)
        _text(painter, style, words, "small_italic", style.color("warning"), body.adjusted(left, 0, 0, 0))


def _text(
    painter: QPainter,
    style: CanvasStyle,
    text: str,
    role: str,
    color: QColor,
    line: QRectF,
    side: Align = Align.AlignLeft,
) -> None:
    painter.setFont(style.meter.font(role))
    painter.setPen(color)
    painter.drawText(line, Align.AlignVCenter | side, text)
