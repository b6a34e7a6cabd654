"""The menu of the axes of values: which curve stands on which, logarithms, and all of every curve."""

from __future__ import annotations

from functools import partial
from typing import Final, Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gradstudio.ui.docks.curves.curve_axes import Side

WORDS: Final = {Side.LEFT: "Left axis", Side.RIGHT: "Right axis"}
BY_ITSELF: Final = "By itself ({side})"
LOG_RIGHT: Final = "Logarithmic at the right"
ALL: Final = "Show all of every curve"


class Axes(Protocol):
    """A plot with an axis at each side."""

    @property
    def sides(self) -> dict[str, Side]:
        """Where each curve stands, by title."""

    @property
    def chosen_sides(self) -> dict[str, Side]:
        """What was chosen, by title."""

    @property
    def is_log_right(self) -> bool:
        """Whether the values at the right are on a logarithmic scale."""

    def choose_side(self, title: str, side: Side | None) -> None:
        """Put a curve there; None: where it belongs by itself."""

    def set_log_right(self, is_on: bool) -> None:
        """Values at the right on a logarithmic scale."""

    def show_all(self) -> None:
        """Zoom out until all is seen."""


class AxesMenu(QMenu):
    """Filled when it is opened."""

    def __init__(self, parent: QWidget) -> None:
        """A menu of no plot yet."""
        super().__init__(parent)
        self.plot: Axes | None = None
        self._of_curves: dict[str, QMenu] = {}
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """A menu a curve, then what holds for an axis."""
        self.clear()
        for menu in self._of_curves.values():
            menu.deleteLater()
        self._of_curves.clear()
        plot = self.plot
        if plot is None:
            return
        for title in plot.sides:
            self._of_curves[title] = self.addMenu(title.replace("&", "&&"))
            self._fill_curve(plot, title)
        self.addSeparator()
        log = _checkable(self, LOG_RIGHT, plot.is_log_right)
        log.setEnabled(Side.RIGHT in plot.sides.values())
        log.triggered.connect(plot.set_log_right)
        self.addAction(ALL).triggered.connect(plot.show_all)

    def of_curve(self, title: str) -> QMenu:
        """The menu of one curve; the whole where there is no such curve."""
        self.fill()
        return self._of_curves.get(title, self)

    def _fill_curve(self, plot: Axes, title: str) -> None:
        menu, chosen = self._of_curves[title], plot.chosen_sides.get(title)
        words = BY_ITSELF.format(side=plot.sides[title]) if chosen is None else "By itself"
        _checkable(menu, words, chosen is None).triggered.connect(partial(plot.choose_side, title, None))
        for side, words in WORDS.items():
            _checkable(menu, words, chosen is side).triggered.connect(partial(plot.choose_side, title, side))


def _checkable(menu: QMenu, words: str, is_on: bool) -> QAction:
    action = menu.addAction(words)
    action.setCheckable(True)
    action.setChecked(is_on)
    return action
