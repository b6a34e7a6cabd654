"""Paints what the debugger adds to a card: the *What if* band, the foot with its costs, the badge of gradcheck."""

from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.debug_sections import BAND_EDGE, BAND_LINE, FOOT, Changed, DebugSections
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_arrow

CROSS: Final = 12.0
"""Side of the "x" that drops a *What if*."""
ARROW: Final = 10.0
"""Room for the arrow before a time."""
BETWEEN: Final = 8.0
Align = Qt.AlignmentFlag


def paint_debug_sections(painter: QPainter, style: CanvasStyle, shown: DebugSections, top: float, width: float) -> None:
    """Everything below the values; `top` and `width` in scene pixels from the card's left edge."""
    if shown.changes:
        _paint_band(painter, style, shown, QRectF(1, top, width - 2, shown.band_height))
        top += shown.band_height
    if shown.numbers:
        _paint_numbers(painter, style, shown.numbers, QRectF(PADDING, top, width - 2 * PADDING, FOOT))
        top += FOOT
    if shown.late:
        _paint_late(painter, style, shown.late, QRectF(PADDING, top, width - 2 * PADDING, FOOT))
        top += FOOT
    if shown.cost:
        paint_cost(painter, style, shown.cost, QRectF(PADDING, top, width - 2 * PADDING, FOOT))


def cross_box(top: float, width: float) -> QRectF:
    """Where the "x" of the band stands."""
    return QRectF(width - CROSS - 6, top + (BAND_LINE + BAND_EDGE - CROSS) / 2, CROSS, CROSS)


def _paint_band(painter: QPainter, style: CanvasStyle, shown: DebugSections, band: QRectF) -> None:
    ground = QPainterPath()
    ground.setFillRule(Qt.FillRule.WindingFill)
    round_corners = 0.0 if shown.cost or shown.numbers or shown.late else 7.0
    ground.addRoundedRect(band, round_corners, round_corners)
    ground.addRect(band.adjusted(0, 0, 0, -round_corners))
    painter.fillPath(ground, style.faded("info", 0.16))
    painter.fillRect(QRectF(band.x(), band.y(), 3, band.height() - round_corners), style.color("info"))
    for number, changed in enumerate(shown.changes):
        line = QRectF(PADDING, band.y() + BAND_EDGE / 2 + BAND_LINE * number, band.width() - 2 * PADDING, BAND_LINE)
        if number == 0:
            line.setRight(band.right() - CROSS - 10)
            _label(painter, style, line)
        else:
            line.setRight(band.right() - PADDING)
            line.setLeft(line.left() + style.meter.width("what if", "badge") + 7)
        paint_change(painter, style, changed, line)
    cross = cross_box(band.y(), band.width() + 2).adjusted(3, 3, -3, -3)
    painter.setPen(QPen(style.color("text_dim"), 1.4))
    painter.drawLines(
        [QLineF(cross.topLeft(), cross.bottomRight()), QLineF(cross.topRight(), cross.bottomLeft())]
    )  # fmt: skip


def _label(painter: QPainter, style: CanvasStyle, line: QRectF) -> None:
    """The words "what if" before the first change; moves the line's left edge behind them."""
    painter.setFont(style.meter.font("badge"))
    painter.setPen(style.color("info"))
    painter.drawText(line, Align.AlignVCenter, "what if")
    line.setLeft(line.left() + style.meter.width("what if", "badge") + 7)


def paint_change(painter: QPainter, style: CanvasStyle, changed: Changed, line: QRectF) -> None:
    """Before and after, and by how much where there is room for that too."""
    meter = style.meter
    words = f"{changed.sign} {changed.words}".strip()
    by = changed.by if meter.width(words, "mono") + meter.width(changed.by, "mono") + 10 <= line.width() else ""
    painter.setFont(meter.font("mono"))
    painter.setPen(style.gradient if changed.sign else style.color("text"))
    painter.drawText(line, Align.AlignVCenter, meter.elided(words, "mono", line.width()))
    painter.setPen(style.color("info"))
    painter.drawText(line, Align.AlignVCenter | Align.AlignRight, by)


def _paint_numbers(painter: QPainter, style: CanvasStyle, numbers: str, line: QRectF) -> None:
    """What a gradcheck found that does not agree; "autograd" gives way where there is no room."""
    meter = style.meter
    brief = numbers.replace("autograd ", "").replace(", differences ", " ≠ ")
    text = next((text for text in (numbers, brief) if meter.width(text, "mono_small") <= line.width()), brief)
    painter.setFont(meter.font("mono_small"))
    painter.setPen(style.color("danger"))
    painter.drawText(line, Align.AlignVCenter, meter.elided(text, "mono_small", line.width()))


def _paint_late(painter: QPainter, style: CanvasStyle, late: str, line: QRectF) -> None:
    """Which rank the others have waited for; how long gives way where there is no room."""
    brief = late.replace("rank ", "r")
    texts = (late, brief, f"{brief.partition(':')[0]} late")
    late = next((text for text in texts if style.meter.width(text, "mono_small") <= line.width()), texts[-1])
    painter.setFont(style.meter.font("mono_small"))
    painter.setPen(style.color("warning"))
    painter.drawText(line, Align.AlignVCenter, style.meter.elided(late, "mono_small", line.width()))


def paint_cost(painter: QPainter, style: CanvasStyle, cost: tuple[str, ...], line: QRectF) -> None:
    """Forward and backward time at the left, bytes alive and saved at the right.

    Where there is no room for all, "saved" goes first, then the backward, then the forward.
    """
    painter.fillRect(QRectF(line.x(), line.y(), line.width(), 1), style.faded("card_edge", 0.7))
    forward, backward, alive, saved = _fitting(style, cost, line.width())
    painter.setFont(style.meter.font("mono_small"))
    x = line.x()
    for text, role in ((forward, "forward"), (backward, "backward")):
        if text:
            at = QPointF(x + 4, line.center().y() + 0.5)
            paint_arrow(painter, style.color(role), at, 3.2, back=role == "backward")
            painter.setPen(style.color("text_dim"))
            painter.drawText(QRectF(x + ARROW, line.y(), 90, line.height()), Align.AlignVCenter, text)
            x += ARROW + style.meter.width(text, "mono_small") + BETWEEN
    if not any(cost):
        painter.setPen(style.color("unknown_value"))
        painter.drawText(line, Align.AlignVCenter, "–")
    painter.setPen(style.color("text_dim"))
    painter.drawText(line, Align.AlignVCenter | Align.AlignRight, _bytes(alive, saved))


def _fitting(style: CanvasStyle, cost: tuple[str, ...], width: float) -> tuple[str, str, str, str]:
    """As many of the costs as have room."""
    forward, backward, alive, saved = cost
    tries = [(forward, backward, alive, saved), (forward, backward, alive, ""), (forward, "", alive, "")]
    tries.append(("", "", alive, "") if alive else (forward, "", "", ""))
    return next((one for one in tries if _cost_width(style, one) <= width), tries[-1])


def _cost_width(style: CanvasStyle, cost: tuple[str, str, str, str]) -> float:
    meter = style.meter
    times = sum(ARROW + meter.width(text, "mono_small") + BETWEEN for text in cost[:2] if text)
    return times + meter.width(_bytes(*cost[2:]), "mono_small")


def _bytes(alive: str, saved: str) -> str:
    return " · ".join(text for text in (alive, f"saved {saved}" if saved else "") if text)
