"""How far the loops are that a run stands in: turns, how fast they go, and what is left. No Qt here."""

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import Turned
from gradstudio.scene.results import LoopTurn

NEWEST = 0.3
"""What the newest rate counts against those before it."""


class LoopProgress:
    """The loops a run stands in, outermost first."""

    def __init__(self) -> None:
        """It stands in none."""
        self._told: dict[ItemId, Turned] = {}
        self._rates: dict[ItemId, float] = {}
        self.shown: tuple[LoopTurn, ...] = ()

    def note(self, event: Turned) -> None:
        """Turns have gone by."""
        if event.is_over:
            self._told.pop(event.loop, None)
            self._rates.pop(event.loop, None)
        else:
            before = self._told.get(event.loop)
            if rate := _rate(event, before):
                known = self._rates.get(event.loop, rate)
                self._rates[event.loop] = known + NEWEST * (rate - known)
            self._told[event.loop] = event
        self._say()

    def rest(self, *, is_inside: bool) -> None:
        """The run is paused, inside of loops or not: no turn goes by."""
        self._rates.clear()
        if not is_inside:
            self._told.clear()
        self._say()

    def turns_of(self, loop: ItemId) -> int:
        """How many turns of a loop have begun since it was last entered; 0: it is not known."""
        event = self._told.get(loop)
        return event.turn + 1 if event is not None else 0

    def _say(self) -> None:
        self.shown = tuple(
            LoopTurn(loop, turn_words(event, self._rates.get(loop, 0.0)), _share(event))
            for loop, event in self._told.items()
        )


def turn_words(event: Turned, rate: float) -> str:
    """``turn 512 of 1,000 · 840 a second · 0.6 s left``; `rate` in turns a second, 0 where it is not known."""
    parts = [f"turn {event.turn + 1:,}" + (f" of {event.total:,}" if event.total else "")]
    if rate:
        parts.append(f"{rate:,.3g} a second" if rate < 1000 else f"{rate:,.0f} a second")
        left = (event.total - event.turn - 1) / rate if event.total else 0.0
        if left >= 0.1:
            parts.append(f"{duration(left)} left")
    return " · ".join(parts)


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


def _rate(event: Turned, before: Turned | None) -> float:
    """Turns a second since it was last told; 0 where that says nothing."""
    if before is None or before.around != event.around or before.turn >= event.turn:
        return 0.0
    seconds = event.seconds - before.seconds
    return (event.turn - before.turn) / seconds if seconds > 0 else 0.0
