"""One document's own line to the engine that all documents share: what it asks comes back to it, and to nobody else.

The engine holds one namespace, of the document that ran last. Revisions and request numbers of a line begin at a
base of its own, so that every answer names the line it belongs to; what names nothing goes to whoever runs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.protocol.messages.debugging import MemoryByNode
from gradstudio.protocol.messages.events import Device, Event, Hello, Log, Memory, Paused
from gradstudio.protocol.messages.inference import Inferring
from gradstudio.protocol.messages.requests import Do, Load, Request
from gradstudio.ui.state.results.memory_store import OF_TENSORS
from gradstudio.ui.state.run.engine_client import EngineClient, MakeEngine
from gradstudio.ui.state.run.engine_exchange import EngineLeft

if TYPE_CHECKING:
    from gradstudio.ui.state.engines.rank_child import RankGroup

BASE = 1 << 32
"""Numbers of a line are below this; those of the next line begin here."""
PATIENCE_MS = 150
FAR_PATIENCE_MS = 3000
RANKS_PATIENCE_MS = 10_000
"""Their leader ends those that do not stop long before, and says which and where."""
KEEPS_RUNNING = " · keeps running"
OF_THE_RUN = (Paused, MemoryByNode)
"""Answers that may carry no revision of their own."""


class EngineLine(QObject):
    """What a document sees of the engine.

    Attributes:
        shown: its tab is the one that is seen; a hidden one asks for no shapes.
        title: what the document is called now; line: of its script, as its person counts it.
        is_live: whether the engine holds this document's namespace.
        number: which line it is; others have other numbers.

    Signals:
        received(object): every `Event` that concerns this document.
        state_changed(object), died(object): as the client's.
        replaced(): another engine takes over, as somebody asked for; what the last one held is gone.
        noted(object): other words about the engine, for who looks at this document.
        displaced(object): another document's program took the engine's only place; that document's title.
    """

    received = Signal(object)
    state_changed = Signal(object)
    died = Signal(object)
    displaced = Signal(object)
    replaced = Signal()
    noted = Signal(object)

    def __init__(self, client: EngineClient, parent: QObject | None = None) -> None:
        """Open a line; nothing is sent."""
        super().__init__(parent)
        self._client, self._exchange = client, client.exchange
        self.number = self._exchange.next_number()
        self._exchange.lines.append(self)
        self.shown = True
        self.title: Callable[[], str] = lambda: "another document"
        self.line: Callable[[int], int] = lambda line: line
        self.is_live: Callable[[], bool] = lambda: False
        client.state_changed.connect(self.state_changed)
        client.died.connect(self._on_client_died)
        client.noted.connect(self._on_client_noted)

    # ------------------------------------------------------------------ as the client

    @property
    def client(self) -> EngineClient:
        """The engine that all lines share."""
        return self._client

    @property
    def ready(self) -> bool:
        """Whether torch is imported and requests of this document are answered."""
        return self._client.ready and self.is_ours

    @property
    def state(self) -> str:
        """What it does: "starting", "ready", "busy" or "dead"."""
        return self._client.state

    @property
    def devices(self) -> tuple[Device, ...]:
        """What torch really has."""
        return self._client.devices

    @property
    def hello(self) -> Hello | None:
        """What the engine said of itself."""
        return self._client.hello

    @property
    def place(self) -> str:
        """The name of the host on which engines are; "": this machine."""
        return self._client.place

    @property
    def pid(self) -> int:
        """Process id of the engine at work; 0 when there is none on this machine, or it is several ranks."""
        return 0 if self.place else self._client.pid

    @property
    def stop_patience_ms(self) -> int:
        """How long an engine may take to answer a Stop: on a host the way is long, several ranks stop together."""
        if self._exchange.ranks is not None:
            return RANKS_PATIENCE_MS
        return FAR_PATIENCE_MS if self.place else PATIENCE_MS

    @property
    def catches_up(self) -> bool:
        """Whether an engine that went on without us tells what was missed; it is at work as far as anybody knows."""
        return self.state == "starting" and self._client.goes_on

    def words_there(self, words: str) -> str:
        """Words about the engine, with the host that it is on; the line there may be broken."""
        if not self.place:
            return words
        if self.catches_up:
            return f"{self.place} · telling what was missed"
        if self.state != "dead":
            return f"{self.place} · {words}{KEEPS_RUNNING if self._client.keeps_running else ''}"
        return f"goes on on {self.place}" if self._client.goes_on else f"no engine on {self.place}"

    def words_of_end(self, how: str) -> str:
        """How an engine ended, in a line, and what follows."""
        if not self.place:
            return f"The engine ended: {how}. A new one is started."
        if self._exchange.ranks is not None:
            then = "Run ▸ Restart engine starts them again; what is shown stays."
        elif self._client.goes_on:
            then = "What runs there goes on: Run ▸ Other machines ▸ Take up again. What is shown stays."
        else:
            look = "Run ▸ Other machines ▸ Host… looks what is there."
            then = f"Run ▸ Restart engine connects again; what is shown stays. {look}"
        return " ".join([how.partition("\n")[0], then])

    @property
    def infers_at(self) -> Inferring | None:
        """Where the engine said last that it looks for a shape; None: nowhere since it began."""
        return self._client.infers_at

    @property
    def command(self) -> tuple[str, ...]:
        """What starts an engine."""
        return self._client.command

    def start(self) -> None:
        """Start the first engine, if there is none."""
        self._client.start()

    def tell(self, log: Log) -> None:
        """Announce a line of our own to this document."""
        self.received.emit(log)

    def set_busy(self, busy: bool) -> None:
        """The controller of this document knows when its verb runs."""
        self._client.set_busy(busy)

    def kill_and_restart(self) -> None:
        """End the engine at work whatever it does; the others that used it are told."""
        self._client.kill_and_restart()
        for other in tuple(self._exchange.lines):
            if other is not self and self._exchange.is_struck(other):
                other.died.emit("it was restarted from another tab")

    def move_to(
        self,
        place: str,
        make: MakeEngine | None,
        joins: EngineLeft | None = None,
        ranks: "RankGroup | None" = None,
        *,
        leaves: bool = False,
    ) -> None:
        """Have engines on a host, or on this machine again ("", None); what all there were held is gone.

        `joins`: an engine that goes on there is taken up; `ranks`: the place is several processes here; `leaves`: what
        is at work on a host goes on there without us.
        """
        self._exchange.ranks = ranks
        self._client.move_to(place, make, joins, leaves=leaves)
        for line in tuple(self._exchange.lines):
            line.replaced.emit()

    def end(self, how: str) -> None:
        """End the engine whatever it does; this document is told that it died, and how."""
        self.kill_and_restart()
        self.died.emit(how)

    def send(self, request: Request) -> None:
        """Hand a request to the engine, its numbers as this line's; to one for another document's code nothing goes."""
        if not self.is_ours:
            return
        if isinstance(request, Load):
            self._exchange.take(self)
        elif isinstance(request, Do):
            self._exchange.runner = self
        self._client.send(self._outward(request))

    def adopt(self, revision: int) -> None:
        """What the engine has, and runs, is this document's from now on: it began as a revision of another window's."""
        self.number = self._exchange.yield_number(revision // BASE)
        self._exchange.holder = self._exchange.runner = self
        self._exchange.measured = self.number

    def close(self) -> None:
        """End the engine with all its processes."""
        self._client.close()

    # ------------------------------------------------------------------ walls

    @property
    def has_walls(self) -> bool:
        """Whether the engine at work keeps its walls, and runs no code."""
        return self._exchange.code_line is None

    @property
    def runs_code(self) -> bool:
        """Whether the engine at work was started for this document's code."""
        return self._exchange.code_line is self

    @property
    def keeps_code(self) -> bool:
        """Whether an engine was started for this document's code, be it at work or not."""
        return self.runs_code or self in self._exchange.aside

    @property
    def is_ours(self) -> bool:
        """Whether the engine at work is the one that this document uses."""
        return self.runs_code or (self.has_walls and not self.keeps_code)

    def settle(self, *, for_code: bool) -> bool:
        """Have an engine for this document's code, or one with walls; whether another one takes over for that.

        Another document that runs its code is not disturbed: what is asked waits.
        """
        if self.is_ours and self.runs_code == for_code:
            return False
        if self._exchange.runner not in (None, self) and self.state in ("starting", "busy"):
            return False
        if not for_code:
            self.end_code()
        if self.runs_code == for_code and self.is_ours:
            return True
        if self._client.turn_to(self if for_code else None):
            if for_code:
                self._exchange.runner = self
            self.replaced.emit()
        return True

    def end_code(self) -> None:
        """What this document's code has begun ends; the engine with walls answers again."""
        if self.keeps_code:
            self._client.end_code(self)
            self.replaced.emit()

    def expect_code(self) -> None:
        """The document holds code, which may be run soon."""
        self._client.expect_code(self)

    # ------------------------------------------------------------------ among others

    def hear(self, event: Event) -> None:
        """The engine says something: announce it here where it is this document's."""
        if self._concerns(event):
            self.received.emit(self._inward(event))

    @property
    def may_load(self) -> bool:
        """Whether telling the engine this program takes nothing from another document."""
        holder = self._exchange.holder
        return holder is None or holder is self or not holder.is_live()

    @property
    def busy_elsewhere(self) -> str:
        """The title of the other document whose run is under way; "" when none is."""
        runner = self._exchange.runner
        return runner.title() if runner is not None and runner is not self and self.state == "busy" else ""

    @property
    def live_elsewhere(self) -> str:
        """The title of the other document whose namespace the engine holds; "" when there is none."""
        holder = self._exchange.holder
        return holder.title() if holder is not None and not self.may_load else ""

    def hang_up(self) -> None:
        """The document is closed: nothing reaches it any more."""
        if self not in self._exchange.lines:
            return
        self._client.end_code(self)  # what trusted code has begun ends with its document
        self._exchange.lines.remove(self)
        self._client.state_changed.disconnect(self.state_changed)
        self._client.died.disconnect(self._on_client_died)
        self._client.noted.disconnect(self._on_client_noted)
        self._exchange.leave(self)

    # ------------------------------------------------------------------ inner workings

    def _outward(self, request: Request) -> Request:
        for field in ("request", "revision"):
            if self.number and (value := getattr(request, field, None)) is not None:
                request = msgspec.structs.replace(request, **{field: value + self.number * BASE})
        return request

    def _concerns(self, event: Event) -> bool:
        if isinstance(event, Hello):
            return self.is_ours
        if isinstance(event, Memory):
            return True  # the exchange has asked
        if not isinstance(event, OF_THE_RUN):
            for field in ("request", "revision"):
                if (value := getattr(event, field, None)) is not None:
                    return bool(value // BASE == self.number)
        runner = self._exchange.runner
        return runner is self or (runner is None and self.shown)

    def _inward(self, event: Event) -> Event:
        if isinstance(event, Memory):
            others = event.mark and self._exchange.runner not in (None, self)
            series = event.series
            if self.live_elsewhere or self._exchange.measured not in (None, self.number):
                series = {name: value for name, value in series.items() if name not in OF_TENSORS}
            return msgspec.structs.replace(event, mark="" if others else event.mark, series=series)
        for field in ("request", "revision"):
            if self.number and (value := getattr(event, field, None)) is not None and value >= BASE:
                event = msgspec.structs.replace(event, **{field: value % BASE})
        if isinstance(event, (Log, Paused)) and event.names_lines:
            from gradstudio.protocol.ranks.last_line import with_lines  # of several processes

            return with_lines(event, self.line)
        return event

    def _on_client_noted(self, words: str) -> None:
        if self.shown:
            self.noted.emit(words)

    def _on_client_died(self, how: str) -> None:
        if self._exchange.is_struck(self):
            self.died.emit(how)
