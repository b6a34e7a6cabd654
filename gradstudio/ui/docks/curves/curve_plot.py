"""The plot of the Curves dock; nothing outside its folder imports pyqtgraph for it."""

import os

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import pyqtgraph
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtWidgets import QWidget

from gradstudio.protocol.curve_titles import is_share
from gradstudio.ui.docks.curves.beside_colors import beside_color, dashes_of
from gradstudio.ui.docks.curves.curve_axes import Side, choose_sides
from gradstudio.ui.docks.curves.curve_legend import CurveLegend
from gradstudio.ui.docks.curves.curve_marks import CurveMarks
from gradstudio.ui.docks.curves.curve_pointer import CurvePointer
from gradstudio.ui.docks.curves.curve_table import smooth
from gradstudio.ui.docks.curves.twin_boxes import LeftBox
from gradstudio.ui.state.results.curve_store import BesideCurve, CurveStore, Name
from gradstudio.ui.theme import Theme, ui_font

TICK_POINTS = 11
LABEL_FROM_PX = 150
"""In less height the room is the curve's."""
NOTCH = 120
"""Of a wheel, eighths of a degree."""
STRONG, FAINT = 1.6, 60
"""Width of a curve, and how opaque what was smoothed stays behind it."""
SHARE_PADDING = 0.04
BESIDE, DIM = 1.3, 170
"""Width of a curve of another run, and how opaque it is."""


class CurvePlot(pyqtgraph.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Curves over turns; the mouse drags and zooms them, a click says where.

    What is drawn keeps the lowest and the highest point of each column of pixels.

    Attributes:
        marks: where literals became others.
        right: what has its axis at the right; shares alone are seen from 0 to 1 there.
        sides: the axis of each curve, by title; `chosen_sides` what was chosen of them.

    Signals:
        picked(float): a click at this number of turns, from 0; `chosen` a double click.
        menu_asked(str, QPoint): the right button over the name of this curve ("": of none), there on the screen.
    """

    picked = Signal(float)
    chosen = Signal(float)
    menu_asked = Signal(str, QPoint)

    def __init__(self, store: CurveStore, theme: Theme, parent: QWidget | None = None) -> None:
        """Plot a store; `refresh` draws what is new."""
        super().__init__(parent, background=theme.surface, viewBox=LeftBox())
        self._store, self._theme = store, theme
        self.sides: dict[str, Side] = {}
        self.chosen_sides: dict[str, Side] = {}
        self.is_log_right = False
        self._curves: dict[Name, tuple[pyqtgraph.PlotDataItem, pyqtgraph.PlotDataItem]] = {}
        self._titles: dict[Name, str] = {}
        self._beside: list[pyqtgraph.PlotDataItem] = []
        self._drawn: tuple[tuple[BesideCurve, ...], frozenset[str], int] | None = None
        self._weighed: tuple[tuple[BesideCurve, ...], frozenset[str], dict[str, float]] = ((), frozenset(), {})
        self._turns = 1
        self._has_runs = False
        self.setAccessibleName("Curves over turns")
        self.setMenuEnabled(False)
        item = self.getPlotItem()
        item.ctrlMenu.setParent(self, item.ctrlMenu.windowFlags())  # it is not shown; nobody else would end it
        item.hideButtons()
        item.showGrid(x=False, y=True, alpha=0.14)
        item.getAxis("right").setGrid(False)  # two grids of other steps could not be told apart
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
        self.names = CurveLegend(self)
        self.legend = self.names.legend
        self.right = item.getViewBox().right
        self.right.setZValue(item.getViewBox().zValue() + 1)
        self.scene().addItem(self.right)
        item.getAxis("right").linkToView(self.right)
        self._cursor = pyqtgraph.InfiniteLine(angle=90, movable=False)
        self._cursor.hide()
        self.addItem(self._cursor, ignoreBounds=True)
        self.marks = CurveMarks(self)
        self.pointer = CurvePointer(self)
        item.getViewBox().sigResized.connect(self._on_view_box_resized)
        self.scene().sigMouseClicked.connect(self._on_scene_mouse_clicked)
        self.scene().sigMouseMoved.connect(self._on_scene_mouse_moved)
        self.set_theme(theme)

    def refresh(self, titles: dict[Name, str]) -> None:
        """Draw the curves of these names, called so."""
        has_runs = bool(self._store.beside)
        if titles != self._titles or has_runs != self._has_runs:
            self._forget_curves()
            self._titles, self._has_runs = dict(titles), has_runs
        self._refresh_sides()
        longest = self._store.longest_of(titles)
        for name in titles:
            _, y = self._store.points(name)
            x = self._store.spread(name, longest[0] if longest is not None else name[0])
            whole, line = self._curve(name)
            whole.setVisible(self._turns > 1)
            if self._turns > 1:
                whole.setData(x, y, connect="finite")
            line.setData(x, smooth(y, self._turns), connect="finite")
        self._refresh_beside()
        self._color_axes()
        self.names.fit()
        self.pointer.refresh(self.lines())

    def lines(self) -> list[pyqtgraph.PlotDataItem]:
        """What is drawn with a name, this run's first."""
        return [*(line for _, line in self._curves.values()), *self._beside]

    def set_log(self, is_on: bool) -> None:
        """Values on a logarithmic scale."""
        self.getPlotItem().setLogMode(x=False, y=is_on)
        self.set_log_right(self.is_log_right)  # which pyqtgraph takes to be the same
        self.enableAutoRange()

    def set_log_right(self, is_on: bool) -> None:
        """Values at the right on a logarithmic scale."""
        self.is_log_right = is_on
        for item in self.right.addedItems:
            item.setLogMode(False, is_on)
        self.getPlotItem().getAxis("right").setLogMode(y=is_on)
        self._show_all_right()

    def choose_side(self, title: str, side: Side | None) -> None:
        """Put the curves of this title on an axis; None: where they belong by themselves."""
        self.chosen_sides.pop(title, None)
        if side is not None:
            self.chosen_sides[title] = side
        self.sides = {}
        self.refresh(self._titles)

    def show_all(self) -> None:
        """Zoom out until all of every curve is seen, on both axes."""
        self.enableAutoRange()
        self._show_all_right()

    def set_smoothing(self, turns: int) -> None:
        """Draw means of so many turns, what they are of faintly behind."""
        self._turns = turns
        self.refresh(self._titles)

    def show_turn(self, number: int | None) -> None:
        """The turn that is looked at, from 0; None: now."""
        self._cursor.setVisible(number is not None)
        if number is not None:
            self._cursor.setPos(number + 1)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.setBackground(theme.surface)
        for side in ("left", "bottom", "right"):
            axis = self.getPlotItem().getAxis(side)
            axis.setPen(pyqtgraph.mkPen(theme.line))
            axis.setTextPen(theme.text_dim)
            axis.setTickFont(ui_font(TICK_POINTS))
            axis.enableAutoSIPrefix(False)
        self.names.set_theme(theme)
        self._cursor.setPen(pyqtgraph.mkPen(theme.accent, width=1.4))
        self.pointer.set_theme(theme)
        self._forget_curves()
        self.refresh(self._titles)

    def _refresh_sides(self) -> None:
        """Put each curve on its axis; they are drawn anew where one goes to the other."""
        largest = {title: self._store.largest(name) for name, title in self._titles.items()}
        for title, number in self._largest_beside(frozenset(largest)).items():
            largest[title] = max(largest.get(title, 0.0), number)
        before = self.sides if self.sides.keys() == largest.keys() else {}
        sides = choose_sides(largest, self.chosen_sides, before)
        if sides != self.sides:
            self._forget_curves()
            self.sides = sides
            self._show_right(Side.RIGHT in sides.values())

    def _largest_beside(self, titles: frozenset[str]) -> dict[str, float]:
        """The largest magnitude of the curves of other runs that stand beside those of these titles, by title."""
        beside = self._store.beside
        if self._weighed[0] is not beside or self._weighed[1] != titles:
            largest: dict[str, float] = {}
            for curve in beside:
                if curve.is_beside(titles):
                    largest[curve.title] = max(largest.get(curve.title, 0.0), curve.largest)
            self._weighed = beside, titles, largest
        return self._weighed[2]

    def _refresh_beside(self) -> None:
        """Curves of other runs: of the values that are plotted, or of all where none is."""
        titles, beside = frozenset(self._titles.values()), self._store.beside
        if self._drawn is not None and self._drawn[0] is beside and self._drawn[1:] == (titles, self._turns):
            return
        self._drawn = beside, titles, self._turns
        for item in self._beside:
            self._remove(item)
        self._beside = [self._draw_beside(curve) for curve in beside if curve.is_beside(titles)]

    def _draw_beside(self, curve: BesideCurve) -> pyqtgraph.PlotDataItem:
        color = beside_color(self._theme, curve.place)
        color.setAlpha(DIM)
        pen = self._pen(color, BESIDE, curve.title)
        item = self._draw(pen, curve.title, f"{curve.label}: {curve.title}")
        item.setZValue(-1)
        item.setData(curve.turns + 1, smooth(curve.values, self._turns), connect="finite")
        return item

    def _curve(self, name: Name) -> tuple[pyqtgraph.PlotDataItem, pyqtgraph.PlotDataItem]:
        if name not in self._curves:
            number = 0 if self._has_runs else len(self._curves) % len(self._theme.plot)
            color = QColor(self._theme.plot[number])
            faint = QColor(color)
            faint.setAlpha(FAINT)
            title = self._titles[name]
            whole = self._draw(pyqtgraph.mkPen(faint, width=1), title)
            self._curves[name] = whole, self._draw(self._pen(color, STRONG, title), title, title)
        return self._curves[name]

    def _pen(self, color: QColor, width: float, title: str) -> object:
        """Of several runs the colour tells which it is, and dashes which of its values."""
        dashes = dashes_of(title, list(self.sides)) if self._has_runs else ()
        return pyqtgraph.mkPen(color, width=width, dash=list(dashes) or None)

    def _draw(self, pen: object, title: str, name: str | None = None) -> pyqtgraph.PlotDataItem:
        """A line of the curve of this title, on its axis; with a name it stands in the legend."""
        if self.sides[title] is Side.LEFT:
            return self.plot(pen=pen, name=name)
        item = pyqtgraph.PlotDataItem(pen=pen)
        item.setLogMode(False, self.is_log_right)
        self.right.addItem(item)
        item.setDownsampling(auto=True, method="peak")
        item.setClipToView(True)
        if name is not None:
            self.legend.addItem(item, f"{name} →")
        return item

    def _color_axes(self) -> None:
        """Of two axes, the numbers of one that only one curve has are in its colour."""
        for side in Side:
            colors = [line.opts["pen"].color() for line in self.lines() if self._side_of(line) is side]
            is_one = len(colors) == 1 and Side.RIGHT in self.sides.values()
            color = colors[0] if is_one else pyqtgraph.mkColor(self._theme.text_dim)
            axis = self.getPlotItem().getAxis(side)
            if axis.textPen().color() != color:
                axis.setTextPen(color)

    def _side_of(self, line: pyqtgraph.PlotDataItem) -> Side:
        return Side.RIGHT if line in self.right.addedItems else Side.LEFT

    def _show_right(self, is_there: bool) -> None:
        """An axis of its own for what cannot be read by the other, while there is some."""
        item = self.getPlotItem()
        if is_there != item.getAxis("right").isVisible():
            item.showAxis("right", is_there)
            self.right.setVisible(is_there)
            self._on_view_box_resized()
        self._show_all_right()

    def _show_all_right(self) -> None:
        titles = [title for title, side in self.sides.items() if side is Side.RIGHT]
        if all(map(is_share, titles)) and not self.is_log_right:
            self.right.setYRange(0, 1, padding=SHARE_PADDING)
        else:
            self.right.enableAutoRange(axis="y")

    def _forget_curves(self) -> None:
        for curve in (*(one for pair in self._curves.values() for one in pair), *self._beside):
            self._remove(curve)
        self._curves.clear()
        self._beside, self._drawn = [], None

    def _remove(self, curve: pyqtgraph.PlotDataItem) -> None:
        if self._side_of(curve) is Side.RIGHT:
            self.right.removeItem(curve)
            self.legend.removeItem(curve)
        else:
            self.removeItem(curve)

    def _on_view_box_resized(self) -> None:
        self.names.fit()
        self.right.setGeometry(self.getPlotItem().getViewBox().sceneBoundingRect())
        axis = self.getPlotItem().getAxis("bottom")
        is_high = self.height() >= LABEL_FROM_PX
        if is_high != bool(axis.labelText):
            axis.setLabel("turn" if is_high else None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Over the names it scrolls them, elsewhere it zooms."""
        if self.names.holds(self.mapToScene(event.position().toPoint())):
            self.names.scroll(event.angleDelta().y() / NOTCH)
            event.accept()
        else:
            super().wheelEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointer.leave()

    def _on_scene_mouse_moved(self, scene_pos: QPointF) -> None:
        box = self.getPlotItem().getViewBox()
        if box.sceneBoundingRect().contains(scene_pos):
            self.pointer.point(float(box.mapSceneToView(scene_pos).x()), self.mapFromScene(scene_pos))
        else:
            self.pointer.leave()

    def _on_scene_mouse_clicked(self, event: object) -> None:
        box, scene_pos = self.getPlotItem().getViewBox(), QPointF(event.scenePos())  # type: ignore[attr-defined]  # pyqtgraph's
        if event.button() is Qt.MouseButton.RightButton:  # type: ignore[attr-defined]  # pyqtgraph's
            place = self.viewport().mapToGlobal(self.mapFromScene(scene_pos))
            self.menu_asked.emit(self._title_at(scene_pos), place)
        elif box.sceneBoundingRect().contains(scene_pos):
            number = float(box.mapSceneToView(scene_pos).x()) - 1
            (self.chosen if event.double() else self.picked).emit(number)  # type: ignore[attr-defined]  # pyqtgraph's

    def _title_at(self, scene_pos: QPointF) -> str:
        """The title of the curve whose name in the legend is there; "": none is."""
        titles = {line: self._titles[name] for name, (_, line) in self._curves.items()}
        for sample, shown in self.legend.items:
            if any(one.sceneBoundingRect().contains(scene_pos) for one in (sample, shown)):
                return titles.get(sample.item, "")
        return ""
