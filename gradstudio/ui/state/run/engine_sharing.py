"""A run among the runs of other documents: one engine, one namespace, of the document that ran last."""

from PySide6.QtCore import SignalInstance

from gradstudio.graph.model import ItemId
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_requests import RunRequests
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.throttle import Throttle


class RunSharing:
    """The part of the run controller that knows of other documents."""

    _requests: RunRequests
    _engine: EngineLine
    _results: ResultStore
    _settle: Throttle
    state: RunState
    noted: SignalInstance

    def wake(self) -> None:
        """The document is shown: its shapes are asked for when they are not known."""
        if not self._requests.up_to_date:
            self._settle.request()

    def _share(self, engine: EngineLine) -> None:
        """Tell the line what others may ask about this run, and hear when they take the engine's place."""
        engine.is_live = lambda: self.state.live or self.state.busy
        engine.displaced.connect(self._on_engine_displaced)

    def _ask_for_shapes(self) -> None:
        """A document that is not shown waits; one that would take another's live state away asks without loading."""
        if not self._engine.shown:
            return
        if self._engine.ready and not self.state.busy:
            self._requests.load_and_infer(load=self._engine.may_load)
        assert (
            self._requests.program is not None
        )  # compiled in any case; the next `Paused`, or `Hello`, comes back here

    def _on_engine_displaced(self, title: object) -> None:
        """Another document runs: its namespace takes the place of ours. What was recorded stays."""
        self._requests.displaced()
        if not self.state.live:
            return
        self._results.set_counter(ItemId(""))
        self._results.set_stale(True)
        self._set(live=False, stale=True, at_end=False, next_node=ItemId(""), changed_by_hand=False)
        self.noted.emit(f"“{title}” ran since: the live state is gone, what was recorded stays. Run begins anew.")

    def _set(self, **changes: object) -> None:
        raise NotImplementedError
