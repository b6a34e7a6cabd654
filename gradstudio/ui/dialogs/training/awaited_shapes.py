"""A command that needs shapes nobody knows yet: it begins by itself once the engine has told them, or is given up."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication

from gradstudio.errors import GradStudioError
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.session import Session

LOOK_MS: Final = 50
LONG_S: Final = 5
WAITS: Final = "{name} begins as soon as the engine has told the shapes. Esc gives it up."
WAITS_LONG: Final = "{name} has waited {seconds} s for the engine to tell the shapes. Esc gives it up."
GIVEN_UP: Final = "{name} was given up."


class ShapesAwaited(GradStudioError):
    """What is asked for hangs on shapes that the engine is about to tell."""


class AwaitedShapes(QObject):
    """Waits for the shapes of a document with one command: another that is begun meanwhile takes its place."""

    def __init__(self, session: Session, canvas: CanvasView) -> None:
        """Wait for nothing yet; lives as long as the canvas."""
        super().__init__(canvas)
        self._session, self._canvas = session, canvas
        self._name = self._comes_first = ""
        self._again: Callable[[], None] = self._give_up
        self._lacks: Callable[[], bool] = lambda: False
        self._clock, self._told_s = QElapsedTimer(), 0
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        session.graph_store.replaced.connect(self._give_up)
        session.run.shapes.begin_with_them.append(lambda: self._comes_first)

    def begin(self, name: str, again: Callable[[], None], lacks: Callable[[], bool]) -> None:
        """Call `again`, the command of this name, once it lacks no shape, or nothing more will be known.

        What is asked to run meanwhile comes behind it.
        """
        self._end()
        run = self._session.run
        if not run.state.waiting:  # else it was asked for after what waits
            self._comes_first = name
        self._name, self._again, self._lacks = name, again, lacks
        self._clock.start()
        self._told_s = 0
        for watched in (self._canvas, self._canvas.window()):
            watched.installEventFilter(self)
        self._timer.start()
        self._session.run.status.noted.emit(WAITS.format(name=name))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc gives it up, and nothing else: what is selected is what would be trained."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if not is_escape or event.type() != QEvent.Type.KeyPress or self._canvas.is_in_use():
            return super().eventFilter(watched, event)
        self._session.run.status.noted.emit(GIVEN_UP.format(name=self._name))
        self._give_up()
        return True

    def _on_timer_timeout(self) -> None:
        if not self._session.engine.shown:
            self._give_up()  # a dialog over another document would be a riddle
        elif self._session.run.shapes.awaited and self._lacks():
            self._say_how_long()
        elif not self._is_hand_busy():
            self._end()
            self._session.run.status.noted.emit("")
            self._again()
            if not self._timer.isActive():
                self._let_run()

    def _end(self) -> None:
        """Wait no longer."""
        self._timer.stop()
        for watched in (self._canvas, self._canvas.window()):
            watched.removeEventFilter(self)

    def _give_up(self) -> None:
        self._end()
        self._let_run()

    def _let_run(self) -> None:
        """What was asked to run meanwhile begins, with the program as it stands now."""
        self._comes_first = ""
        self._session.run.begin_waiting()

    def _say_how_long(self) -> None:
        seconds = self._clock.elapsed() // 1000
        if seconds >= self._told_s + LONG_S:
            self._told_s = seconds
            self._session.run.status.noted.emit(WAITS_LONG.format(name=self._name, seconds=seconds))

    def _is_hand_busy(self) -> bool:
        """Whether a dialog now would take the mouse or the keys from what a person is at."""
        is_pressed = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        is_elsewhere = QApplication.activeModalWidget() is not None or QApplication.activePopupWidget() is not None
        return is_pressed or is_elsewhere or self._canvas.is_in_use()
