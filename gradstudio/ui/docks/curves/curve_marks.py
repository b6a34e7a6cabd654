"""Marks on the curves: from which turn on the literals of a run are others."""

import pyqtgraph

from gradstudio.ui.state.results.curve_store import CurveMark
from gradstudio.ui.theme import Theme

LABEL_AT = 0.96
"""Where the words stand, as a share of the height."""


class CurveMarks:
    """Dashed lines across a plot, with words at their upper end."""

    def __init__(self, plot: pyqtgraph.PlotWidget) -> None:
        """None yet."""
        self._plot = plot
        self._shown: tuple[tuple[CurveMark, ...], Theme] | None = None
        self._lines: list[pyqtgraph.InfiniteLine] = []

    def refresh(self, marks: tuple[CurveMark, ...], theme: Theme) -> None:
        """Show these, and no others."""
        if (marks, theme) == self._shown:
            return
        self._shown = marks, theme
        for line in self._lines:
            self._plot.removeItem(line)
        pen = pyqtgraph.mkPen(theme.warning, width=1.2, style=pyqtgraph.QtCore.Qt.PenStyle.DashLine)
        words = {"position": LABEL_AT, "color": theme.text, "fill": theme.surface_raised, "anchors": [(0, 0), (0, 0)]}
        self._lines = [
            pyqtgraph.InfiniteLine(mark.number + 0.5, angle=90, pen=pen, label=mark.words, labelOpts=words)
            for mark in marks
        ]
        for line in self._lines:
            self._plot.addItem(line, ignoreBounds=True)
