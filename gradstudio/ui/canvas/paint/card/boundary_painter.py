"""Paints a decision boundary: what a function gives over the plane, and the data on it."""

import functools
import struct
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF

from gradstudio.protocol.messages.boundary import COLOURS, SIDE, BoundaryDrawn
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.section_heights import BOUNDARY
from gradstudio.ui.canvas.paint.primitives.canvas_style import STALE_OPACITY, CanvasStyle
from gradstudio.ui.theme import Theme

SCALE: Final = 2
"""Pixels of the picture for one of the plane: points are finer than that."""
POINT_PX: Final = 7.0
RIM_PX: Final = 2.0
FAINTEST: Final = 0.12
"""Of a class that is no surer than any other, so much colour is left."""
SOFT: Final = 0.72
"""The plane has so much of the colours of the data, so that these stand out."""
KEPT: Final = 64
"""So many pictures are kept."""


def paint_boundary(
    painter: QPainter, style: CanvasStyle, boundary: BoundaryDrawn, top: float, width: float, *, stale: bool
) -> None:
    """What stands on a card of that width, from `top` on."""
    room = QRectF(PADDING, top, width - 2 * PADDING, BOUNDARY)
    if boundary.why_none:
        painter.setPen(style.color("unknown_value"))
        lines = style.meter.wrapped(boundary.why_none, "small", room.width())
        for number, text in enumerate(lines[: int(BOUNDARY / style.line)]):
            style.meter.write(painter, "small", text, room.left(), top + style.line * number, style.line)
        return
    painter.save()
    painter.setOpacity(painter.opacity() * (STALE_OPACITY if stale else 1.0))
    paint_plane(painter, style.theme, boundary, room)
    painter.restore()


def paint_plane(painter: QPainter, theme: Theme, boundary: BoundaryDrawn, room: QRectF) -> None:
    """The picture, as large as a room allows."""
    side = min(room.width(), room.height())
    box = QRectF(room.center().x() - side / 2, room.top(), side, side)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(box, plane_image(boundary, theme))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("line"), 1.0))
    painter.drawRect(box)


def plane_image(boundary: BoundaryDrawn, theme: Theme) -> QImage:
    """The plane with the data on it; the latest ones are kept."""
    return _image(_Key(boundary, theme))


class _Key:
    """The same objects, not equal ones."""

    def __init__(self, boundary: BoundaryDrawn, theme: Theme) -> None:
        self.boundary, self.theme = boundary, theme

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.boundary is self.boundary and other.theme is self.theme

    def __hash__(self) -> int:
        return hash((id(self.boundary), id(self.theme)))


@functools.lru_cache(maxsize=KEPT)
def _image(key: _Key) -> QImage:
    boundary, theme = key.boundary, key.theme
    plane = QImage(boundary.levels, boundary.side, boundary.side, boundary.side, QImage.Format.Format_Indexed8)
    plane.setColorTable([color.rgb() for color in colours(theme, boundary.classes, SOFT)])
    image = plane.convertToFormat(QImage.Format.Format_RGB32).scaled(
        SIDE * SCALE, SIDE * SCALE, mode=Qt.TransformationMode.SmoothTransformation
    )
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_points(painter, theme, boundary)
    painter.end()
    return image


def colours(theme: Theme, classes: int, strength: float = 1.0) -> list[QColor]:
    """A colour for each byte of a picture (`protocol.messages.boundary`).

    Args:
        strength: how much of the colours of what is sure; the rest is the ground.
    """
    ground = theme.color("heat_zero")
    if not classes:
        ends = (theme.color("heat_negative"), theme.color("heat_positive"))
        middle = (COLOURS - 1) / 2
        places = [(level - middle) / middle for level in range(COLOURS)]
        return [_mixed(ground, ends[place > 0], abs(place) * strength) for place in places]
    shades = COLOURS // classes
    table = []
    for level in range(COLOURS):
        number, shade = divmod(level, shades)
        share = FAINTEST + (1 - FAINTEST) * shade / max(shades - 1, 1)
        table.append(_mixed(ground, _class_color(theme, min(number, classes - 1), classes), share * strength))
    return table


def _class_color(theme: Theme, number: int, classes: int) -> QColor:
    """Of two classes the colours of numbers below and above the middle; of more those that stand for words."""
    if classes == 2:
        return theme.color("heat_positive" if number else "heat_negative")
    color = QColor(theme.kinds[number % len(theme.kinds)])
    turns = number // len(theme.kinds)
    return color.darker(100 + 40 * turns) if turns else color


def _mixed(ground: QColor, color: QColor, share: float) -> QColor:
    pairs = ((ground.red(), color.red()), (ground.green(), color.green()), (ground.blue(), color.blue()))
    return QColor(*[round(low + (high - low) * share) for low, high in pairs])


def _paint_points(painter: QPainter, theme: Theme, boundary: BoundaryDrawn) -> None:
    """The data, each in the colour of what it is to be, with a rim that parts it from the plane."""
    numbers = struct.unpack(f"<{len(boundary.points) // 4}f", boundary.points)
    left, right, low, high = boundary.span
    side = SIDE * SCALE
    by_level: dict[int, list[QPointF]] = {}
    levels = boundary.point_levels or bytes(len(numbers) // 2)
    for x, y, level in zip(numbers[::2], numbers[1::2], levels, strict=True):
        at = QPointF((x - left) / (right - left) * side, (high - y) / (high - low) * side)
        by_level.setdefault(level, []).append(at)
    rim = theme.color("heat_mark" if theme.dark else "surface")
    _paint_dots(painter, rim, POINT_PX + RIM_PX, [at for some in by_level.values() for at in some])
    table = colours(theme, boundary.classes)
    for level, some in by_level.items():
        _paint_dots(painter, table[level] if boundary.point_levels else theme.color("text"), POINT_PX, some)


def _paint_dots(painter: QPainter, color: QColor, width: float, points: list[QPointF]) -> None:
    painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawPoints(QPolygonF(points))
