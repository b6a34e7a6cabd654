"""A porter between a line and an engine that both say hostile things, with visitors that do: a real one, forked.

It may write in its own folder, listen there, and nothing else; when all have gone it ends, or stays because it was
asked to, and then ends when it is told to leave.
"""

import contextlib
import os
import resource
import select
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType
from typing import Final

import msgspec

from gradstudio.protocol.framing import encode
from gradstudio.protocol.hosts import left_record, meeting_place, porter
from gradstudio.protocol.hosts.meeting_place import SOCKET
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.hosting import Ask, Beat, Document, Join, Leave, Needs, Piece, Stay
from gradstudio.protocol.messages.requests import Take
from tools.campaign import frames
from tools.campaign.far.frames import DIGEST, NAME, TENSOR, changed, conversation
from tools.campaign.watch import MADE_OF_TEXT, WRITING, Wrong

LOADED: Final = (left_record, meeting_place, Log, Take)
"""What a porter loads late is there before it is looked at."""
PATIENCE_S: Final = 30.0
LOOK_S: Final = 0.001
QUIET_S: Final = 0.06
"""A line on which nothing comes for so long is closed."""
READ_BYTES: Final = 1 << 20
END_S: Final = 0.1
"""An engine that says more than anybody reads is not waited for."""
SLACK_KB: Final = 1 << 15
TIMES: Final = 20
"""So many times the bytes that came may it hold, beside the slack."""
FORBIDDEN: Final = (
    *("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.connect", "ctypes."),
    *("pickle.", "marshal.", "code.__new__", "function.__new__", "os.putenv", "pty.", "urllib."),
    *("os.link", "os.symlink"),
)  # fmt: skip
AT_PLACES: Final = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "shutil.", "tempfile.", "os.truncate")


@cache
def requests() -> tuple[bytes, ...]:
    """Sound frames of a window to a porter."""
    digest, tensor = DIGEST, TENSOR
    said = (
        *(Beat(), Beat(heard=3), Stay(name=NAME, title="net"), Document(name="a", revision=1, text=b"{}"), Ask()),
        *(Needs(tensors={digest: len(tensor)}), Needs(tensors={"0" * 64: 5}), Join(heard=1), Leave()),
        *(Piece(digest=digest, data=tensor[:900]), Piece(digest=digest, data=tensor, is_last=True)),
    )
    return (*map(encode, said), *frames.requests())


def make(generator: Random) -> bytes:
    """What comes by the line, from the engine and from a visitor."""
    line, visitor = [requests()[0]], [encode(generator.choice((Ask(), Join(), Join(is_new=True))))]
    if generator.random() < 0.3:
        line.append(encode(Stay(name=NAME, title="net")))
    line += generator.choices(requests(), k=generator.randint(1, 8))
    visitor += generator.choices(requests(), k=generator.randint(0, 4))
    said = conversation(generator)
    parts = [changed(generator, part) if generator.random() < 0.7 else b"".join(part) for part in (line, said, visitor)]
    return msgspec.msgpack.encode(parts)


def put(data: bytes, folder: Path) -> Callable[[], object]:
    """How a porter answers: in a process that waits until it may begin."""
    line, said, visitor = msgspec.msgpack.decode(data, type=tuple[bytes, bytes, bytes])
    (folder / "said").write_bytes(said)
    begin, told = os.pipe(), os.pipe()
    stage = os.fork()
    if stage == 0:
        for number in (begin[1], told[0]):
            os.close(number)
        reason = "the stage fell"
        try:
            os.read(begin[0], 1)
            reason = _played(folder, line, visitor, len(data))
        except BaseException:  # noqa: BLE001 - whatever comes is told, and this process ends
            reason = traceback.format_exc()[-2000:]
        finally:
            os.write(told[1], reason.encode()[-60_000:])
            os._exit(0)
    for number in (begin[0], told[1]):
        os.close(number)
    return lambda: _hear(stage, begin[1], told[0])


def _hear(stage: int, begin: int, told: int) -> None:
    os.write(begin, b"x")
    os.close(begin)
    with open(told, "rb") as file:
        reason = file.read().decode()
    os.waitpid(stage, 0)
    if reason:
        raise Wrong(reason)


def _played(folder: Path, line: bytes, visitor: bytes, size: int) -> str:
    """What is wrong with how a porter takes all that; "" when nothing is."""
    source, target = os.pipe(), os.pipe()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = os.fork()
    if child == 0:
        os.close(source[1])
        os.close(target[0])
        _serve(folder, source[0], target[1])
    os.close(source[0])
    os.close(target[1])
    signal_of_end = os.pidfd_open(child)
    with contextlib.suppress(BrokenPipeError):
        _write(source[1], line)
    while select.select([target[0]], (), (), QUIET_S)[0] and os.read(target[0], READ_BYTES):
        pass
    os.close(source[1])
    os.close(target[0])
    reason = _left(folder, child, signal_of_end, visitor)
    _, _, used = os.wait4(child, 0)
    words = (folder / "words").read_text(errors="replace")
    for wrong in ("FORBIDDEN", "Traceback"):
        if wrong in words:
            return words[words.rindex(wrong) :]
    if used.ru_maxrss - before_kb > SLACK_KB + TIMES * size // 1024:
        return f"{size} bytes took {used.ru_maxrss - before_kb} KB"
    return reason


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


def _left(folder: Path, child: int, signal_of_end: int, visitor: bytes) -> str:
    """See it end when its line has; one that stays is visited and told to leave."""
    deadline, told = time.monotonic() + PATIENCE_S, [visitor, encode(Leave())]
    while time.monotonic() < deadline:
        if select.select([signal_of_end], (), (), LOOK_S)[0]:
            return ""
        for place in (folder / "gradstudio" / "kept").glob(f"*/{SOCKET}"):
            _visit(place, told.pop(0) if len(told) > 1 else told[0])
    os.kill(child, 9)
    return f"it is still there {PATIENCE_S:g} s after its line has ended"


def _visit(place: Path, data: bytes) -> None:
    here = os.getcwd()
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        os.chdir(place.parent)
        connection.settimeout(1)
        connection.connect(SOCKET)
        connection.sendall(data)
    os.chdir(here)


def _serve(folder: Path, source: int, target: int) -> None:
    """Be the porter."""
    errors = os.open(folder / "words", os.O_WRONLY | os.O_CREAT, 0o600)
    for number, to in ((source, 0), (target, 1), (errors, 2)):
        os.dup2(number, to)
    sys.stderr = os.fdopen(errors, "w", encoding="utf-8")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    code = 1
    try:
        vars(porter).update(END_S=END_S, COMMAND=("cat", str(folder / "said"), "-"))
        served = porter.Porter([])
        sys.addaudithook(_Hook(folder).on_event)
        code = served.run()
    except BaseException:  # noqa: BLE001 - whatever comes is told, and this process ends
        sys.stderr.write(traceback.format_exc())
    finally:
        sys.stderr.flush()
        os._exit(code)


class _Hook:
    """Says what a porter does that it should not."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._is_forbidden(event, arguments):
            sys.stderr.write(f"FORBIDDEN {event}{repr(arguments)[:200]}\n")

    def _is_forbidden(self, event: str, arguments: Sequence[object]) -> bool:
        if event == "open":
            is_writing = isinstance(arguments[2], int) and bool(arguments[2] & WRITING)
            return is_writing and not self._is_its_own(arguments[0])
        if event == "exec":
            return isinstance(arguments[0], CodeType) and arguments[0].co_filename in MADE_OF_TEXT
        if event.startswith(AT_PLACES):
            return not all(self._is_its_own(one) for one in arguments if isinstance(one, str | bytes))
        return event.startswith(FORBIDDEN)

    def _is_its_own(self, place: object) -> bool:
        if not isinstance(place, str | bytes | os.PathLike):
            return True
        path = os.path.abspath(os.fsdecode(place))
        return path == os.devnull or path.startswith(self._folder)
