"""The names of the curves, beside them: cut where they are long, and scrolled by the wheel where they are many."""

import os
from typing import Final

os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

import pyqtgraph
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QLabel

from gradstudio.ui.theme import Theme, ui_font

POINTS: Final = 9
GAP_PX: Final = 8
TOP_PX: Final = 2
SHARE: Final = 0.4
"""Of the width, what the names of the curves may take; longer ones are cut, and whole under the pointer."""
SAMPLE_PX: Final = 44
ROW_PX: Final = 16
"""Of a name: one above the other they are many where the dock is low."""
QWIDGETSIZE_MAX: Final = (1 << 24) - 1
NOTCH_PX: Final = 40


class _Sample(pyqtgraph.ItemSample):  # type: ignore[misc]  # pyqtgraph has no types
    """A line in the legend: a click on it is one on the plot behind it."""

    def mouseClickEvent(self, event: object) -> None:
        event.ignore()  # type: ignore[attr-defined]  # pyqtgraph's


class CurveLegend:
    """The legend of a plot.

    Attributes:
        more: says how many names are below what is seen.
    """

    def __init__(self, plot: pyqtgraph.PlotWidget) -> None:
        """Names of the curves of a plot."""
        self._plot = plot
        item = plot.getPlotItem()
        self.legend = item.addLegend(offset=(-GAP_PX, TOP_PX), labelTextSize=f"{POINTS}pt", sampleType=_Sample)
        self.legend.setParentItem(item)  # beside the curves, not over them
        self.legend.layout.setContentsMargins(0, 0, 0, 0)
        self._scrolled = 0.0
        self.more = QLabel(plot)
        self.more.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.more.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.legend.setLabelTextColor(theme.text)
        self.more.setFont(ui_font(POINTS))
        self.more.setStyleSheet(f"background: {theme.surface}; color: {theme.text_dim};")

    def fit(self) -> None:
        """Names beside the curves, cut where they would take too much of the width."""
        font = QFont()
        font.setPointSize(POINTS)
        metrics, most_px = QFontMetrics(font), int(self._plot.width() * SHARE) - SAMPLE_PX
        for sample, shown in self.legend.items:
            whole = sample.item.property("whole") or shown.text
            sample.item.setProperty("whole", whole)
            words = metrics.elidedText(whole, Qt.TextElideMode.ElideMiddle, max(most_px, SAMPLE_PX))
            if words != shown.text:
                shown.setMaximumWidth(QWIDGETSIZE_MAX)
                shown.setText(words)
            shown.setMaximumWidth(shown.itemRect().width())  # else it stays as wide as the widest was
            shown.setMaximumHeight(ROW_PX)
            shown.setMinimumHeight(ROW_PX)
            sample.setMaximumHeight(ROW_PX)
        self.legend.updateSize()
        beside = self.legend.width() + 2 * GAP_PX if self.legend.items else 1
        self._plot.getPlotItem().layout.setContentsMargins(1, 1, beside, 1)
        self.scroll(0)

    def scroll(self, notches: float) -> None:
        """Show names further up (more than 0) or down, as far as there are some."""
        overhang = max(self.legend.height() + 2 * TOP_PX - self._plot.height(), 0.0)
        if overhang:
            overhang += self.more.sizeHint().height()  # which covers the last of them
        self._scrolled = min(max(self._scrolled - notches * NOTCH_PX, 0.0), overhang)
        self.legend.anchor(itemPos=(1, 0), parentPos=(1, 0), offset=(-GAP_PX, TOP_PX - self._scrolled))
        self._say_more(overhang)

    def holds(self, scene_pos: QPointF) -> bool:
        """Whether a point of the plot's scene is beside the curves, where the names are."""
        return bool(self.legend.items) and scene_pos.x() >= self.legend.sceneBoundingRect().left()

    def _say_more(self, overhang: float) -> None:
        height = self.more.sizeHint().height()
        end = self._plot.height() - height
        rows = [shown.sceneBoundingRect() for _, shown in self.legend.items]
        below = [row.top() for row in rows if row.bottom() > end]
        self.more.setVisible(overhang > self._scrolled and bool(below))
        self.more.setText(f"▾ {len(below)} more")
        top = int(min([end, *below]))  # no row is seen in part
        self.more.setGeometry(
            self._plot.width() - int(self.legend.width()) - GAP_PX,
            top,
            int(self.legend.width()) + GAP_PX,
            self._plot.height() - top,
        )
