"""How curves are told apart: by colour the runs, in the plot and in the list of runs, and by dashes the values."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtGui import QColor

from gradstudio.ui.theme import Theme

DASHES: Final[tuple[tuple[float, ...], ...]] = ((), (6.0, 3.0), (1.5, 2.5), (8.0, 2.5, 1.5, 2.5))
"""Of the first value of a run, of the second, and so on, in widths of the pen; none: a line."""
TURN: Final = 0.07
"""Of the circle of hues, by which colours that come again are others."""


def beside_color(theme: Theme, place: int) -> QColor:
    """Of the run at this place among those that are drawn; the first colour is that of the run of now, and no other."""
    again, number = divmod(place, len(theme.plot) - 1)
    color = QColor(theme.plot[number + 1])
    hue = (color.hslHueF() + TURN * again) % 1.0
    return QColor.fromHslF(hue, color.hslSaturationF(), color.lightnessF())


def dashes_of(title: str, titles: Sequence[str]) -> tuple[float, ...]:
    """How the curve of a value is dashed among those of a run."""
    return DASHES[titles.index(title) % len(DASHES)] if title in titles else ()
