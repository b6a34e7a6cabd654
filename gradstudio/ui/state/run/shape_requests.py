"""When the engine is asked for shapes: as soon as the graph has settled, if its document is seen and nothing runs.

Looking for them has a clock of its own: no click asked for it, so none may have to end it. A text that makes a list
of ten thousand million numbers would hold the engine before anybody has looked at the drawing.
"""

from PySide6.QtCore import QObject, QTimer

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Event, Log
from gradstudio.protocol.messages.inference import Inferred, Inferring
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_requests import RunRequests
from gradstudio.ui.state.run.run_status import RunStatus
from gradstudio.ui.state.throttle import Throttle

SETTLE_MS = 2
PATIENCE_S = 8.0
"""So much of a processor a statement may use before its shape is given up."""
TICK_MS = 2000


class ShapeRequests:
    """Collects the edits of a gesture, and asks once behind them."""

    def __init__(
        self, requests: RunRequests, engine: EngineLine, status: RunStatus, parent: QObject | None = None
    ) -> None:
        """Ask through `requests` when `engine` is ready; nothing is asked while `status` is busy."""
        self._requests, self._engine, self._status = requests, engine, status
        self._patience = ShapePatience(engine, status, requests, parent)
        self._settle = Throttle(SETTLE_MS, parent)
        self._settle.due.connect(self._on_settle_due)
        self._waits_for_rest = self._waits_for_walls = False
        engine.state_changed.connect(self._on_engine_state_changed)
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
        self._have_walls()
        may_ask = self._engine.ready and not self._status.state.busy
        if may_ask and self._requests.load_and_infer(load=self._engine.may_load):
            self._patience.asked()
        # compiled in any case; the next `Paused`, or `Hello`, comes back here
        assert self._requests.program is not None

    def _have_walls(self) -> None:
        """An engine that was started for code serves no other document, nor this one when it has none any more."""
        if self._engine.has_walls or self._status.state.busy:
            return
        if not (self._engine.runs_code and self._requests.program.codes):
            self._waits_for_walls = not self._engine.settle(for_code=False)

    def _on_engine_state_changed(self, state: str) -> None:
        if self._waits_for_walls and state == "ready":
            self._waits_for_walls = False
            self.request()

    def _on_slide_rested(self) -> None:
        if self._waits_for_rest:
            self._on_settle_due()


class ShapePatience(QObject):
    """Ends an engine that looks for one shape for too long."""

    def __init__(
        self, engine: EngineLine, status: RunStatus, requests: RunRequests, parent: QObject | None = None
    ) -> None:
        """Wait for nothing yet."""
        super().__init__(parent)
        self._engine, self._status, self._requests = engine, status, requests
        self._waits, self._node, self._used_s = False, ItemId(""), 0.0
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        engine.received.connect(self._on_engine_received)
        engine.died.connect(self._on_engine_died)

    def asked(self) -> None:
        """The engine was asked for shapes."""
        self._waits, self._node = True, ItemId("")
        self._used_s = self._processor_s()
        self._timer.start()

    def _processor_s(self) -> float:
        """What the engine has used of processors so far: on a busy machine it may wait long and do nothing."""
        import psutil

        try:
            times = psutil.Process(self._engine.pid).cpu_times()
        except (psutil.Error, ValueError):
            return 0.0
        return float(times.user + times.system)

    def _on_engine_received(self, event: Event) -> None:
        if isinstance(event, Inferred) and self._requests.stands(event):
            self._waits = False
            self._timer.stop()
        elif isinstance(event, Inferring) and self._waits:
            self._node, self._used_s = event.node, self._processor_s()

    def _on_timer_timeout(self) -> None:
        if self._status.state.busy:  # what runs comes first, and has a clock of its own
            self._used_s = self._processor_s()
        elif self._processor_s() - self._used_s > PATIENCE_S:
            self._engine.end("it looked too long for a shape and was ended")

    def _on_engine_died(self, _how: object) -> None:
        """Whatever ended it: asked the same again it would end again, for ever."""
        self._timer.stop()
        if not self._waits or self._status.state.busy:
            return
        self._waits = False
        self._requests.give_up_shapes()
        where = f" at {self._requests.name_of(self._node)}" if self._node else ""
        words = f"Looking for shapes ended the engine{where}. A run tells them; an edit asks again."
        self._engine.tell(Log(level="warning", text=words))
        self._status.noted.emit(words)
