"""The engine's end of the pipes: one writer that threads may share, one reader that never computes.

File descriptor 1 is duplicated for the protocol and then points at stderr, so nothing a program
or a library prints can come between two frames.
"""

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO, cast

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import Decoder, frame_parts
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.charts import Watch
from gradstudio.protocol.messages.debugging import Check, WhatIf
from gradstudio.protocol.messages.requests import Answer, Do, Load, Request, Stop
from gradstudio.protocol.process_group import end_others

READ_BYTES = 1 << 20
PIPE_BYTES = 1 << 20
INTERRUPTIBLE = (Do, WhatIf, Check)
"""Requests that a Stop ends."""
EXIT_BROKEN = 5


class Outbox:
    """Writes frames whole, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        """Write to `stream`."""
        self._stream, self._lock = stream, threading.Lock()
        self._process = os.getpid()

    def send(self, message: Message) -> None:
        """Put one message on the pipe; a peer that is gone ends the process, and one forked from it says nothing."""
        if os.getpid() != self._process:
            return
        length, body = frame_parts(message)
        try:
            with self._lock:
                self._stream.write(length)
                self._stream.write(body)
                self._stream.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)


class Inbox:
    """Requests as they come, read by a thread of its own so that Stop and the end are seen at once.

    When standard input ends the process exits, whatever it computes: no orphan is left.

    Attributes:
        heard_stop: is called in that thread when a Stop has come.
        ends: when the process is about to end.
    """

    _watch: Watch | None = None
    _load: Load | None = None

    def __init__(self, stream: BinaryIO) -> None:
        """Read from `stream`, which must be raw: a read gives what is there."""
        self._stream = stream
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._received, self._taken, self._stop_up_to, self._pause_up_to = 0, 0, 0, 0
        self.heard_stop: Callable[[], object] = lambda: None
        self.ends: Callable[[], object] = lambda: None

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def waiting(self) -> bool:
        """Whether a request is there to be taken."""
        return not self._requests.empty()

    def take(self) -> Request:
        """The next request, waited for. Stop never appears here."""
        request = self._requests.get()
        if isinstance(request, INTERRUPTIBLE):
            self._taken += 1
        if request is self._load:
            self._load = None
        return request

    def answer(self, seconds: float) -> Answer | None:
        """What was typed for a program that asked; None when nothing came within so many seconds."""
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def stopped(self) -> bool:
        """Whether a Stop came after the verb (or experiment) that is being carried out."""
        return self._stop_up_to >= self._taken

    def pauses(self) -> bool:
        """Whether one came after it that stops behind a turn."""
        return self._pause_up_to >= self._taken

    def watch(self) -> Watch | None:
        """The newest that came, also before its turn; None: nothing did."""
        return self._watch

    def load(self) -> Load | None:
        """The newest program that came, before its turn; None: there is none."""
        return self._load

    def _read(self) -> None:
        decoder: Decoder[Request] = Decoder(cast(type[Request], Request))
        try:
            while data := self._stream.read(READ_BYTES):
                for request in decoder.feed(data):
                    self._accept(request)
        except BrokenFrame as error:
            sys.stderr.write(f"{error}\n")
            os._exit(EXIT_BROKEN)
        end_others(sys.argv)
        self.ends()
        os._exit(0)

    def _accept(self, request: Request) -> None:
        if isinstance(request, Stop):
            if request.behind_turn:
                self._pause_up_to = self._received
            else:
                self._stop_up_to = self._received
            self.heard_stop()
            return
        if isinstance(request, Answer):
            self._answers.put(request)
            return
        if isinstance(request, Watch):
            self._watch = request
        elif isinstance(request, Load):
            self._load = request
        self._received += isinstance(request, INTERRUPTIBLE)
        self._requests.put(request)


def take_standard_streams() -> tuple[Inbox, Outbox]:
    """The protocol's ends of standard input and output, which nobody else can write to afterwards."""
    out = os.dup(1)
    os.dup2(2, 1)
    _binary(0, out)
    _widen(out)
    return Inbox(os.fdopen(os.dup(0), "rb", buffering=0)), Outbox(os.fdopen(out, "wb"))


def _widen(descriptor: int) -> None:
    """Let a whole run's values lie in the pipe, so that torch does not wait for the window to read."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # no pipe, or more than this user may have
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _binary(*descriptors: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)
