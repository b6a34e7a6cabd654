"""Long work in slices, done while nobody does anything: between two slices the window answers."""

import time
from typing import Any, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from gradstudio.graph.slices import Slices, work_through

SLICE_S: Final = 0.007
"""So long one goes on; a frame has 16 ms."""
HELD_MS: Final = 125
"""While a mouse button is held there is a slice so often only: the hand comes first, and Qt forgets some releases."""


class IdleWork(QObject):
    """Does one slice after the other, of what was begun first.

    What a work is to do with its result belongs into its slices: they are all that is ever called.

    Signals:
        ended(): the last slice of all that was begun is done.
    """

    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is to be done."""
        super().__init__(parent)
        self._works: dict[str, Slices[Any]] = {}
        self._running: Slices[Any] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timer_timeout)

    def has(self, name: str) -> bool:
        """Whether a work of that name is under way."""
        return name in self._works

    def begin(self, name: str, slices: Slices[Any]) -> None:
        """Do the first slice now and the others by and by; a work of that name that is under way is given up."""
        self.cancel(name)
        for _ in slices:
            self._works[name] = slices
            self._timer.start(0)
            return

    def finish(self, name: str) -> None:
        """Do all that is left of a work now."""
        slices = self._works.pop(name, None)
        if slices is not None:
            work_through(slices)

    def cancel(self, name: str) -> None:
        """Give a work up."""
        slices = self._works.pop(name, None)
        if slices is not None and slices is not self._running:
            slices.close()

    def _on_timer_timeout(self) -> None:
        for name, slices in [*self._works.items()][:1]:
            self._go_on(name, slices)
        if self._works:
            is_held = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
            self._timer.start(HELD_MS if is_held else 0)
        else:
            self.ended.emit()

    def _go_on(self, name: str, slices: Slices[Any]) -> None:
        begun, has_ended = time.perf_counter(), True
        self._running = slices
        try:
            for _ in slices:
                has_ended = self._works.get(name) is not slices  # given up by what it did
                if has_ended or time.perf_counter() - begun >= SLICE_S:
                    break
        finally:
            self._running = None
            if has_ended and self._works.get(name) is slices:
                del self._works[name]
