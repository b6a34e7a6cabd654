"""Whether a slider moves: what nobody looks at meanwhile is brought up to date when the hand rests."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

REST_MS: Final = 200
"""A hand that has not moved for so long rests."""


class Slide(QObject):
    """A slider of the document that a run follows.

    Signals:
        rested(): it has not moved for a while, and what it began is over.
        lasted(): it has not moved for a while, and what it began goes on.
    """

    rested = Signal()
    lasted = Signal()

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        """It rests; `is_busy` says whether a run is under way."""
        super().__init__(parent)
        self._is_busy, self._lasts = is_busy, False
        self._timer = QTimer(self, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def moves(self) -> bool:
        """Whether it has moved just now."""
        return self._timer.isActive()

    @property
    def is_brief(self) -> bool:
        """Whether it has moved just now, and what it began is over in no time."""
        return self.moves and not self._lasts

    def move(self, *, follows: bool) -> bool:
        """It moves; says whether a run `follows`: else nothing waits."""
        self._lasts = False
        if follows:
            self._timer.start()
        return follows

    def _on_timer_timeout(self) -> None:
        if self._is_busy():
            self._lasts = True
            self._timer.start()
            self.lasted.emit()
        else:
            self.rested.emit()
