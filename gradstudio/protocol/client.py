"""The engine as the command line (and tests) see it: a child process and its frames. No Qt here."""

import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, cast

from gradstudio.protocol.errors import EngineDied, EngineSilent, OtherProtocol, ProtocolError
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.base import PROTOCOL_VERSION, Message
from gradstudio.protocol.messages.events import Event, Hello
from gradstudio.protocol.messages.requests import Request
from gradstudio.protocol.process_group import COMMAND as COMMAND
from gradstudio.protocol.process_group import RUNS_CODE as RUNS_CODE
from gradstudio.protocol.process_group import end_group

READ_BYTES = 1 << 20


class EngineProcess:
    """A running engine. Use it as a context manager, or call `close`.

    Attributes:
        process: the child.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        stderr: IO[bytes] | int | None = None,
    ) -> None:
        """Start the engine.

        Args:
            command: what to start; `COMMAND` when not given.
            environment: of the child; ours when not given.
            stderr: as `subprocess.Popen` takes it; what a program prints goes there as well.
        """
        self._command = tuple(command or COMMAND)
        self.process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=None if environment is None else dict(environment),
            bufsize=0,
        )
        self._events: queue.SimpleQueue[Event | ProtocolError | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="engine-reader", daemon=True)
        self._reader.start()

    def __enter__(self) -> "EngineProcess":
        """This engine."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close it; after an error, Ctrl+C among them, end it at once, whatever it does."""
        if kind is None:
            self.close()
        else:
            self.kill()

    def send(self, request: Request) -> None:
        """Put a request on the pipe.

        Raises:
            EngineDied: there is nobody to read it.
        """
        try:
            for frame in self._frames_of(request):
                self._write(frame)
        except (BrokenPipeError, ValueError, OSError) as error:
            raise self._death() from error

    def receive(self, timeout: float | None = None) -> Event | None:
        """The next event, or None when none came within `timeout` seconds (None waits for ever).

        Raises:
            EngineDied: the engine is gone and all it said was received.
            BrokenFrame: it said something that is no message.
        """
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if event is None:
            self._events.put(None)
            raise self._death()
        if isinstance(event, ProtocolError):
            raise event
        return event

    def wait_for(
        self,
        *kinds: type[Message],
        timeout: float | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> Event:
        """The first event of one of the `kinds`; those before it go to `on_event`.

        Raises:
            EngineDied, BrokenFrame: as `receive`.
            EngineSilent: no such event within `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            event = self.receive(left)
            if event is None:
                raise EngineSilent(f"The engine sent no {' or '.join(k.__name__ for k in kinds)} in {timeout} s.")
            if isinstance(event, kinds):
                return event
            if on_event is not None:
                on_event(event)

    def wait_until_ready(self, timeout: float | None = 120) -> Hello:
        """The second `Hello`: torch is imported, the devices are known.

        Raises:
            EngineDied, BrokenFrame, EngineSilent: as `wait_for`.
            OtherProtocol: it is of another version.
        """
        while True:
            hello = cast(Hello, self.wait_for(Hello, timeout=timeout))
            if hello.protocol != PROTOCOL_VERSION:
                raise OtherProtocol(hello.protocol, PROTOCOL_VERSION)
            if hello.ready:
                return hello

    def close(self, timeout: float = 5) -> int:
        """End its standard input, by which it exits; kill it when it does not. Its exit code."""
        cast(IO[bytes], self.process.stdin).close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
        return self._reap()

    def kill(self) -> int:
        """End it at once, whatever it does. Its exit code."""
        self.process.kill()
        return self._reap()

    def _frames_of(self, request: Request) -> Iterable[bytes]:
        return (encode(request),)

    def _write(self, data: bytes) -> None:
        stdin, left = cast(IO[bytes], self.process.stdin), memoryview(data)
        while left:
            left = left[stdin.write(left) or 0 :]

    def _reap(self) -> int:
        code = self.process.wait()
        self._end_others()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return code

    def _end_others(self) -> None:
        end_group(self.process.pid, self._command)

    def _wait_for_room(self, size: int) -> None:
        """So much more was read; of an engine of our own all is taken."""

    def _death(self) -> EngineDied:
        return EngineDied(self._code())

    def _decoder(self) -> Decoder[Event]:
        return Decoder(cast(type[Event], Event))

    def _code(self) -> int | None:
        try:
            return self.process.wait(1)
        except subprocess.TimeoutExpired:
            return None

    def _read(self) -> None:
        stdout = cast(IO[bytes], self.process.stdout)
        decoder = self._decoder()
        try:
            while data := stdout.read(READ_BYTES):
                self._wait_for_room(len(data))
                for event in decoder.feed(data):
                    self._events.put(event)
        except ProtocolError as error:
            self._events.put(error)
        self._events.put(None)
