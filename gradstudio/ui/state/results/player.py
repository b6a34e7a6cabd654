"""Plays the recorded timeline: moves the moment that is looked at, one step after another."""

from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.results.result_store import ResultStore

FIRST_SPEED = 2.0
SHORTEST_MS = 33
"""What is faster than the eye is played several steps at a time."""


class Player(QObject):
    """Goes through what was recorded; nothing is run.

    Attributes:
        playing: whether it moves; `speed` in groups (unfolded: autograd nodes) a second.

    Signals:
        changed(): it began, stopped, or has another speed.
    """

    changed = Signal()

    def __init__(self, attention: Attention, results: ResultStore, parent: QObject | None = None) -> None:
        """Stand still."""
        super().__init__(parent)
        self._attention, self._results = attention, results
        self.playing, self.speed = False, FIRST_SPEED
        self._expected: int | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.advance)
        attention.moment_changed.connect(self._on_attention_moment_changed)

    def can_play(self) -> bool:
        """Whether anything is recorded."""
        return bool(self._results.timeline.ticks)

    def toggle(self) -> None:
        """Play from the moment that is looked at, from now from the beginning; or stand still."""
        if self.playing:
            self.stop()
            return
        if not self.can_play():
            return
        self.playing = True
        moment, timeline = self._attention.moment, self._results.timeline
        if moment is None or timeline.next(moment, self._attention.unfolded) is None:
            self._look_at(timeline.group_of(0)[-1] if not self._attention.unfolded else 0)
        else:
            self._expected = moment
        self._timer.start(self._interval_ms)
        self.changed.emit()

    def stop(self) -> None:
        """Stand still at this moment."""
        if self.playing:
            self.playing = False
            self._timer.stop()
            self.changed.emit()

    def set_speed(self, speed: float) -> None:
        """Play at so many groups a second."""
        if speed != self.speed:
            self.speed = speed
            self._timer.setInterval(self._interval_ms)
            self.changed.emit()

    def advance(self) -> None:
        """On by as many steps as belong to one interval; at the end it is now again, and it stands still."""
        moment, timeline = self._attention.moment, self._results.timeline
        for _ in range(max(1, round(self.speed * self._interval_ms / 1000))):
            moment = timeline.next(moment, self._attention.unfolded) if moment is not None else None
        self._look_at(moment)
        if moment is None:
            self.stop()

    @property
    def _interval_ms(self) -> int:
        return max(SHORTEST_MS, round(1000 / self.speed))

    def _look_at(self, moment: int | None) -> None:
        self._expected = moment
        self._attention.look_at(moment)

    def _on_attention_moment_changed(self) -> None:
        """Someone else took the moment in hand."""
        if self.playing and self._attention.moment != self._expected:
            self.stop()
