"""Paints a figure with Qt: for PNG, PDF, the clipboard and the frames of a film."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from gradstudio.scene.figure.drawing import (
    DASHES,
    LOWERED,
    RAISED,
    Curve,
    Drawing,
    Frame,
    Run,
    Words,
    arrow_head,
)
from gradstudio.scene.figure.figure_style import FigureStyle
from gradstudio.scene.figure.font_widths import SCRIPT, formula_width, ground_patch, left_of

LARGE: Final = 8
"""Letters are measured so much larger: a font's widths at its size are whole pixels."""


def paint_figure(painter: QPainter, drawing: Drawing, style: FigureStyle) -> None:
    """Every mark of the drawing; a unit of the painter is a point."""
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    for mark in drawing.marks:
        match mark:
            case Frame():
                _paint_frame(painter, mark, style)
            case Curve():
                _paint_curve(painter, mark, style)
            case Words():
                _paint_words(painter, mark, style, drawing.is_filled)


def _paint_frame(painter: QPainter, frame: Frame, style: FigureStyle) -> None:
    box = QRectF(frame.box.x, frame.box.y, frame.box.width, frame.box.height)
    painter.setPen(_pen(style, frame.stroke, frame.width, frame.is_dashed) if frame.stroke else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(style.ink(frame.fill)) if frame.fill else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, frame.radius, frame.radius)


def _paint_curve(painter: QPainter, curve: Curve, style: FigureStyle) -> None:
    path = QPainterPath(QPointF(*curve.start))
    for one, two, end in curve.segments:
        path.cubicTo(QPointF(*one), QPointF(*two), QPointF(*end))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(_pen(style, curve.stroke, curve.width, curve.is_dashed))
    painter.drawPath(path)
    head = arrow_head(curve)
    if head is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(style.ink(curve.stroke)))
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in head]))


def _paint_words(painter: QPainter, words: Words, style: FigureStyle, is_filled: bool) -> None:
    """The runs one after the other, each as wide as the layout took it to be, whatever font stands in."""
    if not words.formula:
        return
    if words.has_ground and is_filled:
        ground = ground_patch(words)
        painter.fillRect(QRectF(ground.x, ground.y, ground.width, ground.height), QColor(style.ink("ground")))
    x = left_of(words)
    painter.setPen(QColor(style.ink(words.role)))
    for run in words.formula:
        x += _paint_run(painter, run, words, x, style)


def _paint_run(painter: QPainter, run: Run, words: Words, x: float, style: FigureStyle) -> float:
    """Paint one run at `x` and hand back its width."""
    size = words.size * (SCRIPT if run.level else 1.0)
    room = formula_width((run,), words.size)
    font = QFont()
    font.setFamilies(list(style.families))
    font.setStyleHint(QFont.StyleHint.Serif)
    font.setItalic(run.is_italic)
    font.setPixelSize(round(size * LARGE))
    advance = QFontMetricsF(font).horizontalAdvance(run.text) / LARGE
    y = words.y - (0.0, RAISED, -LOWERED)[run.level] * words.size
    painter.save()
    painter.translate(x, y)
    squeeze = min(1.0, room / advance) if advance else 1.0
    painter.scale(squeeze / LARGE, 1 / LARGE)
    painter.setFont(font)
    painter.drawText(QPointF(0.0, 0.0), run.text)
    painter.restore()
    return min(room, advance) if advance else room


def _pen(style: FigureStyle, role: str, width: float, is_dashed: bool) -> QPen:
    pen = QPen(QColor(style.ink(role)), width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if is_dashed:
        pen.setDashPattern([length / width for length in DASHES])
    return pen
