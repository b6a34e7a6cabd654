"""A turn that is not in the record: the run is repeated with it, to where it stood, and the turn is looked at."""

from PySide6.QtCore import QObject

from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.model import Turns
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_state import RunState


class TurnRequest(QObject):
    """Asks for the record of a turn; every run from then on has it, as long as the document is open."""

    def __init__(self, run: RunController, results: ResultStore, parent: QObject | None = None) -> None:
        """Nothing is asked for."""
        super().__init__(parent)
        self._run, self._results = run, results
        self._waiting: tuple[ItemId, Turns] | None = None
        run.state_changed.connect(self._on_run_state_changed)

    def show(self, node: ItemId, turns: Turns) -> bool:
        """Look at what a node (as the run calls it) gave in a turn, if that is recorded; False when it is not."""
        timeline = self._results.timeline
        tick = timeline.made_at(node, None, turns)
        if tick is not None:
            self._results.attention.look_at(tick)
        return tick is not None

    def record(self, node: ItemId, turns: Turns) -> None:
        """Repeat the run with a record of a turn, with the same seed; then look at what the node gave in it."""
        if self.show(node, turns):
            return
        if reason := self._run.why_not("repeat"):
            self._run.status.refused.emit(reason)
            return
        self._results.timeline.wanted |= {turns}
        self._waiting = (node, turns)
        self._run.repeat()
        self._run.status.noted.emit("The run is repeated to record this turn; with the same seed, to where it stood.")

    def _on_run_state_changed(self, state: RunState) -> None:
        if self._waiting is None or state.busy:
            return
        (node, turns), self._waiting = self._waiting, None
        if not self.show(node, turns) and state.outcome == "done":
            self._run.status.noted.emit("The run did not come to this turn again.")
