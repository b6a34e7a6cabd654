"""Paints images side by side, each with its class; what was taken for another is framed, with both."""

import functools
import math
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from gradstudio.protocol.messages.charts import ImagesDrawn
from gradstudio.ui.canvas.paint.chart.chart_key import ChartKey
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme

GAP: Final = 2.0
KEPT: Final = 32
"""So many charts are kept as images."""
MIDDLE: Final = 128
COLOUR: Final = 3


def paint_images(
    painter: QPainter, style: CanvasStyle, drawn: ImagesDrawn, room: QRectF, *, words: bool = True
) -> None:
    """As large as all of them have room."""
    images = tile_images(drawn, style.theme)
    below = style.line if drawn.truths and words else 0.0
    columns, side = _grid(len(images), room, below, drawn.width / drawn.height)
    wide, high = (side, side * drawn.height / drawn.width)
    left = room.left() + max(room.width() - columns * (wide + GAP) + GAP, 0.0) / 2
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        box = QRectF(left + column * (wide + GAP), room.top() + row * (high + below + GAP), wide, high)
        painter.drawImage(box, image)
        if drawn.kind == "attention":  # a dark map ends where the next one begins
            _paint_frame(painter, style.color("line"), 1.0, box)
        if drawn.truths and words:
            _paint_label(painter, style, box, drawn.truths[number], drawn.said[number] if drawn.said else None)


def tile_images(drawn: ImagesDrawn, theme: Theme) -> tuple[QImage, ...]:
    """The images in the colours of a theme; those of the latest charts are kept."""
    return _images(ChartKey(drawn, theme))


@functools.lru_cache(maxsize=KEPT)
def _images(key: ChartKey[ImagesDrawn]) -> tuple[QImage, ...]:
    drawn = key.drawn
    size = drawn.height * drawn.width * drawn.channels
    is_colour = drawn.channels == COLOUR
    kind = QImage.Format.Format_RGB888 if is_colour else QImage.Format.Format_Indexed8
    table = _signed_colours(key.theme) if drawn.signed else [QColor(k, k, k).rgb() for k in range(256)]
    found = []
    for first in range(0, len(drawn.pixels) - size + 1, size):
        pixels = drawn.pixels[first : first + size]
        image = QImage(pixels, drawn.width, drawn.height, drawn.width * drawn.channels, kind)
        if not is_colour:
            image.setColorTable(table)
        found.append(image.convertToFormat(QImage.Format.Format_RGB32))
    return tuple(found)


def _signed_colours(theme: Theme) -> list[int]:
    """Below and above zero, as on a heat map."""
    from gradstudio.ui.canvas.paint.chart.plane_painter import mixed_color

    zero, ends = theme.color("heat_zero"), (theme.color("heat_negative"), theme.color("heat_positive"))
    return [
        mixed_color(zero, ends[level > MIDDLE], min(abs(level - MIDDLE) / (MIDDLE - 1), 1.0)).rgb()
        for level in range(256)
    ]


def _grid(count: int, room: QRectF, below: float, aspect: float) -> tuple[int, float]:
    """How many columns, and how wide an image is, so that they are as large as they can be."""
    best = (1, 0.0)
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        wide = (room.width() + GAP) / columns - GAP
        high = (room.height() + GAP) / rows - GAP - below
        best = max(best, (columns, min(wide, high * aspect)), key=lambda pair: pair[1])
    return best[0], max(best[1], 1.0)


def _paint_label(painter: QPainter, style: CanvasStyle, box: QRectF, right: int, said: int | None) -> None:
    is_wrong = said is not None and said != right
    tries = (f"{right}→{said}", str(said)) if is_wrong else (str(right),)
    text = next((text for text in tries if style.meter.width(text, "small") <= box.width()), "")
    painter.setPen(style.color("danger" if is_wrong else "text_dim"))
    left = box.center().x() - style.meter.width(text, "small") / 2
    style.meter.write(painter, "small", text, left, box.bottom(), style.line)
    if is_wrong:
        _paint_frame(painter, style.color("danger"), 1.4, box)


def _paint_frame(painter: QPainter, color: QColor, width: float, box: QRectF) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(color, width))
    painter.drawRect(box)
