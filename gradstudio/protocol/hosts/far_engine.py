"""An engine on a host, as the command line sees it: the process that leads there, and its frames. No Qt here."""

import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from subprocess import PIPE
from typing import IO, Final, cast

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import BrokenFrame, EngineDied, HostFailed
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import refusal, start_command
from gradstudio.protocol.hosts.host_failures import LAST_WORDS, loss, start_failure, unreachable
from gradstudio.protocol.hosts.tensor_sending import ASK_BYTES, TensorSending
from gradstudio.protocol.messages.events import Event
from gradstudio.protocol.messages.hosting import Beat, Lacking
from gradstudio.protocol.messages.requests import Request

BEAT_S: Final = 1.0
SHOWN_BYTES: Final = 1_000_000
"""From here on a person sees how far it is."""
MOST_WAITING: Final = 1 << 23
"""So many bytes may wait to be looked at; what follows stays with the host."""


class FarEngine(EngineProcess):
    """An engine on a host.

    Attributes:
        host: where it is.
    """

    def __init__(self, host: Host, *options: str) -> None:
        """Start what leads there; `options` are the engine's.

        Raises:
            HostFailed: there is no such program here.
        """
        self.host = host
        self.may_send: Callable[[TensorSending], bool] = self._ask
        self._frames = FarDecoder(partial(refusal, host))
        self._errors = ""
        self._sending = TensorSending()
        self._writing, self._taken, self._closing = threading.Lock(), threading.Condition(), threading.Event()
        self._waiting_bytes = 0
        command = start_command(host, bundle_key(), *options)
        try:
            super().__init__(command, stderr=PIPE)
        except OSError as error:
            raise unreachable(host, command[0], error) from error
        self._listener = threading.Thread(target=self._listen, name="host-errors", daemon=True)
        self._listener.start()
        self._heart = threading.Thread(target=self._beat, name="host-beats", daemon=True)
        self._heart.start()

    def receive(self, timeout: float | None = None) -> Event | None:
        """As of any engine.

        Raises:
            EngineDied: as of any engine; also where what comes is no engine's.
        """
        try:
            while isinstance(event := super().receive(timeout), Lacking):
                self._note_taken()
                self._send_tensors(event)
            self._note_taken()
            return event
        except BrokenFrame as error:
            self.process.kill()
            raise HostFailed(f"What comes from the host “{self.host.name}” is no engine's: {error}") from error

    def _note_taken(self) -> None:
        with self._taken:
            self._taken.notify()

    def _frames_of(self, request: Request) -> Iterable[bytes]:
        return self._sending.frames_of(request)

    def _write(self, data: bytes) -> None:
        with self._writing:
            super()._write(data)

    def _send_tensors(self, lacking: Lacking) -> None:
        """Send what is lacking there, if a person agrees where it is much.

        Raises:
            HostFailed: nobody does; nothing was sent.
        """
        sending, name = self._sending, self.host.name
        if sending.begin(lacking) > ASK_BYTES and not self.may_send(sending):
            self.process.kill()
            raise HostFailed(f"{sending.refusal(name)} Yes is said by: --send")
        is_shown = sending.total > SHOWN_BYTES and sys.stderr.isatty()
        try:
            while frame := sending.next_frame():
                self._write(frame)
                if is_shown:
                    sys.stderr.write(f"\r{sending.progress(name)}")
        except (BrokenPipeError, ValueError, OSError) as error:
            raise self._death() from error
        finally:
            sys.stderr.write("\n" if is_shown else "")

    def _ask(self, sending: TensorSending) -> bool:
        """Ask a person who sits there."""
        if not sys.stdin.isatty():
            return False
        sys.stderr.write(f"{sending.question(self.host.name)} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def _beat(self) -> None:
        """Say once a second that somebody is here, until nobody hears it."""
        with suppress(OSError, ValueError):
            while not self._closing.wait(BEAT_S):
                self._write(encode(Beat(heard=self._frames.heard)))

    def _wait_for_room(self, size: int) -> None:
        """Read on when most of what came was taken: a flood stays there."""
        with self._taken:
            while self._waiting_bytes > MOST_WAITING and not self._events.empty() and not self._closing.is_set():
                self._taken.wait(BEAT_S)
        self._waiting_bytes = size + (0 if self._events.empty() else self._waiting_bytes)

    def _decoder(self) -> Decoder[Event]:
        return self._frames

    def _death(self) -> EngineDied:
        code = self._code()
        self._listener.join(1)
        if self._frames.greeted:
            return HostFailed(loss(self.host, code, self._errors), code)
        return HostFailed(start_failure(self.host, code, self._errors, self._frames.noise), code)

    def _end_others(self) -> None:
        """What code has started there ends there; no process of ours has its number."""

    def _reap(self) -> int:
        self._closing.set()
        code = super()._reap()
        self._listener.join()
        self._heart.join()
        cast(IO[bytes], self.process.stderr).close()
        return code

    def _listen(self) -> None:
        """Pass on what is written there, once an engine is there; before, its words are part of the reason."""
        stream = cast(IO[bytes], self.process.stderr)
        while data := stream.read(LAST_WORDS):
            text = data.decode("utf-8", "replace")
            self._errors = (self._errors + text)[-LAST_WORDS:]
            if self._frames.greeted:
                sys.stderr.write(text)
                sys.stderr.flush()
