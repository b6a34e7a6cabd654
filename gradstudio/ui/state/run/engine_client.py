"""The engine process as the window sees it: one at work, one warm spare; it may die at any moment."""

from typing import cast

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from gradstudio.protocol.client import COMMAND, RUNS_CODE
from gradstudio.protocol.errors import ProtocolError
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.events import Device, Event, Hello, Log
from gradstudio.protocol.messages.inference import Inferring
from gradstudio.protocol.messages.requests import Request
from gradstudio.protocol.process_group import end_group
from gradstudio.ui.state.run.engine_exchange import Exchange, Line

SPARE_DELAY_MS = 1500
KILL_WAIT_MS = 2000
MAX_QUICK_DEATHS = 3


class EngineChild(QObject):
    """One engine process and its decoder.

    Signals:
        message(object): every `Event` it sends, and its prints as `Log`.
        ended(object): it ended unasked; the words how.
    """

    message = Signal(object)
    ended = Signal(object)

    def __init__(self, command: list[str], parent: QObject) -> None:
        """Start it."""
        super().__init__(parent)
        self.hello: Hello | None = None
        self.infers_at: Inferring | None = None
        self._decoder: Decoder[Event] = Decoder(cast(type[Event], Event))
        self._discarded = False
        self.process = QProcess(self)
        self.process.setProgram(command[0])
        self.process.setArguments(command[1:])
        environment = QProcessEnvironment.systemEnvironment()
        environment.insert("PYTHONUNBUFFERED", "1")
        self.process.setProcessEnvironment(environment)
        self.process.readyReadStandardOutput.connect(self._on_process_ready_read)
        self.process.readyReadStandardError.connect(self._on_process_error_read)
        self.process.finished.connect(self._on_process_finished)
        self.process.errorOccurred.connect(self._on_process_error)
        self.process.start()

    @property
    def ready(self) -> bool:
        """Whether torch is imported."""
        return self.hello is not None and self.hello.ready

    def send(self, request: Request) -> None:
        """Hand it a request; it waits in the pipe until the engine is ready."""
        self.process.write(encode(request))

    def discard(self) -> None:
        """Kill without a word; nothing it still says is heard."""
        self._discarded = True
        self._end_group()
        self.process.kill()

    def _end_group(self) -> None:
        """What code has started ends with its engine."""
        process = self.hello.pid if self.hello is not None else int(self.process.processId())
        end_group(process, self.process.arguments())

    def _on_process_ready_read(self) -> None:
        data = bytes(self.process.readAllStandardOutput().data())
        try:
            messages = self._decoder.feed(data)
        except ProtocolError as error:
            self.message.emit(Log(level="error", text=f"The engine spoke nonsense and is restarted: {error}"))
            self.process.kill()
            return
        for message in messages:
            if self._discarded:
                return
            if isinstance(message, Inferring):
                self.infers_at = message
                continue  # one for each statement: nobody asks before it takes long
            if isinstance(message, Hello):
                self.hello = message
            self.message.emit(message)

    def _on_process_error_read(self) -> None:
        text = bytes(self.process.readAllStandardError().data()).decode("utf-8", "replace").strip()
        if text and not self._discarded:
            self.message.emit(Log(level="info", text=text))

    def _on_process_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and not self._discarded:
            self.ended.emit(f"it could not be started: {self.process.errorString()}")

    def _on_process_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        if self._discarded:
            self.deleteLater()
            return
        self._end_group()
        crashed = status == QProcess.ExitStatus.CrashExit
        self.ended.emit(f"it was killed (signal {code})" if crashed else f"it ended with code {code}")


class EngineClient(QObject):
    """Sends requests to the engine, announces what it says, and replaces it when it dies.

    Attributes:
        devices: what torch really has; empty until the first engine is ready.
        state: "starting", "ready", "busy" or "dead".
        exchange: the lines of the documents that share it.

    Signals:
        received(object): every `Event` of the engine at work.
        state_changed(object): the new state.
        died(object): the engine at work ended unasked; the words how. A new one starts by itself.
    """

    received = Signal(object)
    state_changed = Signal(object)
    died = Signal(object)

    def __init__(self, command: list[str] | None = None, spare: bool = True, parent: QObject | None = None) -> None:
        """Start an engine at once; `command` replaces the protocol's `COMMAND`."""
        super().__init__(parent)
        self._command = command or list(COMMAND)
        self._want_spare = spare
        self.state = "starting"
        self.devices: tuple[Device, ...] = ()
        self.hello: Hello | None = None
        self.exchange = Exchange()
        self._quick_deaths = 0
        self._inferred_at: Inferring | None = None
        self._engine: EngineChild | None = None
        self._spare: EngineChild | None = None
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
    def command(self) -> tuple[str, ...]:
        """What starts an engine."""
        return tuple(self._command)

    def set_busy(self, busy: bool) -> None:
        """The controller knows when a verb runs."""
        if busy:
            self._set_state("busy")
        else:
            self._set_state("ready" if self.ready else "starting")

    def kill_and_restart(self) -> None:
        """End the engine whatever it does; the warm spare takes over."""
        self._discard()
        self._replace()

    def start_for_code(self, line: Line) -> None:
        """An engine without walls takes over, for the code of one document; when it ends, one with walls follows."""
        self._discard()
        if not self._closing:
            self._take_over(self._spawn(RUNS_CODE), line)

    def close(self) -> None:
        """End all processes."""
        self._closing = True
        self._spare_timer.stop()
        for engine in (self._engine, self._spare):
            if engine is not None:
                engine.discard()
                engine.process.waitForFinished(KILL_WAIT_MS)
        self._engine = self._spare = None

    def _discard(self) -> None:
        if self._engine is not None:
            self._engine.discard()
            self._engine = None

    def _spawn(self, *options: str) -> EngineChild:
        return EngineChild([*self._command, *options], self)

    def _take_over(self, engine: EngineChild, code_line: Line | None = None) -> None:
        self._engine = engine
        self.exchange.forget(code_line)  # once, and before anybody hears of it: the first to hear may ask at once
        engine.message.connect(self._on_engine_message)
        engine.ended.connect(self._on_engine_ended)
        self._set_state("ready" if engine.ready else "starting")
        if engine.hello is not None:
            self._on_engine_message(engine.hello)

    def _replace(self) -> None:
        if self._closing:
            return
        spare, self._spare = self._spare, None
        if spare is not None and spare.process.state() == QProcess.ProcessState.NotRunning:
            spare = None
        if spare is not None:
            spare.ended.disconnect()
        self._take_over(spare if spare is not None else self._spawn())

    def _set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.state_changed.emit(state)

    def _on_engine_message(self, message: Event) -> None:
        if isinstance(message, Hello):
            self.hello = message
            if message.ready:
                self.devices = message.devices
                self._quick_deaths = 0
                if self.state == "starting":
                    self._set_state("ready")
                if self._want_spare and self._spare is None:
                    self._spare_timer.start()
        self.received.emit(message)

    def _on_engine_ended(self, how: str) -> None:
        was_ready, self._inferred_at = self.ready, self.infers_at
        if self._engine is not None:
            self._engine.deleteLater()
            self._engine = None
        self._quick_deaths = 0 if was_ready else self._quick_deaths + 1
        if self._quick_deaths >= MAX_QUICK_DEATHS:
            self._set_state("dead")
            self.died.emit(how)
            return
        self._replace()
        self.died.emit(how)

    def _on_spare_timer_timeout(self) -> None:
        if self._spare is None and not self._closing:
            self._spare = self._spawn()
            self._spare.ended.connect(self._on_spare_ended)

    def _on_spare_ended(self, _how: str) -> None:
        if self._spare is not None:
            self._spare.deleteLater()
            self._spare = None
