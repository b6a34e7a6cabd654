"""What the curves are at the turn under the pointer: a line across the plot, and a label beside the pointer."""

from html import escape

import pyqtgraph
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel

from gradstudio.ui.theme import Theme, ui_font

LABEL_POINTS = 11
GAP_PX = 14
DIGITS = 5
WAY = "click: the nearest turn kept; double click: this one"


class CurvePointer:
    """Follows the pointer over a plot, and the curves that are drawn in it.

    Attributes:
        label: the turn, and a line for each curve that has a value there.
    """

    def __init__(self, plot: pyqtgraph.PlotWidget) -> None:
        """Nothing is pointed at."""
        self._plot = plot
        self._lines: list[pyqtgraph.PlotDataItem] = []
        self._at: tuple[float, QPoint] | None = None
        self._across = pyqtgraph.InfiniteLine(angle=90, movable=False)
        self._across.hide()
        plot.addItem(self._across, ignoreBounds=True)
        self.label = QLabel(plot)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.label.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.label.setFont(ui_font(LABEL_POINTS))
        self.label.setStyleSheet(
            f"background: {theme.surface_raised}; color: {theme.text};"
            f" border: 1px solid {theme.line}; padding: 3px 6px;"
        )
        self._across.setPen(pyqtgraph.mkPen(theme.text_dim, style=Qt.PenStyle.DotLine))

    def refresh(self, lines: list[pyqtgraph.PlotDataItem]) -> None:
        """These are drawn now."""
        self._lines = lines
        if self._at is not None:
            self.point(*self._at)

    def point(self, turn: float, at: QPoint) -> None:
        """The pointer is at this turn, from 1, and at this pixel of the plot."""
        self._at = turn, at
        number = max(round(turn), 1)
        rows = [row for line in self._lines if (row := self._row(line, number))]
        if not rows:
            self._hide()
            return
        self._across.setPos(number)
        self._across.show()
        way = f"<span style='color:{self._theme.text_dim}'>{WAY}</span>"
        self.label.setText("<br>".join([f"turn {number:,}", *rows, way]))
        self.label.adjustSize()
        self._place(at)
        self.label.show()

    def leave(self) -> None:
        """Nothing is pointed at any more."""
        self._at = None
        self._hide()

    def _hide(self) -> None:
        self._across.hide()
        self.label.hide()

    def _place(self, at: QPoint) -> None:
        """Beside the pointer, where there is room."""
        width, height = self.label.width(), self.label.height()
        is_left = at.x() + GAP_PX + width > self._plot.width()
        x = at.x() - GAP_PX - width if is_left else at.x() + GAP_PX
        self.label.move(max(x, 0), max(min(at.y() + GAP_PX, self._plot.height() - height), 0))

    def _row(self, line: pyqtgraph.PlotDataItem, turn: int) -> str:
        """A curve's name and its newest value up to the turn; "" where it has none."""
        x, y = line.getOriginalDataset()
        place = int(x.searchsorted(turn, side="right")) - 1 if x is not None and len(x) else -1
        if place < 0 or turn > x[-1] or not abs(y[place]) < float("inf"):
            return ""
        color = pyqtgraph.mkPen(line.opts["pen"]).color().name()
        name = escape(line.property("whole") or line.name() or "")
        return f"<span style='color:{color}'>■</span> {name} <b>{y[place]:.{DIGITS}g}</b>"
