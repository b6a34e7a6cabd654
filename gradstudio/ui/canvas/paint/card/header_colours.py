"""The colours of headers when cards are coloured by a figure, and the legend that explains them."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPen

from gradstudio.graph.model import ItemId
from gradstudio.scene.colour_scale import MAX_KINDS, ColourScale, with_unit
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

if TYPE_CHECKING:
    from gradstudio.scene.scene import Scene

LEVELS: Final = 32
"""Figures are shown in so many steps: neighbours are batched."""
LEGEND_EDGE: Final = 12.0
BAR: Final = 168.0
LINE: Final = 17.0
Align = Qt.AlignmentFlag


LEFT_OUT_GROUND: Final = 0.16
"""How much grey the header of what takes no part in the program has."""


class HeaderColour(msgspec.Struct, frozen=True):
    """A header's ground, the ink that can be read on it, and the figure as text."""

    ground: QColor
    ink: QColor
    text: str = ""


def header_colour(scene: "Scene", style: CanvasStyle, item: ItemId) -> HeaderColour | None:
    """How a card's header is coloured; None: by its category. What is left out is grey and says so."""
    if item in scene.numbers.left_out:  # grey, yet every letter as clear as on any card
        layout = scene.stack.cards[item].layout
        return HeaderColour(
            style.faded("text_dim", LEFT_OUT_GROUND), style.color("text"), "muted" if layout.muted else "left out"
        )
    if scene.colours.scale is None:
        return None
    color = color_of(scene.colours.scale, style, item)
    return HeaderColour(color, ink_on(color, style), scene.colours.scale.text(item))


def color_of(colouring: ColourScale, style: CanvasStyle, item: ItemId) -> QColor:
    """The colour of a node; a neutral one where it has no figure."""
    share, kind = colouring.share(item), colouring.kind(item)
    if colouring.is_zero(item):
        return QColor(style.theme.scale_zero)
    if share is not None:
        return _steps(style.theme.scale)[round(share * (LEVELS - 1))]
    return QColor(style.theme.kinds[kind % len(style.theme.kinds)]) if kind is not None else style.color("line")


def ink_on(ground: QColor, style: CanvasStyle) -> QColor:
    """The theme's darkest or lightest, whichever can be read."""
    inks = (style.color("text"), style.color("canvas"))
    return max(inks, key=lambda ink: abs(_light(ink) - _light(ground)))


def _light(color: QColor) -> float:
    """Perceived lightness, 0 to 1."""
    parts = ((0.2126, color.redF()), (0.7152, color.greenF()), (0.0722, color.blueF()))
    return float(sum(share * part**2.2 for share, part in parts) ** 0.42)


@functools.cache
def _steps(stops: tuple[str, ...]) -> tuple[QColor, ...]:
    import numpy as np

    colors, places = [QColor(stop) for stop in stops], np.linspace(0, 1, len(stops))
    at = np.linspace(0, 1, LEVELS)
    channels = (
        np.interp(at, places, [part(color) for color in colors]).round().astype(int).tolist()
        for part in (QColor.red, QColor.green, QColor.blue)
    )
    return tuple(QColor(*rgb) for rgb in zip(*channels, strict=True))


def paint_legend(painter: QPainter, style: CanvasStyle, colouring: ColourScale, height: float) -> None:
    """At the bottom left of a view of that height: what the colours mean."""
    meter = style.meter
    words = colouring.words[:MAX_KINDS]
    zero = colouring.zero_text
    lines = _scale_lines(colouring) if colouring.is_scale else max(1, len(words))
    widths = [meter.width(word, "small") + 22 for word in (*words, zero)] + [
        meter.width(colouring.metric.title, "badge")
    ]
    inner = max(BAR, *widths) if colouring.is_scale else max(120.0, *widths)
    box = QRectF(LEGEND_EDGE, 0, inner + 24, LINE * (lines + 1) + 14)
    box.moveBottom(height - LEGEND_EDGE)
    painter.setPen(QPen(style.color("line"), 1.0))
    painter.setBrush(style.faded("surface", 0.94))
    painter.drawRoundedRect(box, 7, 7)
    inside = box.adjusted(12, 7, -12, -7)
    painter.setFont(meter.font("badge"))
    painter.setPen(style.color("text"))
    painter.drawText(QRectF(inside.x(), inside.y(), inside.width(), LINE), Align.AlignVCenter, colouring.metric.title)
    body = inside.adjusted(0, LINE, 0, 0)
    if not colouring.figures:
        _small(painter, style, QRectF(body.x(), body.y(), body.width(), LINE), "nothing yet: run the program")
    elif colouring.is_scale:
        _paint_scale(painter, style, colouring, body)
    else:
        _paint_kinds(painter, style, words, len(colouring.words), body)


def _scale_lines(colouring: ColourScale) -> int:
    """Lines of the legend below its title: the bar with its ends, and the colour of zero."""
    return max(1, (2 if colouring.high > 0 else 0) + bool(colouring.zero_text))


def _paint_scale(painter: QPainter, style: CanvasStyle, colouring: ColourScale, body: QRectF) -> None:
    if colouring.high > 0:
        _paint_bar(painter, style, colouring, body)
        body = body.adjusted(0, 2 * LINE, 0, 0)
    if colouring.zero_text:
        _paint_swatch(painter, style, body, style.theme.scale_zero, colouring.zero_text)


def _paint_bar(painter: QPainter, style: CanvasStyle, colouring: ColourScale, body: QRectF) -> None:
    ramp = QLinearGradient(body.topLeft(), QPointF(body.right(), body.top()))
    steps = _steps(style.theme.scale)
    for number, color in enumerate(steps):
        ramp.setColorAt(number / (LEVELS - 1), color)
    bar = QRectF(body.x(), body.y() + 3, body.width(), 10)
    painter.setPen(QPen(style.color("line"), 1.0))
    painter.setBrush(ramp if colouring.high > colouring.low else steps[round(0.5 * (LEVELS - 1))])
    painter.drawRoundedRect(bar, 2, 2)
    unit, line = colouring.metric.unit, QRectF(body.x(), body.y() + LINE, body.width(), LINE)
    _small(painter, style, line, with_unit(colouring.low, unit))
    if colouring.high > colouring.low:
        _small(painter, style, line, with_unit(colouring.high, unit), Align.AlignRight)
        _small(painter, style, line, "log", Align.AlignHCenter)


def _paint_kinds(painter: QPainter, style: CanvasStyle, words: Sequence[str], count: int, body: QRectF) -> None:
    for number, word in enumerate(words):
        more = number == MAX_KINDS - 1 and count > MAX_KINDS
        text = f"{word} and {count - MAX_KINDS} more" if more else word
        line = body.adjusted(0, LINE * number, 0, 0)
        _paint_swatch(painter, style, line, style.theme.kinds[number % len(style.theme.kinds)], text)


def _paint_swatch(painter: QPainter, style: CanvasStyle, line: QRectF, color: str, text: str) -> None:
    """A colour and what it means, at the top of a rectangle."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawRoundedRect(QRectF(line.x(), line.y() + 3, 12, 11), 2, 2)
    _small(painter, style, QRectF(line.x() + 20, line.y(), line.width() - 20, LINE), text)


def _small(painter: QPainter, style: CanvasStyle, line: QRectF, text: str, flag: Align = Align.AlignLeft) -> None:
    painter.setFont(style.meter.font("small"))
    painter.setPen(style.color("text_dim"))
    painter.drawText(line, Align.AlignVCenter | flag, text)
