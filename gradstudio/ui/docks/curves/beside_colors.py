"""The colour of a run whose curves are drawn behind others, in the plot and in the list of runs."""

from PySide6.QtGui import QColor

from gradstudio.ui.theme import Theme


def beside_color(theme: Theme, place: int) -> QColor:
    """Of the run at this place among those that are drawn; the first colour is that of the run of now."""
    return QColor(theme.plot[(place + 1) % len(theme.plot)])
