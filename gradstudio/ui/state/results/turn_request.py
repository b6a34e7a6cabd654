"""A turn that is not in the record: the run goes back to it, from the checkpoint before, and it is looked at."""

from PySide6.QtCore import QObject

from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.model import Turns
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_state import RunState

WORDS = "The run stands at the end of turn {turn:,}, as it was there. Run (F5) goes on from here{to_last}."
WORDS_OF_ANOTHER_RUN = "{reason} It stands at the end of turn {turn:,}; Run (F5) goes on from here."
TO_LAST = "; double-click the end of the curve to be at turn {last:,} again"


class TurnRequest(QObject):
    """Asks for a turn; every run from then on has it in its record, as long as the document is open."""

    def __init__(self, run: RunController, results: ResultStore, parent: QObject | None = None) -> None:
        """Nothing is asked for."""
        super().__init__(parent)
        self._run, self._results = run, results
        self._waiting: tuple[ItemId, ItemId, Turns] | None = None
        run.state_changed.connect(self._on_run_state_changed)

    def show(self, node: ItemId, turns: Turns) -> bool:
        """Look at what a node (as the run calls it) gave in a turn, if that is recorded; False when it is not."""
        timeline = self._results.timeline
        tick = timeline.made_at(node, None, turns)
        if tick is not None:
            self._results.attention.look_at(tick)
        return tick is not None

    def go_to(self, loop: ItemId, node: ItemId, turns: Turns, *, anew: bool = False) -> None:
        """Put the run at the end of a turn of a loop, recorded; then look at what the node gave in it.

        A turn that is in the record is just looked at, unless it is to be run `anew`.
        """
        if not anew and self.show(node, turns):
            return
        if reason := self._run.why_not("go_to_turn"):
            self._run.status.refused.emit(reason)
            return
        self._results.timeline.wanted |= {turns}
        self._waiting = (loop, node, turns)
        self._results.tables.loops.set_goal(loop, turns)
        self._run.do("go_to_turn", until=loop, turn=turns, breakpoints=())
        if not self._run.state.busy:  # it may not run: why not, was said
            self._forget()

    def _forget(self) -> None:
        self._waiting = None
        self._results.tables.loops.set_goal(ItemId(""), ())

    def _on_run_state_changed(self, state: RunState) -> None:
        is_about_to_begin = state.verb == "go_to_turn" and not state.outcome  # it has waited for the engine
        if self._waiting is None or state.busy or is_about_to_begin:
            return
        loop, node, turns = self._waiting
        self._forget()
        ran = self._results.timeline.turns_of(node)  # within the turn, where that holds a loop around the node
        is_there = self.show(node, turns) or any(one[: len(turns)] == turns for one in ran)
        if not is_there or state.outcome != "done":
            return
        curves = self._results.tables.curves
        number = curves.number_of(loop, turns)
        turn = (turns[-1] if number is None else number) + 1  # as on the axis of the curves
        if state.reason:
            self._run.status.noted.emit(WORDS_OF_ANOTHER_RUN.format(reason=state.reason, turn=turn))
            return
        last = curves.newest_turn(loop)
        to_last = TO_LAST.format(last=last) if last > turn else ""
        self._run.status.noted.emit(WORDS.format(turn=turn, to_last=to_last))
