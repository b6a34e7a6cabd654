"""One engine process as the window holds it, and its frames; it may die at any moment."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

from gradstudio.protocol.errors import OtherProtocol, ProtocolError
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.events import Event, Hello, Log
from gradstudio.protocol.messages.inference import Inferring
from gradstudio.protocol.messages.requests import Request
from gradstudio.protocol.process_group import end_group

if TYPE_CHECKING:
    from gradstudio.protocol.messages.hosting import Document


class EngineChild(QObject):
    """One engine process and its decoder.

    Signals:
        message(object): every `Event` it sends, and its prints as `Log`.
        ended(object): it ended unasked; the words how.
        noted(object): other words about it.
        joined(bool): it was taken up again, and whether a verb is under way.
        document_came(object): the `Document` that it runs, where another window began it.
        kept(): it goes on when the line breaks from now on, as it has said itself, or does so no more.

    Attributes:
        stays: the name under which it goes on when the line breaks; "": it ends then.
        is_kept: it has said that it goes on then.
        goes_on: it was lost, and goes on; None: that is not known.
    """

    message = Signal(object)
    ended = Signal(object)
    noted = Signal(object)
    joined = Signal(bool)
    document_came = Signal(object)
    kept = Signal()
    stays = ""
    is_kept = False
    goes_on: bool | None = False

    @property
    def heard(self) -> int:
        """How many of its messages came."""
        return 0

    def __init__(self, command: list[str], parent: QObject) -> None:
        """Start it."""
        super().__init__(parent)
        self.hello: Hello | None = None
        self.infers_at: Inferring | None = None
        self._decoder = self._new_decoder()
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
        for frame in self._frames_of(request):
            self.process.write(frame)

    def stay(self, title: str) -> None:
        """Go on when the line breaks, called so; "": end with it. An engine of this machine has no line."""

    def keep(self, document: "Document") -> None:
        """Keep what is drawn for whoever takes it up; an engine of this machine is taken up by nobody."""

    def join(self, name: str, heard: int, *, is_new: bool = False) -> None:
        """Take up the engine that stays under a name, of which so much was heard; `is_new`: another window began it."""

    def let_go(self) -> None:
        """Leave without a word, so that it goes on; an engine of this machine ends."""
        self.discard()

    def leave(self) -> None:
        """As `let_go`, once all that it was told is there."""
        self.discard()

    def end_there(self) -> None:
        """End what goes on without us; nothing of this machine does."""

    def finish(self, patience_ms: int) -> None:
        """Wait until it has ended, and have it end."""
        if not self.process.waitForFinished(patience_ms):
            self.process.kill()
            self.process.waitForFinished(patience_ms)

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
            self._refuse(error)
            return
        for message in messages:
            if self._discarded:
                return
            if isinstance(message, Hello) and message.protocol != PROTOCOL_VERSION:
                self._refuse(OtherProtocol(message.protocol, PROTOCOL_VERSION))
                return
            if isinstance(message, Inferring):
                self.infers_at = message
                continue  # one for each statement: nobody asks before it takes long
            if isinstance(message, Hello):
                self.hello = message
            if not self._keeps(message):
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
        self.ended.emit(self._how(code, crashed=status == QProcess.ExitStatus.CrashExit))

    def _frames_of(self, request: Request) -> Iterable[bytes]:
        return (encode(request),)

    def _keeps(self, _message: Event) -> bool:
        """Whether a message concerns nobody else."""
        return False

    def _new_decoder(self) -> Decoder[Event]:
        return Decoder(cast(type[Event], Event))

    def _refuse(self, error: ProtocolError) -> None:
        """What it says is nothing for us: it ends."""
        self.message.emit(Log(level="error", text=f"The engine spoke nonsense and is restarted: {error}"))
        self.process.kill()

    def _how(self, code: int, *, crashed: bool) -> str:
        return f"it was killed (signal {code})" if crashed else f"it ended with code {code}"


def take_over(spare: EngineChild | None) -> EngineChild | None:
    """A spare for the one at work; None when it has ended."""
    if spare is None or spare.process.state() == QProcess.ProcessState.NotRunning:
        return None
    spare.ended.disconnect()
    return spare
