"""One rank: an engine with the environment that torchrun gives a process, and what is known of it."""

import os
import selectors
import signal
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from typing import IO, Final, cast

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import framed
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.hosts.frame_log import FrameLog
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.process_group import COMMAND, OF_RANK, RUNS_CODE, turns_file_of
from gradstudio.protocol.ranks.rank_reader import Heard, RankReader
from gradstudio.temporary_folders import folder_of_workers

HERE: Final = "127.0.0.1"
COUNT: Final = "WORLD_SIZE"
Hear = Callable[["RankEngine", Heard], None]
End = Callable[["RankEngine", str], None]
LOG_BYTES: Final = 1 << 27
"""Of what all ranks have said of their newest run: so many bytes of records, and so many of all else, stay."""
END_S: Final = 1.0
"""So long a process may take to end when its pipe has."""


class RankEngine:
    """An engine that is one of several.

    Attributes:
        number: which; from 0.
        log: what it has said of its newest run.
        has_begun: its process is there, and imports torch; `is_ready`: that is done.
        is_busy: a verb is under way.
        failure: by which the newest verb ended there; None: by none.
        running: the statement that takes long there; `since_s`: when it began.
        newest: of the statement that it has told of last.
    """

    def __init__(self, number: int, count: int, options: list[str], selector: selectors.BaseSelector) -> None:
        """Start it; it speaks when it is listened to."""
        self.number = number
        self.log = FrameLog(LOG_BYTES // count, LOG_BYTES // count)
        self.log.keep_for_others()
        self.has_begun = self.is_ready = self.is_busy = False
        self.failure: Failed | None = None
        self.running: Running | None = None
        self.since_s = 0.0
        self.newest = ItemId("")
        self._reader = RankReader(is_alone=count == 1)
        source, target = self._open(count, options)
        self._pipe = Channel(selector, source, target)

    def _open(self, count: int, options: list[str]) -> tuple[int, int]:
        """Start its process: where it is heard, and where it hears."""
        pipe = subprocess.PIPE
        its_rank = (f"{OF_RANK}{self.number}",) if count > 1 else ()
        memory = turns_file_of(options)
        folder_of_workers(runs_code=RUNS_CODE in options)
        self.process = subprocess.Popen(
            (*COMMAND, *options, *its_rank), pass_fds=() if memory is None else (memory,),
            stdin=pipe, stdout=pipe, bufsize=0, env={**os.environ, **environment(self.number, count)},
        )  # fmt: skip
        return cast(IO[bytes], self.process.stdout).fileno(), cast(IO[bytes], self.process.stdin).fileno()

    def listen(self, hear: Hear, end: End) -> None:
        """Have its messages handed on, and how it ended, or why it has to end."""
        self._pipe.listen(partial(self.take, hear, end))

    def take(self, hear: Hear, end: End, data: bytes) -> None:
        """Some bytes of it have come, or its end as none."""
        if not data:
            end(self, self._end_words())
            return
        try:
            for heard in self._reader.hear(data):
                hear(self, heard)
        except (BrokenFrame, RecursionError) as error:
            end(self, f"said what no engine says ({error})")

    def wait(self) -> None:
        """Leave what it says in its pipe, until `listen`."""
        self._pipe.listen(None)

    @property
    def takes_more(self) -> bool:
        """Whether it reads what it is told."""
        return not self._pipe.is_full

    def write(self, body: bytes) -> None:
        """Hand it a request."""
        self._pipe.write(framed(body))

    def begin_verb(self, meet: bytes) -> None:
        """It is to begin one, and hears where a program that begins from nothing meets the others."""
        self.is_busy, self.failure, self.running = True, None, None
        self.newest = ItemId("")
        self.write(meet)

    def kill(self) -> None:
        """End it whatever it does; nothing it still says is heard."""
        self._pipe.close()
        self._close()

    def _close(self) -> None:
        """End its process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            cast(IO[bytes], stream).close()

    def _end_words(self) -> str:
        """How its process ended; one that only closes its pipe is not waited for."""
        try:
            code = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            return "has closed its pipe"
        return f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one for real time
        return f"signal {number}"


def environment(number: int, count: int) -> dict[str, str]:
    """What torchrun tells a process on one machine; the port comes with each run (`Meet`).

    One alone, which looks for shapes, hears from its leader's environment how many there will be.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "1")  # torchrun's own default: ranks share the cores
    counts = {name: str(count) for name in (COUNT, "LOCAL_WORLD_SIZE")} if count > 1 else {}
    return {
        "RANK": str(number), "LOCAL_RANK": str(number), **counts,
        "MASTER_ADDR": HERE, "MASTER_PORT": "0", "OMP_NUM_THREADS": threads,
    }  # fmt: skip


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port: int = probe.getsockname()[1]
        return port
