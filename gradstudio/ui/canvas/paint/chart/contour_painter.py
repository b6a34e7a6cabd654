"""Paints the path of two numbers on the contours of the loss: bands as on a map, from where it began to where it is."""

import functools
import struct
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from gradstudio.protocol.messages.charts import COLOURS, DescentDrawn
from gradstudio.protocol.number_format import format_number
from gradstudio.ui.canvas.paint.chart.chart_key import ChartKey
from gradstudio.ui.canvas.paint.chart.plane_painter import (
    KEPT,
    RIM_PX,
    SOFT,
    mixed_color,
    paint_dots,
    paint_square,
    place_on,
    plane_of,
)
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme

BANDS: Final = 10
GAP: Final = 4.0
"""Between two words at the axis."""
LINE_PX: Final = 4.0
TURN_PX: Final = 8.0
NOW_PX: Final = 16.0
MOST_DOTS: Final = 64
"""Of more turns the path is a line alone."""
FAR_AWAY: Final = 1e6
"""What is so much farther away than the plane is wide is not painted."""


def paint_descent(
    painter: QPainter, style: CanvasStyle, drawn: DescentDrawn, room: QRectF, *, words: bool = True
) -> None:
    """As large as a room allows, with the ends of both axes beside it."""
    image = contour_image(drawn, style.theme)
    if not words:
        paint_square(painter, style.theme, image, room)
        return
    left, right, low, high = (format_number(end, 2) for end in drawn.span)
    beside = max(style.meter.width(text, "small") for text in (low, high, drawn.names[1])) + 5
    box = paint_square(painter, style.theme, image, room.adjusted(beside, 0, 0, -style.line))
    painter.setPen(style.color("text_dim"))

    def write_up(text: str, top: float) -> None:
        style.meter.write(painter, "small", text, box.left() - 5 - style.meter.width(text, "small"), top, style.line)

    def write_across(text: str, x: float) -> None:
        style.meter.write(painter, "small", text, x, box.bottom(), style.line)

    write_up(high, box.top())
    write_up(drawn.names[1], box.center().y() - style.line / 2)
    write_up(low, box.bottom() - style.line)
    widths = [style.meter.width(text, "small") for text in (left, drawn.names[0], right)]
    for text, x in zip((left, drawn.names[0], right), across_places(box.left(), box.right(), widths), strict=True):
        if x is not None:
            write_across(text, x)


def across_places(left: float, right: float, widths: Sequence[float]) -> tuple[float, float | None, float]:
    """Where both ends of the axis and its name between them begin, so that none is written over another.

    Long ends leave no room for the name, and the left one begins before the picture does.
    """
    first, name, last = widths
    middle, end = (left + right - name) / 2, right - last
    if left + first + GAP <= middle and middle + name + GAP <= end:
        return left, middle, end
    return min(left, end - GAP - first), None, end


def contour_image(drawn: DescentDrawn, theme: Theme) -> QImage:
    """The contours with the path on them; the latest ones are kept."""
    return _image(ChartKey(drawn, theme))


@functools.lru_cache(maxsize=KEPT)
def _image(key: ChartKey[DescentDrawn]) -> QImage:
    drawn, theme = key.drawn, key.theme
    image = plane_of(drawn.levels, drawn.side, _bands(theme))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_path(painter, theme, _points(drawn))
    painter.end()
    return image


def _bands(theme: Theme) -> list[QColor]:
    """A colour for each byte: the ground at the least loss, in steps to that of positive numbers."""
    steps = [level * BANDS // COLOURS / (BANDS - 1) for level in range(COLOURS)]
    ground, full = theme.color("heat_zero"), theme.color("heat_positive")
    return [mixed_color(ground, full, step * SOFT) for step in steps]


def _points(drawn: DescentDrawn) -> list[QPointF]:
    """Pixels of the picture; what is no number, or too far away, is left out."""
    places = [place_on(drawn.span, x, y) for x, y in struct.iter_unpack("<2f", drawn.path)]
    return [at for at in places if abs(at.x()) < FAR_AWAY and abs(at.y()) < FAR_AWAY]


def _paint_path(painter: QPainter, theme: Theme, points: list[QPointF]) -> None:
    """A line with a rim, a dot a turn where there are few, a ring where it began, a large dot where it is."""
    if not points:
        return
    rim, color = theme.color("surface"), theme.color("heat_negative")
    line = QPolygonF(points)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for one, width in ((rim, LINE_PX + 2 * RIM_PX), (color, LINE_PX)):
        painter.setPen(QPen(one, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.drawPolyline(line)
    if len(points) <= MOST_DOTS:
        paint_dots(painter, color, TURN_PX, points)
    for one, width in ((rim, NOW_PX + RIM_PX), (color, NOW_PX), (rim, NOW_PX - 3 * RIM_PX)):
        paint_dots(painter, one, width, points[:1])
    if len(points) > 1:
        for one, width in ((rim, NOW_PX + 2 * RIM_PX), (color, NOW_PX)):
            paint_dots(painter, one, width, points[-1:])
