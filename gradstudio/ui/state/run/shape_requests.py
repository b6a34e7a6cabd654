"""When the engine is asked for shapes: as soon as the graph has settled, if its document is seen and nothing runs.

Looking for them has a clock of its own (`protocol/shape_clock`).
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from gradstudio.graph.slices import Slices
from gradstudio.program.model import Program
from gradstudio.protocol.messages.events import Event, Log
from gradstudio.protocol.messages.inference import Inferred, Inferring, WireTried
from gradstudio.protocol.shape_clock import TICK_S, ShapeClock
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_requests import RunRequests
from gradstudio.ui.state.run.run_status import RunStatus
from gradstudio.ui.state.throttle import Throttle

SETTLE_MS = 2
TICK_MS = int(TICK_S * 1000)
TOLD_AFTER_S = 2.0
"""When a statement has used so much of a processor, a person is told where the engine is."""


class ShapeRequests:
    """Collects the edits of a gesture, and asks once behind them.

    Attributes:
        patience: ends an engine that looks for one of them for too long.
        begin_with_them: each says what of its own begins when they are known, and "" where nothing does.
    """

    def __init__(
        self, requests: RunRequests, engine: EngineLine, status: RunStatus, parent: QObject | None = None
    ) -> None:
        """Ask through `requests` when `engine` is ready; nothing is asked while `status` is busy."""
        self._requests, self._engine, self._status = requests, engine, status
        self.patience = ShapePatience(engine, status, requests, parent)
        self.begin_with_them: list[Callable[[], str]] = []
        self._settle = Throttle(SETTLE_MS, parent)
        self._settle.due.connect(self._on_settle_due)
        self._waits_for_rest = self._waits_for_engine = False
        engine.state_changed.connect(self._on_engine_state_changed)
        status.slide.rested.connect(self._on_slide_rested)

    @property
    def pending(self) -> bool:
        """Whether they will be asked for in a moment."""
        return self._settle.pending or self._requests.compiles

    @property
    def awaited(self) -> bool:
        """Whether more of them will be known by itself, as far as anybody knows: of the engine, or of a run."""
        if self._engine.state == "dead":
            return False
        is_asked = self.pending or self.patience.waits
        return is_asked or self._status.is_under_way or not self._engine.ready

    @property
    def awaited_by(self) -> str:
        """What begins when they are known; what is asked to run comes behind it. "": nothing does."""
        return next(filter(None, (name() for name in self.begin_with_them)), "")

    @property
    def are_told(self) -> bool:
        """Whether what inference says is of the program as it stands, and not of one before an edit."""
        return self._requests.has_asked and not self.pending and not self.patience.waits

    def request(self) -> None:
        """Ask for them when the graph has settled."""
        self._settle.request()

    def show_if_few(self) -> None:
        """Another document is in place: a small program of it belongs into the first picture."""
        self._requests.show_if_few()

    def show_to(self, show: Callable[[Program], None]) -> None:
        """What was shown before somebody came who shows it, too."""
        self._requests.show_to(show)

    def wake(self) -> None:
        """The document is shown: its engine is at work, and shapes are asked for when they are not known."""
        if not self._requests.up_to_date or not self._engine.is_ours:
            self._settle.request()

    def _on_settle_due(self) -> None:
        """A document that is not shown waits; one that would take another's live state away asks without loading."""
        if not self._engine.shown:
            return
        self._waits_for_rest = self._status.slide.moves
        if self._waits_for_rest:
            return  # its runs say the shapes
        self._requests.compile_idly(self._ask)  # in any case; the next `Paused`, or `Hello`, comes back here

    def _ask(self) -> Slices[None]:
        """The program is compiled: ask, where somebody may; while the engine looks for them it is shown."""
        self._have_engine()
        may_ask = self._engine.ready and not self._status.is_under_way
        if may_ask and self._requests.load_and_infer(load=self._engine.may_load):
            self.patience.asked()
        elif self._status.is_in_loop and not self._requests.up_to_date:
            is_one = self._engine.client.exchange.ranks is None  # of several, each is in a turn of its own
            if not (is_one and self._requests.load_in_run()):
                self._status.say_it_waits()
        yield from self._requests.stop_if_many()
        self._requests.show()
        if self._requests.program.codes and self._engine.ready and not self._engine.keeps_code:
            self._engine.expect_code()

    def _have_engine(self) -> None:
        """The engine at work is this document's own for its code, if it has one, or one with walls."""
        line = self._engine
        if self._status.state.busy or (line.is_ours and line.has_walls):
            return
        for_code = line.keeps_code and bool(self._requests.program.codes)
        if not (line.is_ours and line.runs_code == for_code):
            self._waits_for_engine = not line.settle(for_code=for_code)

    def _on_engine_state_changed(self, state: str) -> None:
        if self._waits_for_engine and state == "ready":
            self._waits_for_engine = False
            self.request()

    def _on_slide_rested(self) -> None:
        if self._waits_for_rest:
            self._on_settle_due()


class ShapePatience(QObject):
    """Ends an engine that looks for one shape for too long, be it of the program or of a wire that is tried."""

    def __init__(
        self, engine: EngineLine, status: RunStatus, requests: RunRequests, parent: QObject | None = None
    ) -> None:
        """Wait for nothing yet."""
        super().__init__(parent)
        self._engine, self._status, self._requests = engine, status, requests
        self._waits, self._wire = False, 0
        self._clock = ShapeClock(0)
        self._before: Inferring | None = None
        self._is_told = False
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        engine.received.connect(self._on_engine_received)
        engine.died.connect(self._on_engine_died)
        engine.displaced.connect(self._on_engine_displaced)

    @property
    def waits(self) -> bool:
        """Whether the engine was asked for shapes, and has not answered."""
        return self._waits

    def asked(self) -> None:
        """The engine was asked for shapes."""
        self._waits = True
        self._begin()

    def asked_of_wire(self, request: int) -> None:
        """The engine was asked whether a wire would work."""
        self._wire = request
        self._begin()

    def _begin(self) -> None:
        self._clock, self._is_told = ShapeClock(self._engine.pid), False
        self._before = self._engine.infers_at
        self._timer.start()

    def _look(self) -> None:
        """Hear where the engine is now."""
        place = self._engine.infers_at
        if place is not None and place is not self._before and place is not self._clock.place:
            self._clock.at(place)
            self._is_told = False

    def _on_engine_received(self, event: Event) -> None:
        if isinstance(event, Inferred) and self._requests.stands(event):
            self._waits = False
        elif isinstance(event, WireTried) and event.request == self._wire:
            self._wire = 0
        self._stop_if_none()

    def _on_engine_displaced(self) -> None:
        """Another document's program is asked about, and the engine leaves out what was asked of this one before."""
        self._waits = False
        self._stop_if_none()

    def _stop_if_none(self) -> None:
        if not self._waits and not self._wire and self._timer.isActive():
            self._timer.stop()

    def _on_timer_timeout(self) -> None:
        self._look()
        if self._status.is_under_way:  # what runs comes first, and has a clock of its own
            self._clock.begin()
        elif self._clock.has_run_out():
            self._engine.end("it looked too long for a shape and was ended")
        elif not self._is_told and self._clock.used_s() > TOLD_AFTER_S:
            self._is_told = True
            self._status.noted.emit(f"Looking for shapes takes long{self._where()}. It is given up by itself.")

    def _where(self) -> str:
        """The statement that is tried, by its name and line, as far as they are known."""
        clock = self._clock
        if not clock.node:
            return ""
        name, line = self._requests.name_of(clock.node), self._engine.line(clock.line)
        return f" at {name} (line {line})" if name else f" at line {line}"

    def _on_engine_died(self, _how: object) -> None:
        """Whatever ended it: asked the same again it would end again, for ever."""
        self._timer.stop()
        self._look()
        if not (self._waits or self._wire) or self._status.is_under_way:
            return
        if self._engine.place:  # a line that broke says nothing about shapes
            self._waits, self._wire = False, 0
            return
        if self._waits:
            self._requests.give_up_shapes()
        self._waits, self._wire = False, 0
        words = f"Looking for shapes ended the engine{self._where()}. A run tells them; an edit asks again."
        self._engine.tell(Log(level="warning", text=words))
        self._status.noted.emit(words)
