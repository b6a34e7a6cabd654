"""What shows a person the way: the welcome page, the tour, the lesson of an example."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gradstudio.ui.theme import Theme
from gradstudio.ui.welcome.greeting import Greeting

if TYPE_CHECKING:
    from gradstudio.ui.main_window import MainWindow


class LearningCommands(QObject):
    """Shared by all documents of a window; nothing is built before it is wanted."""

    def __init__(self, window: "MainWindow") -> None:
        """Keep the window for later."""
        super().__init__(window)
        self._window = window
        self.greeting = Greeting(window)

    def welcome(self) -> None:
        """Show the welcome page."""
        self.greeting.show()

    def greet(self) -> None:
        """What a start without a file shows: the welcome page, unless a person wants none."""
        if self._window.settings.preferences.welcome:
            self.greeting.show()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.greeting.set_theme(theme)
