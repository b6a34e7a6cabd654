"""What shows a person the way: the welcome page, the tour, the lesson of an example."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.theme import Theme
from gradstudio.ui.welcome.welcome_controller import WelcomeController

if TYPE_CHECKING:
    from gradstudio.ui.docks.lesson.panel import LessonPanel
    from gradstudio.ui.tour.tour import Tour


class LearningCommands(QObject):
    """Shared by all documents of a window; nothing is built before it is wanted."""

    def __init__(self, window: WindowHost, parent: QObject) -> None:
        """Keep the window for later."""
        super().__init__(parent)
        self._window = window
        self._awaits = window.frame.docks.has_lesson  # of the document that is to be opened now
        self.greeting = WelcomeController(window, self)
        self.greeting.tour_asked.connect(self.tour)
        window.frame.docks["lesson"].installEventFilter(self)

    @cached_property
    def touring(self) -> "Tour":
        """The tour, made when it is first wanted."""
        from gradstudio.ui.tour.tour import Tour

        return Tour(self._window, self)

    def welcome(self) -> None:
        """Show the welcome page."""
        self.greeting.show()

    # ------------------------------------------------------------------ lessons

    def lesson(self) -> None:
        """Show the lesson of the document in front, also when its dock was closed."""
        self._window.lesson.dismissed = False
        self._offer()
        self._window.go_to_dock("lesson")

    def has_lesson(self) -> bool:
        """Whether the document in front has one."""
        return self._window.documents.is_any_shown and self._window.lesson.watch.lesson is not None

    def take_in(self, lesson: "LessonPanel", is_shown: Callable[[], bool]) -> None:
        """A document was built: follow its lesson; `is_shown` tells whether it is in front now."""
        lesson.offered.connect(lambda _on: self._on_lesson_offered(lesson, is_shown()))
        lesson.welcome_asked.connect(self.welcome)

    def turn_to(self, lesson: "LessonPanel") -> None:
        """Another document is in front: its lesson is shown, or none."""
        self._offer(lesson)

    def follow_opened(self) -> None:
        """What the window begins with is open, or cannot be."""
        self._awaits = False
        self._offer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A lesson whose dock is closed stays away until it is asked for."""
        if event.type() == QEvent.Type.Close and self.has_lesson():
            self._window.lesson.dismissed = True
            QTimer.singleShot(0, self, self._offer)
        return super().eventFilter(watched, event)

    def _on_lesson_offered(self, lesson: "LessonPanel", is_shown: bool) -> None:
        lesson.dismissed = False
        if is_shown:
            self._offer(lesson)

    def _offer(self, lesson: "LessonPanel | None" = None) -> None:
        panel = lesson if lesson is not None else self._window.lesson
        frame = self._window.frame
        has_lesson = panel.watch.lesson is not None and not panel.dismissed
        if self._awaits and not has_lesson:
            return
        frame.docks.offer_lesson(has_lesson)
        frame.layout_keeper.filled()
        self._window.actions.refresh()

    # ------------------------------------------------------------------ welcome

    def greet(self) -> None:
        """What a start without a file shows: the welcome page, unless a person wants none."""
        if self._window.settings.preferences.welcome:
            self.greeting.show()

    # ------------------------------------------------------------------ tour

    def tour(self) -> None:
        """Lead through a first program, on an empty canvas."""
        self.greeting.hide()
        self.touring.begin()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.greeting.set_theme(theme)
        if "touring" in self.__dict__:
            self.touring.set_theme(theme)


def learning_rows(c: LearningCommands) -> tuple[Row, ...]:
    """What shows a person the way."""
    return (
        ActionRow(
            "help.welcome",
            "Welcome",
            "Help",
            1,
            c.welcome,
            (),
            "welcome",
            tooltip="New, Open, recent files, and the examples with pictures",
        ),
        ActionRow(
            "help.tour",
            "Tour",
            "Help",
            1,
            c.tour,
            (),
            "tour",
            tooltip="Build, run and differentiate a first program, step by step",
        ),
        ActionRow(
            "help.lesson",
            "Lesson",
            "Help",
            1,
            c.lesson,
            (),
            "lesson",
            c.has_lesson,
            tooltip="What to try with this example, step by step",
            why=lambda: "This document has no lesson; each example has one.",
        ),
    )
