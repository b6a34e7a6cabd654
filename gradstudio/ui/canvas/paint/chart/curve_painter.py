"""Paints a number over the turns of a loop; behind the moment that is looked at it is faint."""

from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gradstudio.protocol.messages.charts import CurveShown
from gradstudio.protocol.number_format import format_number
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

if TYPE_CHECKING:
    import numpy as np

COLUMNS: Final = 240
"""So many parts has a curve of more values; of each part the least and the largest are drawn."""
AHEAD: Final = 0.35
"""So much of its colour has what comes after the moment."""
DOT: Final = 2.5
ROOM: Final = 0.06
"""So much of the height stays free above the largest value and below the least."""


def paint_curve(painter: QPainter, style: CanvasStyle, shown: CurveShown, room: QRectF, *, words: bool = True) -> None:
    """The curve in its box, with the least and the largest value, the first and the last turn."""
    turns, values = thinned(shown)
    low, high = float(values.min()), float(values.max())
    ends = [format_number(high), format_number(low)]
    beside = max(style.meter.width(text, "small") for text in ends) + 4 if words else 0.0
    box = room.adjusted(0, 0, -beside, -style.line if words else 0)
    painter.fillRect(box, style.color("field"))
    tall, wide = high - low, max(float(turns[-1] - turns[0]), 1.0)
    free = box.height() * ROOM

    def at(turn: float, value: float) -> QPointF:
        up = (value - low) / tall if tall else 0.5
        across = box.left() + (turn - float(turns[0])) / wide * box.width()
        return QPointF(across, box.bottom() - free - up * (box.height() - 2 * free))

    place, number = shown.standing
    points = [at(float(turn), float(value)) for turn, value in zip(turns, values, strict=True)]
    behind = int(turns.searchsorted(number - 1, "right"))
    color = style.color("backward" if shown.key.grad else "forward")
    painter.setBrush(color)
    _line(painter, QPen(color, 1.5), points[:behind])
    faint = QColor(color)
    faint.setAlphaF(AHEAD)
    _line(painter, QPen(faint, 1.5), points[max(behind - 1, 0) :])
    now = float(shown.values[place])
    if low <= now <= high:
        middle = at(float(shown.turns[place]), now)
        if shown.looked_at is not None:
            painter.setPen(QPen(style.color("text_dim"), 1.0))
            painter.drawLine(QLineF(middle.x(), box.top(), middle.x(), box.bottom()))
        painter.setPen(QPen(color, 1.0))
        painter.setBrush(color)
        painter.drawEllipse(middle, DOT, DOT)
    if words:
        _write_ends(painter, style, box, ends, (int(turns[0]) + 1, int(turns[-1]) + 1))


def thinned(shown: CurveShown) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """The finite values and their turns; of many those that stand out: no extreme is lost. 0 where none is finite."""
    import numpy as np

    turns, values = np.asarray(shown.turns), np.asarray(shown.values)
    if not (is_known := np.isfinite(values)).all():
        turns, values = turns[is_known], values[is_known]
    if not len(values):
        return np.asarray(shown.turns)[-1:], np.zeros(1)
    if len(values) <= 2 * COLUMNS:
        return turns, values
    firsts = np.linspace(0, len(values), COLUMNS, endpoint=False).astype(int)
    parts = [(first, np.s_[first:last]) for first, last in zip(firsts, [*firsts[1:], len(values)], strict=True)]
    found = [first + place for first, part in parts for place in (values[part].argmin(), values[part].argmax())]
    kept = np.unique([0, *found, len(values) - 1])
    return turns[kept], values[kept]


def _line(painter: QPainter, pen: QPen, points: list[QPointF]) -> None:
    if len(points) < 2:
        return
    path = QPainterPath(points[0])
    for point in points[1:]:
        path.lineTo(point)
    painter.strokePath(path, pen)


def _write_ends(painter: QPainter, style: CanvasStyle, box: QRectF, ends: list[str], turns: tuple[int, int]) -> None:
    """The largest and the least value at the right, the first and the last turn below."""
    painter.setPen(style.color("text_dim"))
    high, low = ends
    style.meter.write(painter, "small", high, box.right() + 4, box.top(), style.line)
    if low != high:
        style.meter.write(painter, "small", low, box.right() + 4, box.bottom() - style.line, style.line)
    first, last = f"turn {turns[0]:,}", f"{turns[1]:,}"
    style.meter.write(painter, "small", first, box.left(), box.bottom(), style.line)
    if turns[0] != turns[1]:
        right = box.right() - style.meter.width(last, "small")
        style.meter.write(painter, "small", last, right, box.bottom(), style.line)
