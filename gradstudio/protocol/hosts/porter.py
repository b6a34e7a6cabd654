"""The porter of a host: the process between the line and the engine there. It computes nothing and never waits.

It keeps stored tensors, so that they travel once, and ends the engine when the line ends or falls silent. Frames that
are not for it pass as they are. It knows neither torch nor the rest of the protocol, and starts the engine before all
else.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from typing import IO, TYPE_CHECKING, Final, cast

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, FrameCutter, body_of, decoded, encode, framed, kind_of
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.hosts.frame_log import FrameLog
from gradstudio.protocol.hosts.tensor_stock import TensorDesk, TensorStock
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.hosting import (
    Beat,
    Handover,
    Join,
    Lacking,
    Leave,
    Needs,
    Piece,
    PorterRequest,
    Stay,
    Staying,
)
from gradstudio.protocol.parent_death import end_with_parent
from gradstudio.protocol.process_group import COMMAND, OF_SIGNAL, end_group

if TYPE_CHECKING:
    from gradstudio.protocol.hosts.meeting_place import MeetingPlace

QUIET_S: Final = 8
"""A line on which nobody was heard for so long, after somebody was, is broken."""
LOOK_S: Final = 1.0
END_S: Final = 2
"""So long an engine may take to end by itself."""
BROKEN: Final = 5
OURS: Final = {kind.__name__ for kind in (Needs, Stay, Leave)}
AT_ONCE: Final = {"Stop", "Answer", "Watch", "Stay", "Leave"}
"""What waits for no stored tensor."""


KEPT: Final = "--kept"
TRAINS: Final = "--trains"
"""No engine is started: a training script under torchrun."""
REST_S: Final = 3 * 24 * 3600
"""So long an engine stays that computes nothing and that nobody joins."""
_QUIET: Final = msgspec.msgpack.encode({"type": "SampleMemory", "every_ms": 0})
"""Nobody looks at the memory of an engine that nobody hears."""
_REQUESTS: Final = msgspec.msgpack.Decoder(PorterRequest)


class Porter:
    """Passes frames between a line and an engine."""

    def __init__(self, options: list[str], source: int = 0, target: int = 1) -> None:
        """Start the engine with these options for whoever is on the line."""
        self._command = (*COMMAND, *options)
        pipe = subprocess.PIPE
        self._engine = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        self._began_s = time.time()
        self._selector = selectors.DefaultSelector()
        self._words = Channel(self._selector, _number(self._engine.stderr), 2)
        self._log, self._is_busy, self._rests_since = FrameLog(), False, time.monotonic()
        self._hello = self._document = b""
        self._meeting: MeetingPlace | None = None
        self._has_started_by = True
        self._line = Channel(self._selector, source, target)
        self._pipe = Channel(self._selector, _number(self._engine.stdout), _number(self._engine.stdin))
        self._desk = TensorDesk(TensorStock())
        self._requests, self._events = FrameCutter(), FrameCutter(LARGEST_FAR_FRAME)
        self._held: deque[bytes] = deque()
        self._heard_s: float | None = None
        self._is_over = self._is_alone = self._has_ended = False

    def run(self) -> int:
        """Serve until the engine or the line ends; the exit code."""
        self._line.listen(self._on_line)
        self._pipe.listen(self._on_engine)
        self._words.listen(self._words.write)
        while not self._is_over:
            for key, _ in self._selector.select(LOOK_S):
                key.data()
            self._pipe.listen(None if self._line.is_full else self._on_engine)
            now = time.monotonic()
            if self._is_alone:
                self._is_alone = False
                if self._has_started_by:  # else another is on the line
                    self.leave()
            if self._heard_s is not None and now - self._heard_s > QUIET_S:
                self.leave()
            if not self._line.is_open and not self._is_busy and now - self._rests_since > REST_S:
                self._is_over = True
            if self._has_ended and self._line.is_open and not self._line.waiting:
                self._is_over = True
        return self._end()

    def note_parent_death(self, *_: object) -> None:
        """A signal: whoever started this is gone. It may come in the middle of anything, so it is only noted."""
        self._is_alone = True

    def note_end(self, *_: object) -> None:
        """A signal: it is to end, also where it was asked to stay."""
        self._is_over = True

    def leave(self) -> None:
        """Nobody is on the line any more: the engine ends, unless it is to stay."""
        self._line.close()
        if self._meeting is None:
            self._is_over = True
            return
        self._let_go()
        self._heard_s, self._rests_since = None, time.monotonic()
        self._held.clear()
        self._requests = FrameCutter()
        self._pipe.write(framed(_QUIET))

    def _let_go(self) -> None:
        """Hold nothing of whoever started this, who may wait for that."""
        if self._has_started_by:
            self._has_started_by = False
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            os.close(nothing)
        else:
            self._line.hang_up()

    def _on_line(self, data: bytes) -> None:
        if not data:
            self.leave()
        else:
            self._hear(data)

    def _hear(self, data: bytes) -> None:
        """Bytes of whoever is on the line."""
        try:
            for body in self._requests.cut(data):
                self._take(body)
        except BrokenFrame as error:
            self._refuse(error)

    def _refuse(self, error: BrokenFrame) -> None:
        """Say what came, and end: what follows it cannot be read."""
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        self._is_over = True

    def _take(self, body: bytes) -> None:
        kind = kind_of(body)
        if kind == "Beat":
            self._heard_s = time.monotonic()
            self._log.forget(cast(Beat, decoded(_REQUESTS, body)).heard)
        elif kind == "Document":
            self._document = body
        elif kind == "Piece":
            self._take_piece(decoded(_REQUESTS, body))
        elif self._desk.waits and kind not in AT_ONCE:
            self._held.append(body)
        elif kind in OURS:
            self._carry_out(decoded(_REQUESTS, body))
        else:
            self._is_busy = self._is_busy or kind == "Do"
            self._pipe.write(framed(body))

    def _carry_out(self, request: PorterRequest) -> None:
        match request:
            case Needs():
                self._look(request)
            case Stay():
                self._stay(request)
            case Leave():
                self._is_over = True
            case _:
                pass

    def _stay(self, stay: Stay) -> None:
        if self._meeting is not None and stay.ends:
            self._meeting.close()
            self._meeting = None
        if self._meeting is not None or stay.ends:
            return
        from gradstudio.protocol.hosts.left_record import forget_old_records
        from gradstudio.protocol.hosts.meeting_place import MeetingPlace  # most engines end with their line

        forget_old_records()
        try:
            self._meeting = MeetingPlace(self._selector, stay, self._answer, self._join, self._hear, self._end_unasked)
            self._log.keep_for_others()
            self._tell(self._answer())
        except OSError as error:
            self._warn(f"The engine cannot stay on the host when the line breaks: {error.strerror}.")

    def _answer(self, lost: int = 0) -> Staying:
        assert self._meeting is not None
        stay, is_joined = self._meeting.stay, self._line.is_open
        return Staying(
            name=stay.name, title=stay.title, is_busy=self._is_busy, is_joined=is_joined, since_s=self._began_s,
            pid=os.getpid(), lost=lost, said=self._log.count, has_ended=self._has_ended,
        )  # fmt: skip

    def _join(self, line: Channel, join: Join) -> None:
        """Somebody takes the engine up; whoever was on the line is no longer."""
        if self._line.is_open:
            self._tell(Handover())
            self.leave()
        self._line = line
        heard = self._log.run_begins if join.is_new else join.heard
        missed = list(self._log.since(heard))
        before = [body for body in (self._document, self._hello) if body and join.is_new]
        for body in (*before, *missed):
            line.write(framed(body))
        self._tell(self._answer(lost=max(0, self._log.count - heard - len(missed))))
        self._heard_s = time.monotonic()
        line.listen(self._on_line)

    def _end_unasked(self) -> None:
        self._is_over = True

    def _look(self, needs: Needs) -> None:
        found, lacking = self._desk.look(needs)
        self._give(found)
        if lacking:
            self._tell(Lacking(digests=lacking))

    def _take_piece(self, piece: PorterRequest) -> None:
        assert isinstance(piece, Piece)
        found, why_not_kept = self._desk.take(piece)
        self._give(found)
        if why_not_kept:
            self._warn(f"A stored tensor is not kept on the host: {why_not_kept}.")
        while self._held and not self._desk.waits:
            self._take(self._held.popleft())

    def _give(self, tensors: dict[str, bytes]) -> None:
        if not tensors:
            return
        from gradstudio.protocol.messages.requests import Take  # and with it all other messages

        for digest, data in tensors.items():  # a frame each: none is larger than one may be
            self._pipe.write(encode(Take(tensors={digest: data})))

    def _warn(self, text: str) -> None:
        from gradstudio.protocol.messages.events import Log  # seldom, and with it all other messages

        self._pass_on(body_of(Log(level="warning", text=text)))

    def _tell(self, message: Message) -> None:
        self._line.write(encode(message))

    def _on_engine(self, data: bytes) -> None:
        if not data:
            self._hear_end()
            return
        try:
            for body in self._events.cut(data):
                self._pass_on(body)
        except BrokenFrame as error:
            self._refuse(error)

    def _hear_end(self) -> None:
        """The engine has ended; of one that ended alone, what it said is left in a file for whoever takes it up."""
        if self._meeting is None or self._line.is_open:
            self._is_over = True
            return
        self._pipe.close()
        code = self._engine.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        self._warn(f"The engine {how} while nobody was on the line. What it had said is shown.")
        self._has_ended, self._is_busy, self._rests_since = True, False, time.monotonic()
        self._leave_record()

    def _leave_record(self) -> None:
        """End, and leave a record; where the disk takes none, what was said waits here."""
        from gradstudio.protocol.hosts.left_record import RecordHead, write_record  # most engines do not end alone

        before = tuple(body for body in (self._document, self._hello) if body)
        with contextlib.suppress(OSError):
            write_record(RecordHead(self._answer(), self._log.run_begins, before), self._log.frames())
            self._is_over = True

    def _pass_on(self, body: bytes) -> None:
        """What the engine says, to the line and into the log."""
        kind = kind_of(body)
        self._log.add(kind, body)
        if kind == "Hello":
            self._hello = body
        if kind == "Paused":
            self._is_busy, self._rests_since = False, time.monotonic()
        self._line.write(framed(body))

    def _end(self) -> int:
        """End the engine if it has not; what it said is still said. The exit code."""
        if self._meeting is not None:
            self._meeting.close()
        self._pipe.close()
        cast(IO[bytes], self._engine.stdin).close()
        try:
            code = self._engine.wait(END_S)
        except subprocess.TimeoutExpired:
            end_group(self._engine.pid, self._command)
            self._engine.kill()
            code = self._engine.wait()
        deadline = time.monotonic() + END_S
        while self._line.is_open and (self._line.waiting or self._words.is_listening) and time.monotonic() < deadline:
            for key, _ in self._selector.select(LOOK_S):
                key.data()
        return code if code >= 0 else OF_SIGNAL - code


def _number(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()


def main() -> None:
    """Serve whoever started this, with the options of the engine."""
    if sys.argv[1:2] == [KEPT]:
        from gradstudio.protocol.hosts.visit import visit

        os._exit(visit(sys.argv[2:]))
    if sys.argv[1:2] == [TRAINS]:
        from gradstudio.protocol.torchrun.far_training import train_there

        train_there(QUIET_S)
        return
    with contextlib.suppress(OSError):
        os.setsid()  # what ends a terminal does not end it: the end of the line does
    porter = Porter(sys.argv[1:])
    signal.signal(signal.SIGTERM, porter.note_end)
    parent_died = signal.SIGUSR1  # another than the one by which a person or a system ends it
    signal.signal(parent_died, porter.note_parent_death)
    end_with_parent(by=parent_died)
    os._exit(porter.run())


if __name__ == "__main__":
    main()
