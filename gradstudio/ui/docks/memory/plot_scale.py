"""The axes of the memory plot: bytes in the unit that fits, and seconds or milliseconds along the bottom."""

import math
import os

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import pyqtgraph
from PySide6.QtGui import QFontMetrics

from gradstudio.ui.docks.memory.curve import Array, unit_for
from gradstudio.ui.theme import Theme, ui_font

HEADROOM = 1.18
NAME_PX = 20.0
"""Height of the words at the upper edge, with a little room below them."""
SECONDS_FROM_S = 2.0
"""Spans at least so long are labelled in seconds, shorter ones in milliseconds."""
TICK_POINTS = 11
TICK_GAP_PX = 8
"""Least distance between the words of two ticks."""

Drawn = tuple[pyqtgraph.PlotDataItem, str, Array, Array]
"""A curve, its colour, its times and bytes."""


def headroom(height_px: float) -> float:
    """How much higher than its largest value a plot of that height is: the names of runs stand above all curves."""
    return max(HEADROOM, height_px / max(height_px - NAME_PX, 1.0)) if height_px > 2 * NAME_PX else HEADROOM


class PlotScale:
    """An axis in a unit of its own, and the box in which its curves are drawn."""

    def __init__(self, item: pyqtgraph.PlotItem, side: str) -> None:
        """The axis of a plot at a side, "left" or "right"; at the right it has a box of its own."""
        self._item, self._axis, self._label = item, item.getAxis(side), ("", "")
        self.factor, self.largest = 1.0, 0.0
        self.box = item.getViewBox()
        if side == "right":
            self.box = pyqtgraph.ViewBox(enableMouse=False, enableMenu=False)
            item.scene().addItem(self.box)
            self._axis.linkToView(self.box)
            self.box.setXLink(item.getViewBox())
            item.getViewBox().sigResized.connect(lambda main: self.box.setGeometry(main.sceneBoundingRect()))
        self.box.disableAutoRange()

    def show(self, drawn: dict[str, Drawn], theme: Theme) -> None:
        """Draw curves in the unit that fits the largest of them."""
        self._axis.setVisible(bool(drawn))
        largest = max((float(y[y == y].max()) for *_, y in drawn.values() if (y == y).any()), default=0.0)
        largest = max(largest, self.largest)
        unit, factor = unit_for(max(largest, 1.0))
        self.factor = factor
        for curve, _, x, y in drawn.values():
            curve.setData(x, y / factor, skipFiniteCheck=True, connect="finite")
        self.box.setYRange(0.0, max(largest, 10.0) * headroom(self.box.height()) / factor, padding=0.0)
        color = next((color for _, color, *_ in drawn.values()), theme.text_dim)
        if self._label != (unit, color):
            self._label = (unit, color)
            self._axis.setLabel(unit, color=color, **{"font-size": "8pt"})
            self._axis.setTextPen(color)


class SecondsAxis(pyqtgraph.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Ticks with their unit, the same for all of them, so that no line is spent on a label.

    Attributes:
        origin_s: from where times are counted: the beginning of a run while one is shown.
    """

    origin_s = 0.0

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """Round times counted from the origin, so far apart that their words have room."""
        (spacing, _offset), *finer = super().tickSpacing(low, high, size)
        words = self.tickStrings([low, high], 1.0, spacing)
        widest = max(QFontMetrics(ui_font(TICK_POINTS)).horizontalAdvance(text) for text in words) + TICK_GAP_PX
        while spacing < high - low and spacing * size < widest * (high - low):
            spacing *= 2
        return [(spacing, self.origin_s), *((fine, self.origin_s) for fine, _offset in finer)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        low, high = self.range
        unit, factor = ("s", 1.0) if high - low >= SECONDS_FROM_S else ("ms", 1000.0)
        decimals = max(0, -math.floor(math.log10(spacing * factor) + 1e-9))
        return [f"{(value - self.origin_s) * factor:z.{decimals}f} {unit}" for value in values]

    def set_origin(self, origin_s: float) -> None:
        """Count from another time: what is painted is out of date."""
        if origin_s != self.origin_s:
            self.origin_s = origin_s
            self.picture = None
            self.update()
