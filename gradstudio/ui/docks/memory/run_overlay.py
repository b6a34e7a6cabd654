"""What the memory plot shows of the past: a line at the moment, a run statement by statement, a node's part."""

from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pyqtgraph
from PySide6.QtGui import QColor

from gradstudio.ui.docks.memory.plot_scale import PlotScale
from gradstudio.ui.theme import Theme, ui_font

PART_ALPHA = 110
MARGIN = 0.06
"""Of the run's length, at either end."""
SHORTEST_S = 1e-4


class OverlayView(NamedTuple):
    """Where the person looks; all times are the plot's, in seconds.

    Attributes:
        moment_s: the moment of the timeline; None: now.
        run: (seconds, bytes alive) behind each statement, shown instead of the last minute; () for the last minute.
        part: start, end and bytes of the node under the pointer, and its name.
        name: of the node under the plot's own pointer, said where it has no part.
    """

    moment_s: float | None = None
    run: tuple[tuple[float, float], ...] = ()
    part: tuple[float, float, int, str] | None = None
    phase: str = "forward"
    name: str = ""


class RunOverlay:
    """The items that show it, in the scale of the tensors."""

    def __init__(self, scale: PlotScale, plot: pyqtgraph.PlotWidget) -> None:
        """Nothing is looked at."""
        self._scale, self.shown = scale, OverlayView()
        self._drawn: tuple[int, float, str] = (0, 0.0, "")
        self._largest: tuple[tuple[tuple[float, float], ...], float] = (), 0.0
        self._line = pyqtgraph.InfiniteLine(angle=90, movable=False)
        self._line.setZValue(20)
        self._run = pyqtgraph.PlotDataItem(stepMode="right", antialias=True, fillLevel=0)
        self._part = pyqtgraph.PlotDataItem(antialias=True, fillLevel=0)
        self._name = pyqtgraph.TextItem(anchor=(0, 1))
        self._name.setFont(ui_font(11))
        self._part.setZValue(10)
        plot.addItem(self._line, ignoreBounds=True)
        for item in (self._run, self._part, self._name):
            scale.box.addItem(item, ignoreBounds=True)
            item.hide()
        self._line.hide()

    @property
    def span(self) -> tuple[float, float] | None:
        """The times in view while a run is shown."""
        if not self.shown.run:
            return None
        start, end = self.shown.run[0][0], self.shown.run[-1][0]
        margin = max((end - start) * MARGIN, SHORTEST_S)
        return start - margin, end + margin

    @property
    def start_s(self) -> float:
        """Where the run that is shown began; 0 when none is."""
        return self.shown.run[0][0] if self.shown.run else 0.0

    @property
    def largest_bytes(self) -> float:
        """The highest figure that has to be in view."""
        part, run = self.shown.part, self.shown.run
        if run and self._largest[0] is not run:
            self._largest = run, max(map(itemgetter(1), run))
        return max(self._largest[1] if run else 0.0, float(part[2]) if part is not None else 0.0)

    def held_at(self, time_s: float) -> float | None:
        """Bytes of the run at a time; None before it, and when none is shown."""
        place = bisect_right(self.shown.run, time_s, key=lambda point: point[0])
        return self.shown.run[place - 1][1] if place else None

    def show(self, theme: Theme) -> None:
        """Draw it in the unit of the scale."""
        shown, factor = self.shown, self._scale.factor
        self._line.setVisible(shown.moment_s is not None)
        if shown.moment_s is not None:
            self._line.setPen(pyqtgraph.mkPen(theme.color(shown.phase), width=2))
            self._line.setPos(shown.moment_s)
        self._run.setVisible(bool(shown.run))
        drawn = (id(shown.run), factor, theme.name)
        if shown.run and drawn != self._drawn:
            self._drawn = drawn
            times, sizes = (np.array(column) for column in zip(*shown.run, strict=True))
            color = QColor(theme.plot[0])
            self._run.setPen(pyqtgraph.mkPen(color, width=1))
            color.setAlpha(34)
            self._run.setBrush(color)
            self._run.setData(times, sizes / factor)
        self._part.setVisible(shown.part is not None)
        if shown.part is not None:
            start, end, size, name = shown.part
            color = theme.color("accent")
            color.setAlpha(PART_ALPHA)
            self._part.setPen(pyqtgraph.mkPen(theme.accent))
            self._part.setBrush(color)
            self._part.setData([start, start, end, end], np.array([0, size, size, 0]) / factor)
            self._say(name, start, size / factor, theme)
        elif not shown.name:
            self._name.hide()

    def say_name(self, pointer_s: float | None, theme: Theme) -> None:
        """Name the node under the pointer beside it, where it has no part that is named."""
        if self.shown.part is None and self.shown.name and pointer_s is not None:
            self._say(self.shown.name, pointer_s, 0.0, theme)

    def _say(self, words: str, at_s: float, height: float, theme: Theme) -> None:
        """Towards the middle of the plot, so that it is not cut off."""
        low, high = self._scale.box.viewRange()[0]
        self._name.setAnchor((0, 1) if at_s < (low + high) / 2 else (1, 1))
        self._name.setText(words, color=theme.text)
        self._name.setPos(at_s, height)
        self._name.show()
