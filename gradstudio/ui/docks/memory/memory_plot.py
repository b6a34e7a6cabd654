"""The plot of the Memory dock; nothing outside its folder imports pyqtgraph."""

import math
import os

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QToolButton, QWidget

from gradstudio.ui.docks.memory.curve import label_sides, series_color, thin_curve, value_at
from gradstudio.ui.docks.memory.plot_scale import NAME_PX, TICK_POINTS, Drawn, PlotScale, SecondsAxis
from gradstudio.ui.docks.memory.run_overlay import OverlayView, RunOverlay
from gradstudio.ui.state.results.memory_store import MemoryStore
from gradstudio.ui.theme import Theme, icon, ui_font

WINDOW_S = 60.0
"""Seconds in view; the curves scroll."""
MAX_MARKS = 24
ZOOM_PX = 22
OWN_SCALE = "The run in its own time scale, statement by statement (or click the plot)"
LAST_MINUTE = "The last minute again"
HELD = ("tensors", "allocated")
"""The series that says what the program holds, by device."""
FAR = frozenset({"process", "total"})
"""Series so much larger than tensors that they have a scale of their own, at the right."""


class MemoryPlot(pyqtgraph.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Curves of the last minute on two scales, a line and a label for each run, figures under the pointer.

    Signals:
        moment_changed(object): bytes by series under the pointer; None when it left.
        pointed(object): seconds under the pointer; None when it left.
        picked(float): a click at these seconds.
    """

    moment_changed = Signal(object)
    pointed = Signal(object)
    picked = Signal(float)

    def __init__(self, store: MemoryStore, theme: Theme, parent: QWidget | None = None) -> None:
        """Plot a store; `refresh` draws what is new."""
        super().__init__(parent, background=theme.surface, axisItems={"bottom": SecondsAxis("bottom")})
        self._store, self._theme = store, theme
        self._curves: dict[str, pyqtgraph.PlotDataItem] = {}
        self._marks: list[pyqtgraph.InfiniteLine] = []
        self._pointer_s: float | None = None
        self.setAccessibleName("Memory over time")
        self.setMenuEnabled(False)
        self.setMouseEnabled(x=False, y=False)
        item = self.getPlotItem()
        item.hideButtons()
        item.showGrid(x=False, y=True, alpha=0.14)
        self._near, self._far = PlotScale(item, "left"), PlotScale(item, "right")
        self._cursor = pyqtgraph.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self._history = RunOverlay(self._near, self)
        self.zoom = self._zoom_button()
        self.scene().sigMouseClicked.connect(self._on_scene_mouse_clicked)
        self.scene().sigMouseMoved.connect(self._on_scene_mouse_moved)
        item.getViewBox().sigResized.connect(self._on_box_resized)
        self.set_theme(theme)

    def refresh(self) -> None:
        """Draw the newest samples."""
        times = self._store.times_s
        if not len(times):
            return
        if list(self._curves) != list(self._store.names):
            self._forget_curves()
        start, end = self._history.span or self._newest_span(float(times[-1]))
        self.getPlotItem().getAxis("bottom").set_origin(self._history.start_s)
        self.getPlotItem().setXRange(start, end, padding=0.0)
        self._near.largest = self._history.largest_bytes
        for scale, far in ((self._near, False), (self._far, True)):
            scale.show(self._drawn(start, [name for name in self._store.names if (name in FAR) == far]), self._theme)
        for name, curve in self._curves.items():
            curve.setVisible(name in FAR or not self._history.shown.run)  # samples are too far apart for a run
        self._history.show(self._theme)
        self._history.say_name(self._pointer_s, self._theme)
        self._draw_marks(start, end)
        self._place_zoom()
        self._say_moment()

    def look(self, history: "OverlayView") -> None:
        """Show where the person looks: a moment, a run instead of the last minute, a node's part."""
        if history != self._history.shown:
            self._history.shown = history
            self.refresh()

    def offer_zoom(self, possible: bool, on: bool) -> None:
        """Offer the run in its own time scale, or the last minute again."""
        self.zoom.setVisible(possible)
        self.zoom.blockSignals(True)
        self.zoom.setChecked(on)
        self.zoom.blockSignals(False)
        self.zoom.setToolTip(LAST_MINUTE if on else OWN_SCALE)
        self.zoom.setAccessibleName(LAST_MINUTE if on else OWN_SCALE)
        self.zoom.setIcon(icon("zoom_out" if on else "zoom_in", self._theme))

    @property
    def shows_run(self) -> bool:
        """Whether a run is shown instead of the last minute."""
        return bool(self._history.shown.run)

    @property
    def seconds_per_px(self) -> float:
        """Of the time axis."""
        low, high = self.getPlotItem().viewRange()[0]
        return float(high - low) / max(1.0, float(self.getPlotItem().getViewBox().width()))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.setBackground(theme.surface)
        for side in ("left", "right", "bottom"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(pyqtgraph.mkPen(theme.line))
            axis.setTextPen(theme.text_dim)
            axis.setTickFont(ui_font(TICK_POINTS))
            axis.enableAutoSIPrefix(False)
        self._cursor.setPen(pyqtgraph.mkPen(theme.text_dim))
        self.zoom.setIcon(icon("zoom_out" if self.zoom.isChecked() else "zoom_in", theme))
        self._forget_curves()
        self._clear_marks()
        self.refresh()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer_s = None
        self._cursor.hide()
        self.moment_changed.emit(None)
        self.pointed.emit(None)

    # ------------------------------------------------------------------ inner workings

    def _zoom_button(self) -> QToolButton:
        made = QToolButton(self)
        made.setObjectName("dock_button")
        made.setCheckable(True)
        made.setFixedSize(ZOOM_PX, ZOOM_PX)
        made.setIconSize(QSize(14, 14))
        made.hide()
        return made

    def _drawn(self, start: float, names: list[str]) -> dict[str, Drawn]:
        """The curves of some series, and their samples in view, thinned to what can be seen."""
        times = self._store.times_s
        first = max(int(times.searchsorted(start)) - 1, 0)  # at rest the curve comes from before the left edge
        columns = max(int(self.getPlotItem().getViewBox().width()), 64)
        made = {}
        for name in names:
            x, y = thin_curve(times[first:], self._store.series(name)[first:], columns)
            made[name] = (self._curve(name), self._color(name), x, y)
        return made

    def _color(self, name: str) -> str:
        return series_color(self._theme.plot, name)

    def _curve(self, name: str) -> pyqtgraph.PlotDataItem:
        if name not in self._curves:
            color = QColor(self._color(name))
            fill = QColor(color)
            fill.setAlpha(0 if name in FAR else 34)
            pen = pyqtgraph.mkPen(color, width=1, style=Qt.PenStyle.DotLine if name == "total" else None)
            curve = pyqtgraph.PlotDataItem(pen=pen, fillLevel=None if name in FAR else 0, brush=fill, antialias=True)
            (self._far if name in FAR else self._near).box.addItem(curve)
            self._curves[name] = curve
        return self._curves[name]

    def _forget_curves(self) -> None:
        for name, curve in self._curves.items():
            (self._far if name in FAR else self._near).box.removeItem(curve)
        self._curves.clear()

    def _draw_marks(self, start: float, end: float) -> None:
        wanted = [mark for mark in self._store.marks if mark[0] >= start][-MAX_MARKS:]
        if [(line.value(), line.toolTip()) for line in self._marks] != wanted:
            self._clear_marks()
            for seconds, text in wanted:
                self._add_mark(seconds, text)
        box = self.getPlotItem().getViewBox()
        box.updateMatrix()  # else labels are placed by the scale of the last paint
        room, top = box.width(), max(0.5, 1.0 - NAME_PX / 2 / max(box.height(), 1.0))
        metrics = QFontMetrics(ui_font(10))
        places = [(seconds - start) / (end - start) * room for seconds, _ in wanted]
        sides = label_sides(places, [metrics.horizontalAdvance(text) + 10.0 for _, text in wanted], room)
        for line, side in zip(self._marks, sides, strict=True):
            line.label.setVisible(bool(side))
            line.label.anchors = [(0, 0.5), (0, 0.5)] if side == "right" else [(1, 0.5), (1, 0.5)]
            line.viewTransformChanged()
            line.label.setPosition(top)

    def _add_mark(self, seconds: float, text: str) -> None:
        options = {"color": self._theme.text_dim, "fill": self._theme.surface}
        pen = pyqtgraph.mkPen(self._theme.accent, style=Qt.PenStyle.DashLine)
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
        self.pointed.emit(self._pointer_s)
        self._history.say_name(self._pointer_s, self._theme)

    def _on_scene_mouse_clicked(self, event: object) -> None:
        box, scene_pos = self.getPlotItem().getViewBox(), event.scenePos()  # type: ignore[attr-defined]  # pyqtgraph's
        if box.sceneBoundingRect().contains(scene_pos):
            self.picked.emit(float(box.mapSceneToView(scene_pos).x()))

    @staticmethod
    def _newest_span(newest: float) -> tuple[float, float]:
        start = max(0.0, newest - WINDOW_S)
        return start, max(newest, start + 10.0)

    def _on_box_resized(self) -> None:
        if self.isVisible():
            self.refresh()

    def _place_zoom(self) -> None:
        """Below the scale at the right and beside the one of time, where neither has words."""
        corner = self.getPlotItem().getViewBox().sceneBoundingRect().bottomRight()
        self.zoom.move(self.width() - ZOOM_PX, min(math.ceil(corner.y()) + 1, self.height() - ZOOM_PX))

    def _say_moment(self) -> None:
        if self._pointer_s is None:
            return
        times = self._store.times_s
        names = self._store.names
        figures = {name: value_at(times, self._store.series(name), self._pointer_s) for name in names}
        held, series = self._history.held_at(self._pointer_s), next((name for name in HELD if name in figures), None)
        self.moment_changed.emit(figures if held is None or series is None else {**figures, series: held})
