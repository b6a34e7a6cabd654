"""How far the loops are that a run stands in: turns, how fast they go, and what is left. No Qt here."""

from collections.abc import Mapping, Sequence

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.timeline.model import Turns
from gradstudio.scene.results import LoopTurn

NEWEST = 0.3
"""What the newest rate counts against those before it."""
MANY = 1000
"""So many turns a second are whole numbers."""
LEAST_LEFT_S = 0.1


class _Pace:
    """How long turns of a loop take, by where it stood when its turn was last another one."""

    def __init__(self, event: Turned) -> None:
        self.event = event
        self.at_turn: Turned | None = event
        if event.turn == 0:
            self.at_turn = msgspec.structs.replace(event, seconds=0.0)  # its first turn begins with it
        self.rate = 0.0

    def note(self, event: Turned) -> None:
        """The same loop, later; another time through it has its own clock."""
        before, self.event = self.at_turn, event
        if before is not None and before.around == event.around and before.turn == event.turn:
            return
        self.at_turn = event
        if before is None:
            return
        seconds = event.seconds - before.seconds
        if before.around == event.around and before.turn < event.turn and seconds > 0:
            rate = (event.turn - before.turn) / seconds
            self.rate += (NEWEST if self.rate else 1.0) * (rate - self.rate)

    def rest(self) -> None:
        """No turn goes by; the clock of the engine does."""
        self.rate, self.at_turn = 0.0, None

    @property
    def since_turn(self) -> float:
        """Seconds since the turn that stands began, as far as it is known."""
        return max(self.event.seconds - self.at_turn.seconds, 0.0) if self.at_turn is not None else 0.0


class LoopProgress:
    """The loops a run stands in, outermost first.

    Attributes:
        goal: the run goes to the end of this turn of a loop, given with those of the loops around it, and what is left
            is counted to there; (): to the end of each.
    """

    def __init__(self) -> None:
        """It stands in none."""
        self.goal: Turns = ()
        self._goal_loop = ItemId("")
        self._paces: dict[ItemId, _Pace] = {}
        self._totals: dict[ItemId, int] = {}
        self.shown: tuple[LoopTurn, ...] = ()

    def set_goal(self, loop: ItemId, turns: Turns) -> None:
        """The run goes to a turn of a loop, given with those of the loops around it; (): to the end of each."""
        self.goal, self._goal_loop = turns, loop

    def note(self, event: Turned) -> None:
        """Turns have gone by."""
        pace = self._paces.get(event.loop)
        if not event.is_over:
            self._totals[event.loop] = event.total
        if event.is_over:
            self._paces.pop(event.loop, None)
        elif pace is None:
            self._paces[event.loop] = _Pace(event)
        else:
            pace.note(event)
        self._say()

    def rest(self, *, is_inside: bool) -> None:
        """The run is paused, inside of loops or not: no turn goes by."""
        for pace in self._paces.values():
            pace.rest()
        if not is_inside:
            self._paces.clear()
        self._say()

    def turns_of(self, loop: ItemId) -> int:
        """How many turns of a loop have begun since it was last entered; 0: it is not known."""
        pace = self._paces.get(loop)
        return pace.event.turn + 1 if pace is not None else 0

    def at(self, turns: Mapping[ItemId, int]) -> tuple[LoopTurn, ...]:
        """Loops in turns that are looked at, from 0; how fast they go is of now only."""
        stood = (Turned(loop=loop, turn=turn, total=self._totals.get(loop, 0)) for loop, turn in turns.items())
        return tuple(LoopTurn(one.loop, _place_words(one), "", "", _share(one)) for one in stood)

    def _say(self) -> None:
        paces = list(self._paces.values())
        self.shown = tuple(
            LoopTurn(
                pace.event.loop,
                _place_words(pace.event),
                _rate_words(pace.rate),
                self._left_words(paces, depth),
                _share(pace.event),
            )
            for depth, pace in enumerate(paces)
        )

    def _left_words(self, paces: Sequence[_Pace], depth: int) -> str:
        """Until the turn that the run goes to is over, where it leads through this loop; else until the loop is."""
        if not self._is_on_way(paces, depth):
            return _spelled(_seconds_left(paces[depth:], paces[depth].event.total), "left")
        turn, inner = self.goal[depth], depth + 1
        if inner < len(paces) and self._is_on_way(paces, inner):
            seconds = _seconds_left(paces[inner:], self.goal[inner] + 1)
        else:
            seconds = _seconds_left(paces[depth:], turn + 1)
        return _spelled(seconds, f"to turn {turn + 1:,}")

    def _is_on_way(self, paces: Sequence[_Pace], depth: int) -> bool:
        """Whether the run comes to its goal before this loop ends."""
        last = len(self.goal) - 1
        is_goal_loop = depth == last and paces[depth].event.loop == self._goal_loop
        around = tuple(one.event.turn for one in paces[:depth])
        return (depth < last or is_goal_loop) and around == self.goal[:depth]


def _seconds_left(paces: Sequence[_Pace], total: int) -> float:
    """Of so many turns of the first loop, with those inside of it; 0 where it is not known.

    Until one of its turns is over, one is taken to be as long as the loop that it stands in.
    """
    pace = paces[0]
    if not total:
        return 0.0
    if pace.rate:
        turn_s = 1 / pace.rate
    else:
        inner = paces[1] if len(paces) > 1 else None
        turn_s = inner.event.total / inner.rate if inner is not None and inner.rate else 0.0
    rest_of_turn = max(turn_s - pace.since_turn, 0.0) if len(paces) > 1 else 0.0
    return (total - pace.event.turn - 1) * turn_s + rest_of_turn


def _place_words(event: Turned) -> str:
    return f"turn {event.turn + 1:,}" + (f" of {event.total:,}" if event.total else "")


def _rate_words(rate: float) -> str:
    if not rate:
        return ""
    return f"{rate:,.3g} a second" if rate < MANY else f"{rate:,.0f} a second"


def _spelled(seconds: float, until: str) -> str:
    return f"{duration(seconds)} {until}" if seconds >= LEAST_LEFT_S else ""


def duration(seconds: float) -> str:
    """``0.6 s``, ``42 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def _share(event: Turned) -> float:
    return min((event.turn + 1) / event.total, 1.0) if event.total else 0.0
