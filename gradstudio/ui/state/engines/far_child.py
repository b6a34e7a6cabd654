"""An engine on a host, as the window holds it: the process that leads there, whose words are not taken on trust."""

import time
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QProcess, QTimer

from gradstudio.protocol.errors import HostFailed, ProtocolError
from gradstudio.protocol.framing import encode
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import refusal, start_command
from gradstudio.protocol.hosts.host_failures import GONE, LAST_WORDS, LET_GO, OF_SSH, loss, start_failure
from gradstudio.protocol.hosts.porter import KEPT, QUIET_S
from gradstudio.protocol.hosts.tensor_sending import ASK_BYTES, PIECE_BYTES, TensorSending
from gradstudio.protocol.messages.events import Event, Log
from gradstudio.protocol.messages.hosting import Beat, Document, Handover, Join, Lacking, Leave, Stay, Staying
from gradstudio.protocol.messages.requests import Request
from gradstudio.ui.state.engines.engine_child import EngineChild

BEAT_MS: Final = 1000
LEAVE_MS: Final = 5000
SILENT: Final = "The line to “{host}” is broken: this window was not heard there for {seconds} s."
MOST_TO_WRITE: Final = 4 * PIECE_BYTES
TELL_BYTES: Final = 5_000_000
"""So often it is said how much of more than that was sent."""
MaySend = Callable[[str], bool]


class FarChild(EngineChild):
    """An engine on a host.

    Attributes:
        host: where it is.
    """

    def __init__(self, host: Host, options: tuple[str, ...], parent: QObject, may_send: MaySend) -> None:
        """Start what leads there; `options` are the engine's, `may_send` asks a person whether so much is sent."""
        self._frames = FarDecoder(partial(refusal, host))
        self._errors, self._reason = "", ""
        self.host, self._may_send = host, may_send
        self._sending, self._is_sending = TensorSending(), False
        self._is_asking = self._joins = self._is_to_end = False
        self._name = ""
        super().__init__(start_command(host, bundle_key(), *options), parent)
        self.process.bytesWritten.connect(self._send_more)
        self._beat_s = _awake_or_asleep_s()
        self._heart = QTimer(self)
        self._heart.timeout.connect(self._beat)
        self._heart.start(BEAT_MS)

    def _frames_of(self, request: Request) -> Iterable[bytes]:
        return self._sending.frames_of(request)

    @property
    def heard(self) -> int:
        """How many of its messages came."""
        return self._frames.heard

    def stay(self, title: str) -> None:
        """Go on when the line breaks, called so; "": end with it."""
        if bool(title) == bool(self.stays):
            return
        self._name, self._is_to_end = self.stays or uuid.uuid4().hex, not title
        self.process.write(encode(Stay(name=self._name, title=title, ends=not title)))
        self.process.write(encode(Beat(heard=self._frames.heard)))  # who is silent from now on has let go
        self.stays, self.is_kept = self._name if title else "", False
        self.kept.emit()

    def keep(self, document: Document) -> None:
        """Keep what is drawn for whoever takes it up."""
        self.process.write(encode(document))

    def join(self, name: str, heard: int, *, is_new: bool = False) -> None:
        """Take up the engine that stays under a name, of which so much was heard; `is_new`: another window began it."""
        self.stays = self._name = name
        self._frames.heard = heard
        self._joins = self.is_kept = True  # it goes on: so it is found there
        self.process.write(encode(Join(heard=heard, is_new=is_new)))

    def let_go(self) -> None:
        """Leave without a word: it goes on there. Where it has not said so yet, what it was told is to arrive first."""
        self._discarded = True
        self._heart.stop()
        if self.is_kept and not self.process.bytesToWrite():
            self.process.kill()
        else:
            self.process.closeWriteChannel()

    def discard(self) -> None:
        """End it without a word, also where it would stay, and where its line is slow or broken."""
        is_running = self.process.state() == QProcess.ProcessState.Running
        self._is_to_end = bool(self._name)
        if self._name and is_running:
            self.process.write(encode(Leave()))
            self.leave()
            return
        self.end_there()
        super().discard()

    def end_there(self) -> None:
        """End what stays there by a line of its own, which outlives this window and ends soon."""
        if not self._name:
            return
        other = QProcess()
        program, *arguments = start_command(self.host, bundle_key(), KEPT, "end", self._name)
        other.setProgram(program)
        other.setArguments(arguments)
        other.setStandardInputFile(QProcess.nullDevice())
        other.setStandardOutputFile(QProcess.nullDevice())
        other.setStandardErrorFile(QProcess.nullDevice())
        other.startDetached()

    def leave(self) -> None:
        """As `let_go`, once all that it was told is there."""
        self._discarded = True
        self._heart.stop()
        self.process.closeWriteChannel()
        QTimer.singleShot(LEAVE_MS, self, self.process.kill)

    def _keeps(self, message: Event) -> bool:
        if isinstance(message, Staying):
            self.is_kept = message.name == self.stays
            self.kept.emit()
            if not self._joins:
                return True
            self._joins = False
            self.joined.emit(message.is_busy)
            if message.lost:
                text = (
                    f"{message.lost} messages of “{self.host.name}”, records of turns, are lost; its curves are whole."
                )
                self.message.emit(Log(level="info", text=text))
            return True
        if isinstance(message, Document):
            self.document_came.emit(message)
            return True
        if isinstance(message, Handover):
            self.goes_on, self._is_to_end, self._name = True, False, ""  # it is no more this window's to end
            self._reason = f"What runs on “{self.host.name}” was taken up by another window."
            self.process.kill()
            return True
        if not isinstance(message, Lacking):
            return False
        QTimer.singleShot(0, self, lambda: self._begin_sending(message))  # a question may stand for long
        return True

    def _begin_sending(self, lacking: Lacking) -> None:
        sending = self._sending
        if self._is_asking:  # a host that asks again meanwhile is not answered: one question stands at a time
            return
        if sending.begin(lacking) > ASK_BYTES and not self._ask(sending.question(self.host.name)):
            self._reason = sending.refusal(self.host.name)
            self.process.kill()
            return
        self._is_sending = True
        self._send_more()

    def _ask(self, question: str) -> bool:
        self._is_asking = True
        try:
            return self._may_send(question)
        finally:
            self._is_asking = False

    def _send_more(self) -> None:
        """Send the next piece when there is room for it; one at a time, for packing takes its milliseconds."""
        if not self._is_sending or self._discarded or self.process.bytesToWrite() > MOST_TO_WRITE:
            return
        before = self._sending.done
        frame = self._sending.next_frame()
        self._is_sending = bool(frame)
        if not frame:
            return
        self.process.write(frame)
        done, total = self._sending.done, self._sending.total
        if total > TELL_BYTES and (before // TELL_BYTES != done // TELL_BYTES or done == total):
            self.noted.emit(self._sending.progress(self.host.name))
        QTimer.singleShot(0, self, self._send_more)

    def _new_decoder(self) -> FarDecoder:
        return self._frames

    def _on_process_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        is_broken = status == QProcess.ExitStatus.CrashExit or code in (OF_SSH, LET_GO)
        if self._is_to_end and is_broken:  # nobody knows whether it was heard there
            self.end_there()
        super()._on_process_finished(code, status)

    def _beat(self) -> None:
        """Say that somebody is here; after a sleep in which nobody did, the line was let go there, which ssh hides."""
        before, self._beat_s = self._beat_s, _awake_or_asleep_s()
        if self.stays and self._beat_s - before > QUIET_S:
            self._lose()
        else:
            self.process.write(encode(Beat(heard=self._frames.heard)))

    def _lose(self) -> None:
        """The line was let go there, and the engine goes on."""
        self.goes_on, self._reason = True, SILENT.format(host=self.host.name, seconds=QUIET_S)
        self.process.kill()

    def _end_group(self) -> None:
        """What code has started there ends there; a number of a process from there is none of ours."""

    def _refuse(self, error: ProtocolError) -> None:
        is_clear = isinstance(error, HostFailed) or self._frames.greeted
        self._reason = str(error) if is_clear else f"From the host “{self.host.name}” comes no engine: {error}"
        self.process.kill()

    def _how(self, code: int, *, crashed: bool) -> str:
        self._on_process_error_read()  # ssh says why in its last line
        exit_code = None if crashed else code
        if self._reason:
            return self._reason
        if self.stays and not self._frames.greeted:
            self.goes_on = None
        elif code == LET_GO and self.stays:
            self.goes_on = True
            return SILENT.format(host=self.host.name, seconds=QUIET_S)
        elif code == GONE and self.stays:
            return f"What ran on “{self.host.name}” has ended there meanwhile."
        if self._frames.greeted:
            self.goes_on = bool(self.stays) and (crashed or code == OF_SSH)
            return loss(self.host, exit_code, self._errors)
        return start_failure(self.host, exit_code, self._errors, self._frames.noise)

    def _on_process_error_read(self) -> None:
        text = bytes(self.process.readAllStandardError().data()).decode("utf-8", "replace")
        self._errors = (self._errors + text)[-LAST_WORDS:]
        if text.strip() and self._frames.greeted and not self._discarded:
            self.message.emit(Log(level="info", text=text.strip()))

    def _on_process_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and not self._discarded:
            program = self.process.program()
            self.ended.emit(f"The host “{self.host.name}” cannot be reached: {program} could not be started.")


def make_far(host: Host, may_send: MaySend, options: tuple[str, ...], parent: QObject) -> EngineChild:
    """Start an engine on a host."""
    return FarChild(host, options, parent, may_send)


def _awake_or_asleep_s() -> float:
    """Seconds that also go by while a machine sleeps; by a clock that nobody sets, where there is one."""
    clock: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.time() if clock is None else time.clock_gettime(clock)
