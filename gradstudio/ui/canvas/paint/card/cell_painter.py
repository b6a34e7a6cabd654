"""Paints the numbers of a small tensor in columns, and what stands for numbers that have no room."""

from typing import Final

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.scene import value_format
from gradstudio.scene.card.result_sections import Display
from gradstudio.scene.card.section_heights import CELL, STRIP
from gradstudio.ui.canvas.paint.card.text_fitting import (
    CELL_GAP,
    column_widths,
    first_line,
    fitting_cells,
    ink_of,
    mark_width,
    paint_lines,
)
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

LEAST_STEP: Final = 0.95
"""Lines of cells are so many heights of their letters apart, at least."""
Align = Qt.AlignmentFlag


def paint_cells(painter: QPainter, style: CanvasStyle, display: Display, rect: QRectF) -> None:
    """Numbers in columns between brackets; where too few digits have room, a strip of colours and the range."""
    assert display.picture is not None
    lead = max((style.meter.width(text, "mono_small") + 5 for text in display.lead), default=0.0)
    cells, role, mark = fitting_cells(style, display, rect.width() - lead - 8)
    step = min(max(CELL, style.line), (rect.height() - 2) / len(display.cells)) if cells else CELL
    if step < LEAST_STEP * style.meter.least:
        cells = ()
    if not cells:
        _paint_instead(painter, style, display, rect)
        return
    if mark:
        painter.setPen(ink_of(style, "faint"))
        style.meter.write(painter, "mono", mark, rect.left() + lead, rect.top() + 1, step * len(cells) - 1)
        lead += mark_width(style, mark)
    widths = column_widths(style, cells, role)
    inside = QRectF(rect.left() + lead, rect.top() + 1, sum(widths) + CELL_GAP * len(widths) + 1, step * len(cells) - 1)
    _paint_brackets(painter, ink_of(style, "faint"), inside)
    _paint_leads(painter, style, display.lead, rect, step)
    painter.setFont(style.meter.font(role))
    painter.setPen(ink_of(style, display.tone))
    for i, row in enumerate(cells):
        right = inside.left()
        for text, width in zip(row, widths, strict=False):
            right += width + CELL_GAP
            cell = QRectF(right - width - CELL_GAP, rect.top() + 1 + step * i, width + CELL_GAP - 3, step)
            painter.drawText(cell, Align.AlignVCenter | Align.AlignRight | Qt.TextFlag.TextDontClip, text)


def _paint_instead(painter: QPainter, style: CanvasStyle, display: Display, rect: QRectF) -> None:
    """Where numbers have no room: what is not finite in words before all, a strip of colours, the range."""
    assert display.picture is not None
    line, has_two = first_line(display.lines), rect.height() >= STRIP + style.line + 2
    is_odd = any(tone == "bad" for _, tone in line)
    if value_format.is_uniform(display.picture) or (is_odd and not has_two):
        paint_lines(painter, style, line, rect.left(), rect.top() + 1, rect.width())
        return
    paint_picture(painter, style, display, QRectF(rect.left(), rect.top() + 1, rect.width(), STRIP))
    if has_two:
        paint_lines(painter, style, line, rect.left(), rect.top() + STRIP + 2, rect.width())


def paint_picture(painter: QPainter, style: CanvasStyle, display: Display, box: QRectF) -> None:
    """Its numbers as colours in a box."""
    assert display.picture is not None
    picture = tensor_image.image(display.picture, style.theme)
    if picture is None:
        return
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    opacity = painter.opacity()
    painter.setOpacity(opacity * style.picture_opacity)
    painter.drawImage(box, picture)
    tensor_image.paint_marks(painter, box, display.picture, style.theme)
    painter.setOpacity(opacity)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.gradient if display.tone == "gradient" else style.color("line"), 1.0))
    painter.drawRect(box)


def _paint_leads(painter: QPainter, style: CanvasStyle, lead: tuple[str, ...], rect: QRectF, step: float) -> None:
    painter.setFont(style.meter.font("mono_small"))
    painter.setPen(style.color("unknown_value"))
    for number, text in enumerate(lead):
        painter.drawText(QRectF(rect.left(), rect.top() + 1 + step * number, 40, step), Align.AlignVCenter, text)


def _paint_brackets(painter: QPainter, color: QColor, rect: QRectF) -> None:
    painter.setPen(QPen(color, 1.0))
    for x, inward in ((rect.left() + 0.5, 3.0), (rect.right() - 0.5, -3.0)):
        painter.drawLines(
            [
                QLineF(x, rect.top(), x, rect.bottom()),
                QLineF(x, rect.top(), x + inward, rect.top()),
                QLineF(x, rect.bottom(), x + inward, rect.bottom()),
            ]
        )
