"""A loop that is being run: which of its turns are recorded, by what that costs."""

import math
from collections.abc import Collection
from typing import Final

from gradstudio.engine.script.compiled_steps import Head, flat_steps
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.turns.loop_length import turns_of
from gradstudio.engine.turns.quick_loop import QuickLoop

WHOLE = 64
"""Loops of at most so many turns are recorded whole."""
FIRST = 3
"""Turns that are recorded at the beginning of a longer one."""
TELL_S = 1 / 15
"""So often it is said how far a loop is, and a turn is recorded for the cards."""
SHARE = 0.05
"""Of the time, what recording turns in between may take."""
PATIENT_S = 0.2
"""A turn that takes longer is not run at once with the loops inside it: Stop would wait."""
AHEAD: Final = 2
"""So many turns ahead, at least, several ranks agree on one: while they meet in each, none is farther than one."""
AHEAD_S: Final = 0.02
"""So long ahead, at least."""


class SampledLoop:
    """A loop that is being run.

    Attributes:
        first: so many turns at its beginning are recorded.
        total: how many it has; None where nobody knows.
        seen: the newest turn that was recorded, and noted.
        sample_at_s: when the next one may be recorded.
        turn_s: how long the newest turn took; `quick_s` one without a record, 0 before there was one.
        is_sampled: whether any was run without a record.
    """

    def __init__(self, frame: Frame, quick: QuickLoop | None, first: int, now_s: float) -> None:
        """It begins now."""
        self.frame, self.quick, self.first = frame, quick, first
        self.stand_in(frame.head)
        self.total = turns_of(frame)
        self.seen = -1
        self.began_s = self.turn_began_s = now_s
        self.sample_at_s = self.turn_s = self.quick_s = 0.0
        self.is_sampled = False
        self._costs_s = (math.inf, math.inf)
        self._telling_s = 0.0
        self._agreed = -1

    def stand_in(self, head: Head | None) -> None:
        """Its statements, which may be others since it was paused."""
        assert head is not None
        self.head, self.steps = head, flat_steps(head.body)

    def behind_turn(self, now_s: float) -> bool:
        """A turn was recorded; False when this was noted already."""
        if self.seen == self.frame.turn:
            return False
        self.seen, self.turn_s = self.frame.turn, now_s - self.turn_began_s
        # One without a record takes no longer than one with it. What a hiccup made of the newest would stay else: turns
        # that are taken to be longer than the time between two samples are all recorded, and none tells how long it is.
        self.quick_s = min(self.quick_s, self.turn_s)
        self.sample_at_s = now_s + max(TELL_S, self._cost_s() / SHARE)
        return True

    def _cost_s(self) -> float:
        """What it costs to record and tell a turn: the lesser of the newest two, for turns do not all take as long."""
        telling_s, self._telling_s = self._telling_s, 0.0
        if not self.quick_s:
            return 0.0  # one without a record comes first
        self._costs_s = (self._costs_s[1], max(self.turn_s - self.quick_s, 0.0) + telling_s)
        return min(self._costs_s)

    def note_telling(self, seconds: float) -> None:
        """So long took, between two turns that are recorded, to tell the one, or what those without a record left."""
        self._telling_s += seconds

    def note_quick(self, turns: int, seconds: float) -> None:
        """So many turns were run without a record."""
        self.turn_s = seconds / max(turns, 1)
        if turns:
            self.quick_s = self.turn_s

    @property
    def is_long(self) -> bool:
        """Whether it has more turns than are recorded whole."""
        return self.frame.turn + 1 >= WHOLE if self.total is None else self.total > WHOLE

    @property
    def _is_by_sample(self) -> bool:
        """Whether turns of it may be left out, by what all ranks know alike."""
        return self.quick is not None and (self.is_long or (self.total is not None and self.first < FIRST))

    def _takes_patience(self) -> bool:
        return self.quick is not None and bool(self.quick.nested) and self.turn_s > PATIENT_S

    def skips(self, now_s: float, wanted: Collection[int], *, is_shared: bool) -> int:
        """How many turns may be run without a record now: all but the last, as far as their number is known.

        Args:
            now_s: the time.
            wanted: turns that are recorded whatever the clock says.
            is_shared: several ranks record what they have agreed on (`wanted`), whatever the clock of one says.
        """
        turn, total = self.frame.turn, self.total
        if not self._is_by_sample or turn + 1 < self.first:
            return 0
        if not is_shared and (now_s + self.quick_s >= self.sample_at_s or self._takes_patience()):
            return 0
        ends = [one for one in wanted if one > turn]
        if total is not None:
            ends.append(total - 1)
        return max(min(ends) - turn - 1, 0) if ends else 1 << 62

    def take_due(self, now_s: float) -> list[int]:
        """Turns that several ranks are to record, each once: the next one it is time for, of slow ones every one."""
        if not self._is_by_sample:
            return []
        ahead = max(AHEAD, math.ceil(AHEAD_S / self.turn_s)) if self.turn_s else AHEAD
        turn = self.frame.turn + ahead
        due: list[int] = []
        if self._takes_patience():
            due = [one for one in (turn, turn + 1) if one > self._agreed]
        elif self._agreed <= self.frame.turn and now_s + ahead * self.quick_s >= self.sample_at_s:
            due = [turn]
        self._agreed = max(self._agreed, *due) if due else self._agreed
        return due
