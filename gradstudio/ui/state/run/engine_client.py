"""The engines as the window sees them: one at work, those set aside, warm spares; each may die at any moment.

The one at work has walls, or was started for the code of one document. When a document comes to the front that needs
another one, it is set aside with all that it holds, and comes back with its document.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Device, Event, Gradients, Hello, Traced
from gradstudio.protocol.messages.inference import Inferring
from gradstudio.protocol.messages.requests import Request, SampleMemory
from gradstudio.protocol.process_group import COMMAND, RUNS_CODE
from gradstudio.ui.state.engines.engine_child import EngineChild, take_over
from gradstudio.ui.state.run.engine_exchange import EngineAside, EngineLeft, Exchange, Line, end_unless_kept, left_of

if TYPE_CHECKING:
    from gradstudio.protocol.messages.hosting import Document

SPARE_DELAY_MS, KILL_WAIT_MS = 1500, 2000
MAX_QUICK_DEATHS = 3
MOST_ASIDE = 3
"""So many engines for code wait for their documents; of the others only what was recorded stays."""
SAMPLE_MS = 100
"""So often memory is told of by the engine at work."""
MakeEngine = Callable[[tuple[str, ...], QObject], EngineChild]
"""Starts an engine with these options, for this parent."""


class EngineClient(QObject):
    """Sends requests to the engine, announces what it says, and replaces it when it dies.

    Attributes:
        devices: what torch really has; empty until the first engine is ready.
        state: "starting", "ready", "busy" or "dead".
        place: the name of the host on which engines are; "": this machine.
        exchange: the lines of the documents that share it.

    Signals:
        received(object): every `Event` of the engine at work.
        state_changed(object): the new state.
        died(object): the engine at work ended unasked; the words how. On this machine a new one starts by itself.
        noted(object): other words about the engine at work.
        joined(bool): an engine that went on alone was taken up, and whether a verb is under way.
        document_came(object): the `Document` of an engine that another window began, and that is taken up.
    """

    received = Signal(object)
    state_changed = Signal(object)
    died = Signal(object)
    noted = Signal(object)
    joined = Signal(bool)
    document_came = Signal(object)

    def __init__(self, command: list[str] | None = None, spare: bool = True, parent: QObject | None = None) -> None:
        """Start an engine at once; `command` replaces the protocol's `COMMAND`."""
        super().__init__(parent)
        self._command = command or list(COMMAND)
        self._want_spare, self.place, self._stay_title = spare, "", ""
        self._left: EngineLeft | None = None
        self._make: MakeEngine | None = None
        self.state = "starting"
        self.devices: tuple[Device, ...] = ()
        self.hello: Hello | None = None
        self.exchange = Exchange()
        self.received.connect(self.exchange.hand_on)
        self._quick_deaths = 0
        self._inferred_at: Inferring | None = None
        self._engine: EngineChild | None = None
        self._spare: EngineChild | None = None
        self._spare_for_code: EngineChild | None = None
        self._expecting: set[Line] = set()
        self._aside: dict[Line | None, EngineAside] = {}
        self._spare_timer = QTimer(self)
        self._spare_timer.setSingleShot(True)
        self._spare_timer.setInterval(SPARE_DELAY_MS)
        self._spare_timer.timeout.connect(self._on_spare_timer_timeout)
        self._closing = False

    def start(self) -> None:
        """Start the first engine (after the first paint)."""
        if self._engine is None and not self._closing:
            self._take_over(self._spawn())

    @property
    def ready(self) -> bool:
        """Whether torch is imported and requests are answered."""
        return self._engine is not None and self._engine.ready

    @property
    def pid(self) -> int:
        """Process id of the engine at work; 0 when there is none."""
        return int(self._engine.process.processId()) if self._engine is not None else 0

    def send(self, request: Request) -> None:
        """Hand a request to the engine; it waits in the pipe until the engine is ready."""
        if self._engine is not None:
            self._engine.send(request)

    @property
    def infers_at(self) -> Inferring | None:
        """Where the engine at work, or the one that has just ended, said last that it looks for a shape."""
        now = self._engine.infers_at if self._engine is not None else None
        return now or self._inferred_at

    @property
    def _wants_spare(self) -> bool:
        return self._want_spare and not self.place  # there it would take another's memory

    @property
    def command(self) -> tuple[str, ...]:
        """What starts an engine."""
        return tuple(self._command)

    @property
    def goes_on(self) -> bool:
        """Whether the engine was lost, and goes on without us."""
        return self._left is not None

    @property
    def title_there(self) -> str:
        """What is called so that goes on on a host when the line breaks; "": nothing does."""
        return self._stay_title

    @property
    def keeps_running(self) -> bool:
        """Whether the engine at work, on a host, goes on when the line breaks, by its own words; else the next."""
        return self._engine.is_kept if self._engine is not None else bool(self.place and self._stay_title)

    def keep(self, document: "Document") -> None:
        """Have an engine that may go on alone keep what is drawn."""
        if self._engine is not None and self._engine.stays:
            self._engine.keep(document)

    def keep_running(self, title: str) -> None:
        """Have engines on a host go on when the line breaks, called so; "": they end with it."""
        self._stay_title = title
        if self.place and self._engine is not None:
            self._engine.stay(title)

    def take_up(self) -> None:
        """Join the engine that goes on without us; it may have ended meanwhile."""
        left = self._left
        if left is None or self._make is None or self._closing:
            return
        engine = self._make(("--kept", "join", left.name), self)
        engine.hello = left.hello
        engine.join(left.name, left.heard, is_new=left.hello is None)
        engine.stay(self._stay_title)  # that may have been taken back meanwhile
        self._engine = engine
        self._listen(engine)
        self._set_state("starting")

    def set_busy(self, busy: bool) -> None:
        """The controller knows when a verb runs."""
        at_rest = "ready" if self.ready and self._left is None else "starting"
        self._set_state("busy" if busy else at_rest)

    def move_to(
        self, place: str, make: MakeEngine | None, joins: EngineLeft | None = None, *, leaves: bool = False
    ) -> None:
        """Have engines on a host, as `make` starts them, or on this machine again ("", None); all there were end.

        Lines that used one are to be told. `joins`: what goes on there is taken up; `leaves`: that at work goes on.
        """
        for line in tuple(self._aside):
            self._aside.pop(line).engine.discard()
        self.exchange.aside.clear()
        self._expecting.clear()
        self._spare_timer.stop()
        for spare in (self._spare, self._spare_for_code):
            if spare is not None:
                spare.discard()
        self._spare = self._spare_for_code = None
        self._discard(leaves=leaves)
        end_unless_kept(None if leaves else self._left, self._stay_title, joins)
        self._left = None
        self.place, self._make, self._quick_deaths, self.hello = place, make, 0, None
        self.state = ""  # that of the next one is announced, whatever the last one's was
        if joins is None:
            self._replace()
        else:
            self._left, self._stay_title = joins, joins.title
            self.exchange.forget()
            self.take_up()

    def kill_and_restart(self) -> None:
        """End the engine at work whatever it does; the one with walls that waits takes over, or the warm spare."""
        self.exchange.ended_for = self.exchange.code_line
        self._discard()
        self._replace()

    def turn_to(self, code_line: Line | None) -> bool:
        """Have an engine for a document's code at work, or one with walls; the one at work is set aside.

        Returns:
            Whether it is a new one, which has heard of nothing.
        """
        self.exchange.leave(code_line)  # in one with walls it has asked for shapes at most
        self._set_aside()
        if self._closing:
            return True
        waiting = self._aside.pop(code_line, None)
        if code_line is not None:
            self.exchange.aside.discard(code_line)
        if waiting is not None:
            self._resume(waiting)
            return False
        if code_line is None:
            self._replace()
            return True
        spare, self._spare_for_code = self._spare_for_code, None
        self._expecting.discard(code_line)
        self._take_over(take_over(spare) or self._spawn(RUNS_CODE), code_line)
        return True

    def end_code(self, line: Line) -> None:
        """What a document's code has begun ends: its engine at work, or the one that waits."""
        self._expecting.discard(line)
        if self._spare_for_code is not None and not self._expecting:
            self._spare_for_code.discard()
            self._spare_for_code = None
        if self.exchange.code_line is line:
            self.kill_and_restart()
        elif (waiting := self._aside.pop(line, None)) is not None:
            self.exchange.aside.discard(line)
            waiting.engine.discard()

    def expect_code(self, line: Line) -> None:
        """A document with code is seen: a spare for code is started, which runs nothing before a yes."""
        if self._wants_spare and line not in self._expecting:
            self._expecting.add(line)
            self._spare_timer.start()

    def close(self) -> None:
        """End all processes."""
        self._closing = True
        self._spare_timer.stop()
        for engine in (self._engine, self._spare, self._spare_for_code, *(one.engine for one in self._aside.values())):
            if engine is not None:
                engine.let_go() if engine.stays and (self.state == "busy" or self.goes_on) else engine.discard()
                engine.finish(KILL_WAIT_MS)
        end_unless_kept(self._left, self._stay_title)
        self._engine = self._spare = self._spare_for_code = None
        self._aside.clear()

    def _discard(self, *, leaves: bool = False) -> None:
        if self._engine is not None:
            self._engine.leave() if leaves else self._engine.discard()
            self._engine = None

    def _set_aside(self) -> None:
        """The engine at work waits, unless it has not begun."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        if not engine.ready or self._closing:
            engine.discard()
            return
        engine.message.disconnect(self._on_engine_message)
        engine.ended.disconnect(self._on_engine_ended)
        engine.send(SampleMemory(every_ms=0))
        seats = self.exchange.seats
        self._aside[seats.code_line] = EngineAside(engine, seats)
        engine.message.connect(self._on_aside_message)
        engine.ended.connect(lambda how: self._on_aside_ended(engine, how))
        if seats.code_line is not None:
            self.exchange.aside.add(seats.code_line)
            self._let_go_of_the_oldest()

    def _let_go_of_the_oldest(self) -> None:
        lines = [line for line in self._aside if line is not None]
        for line in lines[:-MOST_ASIDE]:
            self.end_code(line)
            line.displaced.emit(lines[-1].title())

    def _resume(self, waiting: EngineAside) -> None:
        """It is at work again, as it was."""
        engine = waiting.engine
        engine.message.disconnect(self._on_aside_message)
        engine.ended.disconnect()
        self._engine, self.hello = engine, engine.hello
        engine.stay(self._stay_title)
        self.exchange.sit(waiting.seats)
        engine.message.connect(self._on_engine_message)
        engine.ended.connect(self._on_engine_ended)
        engine.send(SampleMemory(every_ms=SAMPLE_MS))
        self.state = "ready"
        self.state_changed.emit(self.state)  # also where the other one was ready: it is another one

    def _spawn(self, *options: str) -> EngineChild:
        if self._make is not None:
            return self._make(options, self)
        return EngineChild([*self._command, *options], self)

    def _take_over(self, engine: EngineChild, code_line: Line | None = None) -> None:
        self._engine = engine
        self.exchange.forget(code_line)  # once, and before anybody hears of it: the first to hear may ask at once
        self._listen(engine)
        end_unless_kept(self._left, self._stay_title)
        self._left = None
        if self._stay_title and self.place:
            engine.stay(self._stay_title)
        self._set_state("ready" if engine.ready else "starting")
        if engine.hello is not None:
            self._on_engine_message(engine.hello)

    def _listen(self, engine: EngineChild) -> None:
        engine.message.connect(self._on_engine_message)
        engine.ended.connect(self._on_engine_ended)
        engine.noted.connect(self.noted)
        engine.joined.connect(self._on_engine_joined)
        engine.document_came.connect(self.document_came)
        engine.kept.connect(self._tell_state)

    def _replace(self) -> None:
        if self._closing:
            return
        if (waiting := self._aside.pop(None, None)) is not None:
            self._resume(waiting)
            return
        spare, self._spare = self._spare, None
        self._take_over(take_over(spare) or self._spawn())

    def _set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self._tell_state()

    def _tell_state(self) -> None:
        self.state_changed.emit(self.state)

    def _on_engine_message(self, message: Event) -> None:
        if isinstance(message, Hello):
            self.hello = message
            if message.ready:
                self.devices, self._quick_deaths = message.devices, 0
            if self.state in ("starting", "ready"):
                ready = message.ready and self._left is None
                self._set_state("ready" if ready else "starting")  # ranks begin anew where one has died
            if message.ready and self._wants_spare and self._spare is None:
                self._spare_timer.start()
        self.received.emit(message)

    def _on_engine_joined(self, is_busy: bool) -> None:
        self._left = None
        self._set_state("busy" if is_busy else "ready")
        self.joined.emit(is_busy)

    def _on_engine_ended(self, how: str) -> None:
        was_ready, self._inferred_at = self.ready, self.infers_at
        self.exchange.ended_for = self.exchange.code_line
        if self._engine is not None:
            if self._engine.goes_on is not None:
                self._left = left_of(self._engine, self.hello, self._stay_title)
            self._engine.deleteLater()
            self._engine = None
        self._quick_deaths = 0 if was_ready else self._quick_deaths + 1
        if self._quick_deaths >= MAX_QUICK_DEATHS or self.place:  # a host is asked again when a person asks
            self._set_state("dead")
        else:
            self._replace()
        self.died.emit(how)

    def _on_aside_message(self, message: Event) -> None:
        """What names the document it is for, which has shown the like before; nobody else is to hear of it."""
        if isinstance(message, Traced | BackwardTraced | Gradients):
            self.received.emit(message)

    def _on_aside_ended(self, engine: EngineChild, how: str) -> None:
        line = next((line for line, one in self._aside.items() if one.engine is engine), None)
        self._aside.pop(line, None)
        if line is not None:
            self.exchange.aside.discard(line)
        engine.deleteLater()
        self.exchange.ended_for = line
        self.died.emit(how)

    def _on_spare_timer_timeout(self) -> None:
        if self._closing:
            return
        if self._spare is None:
            self._spare = self._spawn()
            self._spare.ended.connect(self._on_spare_ended)
        if self._spare_for_code is None and self._expecting:
            self._spare_for_code = self._spawn(RUNS_CODE)
            self._spare_for_code.ended.connect(self._on_spare_for_code_ended)

    def _on_spare_ended(self, _how: str) -> None:
        if self._spare is not None:
            self._spare.deleteLater()
            self._spare = None

    def _on_spare_for_code_ended(self, _how: str) -> None:
        if self._spare_for_code is not None:
            self._spare_for_code.deleteLater()
            self._spare_for_code = None
