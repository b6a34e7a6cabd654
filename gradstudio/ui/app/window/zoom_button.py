"""The zoom figure of the status bar: a button with the few zooms one wants."""

from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget


class ZoomButton(QToolButton):
    """Shows the zoom; a click opens a menu."""

    def __init__(self, parent: QWidget) -> None:
        """100 %."""
        super().__init__(parent)
        self.setObjectName("zoom")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolTip("Zoom of the canvas: click for fit, 50, 100 and 200 %")
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("300 %") + 30)
        self.setMenu(QMenu(self))
        self.show_zoom(1.0)

    def show_zoom(self, factor: float) -> None:
        """Show the canvas's zoom."""
        text = f"{factor * 100:.0f} %"
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(f"Zoom {text}")

    def offer(self, actions: Iterable[QAction]) -> None:
        """Put commands into the menu."""
        menu = self.menu()
        menu.clear()
        menu.addActions(list(actions))
