"""Paints notes: sticky cards with the words of their Markdown."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gradstudio.scene.items import Note
from gradstudio.scene.note.markdown import without_markup
from gradstudio.scene.note.note_layout import NOTE_EDGE, ROLES
from gradstudio.ui.canvas.paint.card.text_fitting import LINE
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

FOLD: Final = 12.0
CLOSE_LINE: Final = 12.5
"""Height of a line where a text has little room, view pixels."""
NEAR: Final = 0.74
"""From this zoom on the words of a note are large enough as they were laid out."""
TINTS: Final = {"blue": "info", "green": "ok", "red": "danger", "violet": "accent", "grey": "text_dim"}
"""Roles of the theme from which the colours of notes are mixed."""
TINT: Final = 0.3
Align = Qt.AlignmentFlag


def note_colors(style: CanvasStyle, color: str) -> tuple[QColor, QColor]:
    """Ground and ink of a note of that colour; "" is the usual one."""
    role = TINTS.get(color)
    if role is None:
        return style.color("note"), style.color("note_text")
    card, tint = style.color("card"), style.color(role)
    parts = ((card.red(), tint.red()), (card.green(), tint.green()), (card.blue(), tint.blue()))
    return QColor(*(round(under + (over - under) * TINT) for under, over in parts)), style.color("text")


def _paint_words(painter: QPainter, style: CanvasStyle, note: Note, ink: QColor) -> None:
    """The pieces of the text; code on a darker ground, links underlined."""
    soft = QColor(ink)
    soft.setAlphaF(0.1)
    for piece in note.words.pieces:
        rect = QRectF(NOTE_EDGE + piece.x, NOTE_EDGE + piece.y, piece.width, piece.height)
        if piece.style == "code" and piece.text:
            painter.fillRect(rect.adjusted(-2, 1, 2, -1), soft)
        painter.setFont(style.meter.font(ROLES[piece.style]))
        painter.setPen(ink)
        painter.drawText(rect.adjusted(0, 0, 8, 0), Align.AlignVCenter, piece.text)
        if piece.url:
            under = rect.bottom() - 2.5
            painter.setPen(QPen(ink, 1.0))
            painter.drawLine(QLineF(rect.left(), under, rect.right(), under))


def paint_note(painter: QPainter, style: CanvasStyle, note: Note, zoom: float) -> None:
    """A sticky card with a folded corner; from afar with smaller letters. The origin is its top left corner."""
    width, height = note.box.width, note.box.height
    shape = QPainterPath(QPointF(0, 0))
    for x, y in ((width - FOLD, 0), (width, FOLD), (width, height), (0, height), (0, 0)):
        shape.lineTo(x, y)
    ground, ink = note_colors(style, note.color)
    edge = QColor(ink)
    edge.setAlphaF(0.3)
    painter.setPen(QPen(edge, 1.0))
    painter.setBrush(ground)
    painter.drawPath(shape)
    painter.drawLines([QLineF(width - FOLD, 0, width - FOLD, FOLD), QLineF(width - FOLD, FOLD, width, FOLD)])
    painter.setPen(ink)
    if zoom >= NEAR:
        _paint_words(painter, style, note, ink)
        return
    _paint_small(painter, style, note, zoom)


def _paint_small(painter: QPainter, style: CanvasStyle, note: Note, zoom: float) -> None:
    """As much of the text as there is room for in letters that can be read."""
    width, height = note.box.width * zoom, note.box.height * zoom
    edge = min(NOTE_EDGE * zoom, width / 8)
    lines = style.meter.wrapped(without_markup(note.text), "badge_note", width - 2 * edge)
    line = LINE if len(lines) * LINE <= height else CLOSE_LINE
    room = int((height - 4) / line)
    if room < 1:
        return
    if len(lines) > room:
        lines[room - 1 :] = [style.meter.elided(f"{lines[room - 1]} …", "badge_note", width - 2 * edge)]
    painter.scale(1 / zoom, 1 / zoom)
    painter.setFont(style.meter.font("badge_note"))
    _paint_text(painter, lines, edge, line, width)


def _paint_text(painter: QPainter, lines: Sequence[str], edge: float, line: float, width: float) -> None:
    for number, text in enumerate(lines):
        rect = QRectF(edge, 2.0 + line * number, width - 2 * edge, line)
        painter.drawText(rect, Align.AlignVCenter, text)
