"""Paints a confusion matrix: a cell a pair of classes, as strong as its share of what was to be that class."""

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.protocol.messages.charts import ConfusionDrawn
from gradstudio.scene.card.confusion_cells import AXIS, NAMES, cells_in
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.card.field_painter import qt_rect
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

TARGET, SAID = "target", "said"
LEADING: Final = 4.0
"""Between lines of text; a number in a cell needs none."""
FAINTEST: Final = 0.12
"""Even one that was taken for another is seen."""
STRONG: Final = 0.55
"""Of a share so large the number is written on the colour itself."""


def paint_matrix(
    painter: QPainter, style: CanvasStyle, drawn: ConfusionDrawn, room: QRectF, *, words: bool = True
) -> None:
    """Rows are targets, columns what was said; a number where its cell has room for it."""
    count = len(drawn.counts)
    inner = cells_in(Box(room.x(), room.y(), room.width(), room.height()))
    cells = qt_rect(inner) if words else room
    wide, high = cells.width() / count, cells.height() / count
    painter.fillRect(cells, style.color("field"))
    is_high = words and style.line - LEADING <= high
    for row, counts in enumerate(drawn.counts):
        total = sum(counts)
        for column, number in enumerate(counts):
            if number:
                box = QRectF(cells.left() + wide * column, cells.top() + high * row, wide, high)
                role = "heat_positive" if row == column else "heat_negative"
                painter.fillRect(box, style.faded(role, FAINTEST + (1 - FAINTEST) * number / total))
                if is_high and style.meter.width(f"{number:,}", "small") <= wide - 1:
                    _write_number(painter, style, box, number, number / total)
    if words:
        _paint_names(painter, style, cells, count)
        if 2 * (style.line - LEADING) <= NAMES + AXIS:  # from afar they would lie over the names
            _paint_axes(painter, style, cells)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.color("line"), 1.0))
    painter.drawRect(cells)


def _write_number(painter: QPainter, style: CanvasStyle, box: QRectF, number: int, share: float) -> None:
    text = f"{number:,}"
    painter.setPen(style.theme.color("surface" if share > STRONG else "text"))
    left, top = box.center().x() - style.meter.width(text, "small") / 2, box.center().y() - style.line / 2
    style.meter.write(painter, "small", text, left, top, style.line)


def _paint_axes(painter: QPainter, style: CanvasStyle, cells: QRectF) -> None:
    """What a row is, along the rows, and what a column is, along the columns."""
    painter.setPen(style.color("text_dim"))
    left = cells.center().x() - style.meter.width(SAID, "small") / 2
    style.meter.write(painter, "small", SAID, left, cells.top() - NAMES - AXIS, AXIS)
    painter.save()
    painter.translate(cells.left() - NAMES - AXIS, cells.center().y() + style.meter.width(TARGET, "small") / 2)
    painter.rotate(-90)
    style.meter.write(painter, "small", TARGET, 0, 0, AXIS)
    painter.restore()


def _paint_names(painter: QPainter, style: CanvasStyle, cells: QRectF, count: int) -> None:
    """Numbers of classes; of many every second or fourth."""
    painter.setPen(style.color("text_dim"))
    wide, high = cells.width() / count, cells.height() / count
    every = 1
    while every * min(wide, high) < style.line:
        every *= 2
    for number in range(0, count, every):
        text = str(number)
        width = style.meter.width(text, "small")
        across = cells.left() + wide * (number + 0.5) - width / 2
        style.meter.write(painter, "small", text, across, cells.top() - NAMES, NAMES)
        down = cells.top() + high * (number + 0.5) - style.line / 2
        style.meter.write(painter, "small", text, cells.left() - 3 - width, down, style.line)
