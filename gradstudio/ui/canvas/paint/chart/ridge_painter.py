"""Paints histograms of one tensor over the turns, as ridges one before the other: the newest is in front."""

import struct
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gradstudio.protocol.messages.charts import BINS, HistogramDrawn
from gradstudio.protocol.number_format import format_number
from gradstudio.ui.canvas.paint.chart.plane_painter import mixed_color
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

TALLEST: Final = 0.4
"""So much of the height has a ridge."""
OLDEST: Final = 0.2
"""So much of its colour has the oldest ridge."""
FILLED: Final = 0.6
"""Inside it has so much of the colour of its outline; a narrow one is nothing else."""
LEAST_APART_PX: Final = 3.0
"""Of ridges that would stand closer, some are left out."""


def paint_ridges(
    painter: QPainter, style: CanvasStyle, drawn: HistogramDrawn, room: QRectF, *, words: bool = True
) -> None:
    """All of them over one axis, each as high as its fullest bin."""
    ridges = [*zip(drawn.edges, struct.iter_unpack(f"<{BINS}I", drawn.counts), strict=False)]
    turns = [str(turn) for turn in drawn.turns if turn]
    beside = max((style.meter.width(text, "small") for text in turns), default=0.0) + 4 if words else 0.0
    box = room.adjusted(0, 0, -beside, -style.line if words else 0)
    tall = box.height() * TALLEST
    apart = (box.height() - tall) / max(len(ridges) - 1, 1)
    every = 1
    while every * apart < LEAST_APART_PX and every < len(ridges):
        every *= 2
    low, high = min(edge[0] for edge in drawn.edges), max(edge[1] for edge in drawn.edges)
    axis = QRectF(box.left(), 0, box.width(), high - low)
    role = "backward" if drawn.kind == "gradients" else "forward"
    ground, full = style.color("field"), style.color(role)
    painter.fillRect(box, ground)
    for number, (edges, counts) in enumerate(ridges):
        behind = len(ridges) - 1 - number
        if behind % every:
            continue
        share = OLDEST + (1 - OLDEST) * (number + 1) / len(ridges)
        painter.setBrush(mixed_color(ground, full, share * FILLED))
        painter.setPen(QPen(mixed_color(ground, full, share), 1.0))
        base = box.bottom() - behind * apart if len(ridges) > 1 else box.bottom()
        painter.drawPolygon(_outline(edges, counts, axis, low, base, tall))
    if words:
        _write_axis(painter, style, box, (low, high), turns, apart * (len(ridges) - 1))


def _outline(
    edges: tuple[float, float], counts: Sequence[int], axis: QRectF, low: float, base: float, tall: float
) -> QPolygonF:
    """A ridge on its own bins; it begins and ends at its base."""
    fullest = max(counts) or 1
    first, wide = edges[0], (edges[1] - edges[0]) / BINS

    def across(value: float) -> float:
        return axis.left() + (value - low) / axis.height() * axis.width()

    tops = [QPointF(across(first + (k + 0.5) * wide), base - tall * count / fullest) for k, count in enumerate(counts)]
    return QPolygonF([QPointF(across(edges[0]), base), *tops, QPointF(across(edges[1]), base)])


def _write_axis(
    painter: QPainter, style: CanvasStyle, box: QRectF, ends: tuple[float, float], turns: list[str], depth: float
) -> None:
    """Both ends of the axis, zero where it is between them, and the turns of the first and the newest ridge."""
    painter.setPen(style.color("text_dim"))
    low, high = (format_number(end) for end in ends)
    if style.meter.width(f"{low}  {high}", "small") > box.width():
        low, high = (format_number(end, 1) for end in ends)
    right = box.right() - style.meter.width(high, "small")
    style.meter.write(painter, "small", low, box.left(), box.bottom(), style.line)
    style.meter.write(painter, "small", high, right, box.bottom(), style.line)
    if ends[0] < 0 < ends[1]:
        at = box.left() - ends[0] / (ends[1] - ends[0]) * box.width()
        middle = at - style.meter.width("0", "small") / 2
        if box.left() + style.meter.width(low, "small") + 6 < middle < right - 12:
            style.meter.write(painter, "small", "0", middle, box.bottom(), style.line)
    for text, above in ((turns[-1], 0.0), (turns[0], depth)) if turns else ():
        if above == 0.0 or above > style.line:
            style.meter.write(painter, "small", text, box.right() + 4, box.bottom() - above - style.line, style.line)
