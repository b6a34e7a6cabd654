"""What was known of one value's gradient at each tick. No Qt, no torch."""

from bisect import bisect_left, bisect_right
from operator import itemgetter

import msgspec

from gradstudio.protocol.messages.backward_trace import EdgeValue
from gradstudio.protocol.messages.events import GradPart, GradRow
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.timeline.model import Turns


class ValueLog(msgspec.Struct):
    """What was known of one value's gradient: from which tick on, and what.

    Attributes:
        provisional: places in `rows` that the next telling may still correct.
        parts: of a leaf, what each backward has added to its `.grad`.
        arrivals: tick, backward, turns of the value, and what came then alone; in the order of the ticks.
    """

    ticks: list[int] = msgspec.field(default_factory=list)
    rows: list[GradRow | None] = msgspec.field(default_factory=list)
    provisional: set[int] = msgspec.field(default_factory=set)
    turns: Turns = ()
    leaf: bool = False
    storage: int = 0
    parts: tuple[GradPart, ...] = ()
    arrivals: list[tuple[int, int, Turns, GradRow]] = msgspec.field(default_factory=list)

    @property
    def now(self) -> GradRow | None:
        """What is known last."""
        return self.rows[-1] if self.rows else None

    def put(self, tick: int, row: GradRow | None, provisional: bool = False) -> None:
        """Something else holds from this tick on."""
        if self.ticks and self.ticks[-1] == tick:
            self.rows[-1] = row
        else:
            self.ticks.append(tick)
            self.rows.append(row)
        place = len(self.rows) - 1
        (self.provisional.add if provisional else self.provisional.discard)(place)

    def complete(self, tick: int, number: int, value: EdgeValue, grad: Summary, held: Summary | None) -> None:
        """What came at the tick in a backward has its figures, and so has what a leaf then `held`."""
        place = bisect_left(self.arrivals, tick, key=itemgetter(0))
        while place < len(self.arrivals) and self.arrivals[place][0] == tick:
            at, backward, turns, outlined = self.arrivals[place]
            if turns == value.turns:
                row = msgspec.structs.replace(outlined, grad=grad)
                self.arrivals[place] = at, backward, turns, row
                self._stand_in(tick, outlined, row)
            place += 1
        if held is not None and self.rows:
            self.parts = _completed(self.parts, number, grad)
            now = self.rows[bisect_right(self.ticks, tick) - 1]
            if now is not None:
                parts = _completed(now.parts, number, grad)
                self._stand_in(tick, now, msgspec.structs.replace(now, grad=held, parts=parts))

    def _stand_in(self, tick: int, outlined: GradRow, row: GradRow) -> None:
        place = bisect_right(self.ticks, tick) - 1
        if place >= 0 and self.ticks[place] == tick and self.rows[place] is outlined:
            self.rows[place] = row


def _completed(parts: tuple[GradPart, ...], number: int, grad: Summary) -> tuple[GradPart, ...]:
    return tuple([msgspec.structs.replace(part, grad=grad) if part.backward == number else part for part in parts])
