"""Turns of loops inside a loop whose turns run without a record: their numbers are noted as those of any other."""

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import flat_steps
from gradstudio.engine.turns.quick_loop import QuickLoop
from gradstudio.engine.turns.turn_curves import TurnCurves


class InnerTurns:
    """Counts the turns of the inner loops.

    Attributes:
        turn: of the loop that they stand in.
    """

    def __init__(self, live: Live, quick: QuickLoop, curves: TurnCurves, turns: tuple[int, ...]) -> None:
        """The loop that they stand in, the last of those of `turns`, begins its next turn."""
        *self._around, last = turns
        self.turn = last + 1
        self._curves, self._inner = curves, quick.inner
        self._turns = [0] * len(quick.inner)
        self._notes = [curves.notes(live, head.id, flat_steps(head.body)) for head, _ in quick.inner]

    def enter(self, number: int) -> None:
        """An inner loop begins."""
        head, inside = self._inner[number]
        self._turns[number] = 0
        self._curves.begin(head.id, (*self._around, self.turn, *(self._turns[one] for one in inside)))

    def note(self, number: int) -> None:
        """A turn of it is over."""
        self._notes[number]()
        self._turns[number] += 1
