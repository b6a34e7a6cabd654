"""The plot of the Memory dock. The only module of the window that imports pyqtgraph."""

import os

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from gradstudio.ui.panels.curve import thinned, unit_for, value_at
from gradstudio.ui.state.memory_store import MemoryStore
from gradstudio.ui.theme import Theme, ui_font

WINDOW_S = 60.0
"""Seconds in view; the curves scroll."""
HEADROOM = 1.12
MAX_MARKS = 24


class MemoryPlot(pyqtgraph.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Curves of the last minute, a line and a label for each run, figures under the pointer.

    Signals:
        moment_changed(object): bytes by series under the pointer; None when it left.
    """

    moment_changed = Signal(object)

    def __init__(self, store: MemoryStore, theme: Theme, parent: QWidget | None = None) -> None:
        """Plot a store; `refresh` draws what is new."""
        super().__init__(parent, background=theme.surface)
        self._store, self._theme = store, theme
        self._curves: dict[str, pyqtgraph.PlotDataItem] = {}
        self._marks: list[pyqtgraph.InfiniteLine] = []
        self._unit, self._factor = "MiB", 1024.0**2
        self._pointer_s: float | None = None
        self.setAccessibleName("Memory over time")
        self.setMenuEnabled(False)
        self.setMouseEnabled(x=False, y=False)
        item = self.getPlotItem()
        item.hideButtons()
        item.showGrid(x=False, y=True, alpha=0.18)
        item.getViewBox().disableAutoRange()
        self._cursor = pyqtgraph.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self.scene().sigMouseMoved.connect(self._on_scene_mouse_moved)
        self.set_theme(theme)

    def refresh(self) -> None:
        """Draw the newest samples."""
        times = self._store.times_s
        if not len(times):
            return
        newest = float(times[-1])
        start = max(0.0, newest - WINDOW_S)
        first = int(times.searchsorted(start))
        columns = max(int(self.getPlotItem().getViewBox().width()), 64)
        largest = 1.0
        for name in self._store.names:
            x, y = thinned(times[first:], self._store.series(name)[first:], columns)
            if len(finite := y[y == y]):
                largest = max(largest, float(finite.max()))
            self._curve(name).setData(x, y / self._factor, skipFiniteCheck=True, connect="finite")
        self._choose_unit(largest)
        self.getPlotItem().setXRange(start, max(newest, start + 10.0), padding=0.0)
        self.getPlotItem().setYRange(0.0, largest * HEADROOM / self._factor, padding=0.0)
        self._draw_marks(start)
        self._say_moment()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.setBackground(theme.surface)
        for side in ("left", "bottom"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(pyqtgraph.mkPen(theme.line))
            axis.setTextPen(theme.text_dim)
            axis.setTickFont(ui_font(11))
            axis.enableAutoSIPrefix(False)
        self._cursor.setPen(pyqtgraph.mkPen(theme.text_dim))
        self._label_axes()
        for curve in self._curves.values():
            self.removeItem(curve)
        self._curves.clear()
        self._clear_marks()
        self.refresh()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer_s = None
        self._cursor.hide()
        self.moment_changed.emit(None)

    # ------------------------------------------------------------------ inner workings

    def _curve(self, name: str) -> pyqtgraph.PlotDataItem:
        if name not in self._curves:
            color = QColor(self._theme.plot[len(self._curves) % len(self._theme.plot)])
            fill = QColor(color)
            fill.setAlpha(20)
            self._curves[name] = self.plot(pen=pyqtgraph.mkPen(color, width=1), fillLevel=0, brush=fill, antialias=True)
        return self._curves[name]

    def _choose_unit(self, largest_bytes: float) -> None:
        unit, factor = unit_for(largest_bytes)
        if unit != self._unit:
            self._unit, self._factor = unit, factor
            self._label_axes()
            self.refresh()

    def _label_axes(self) -> None:
        style = {"color": self._theme.text_dim, "font-size": "8pt"}
        self.getPlotItem().setLabel("left", self._unit, **style)
        self.getPlotItem().setLabel("bottom", "seconds", **style)

    def _draw_marks(self, start: float) -> None:
        wanted = [mark for mark in self._store.marks if mark[0] >= start][-MAX_MARKS:]
        if [(line.value(), line.toolTip()) for line in self._marks] == wanted:
            return
        self._clear_marks()
        for seconds, text in wanted:
            options = {"color": self._theme.text_dim, "position": 0.93, "anchors": [(0, 0.5), (0, 0.5)]}
            pen = pyqtgraph.mkPen(self._theme.accent, style=pyqtgraph.QtCore.Qt.PenStyle.DashLine)
            line = pyqtgraph.InfiniteLine(seconds, angle=90, pen=pen, label=text, labelOpts=options)
            line.label.setFont(ui_font(10))
            line.setToolTip(text)
            self.addItem(line, ignoreBounds=True)
            self._marks.append(line)

    def _clear_marks(self) -> None:
        for line in self._marks:
            self.removeItem(line)
        self._marks.clear()

    def _on_scene_mouse_moved(self, scene_pos: QPointF) -> None:
        box = self.getPlotItem().getViewBox()
        if not box.sceneBoundingRect().contains(scene_pos):
            return
        self._pointer_s = float(box.mapSceneToView(scene_pos).x())
        self._cursor.setPos(self._pointer_s)
        self._cursor.show()
        self._say_moment()

    def _say_moment(self) -> None:
        if self._pointer_s is None:
            return
        times = self._store.times_s
        names = self._store.names
        self.moment_changed.emit({name: value_at(times, self._store.series(name), self._pointer_s) for name in names})
