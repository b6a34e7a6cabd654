"""Dialogs that grow with the window's text, but never beyond the screen."""

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from gradstudio.ui.theme import scale_px

EDGE_PX: Final = 48
"""So much of the screen's width and height is left for the frame and title of a dialog."""


def fit_dialog(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog a size that goes with the text, as far as the screen has room for it."""
    room = dialog.screen().availableSize() - QSize(EDGE_PX, EDGE_PX)
    dialog.resize(QSize(scale_px(width), scale_px(height)).boundedTo(room))
