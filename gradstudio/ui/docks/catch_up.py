"""What a panel need not do while nobody sees it, and does when somebody does."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAccessible, QShowEvent
from PySide6.QtWidgets import QDockWidget, QWidget


class CatchUp(QObject):
    """Puts the work of a panel off while it is hidden, of a document behind another, or behind another dock's tab."""

    def __init__(self, panel: QWidget, act: Callable[[], object]) -> None:
        """`act` does at once what was put off."""
        super().__init__(panel)
        self._panel, self._act = panel, act
        self._waits = False
        self._dock: QDockWidget | None = None
        panel.installEventFilter(self)

    def puts_off(self) -> bool:
        """Whether nobody sees the panel now; if so, it catches up as soon as somebody does.

        True as well when it catches up at once: what was asked for is in it.
        """
        if not is_seen(self._panel):
            self._waits = True
            return True
        caught_up = self._waits
        self.now()
        return caught_up

    def now(self) -> None:
        """Do what was put off, if anything was."""
        if self._waits:
            self._waits = False
            self._act()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """It is shown; from the first time on its dock tells when it comes before another one, too."""
        if isinstance(event, QShowEvent):  # sooner known than its type, which PySide6 makes a Python enumeration of
            if self._dock is None:
                self._dock = _dock_around(self._panel)
                if self._dock is not None:
                    self._dock.visibilityChanged.connect(self._look)
            self._look()
        return False

    def _look(self) -> None:
        if self._waits and is_seen(self._panel):
            self.now()


def is_seen(panel: QWidget) -> bool:
    """Whether something of a panel is in view, as Qt's own word is not behind a tab; on no window it is taken to be.

    A screen reader reads what is behind a tab, too.
    """
    if panel.parentWidget() is None or QAccessible.isActive():
        return True
    return panel.isVisible() and not panel.visibleRegion().isEmpty()


def _dock_around(panel: QWidget) -> QDockWidget | None:
    around = panel.parentWidget()
    while around is not None and not isinstance(around, QDockWidget):
        around = around.parentWidget()
    return around
