"""A training on several hosts: its script and data are sent there, torchrun is started by each host's own command.

What is said there is heard here. Where one ends with an error, or nobody wants it any more, all are ended.
"""

import hashlib
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

import msgspec

from gradstudio.protocol.errors import HostFailed
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, Decoder, encode
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import Greeting
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import STARTS, refusal, start_command
from gradstudio.protocol.hosts.host_failures import LAST_WORDS, OF_SSH, start_failure, unreachable
from gradstudio.protocol.hosts.porter import TRAINS
from gradstudio.protocol.hosts.tensor_sending import ASK_BYTES, TensorSending
from gradstudio.protocol.messages.hosting import Beat, Lacking, TrainThere
from gradstudio.protocol.torchrun.rendezvous import PORT
from gradstudio.protocol.torchrun.torchrun_entry import GRACE_S
from gradstudio.protocol.torchrun.training_lines import FilePart, LineReader, TrainLine

BEAT_S: Final = 1.0
END_S: Final = GRACE_S + 2
"""So long hosts may take to end; then the processes that lead there are killed, and the ends there see that."""
MOST_BACK: Final = 1 << 31
"""Bytes of a checkpoint that comes back."""
ANSWER_S: Final = 10
HERE: Final = "localhost"
_READ_BYTES: Final = 1 << 16


class Ended(NamedTuple):
    """torchrun on a host has ended, or was never begun; why, in words, "" where all is well."""

    host: Host
    words: str


Heard = TrainLine | FilePart | Ended


class HostTrainings:
    """One torchrun on each host, in the order of the hosts.

    Attributes:
        failure: why the first failed that did, which ended all; "" while none has.
    """

    def __init__(
        self, orders: Mapping[Host, TrainThere], files: Mapping[str, bytes], *, may_send: bool = False
    ) -> None:
        """Start what leads there. `files` by digest; `may_send`: more than `ASK_BYTES` of them, too."""
        self.failure = ""
        self._heard: queue.Queue[Heard] = queue.Queue()
        self._lines = [_Line(host, order, files, self._heard, may_send) for host, order in orders.items()]
        self._due = float("inf")

    def run(self, hear: Callable[[TrainLine], None], keep: Callable[[str, bytes], None]) -> None:
        """To the end of all. `hear` is told what they say, `keep` what comes back: name and bytes."""
        parts: dict[tuple[str, str], bytearray] = {}
        for line in self._lines:
            line.start()
        running = len(self._lines)
        while running:
            for line in self._lines:
                line.beat()
            if time.monotonic() > self._due:
                self._kill()
            with suppress(queue.Empty):
                heard = self._heard.get(timeout=BEAT_S)
                if isinstance(heard, TrainLine):
                    hear(heard)
                elif isinstance(heard, FilePart):
                    _put_together(parts, heard, keep)
                else:
                    running -= 1
                    self.failure = self.failure or heard.words
                    if self.failure:
                        self.end()

    def end(self, *, at_once: bool = False) -> None:
        """Have all finish their step and end; `run` returns when they have. `at_once`: it waits for none of them."""
        if self._due == float("inf"):
            self._due = time.monotonic() + END_S
            for line in self._lines:
                line.close()
        if at_once:
            self._due = 0.0

    def _kill(self) -> None:
        for line in self._lines:
            line.kill()


class _Line(threading.Thread):
    """What leads to one host."""

    def __init__(
        self, host: Host, order: TrainThere, files: Mapping[str, bytes], heard: "queue.Queue[Heard]", may_send: bool
    ) -> None:
        super().__init__(name=f"training-{host.name}", daemon=True)
        self._host, self._order, self._heard, self._may_send = host, order, heard, may_send
        self._files = {digest: files[digest] for digest in order.files.values()}
        self._process: subprocess.Popen[bytes] | None = None
        self._writing, self._is_closed, self._is_begun = threading.Lock(), False, False
        self._errors, self._noise = "", ""

    def run(self) -> None:
        words = ""
        try:
            self._train()
        except HostFailed as error:
            words = str(error)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            words = "" if self._is_closed else f"The line to “{self._host.name}” is broken: {error}"
        finally:
            self.kill()
            self._heard.put(Ended(self._host, words))

    def beat(self) -> None:
        """Say that somebody is here."""
        if self._is_begun:
            with suppress(OSError, ValueError):
                self._write(encode(Beat()))

    def close(self) -> None:
        """Have it end."""
        self._is_closed = True
        if self._process is not None:
            with suppress(OSError):
                cast(IO[bytes], self._process.stdin).close()

    def kill(self) -> None:
        """End what leads there."""
        if self._process is not None:
            self._process.kill()

    def _train(self) -> None:
        command = start_command(self._host, bundle_key(), TRAINS)
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise unreachable(self._host, command[0], error) from error
        listener = threading.Thread(target=self._listen, daemon=True)
        listener.start()
        with self._process:
            rest = self._send()
            self._is_begun = True
            self._hear(rest)
        listener.join()
        self._judge(self._process.returncode)

    def _send(self) -> bytes:
        """Greet, send what is lacking there and the order; what has come of lines by then."""
        greeting, rest = Greeting(), None
        while rest is None:
            if not (data := self._read()):
                self._noise = greeting.noise.decode("utf-8", "replace")
                return b""
            rest = greeting.feed(data)
        if greeting.reason != STARTS:
            raise HostFailed(refusal(self._host, greeting.reason))
        sending, decoder = TensorSending(), Decoder(Lacking, LARGEST_FAR_FRAME)
        self._write(sending.offer(self._files))
        lacking = decoder.feed(rest)
        while not lacking:
            if not (data := self._read()):
                return b""
            lacking = decoder.feed(data)
        if sending.begin(lacking[0]) > ASK_BYTES and not self._may_send:
            raise HostFailed(f"{sending.refusal(self._host.name)} Yes is said by: --send")
        while frame := sending.next_frame():
            self._write(frame)
        self._write(encode(self._order))
        return decoder.take_rest()

    def _hear(self, data: bytes) -> None:
        reader = LineReader(self._host.name)
        while data or (data := self._read()):
            for heard in reader.feed(data):
                self._heard.put(heard)
            data = b""
        for heard in reader.rest():
            self._heard.put(heard)

    def _listen(self) -> None:
        """What is written there to standard error is said, too, once torchrun has begun."""
        assert self._process is not None and self._process.stderr is not None
        reader = LineReader(self._host.name)
        with suppress(ValueError):
            while data := self._process.stderr.read(_READ_BYTES):
                self._errors = (self._errors + data.decode("utf-8", "replace"))[-LAST_WORDS:]
                for heard in reader.feed(data) if self._is_begun else ():
                    self._heard.put(heard)

    def _judge(self, code: int) -> None:
        """Raises: HostFailed: torchrun has failed there, or never began, and nobody has ended it here."""
        if code == 0 or self._is_closed:
            return
        if not self._is_begun:
            raise HostFailed(start_failure(self._host, code, self._errors, self._noise), code)
        name = self._host.name
        if code == OF_SSH and self._host.destination:
            raise HostFailed(f"The line to “{name}” is broken; the training ends on all hosts.", code)
        how = f"was ended by signal {-code}" if code < 0 else f"has ended with code {code}"
        raise HostFailed(f"The training on “{name}” {how}; it ends on all hosts.", code)

    def _read(self) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        return self._process.stdout.read(_READ_BYTES) or b""

    def _write(self, data: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        with self._writing:
            while data:
                data = data[self._process.stdin.write(data) :]


def files_of(script: Path, others: Sequence[Path]) -> tuple[dict[str, str], dict[str, bytes]]:
    """A script, its stored tensors and `others` as they are sent: digests by place in its folder, bytes by digest."""
    beside = sorted(script.with_name(f"{script.stem}.tensors").glob("*")) if script.parent.is_dir() else []
    places: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for path in (script, *beside, *(one for one in others if one.is_file())):
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        places[path.relative_to(script.parent).as_posix()] = digest
        files[digest] = data
    return places, files


def meeting_point(hosts: Sequence[Host]) -> str:
    """Where the processes of these hosts meet by themselves: at the first, by the name that ssh has for it.

    Raises:
        HostFailed: it is reached by a command that tells no name; what to say instead.
    """
    if len(hosts) == 1:
        return f"{HERE}:{PORT}"
    if not hosts[0].destination:
        raise HostFailed(
            f"By which name do the others reach “{hosts[0].name}”? Say: --rdzv-endpoint HOST:{PORT}, behind the file."
        )
    try:
        command = ["ssh", "-G", "--", hosts[0].destination]
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostFailed(f"ssh does not answer: {error}") from error
    names = [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith("hostname ")]
    name = names[0] if names else hosts[0].destination.rpartition("@")[2]
    return f"[{name}]:{PORT}" if ":" in name else f"{name}:{PORT}"


def _put_together(parts: dict[tuple[str, str], bytearray], part: FilePart, keep: Callable[[str, bytes], None]) -> None:
    """Add a part to its file, which is kept when it is whole; what is too large is passed over."""
    if not 0 < part.size <= MOST_BACK:
        return
    whole = parts.setdefault((part.place, part.name), bytearray())
    whole += part.data
    if len(whole) >= part.size:
        keep(part.name, bytes(parts.pop((part.place, part.name))[: part.size]))
