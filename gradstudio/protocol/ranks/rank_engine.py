"""One rank: an engine with the environment that torchrun gives a process, and what is known of it."""

import os
import selectors
import signal
import socket
import subprocess
from collections.abc import Callable
from typing import IO, Final, cast

from gradstudio.protocol.framing import FrameCutter, framed
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.hosts.frame_log import FrameLog
from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.process_group import COMMAND, OF_RANK

HERE: Final = "127.0.0.1"
Hear = Callable[["RankEngine", bytes], None]


class RankEngine:
    """An engine that is one of several.

    Attributes:
        number: which; from 0.
        log: what it has said of its newest run.
        is_ready: torch is imported there.
        is_busy: a verb is under way.
        has_failed: the newest verb ended there by an error.
        running: the statement that takes long there; `since_s`: when it began.
    """

    def __init__(self, number: int, count: int, options: list[str], selector: selectors.BaseSelector) -> None:
        """Start it; it speaks when it is listened to."""
        self.number = number
        self.log = FrameLog()
        self.log.keep_for_others()
        self.is_ready = self.is_busy = self.has_failed = False
        self.running: Running | None = None
        self.since_s = 0.0
        pipe = subprocess.PIPE
        its_rank = (f"{OF_RANK}{number}",) if count > 1 else ()
        self.process = subprocess.Popen(
            (*COMMAND, *options, *its_rank),
            stdin=pipe, stdout=pipe, bufsize=0, env={**os.environ, **environment(number, count)},
        )  # fmt: skip
        source, target = cast(IO[bytes], self.process.stdout), cast(IO[bytes], self.process.stdin)
        self._pipe = Channel(selector, source.fileno(), target.fileno())
        self._cutter = FrameCutter()

    def listen(self, hear: Hear) -> None:
        """Have the bodies of its messages handed on, and b"" when it has ended."""

        def take(data: bytes) -> None:
            if not data:
                hear(self, b"")
                return
            for body in self._cutter.cut(data):
                hear(self, body)

        self._pipe.listen(take)

    def write(self, body: bytes) -> None:
        """Hand it a request."""
        self._pipe.write(framed(body))

    @property
    def end_words(self) -> str:
        """How it ended."""
        code = self.process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def kill(self) -> None:
        """End it whatever it does; nothing it still says is heard."""
        self._pipe.close()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            cast(IO[bytes], stream).close()


def environment(number: int, count: int) -> dict[str, str]:
    """What torchrun tells a process on one machine; the port comes with each run (`Meet`)."""
    threads = os.environ.get("OMP_NUM_THREADS", "1")  # torchrun's own default: ranks share the cores
    return {
        "RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": HERE, "MASTER_PORT": "0", "OMP_NUM_THREADS": threads,
    }  # fmt: skip


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port: int = probe.getsockname()[1]
        return port
