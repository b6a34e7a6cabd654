"""Whether a run pauses where it stands: breakpoints against the place the last verb paused at."""

from collections.abc import Callable, Iterable

from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.run.breakpoint_checks import BreakpointChecks, BreakpointHit
from gradstudio.engine.script.compiled_steps import Head, Item, Step
from gradstudio.engine.script.cursor import NOBODY
from gradstudio.graph.model import ItemId
from gradstudio.protocol.breakpoint_conditions import why_unreadable
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.debugging import Breakpoint


class PausePolicy:
    """Asked by the runner around statements; tells hits.

    Attributes:
        breaks: what to pause at and to note; None when there is nothing, which costs nothing.
        hit: the breakpoint that stopped last.
    """

    def __init__(self, send: Callable[[Message], None], flush: Callable[[], None]) -> None:
        """Hits go to `send`, behind what `flush` sends: the rows they speak of."""
        self._send, self._flush = send, flush
        self._standing: tuple[ItemId, ...] = ()
        self._stopped_before = NOBODY
        self._may_stop = True
        self.breaks: BreakpointChecks | None = None
        self.hit = ""

    def set(self, breakpoints: Iterable[Breakpoint], max_values: int, may_stop: bool) -> None:
        """For the verb that begins; where breakpoints may not stop they are only told.

        Raises:
            VerbRefused: a condition cannot be read; a run that ignored it would run past where it is to pause.
        """
        breakpoints = tuple(breakpoints)
        for reason in (why_unreadable(one.condition) for one in breakpoints):
            if reason:
                raise VerbRefused(f"A breakpoint's condition cannot be read. {reason} Or switch the breakpoint off.")
        self.breaks = BreakpointChecks(breakpoints, max_values) if breakpoints else None
        self._may_stop, self.hit = may_stop, ""

    def begin(self, live: Live) -> None:
        """The run goes on from where it stands."""
        upcoming = live.cursor.upcoming() if live.paused else None
        self._standing = () if upcoming is None else (upcoming.id, live.cursor.beginning())
        if upcoming is None:
            self._stopped_before = NOBODY
        for call, group in live.groups.items():
            self.enter(call, group)

    def enter(self, call: ItemId, group: str) -> None:
        """A call of a group begins: what is asked of the group's nodes is asked of those of this call."""
        if self.breaks is not None:
            self.breaks.enter(call, group)

    def leave(self) -> None:
        """A call has returned: what was born inside it was met there."""
        if self.breaks is not None:
            self.breaks.leave()

    def heads_but(self, passed: ItemId) -> frozenset[ItemId]:
        """The nodes something is asked of before, but one."""
        heads = self.breaks.entered if self.breaks is not None else frozenset()
        return heads - {passed} if passed else heads

    def before(self, live: Live, item: Item) -> bool:
        """Whether a breakpoint stops before the statement or block; where the last verb paused, none does again."""
        if self.breaks is None:
            return False
        turns = live.cursor.turns
        if isinstance(item, Head):
            found = self.breaks.entering(item.id, turns)
        else:
            found = self.breaks.before(item, live.namespace, turns)
        standing, stopped = item.id in self._standing, self._stopped_before == item.id
        self._stopped_before = NOBODY
        if isinstance(item, Step):
            self._standing = ()
        if (standing and stopped) or not self._meet(live, found, may_stop=not standing):
            return False
        self._stopped_before = item.id
        return True

    def behind(
        self, live: Live, step: Step, outputs: Callable[[], tuple[object, ...]], traced: BackwardTraced | None
    ) -> bool:
        """Whether one stops directly behind the statement, or stood in the backward that it ran."""
        if self.breaks is None:
            return False
        found = self.breaks.backward(traced) if step.statement.backward and traced is not None else []
        if self.breaks.wants(step):
            found += self.breaks.after(step, outputs(), live.cursor.turns)
        return self._meet(live, found)

    def bound(self, live: Live, names: Iterable[tuple[ItemId, int, str]]) -> bool:
        """Whether one stops where loop variables were bound: (block, place among its variables, name) each."""
        if self.breaks is None:
            return False
        found: list[BreakpointHit] = []
        for block, place, name in names:
            found += self.breaks.bound(block, place, live.namespace.get(name), live.cursor.turns)
        return self._meet(live, found)

    def _meet(self, live: Live, found: list[BreakpointHit], may_stop: bool = True) -> bool:
        """Tell what was met; whether the first of them that stops does so."""
        if not found:
            return False
        self._flush()
        stopping = next((one for one in found if one.breakpoint.stops), None)
        if not (may_stop and self._may_stop):
            stopping = None
        for one in found:
            self._send(one.hit(live.step_count, one is stopping))
        if stopping is not None:
            self.hit = stopping.breakpoint.id
        return stopping is not None
