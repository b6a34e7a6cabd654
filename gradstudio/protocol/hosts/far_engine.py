"""An engine on a host, as the command line sees it: the process that leads there, and its frames. No Qt here."""

import sys
import threading
from functools import partial
from subprocess import PIPE
from typing import IO, cast

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import BrokenFrame, EngineDied, HostFailed
from gradstudio.protocol.framing import Decoder
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import refusal, start_command
from gradstudio.protocol.hosts.host_failures import LAST_WORDS, loss, start_failure
from gradstudio.protocol.messages.events import Event


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
        self._frames = FarDecoder(partial(refusal, host))
        self._errors = ""
        command = start_command(host, bundle_key(), *options)
        try:
            super().__init__(command, stderr=PIPE)
        except OSError as error:
            raise HostFailed(f"The host “{host.name}” cannot be reached: {command[0]}: {error.strerror}") from error
        self._listener = threading.Thread(target=self._listen, name="host-errors", daemon=True)
        self._listener.start()

    def receive(self, timeout: float | None = None) -> Event | None:
        """As of any engine.

        Raises:
            EngineDied: as of any engine; also where what comes is no engine's.
        """
        try:
            return super().receive(timeout)
        except BrokenFrame as error:
            self.process.kill()
            raise HostFailed(f"What comes from the host “{self.host.name}” is no engine's: {error}") from error

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
        code = super()._reap()
        self._listener.join()
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
