"""Paints charts of points: a decision boundary with the data on it, predictions and components."""

import functools
import struct
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from gradstudio.protocol.messages.charts import COLOURS, SIDE, BoundaryDrawn, PointsDrawn
from gradstudio.ui.canvas.paint.chart.chart_key import ChartKey
from gradstudio.ui.theme import Theme

SCALE: Final = 2
"""Pixels of the picture for one of the plane: points are finer than that."""
POINT_PX: Final = 9.0
LARGE_POINT_PX: Final = 14.0
FEW_POINTS: Final = 100
"""So many points or fewer are large: their colours are told apart where the picture is 100 pixels across."""
RIM_PX: Final = 2.0
FAINTEST: Final = 0.12
"""Of a class that is no surer than any other, so much colour is left."""
SOFT: Final = 0.72
BELOW_POINTS: Final = 0.5
"""The plane has so much of the colours of the data, so that these stand out."""
KEPT: Final = 64
"""So many pictures are kept."""


def paint_plane(painter: QPainter, theme: Theme, drawn: BoundaryDrawn | PointsDrawn, room: QRectF) -> QRectF:
    """The picture, as large as a room allows; where it stands."""
    return paint_square(painter, theme, plane_image(drawn, theme), room)


def paint_square(painter: QPainter, theme: Theme, image: QImage, room: QRectF) -> QRectF:
    """A square picture with a frame, as large as a room allows; where it stands."""
    side = min(room.width(), room.height())
    box = QRectF(room.center().x() - side / 2, room.top(), side, side)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(box, image)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("line"), 1.0))
    painter.drawRect(box)
    return box


def plane_image(drawn: BoundaryDrawn | PointsDrawn, theme: Theme) -> QImage:
    """The plane with the data on it; the latest ones are kept."""
    return _image(ChartKey(drawn, theme))


@functools.lru_cache(maxsize=KEPT)
def _image(key: ChartKey[BoundaryDrawn | PointsDrawn]) -> QImage:
    image = _plane(key.drawn, key.theme) if isinstance(key.drawn, BoundaryDrawn) else _ground(key.theme)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if isinstance(key.drawn, PointsDrawn):
        _paint_lines(painter, key.theme, key.drawn)
    _paint_points(painter, key.theme, key.drawn)
    painter.end()
    return image


def _plane(boundary: BoundaryDrawn, theme: Theme) -> QImage:
    """What a function gives over the plane."""
    return plane_of(boundary.levels, boundary.side, colours(theme, boundary.classes, BELOW_POINTS))


def plane_of(levels: bytes, side: int, table: list[QColor]) -> QImage:
    """A byte a pixel of a square, the upper row first, in the colours of a table, as large as pictures are."""
    plane = QImage(levels, side, side, side, QImage.Format.Format_Indexed8)
    plane.setColorTable([color.rgb() for color in table])
    return plane.convertToFormat(QImage.Format.Format_RGB32).scaled(
        SIDE * SCALE, SIDE * SCALE, mode=Qt.TransformationMode.SmoothTransformation
    )


def _ground(theme: Theme) -> QImage:
    """An empty plane."""
    ground = QImage(SIDE * SCALE, SIDE * SCALE, QImage.Format.Format_RGB32)
    ground.fill(theme.color("field"))
    return ground


def _paint_lines(painter: QPainter, theme: Theme, drawn: PointsDrawn) -> None:
    """Where what is said is right, or the axes through the middle."""
    side = SIDE * SCALE
    painter.setPen(QPen(theme.color("text_dim"), 1.5, Qt.PenStyle.DashLine))
    if drawn.kind == "prediction":
        painter.drawLine(0, side, side, 0)
        return
    painter.drawLine(0, side // 2, side, side // 2)
    painter.drawLine(side // 2, 0, side // 2, side)


def colours(theme: Theme, classes: int, strength: float = 1.0) -> list[QColor]:
    """A colour for each byte of a picture (`protocol.messages.charts`).

    Args:
        strength: how much of the colours of what is sure; the rest is the ground.
    """
    ground = theme.color("heat_zero")
    if not classes:
        ends = (theme.color("heat_negative"), theme.color("heat_positive"))
        middle = (COLOURS - 1) / 2
        places = [(level - middle) / middle for level in range(COLOURS)]
        return [mixed_color(ground, ends[place > 0], abs(place) * strength) for place in places]
    shades = COLOURS // classes
    table = []
    for level in range(COLOURS):
        number, shade = divmod(level, shades)
        share = FAINTEST + (1 - FAINTEST) * shade / max(shades - 1, 1)
        table.append(mixed_color(ground, _class_color(theme, min(number, classes - 1), classes), share * strength))
    return table


def _class_color(theme: Theme, number: int, classes: int) -> QColor:
    """Of two classes the colours of numbers below and above the middle; of more those that stand for words."""
    if classes == 2:
        return theme.color("heat_positive" if number else "heat_negative")
    color = QColor(theme.kinds[number % len(theme.kinds)])
    turns = number // len(theme.kinds)
    return color.darker(100 + 40 * turns) if turns else color


def mixed_color(ground: QColor, color: QColor, share: float) -> QColor:
    """So much of a colour on a ground."""
    pairs = ((ground.red(), color.red()), (ground.green(), color.green()), (ground.blue(), color.blue()))
    return QColor(*[round(low + (high - low) * share) for low, high in pairs])


def _paint_points(painter: QPainter, theme: Theme, boundary: BoundaryDrawn | PointsDrawn) -> None:
    """The data, each in the colour of what it is to be, with a rim that parts it from the plane."""
    numbers = struct.unpack(f"<{len(boundary.points) // 4}f", boundary.points)
    by_level: dict[int, list[QPointF]] = {}
    levels = boundary.point_levels or bytes(len(numbers) // 2)
    for x, y, level in zip(numbers[::2], numbers[1::2], levels, strict=True):
        by_level.setdefault(level, []).append(place_on(boundary.span, x, y))
    width = LARGE_POINT_PX if len(levels) <= FEW_POINTS else POINT_PX
    rim = theme.color("heat_zero")  # a bright one would outshine the colours of small points
    paint_dots(painter, rim, width + RIM_PX, [at for some in by_level.values() for at in some])
    table = colours(theme, boundary.classes)
    for level, some in by_level.items():
        paint_dots(painter, table[level] if boundary.point_levels else theme.color("text"), width, some)


def place_on(span: tuple[float, float, float, float], x: float, y: float) -> QPointF:
    """Where a point of the plane is in a picture of it."""
    left, right, low, high = span
    side = SIDE * SCALE
    return QPointF((x - left) / (right - left) * side, (high - y) / (high - low) * side)


def paint_dots(painter: QPainter, color: QColor, width: float, points: list[QPointF]) -> None:
    """Round dots of so many pixels of the picture."""
    painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawPoints(QPolygonF(points))
