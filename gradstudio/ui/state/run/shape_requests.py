"""When the engine is asked for shapes: as soon as the graph has settled, if its document is seen and nothing runs."""

from PySide6.QtCore import QObject

from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_requests import RunRequests
from gradstudio.ui.state.run.run_status import RunStatus
from gradstudio.ui.state.throttle import Throttle

SETTLE_MS = 2


class ShapeRequests:
    """Collects the edits of a gesture, and asks once behind them."""

    def __init__(
        self, requests: RunRequests, engine: EngineLine, status: RunStatus, parent: QObject | None = None
    ) -> None:
        """Ask through `requests` when `engine` is ready; nothing is asked while `status` is busy."""
        self._requests, self._engine, self._status = requests, engine, status
        self._settle = Throttle(SETTLE_MS, parent)
        self._settle.due.connect(self._on_settle_due)
        self._waits_for_rest = False
        status.slide.rested.connect(self._on_slide_rested)

    @property
    def pending(self) -> bool:
        """Whether they will be asked for in a moment."""
        return self._settle.pending

    def request(self) -> None:
        """Ask for them when the graph has settled."""
        self._settle.request()

    def wake(self) -> None:
        """The document is shown: its shapes are asked for when they are not known."""
        if not self._requests.up_to_date:
            self._settle.request()

    def _on_settle_due(self) -> None:
        """A document that is not shown waits; one that would take another's live state away asks without loading."""
        if not self._engine.shown:
            return
        self._waits_for_rest = self._status.slide.moves
        if self._waits_for_rest:
            return  # its runs say the shapes
        if self._engine.ready and not self._status.state.busy:
            self._requests.load_and_infer(load=self._engine.may_load)
        # compiled in any case; the next `Paused`, or `Hello`, comes back here
        assert self._requests.program is not None

    def _on_slide_rested(self) -> None:
        if self._waits_for_rest:
            self._on_settle_due()
