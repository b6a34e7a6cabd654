"""Fields of text with a button that empties them, which a screen reader can name."""

from typing import Final

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit

QT_NAME: Final = "_q_qlineeditclearaction"
"""What Qt calls the action behind its own button."""


def add_clear_button(field: QLineEdit) -> None:
    """Show a button that empties the field while there is something in it."""
    field.setClearButtonEnabled(True)
    for action in field.findChildren(QAction, QT_NAME):
        action.setText("Clear")
