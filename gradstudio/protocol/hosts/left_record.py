"""What an engine had said that ended while nobody was on the line: a file in the folder where it was met. Runs there.

Whoever joins under its name hears it from the file, as from the porter before; what was heard whole is taken away.
"""

import contextlib
import os
import shutil
import struct
import time
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import FrameCutter, decoded, encode, framed
from gradstudio.protocol.hosts.frame_log import Frame
from gradstudio.protocol.hosts.meeting_place import OWNER_FILE, meeting_folder
from gradstudio.protocol.messages.hosting import Beat, Join, Leave, PorterRequest, Staying

RECORD: Final = "record"
KEPT_S: Final = 3 * 24 * 3600
"""So long a record waits for somebody to take it up."""
_READ_BYTES: Final = 1 << 20
_NUMBER: Final = struct.Struct(">Q")
_REQUESTS: Final = msgspec.msgpack.Decoder(PorterRequest)


class RecordHead(msgspec.Struct, frozen=True):
    """What is told of a record.

    Attributes:
        run_begins: the number of the frame with which its newest run from nothing began.
        before: what another window hears first, in bodies of frames: the document, and who the engine was.
    """

    staying: Staying
    run_begins: int
    before: tuple[bytes, ...]


_HEADS: Final = msgspec.msgpack.Decoder(RecordHead)


def write_record(head: RecordHead, frames: Iterable[Frame]) -> None:
    """Keep what was said, whole or not at all.

    Raises:
        OSError: there is no room for it, say.
    """
    folder = meeting_folder() / head.staying.name
    part = folder / f"{RECORD}.part"
    try:
        with open(part, "wb", opener=lambda path, flags: os.open(path, flags, OWNER_FILE)) as file:
            file.write(framed(msgspec.msgpack.encode(head)))
            for frame in frames:
                file.write(framed(_NUMBER.pack(frame.number) + frame.body))
        part.replace(folder / RECORD)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def record_head(name: str) -> RecordHead | None:
    """What is told of the record under a name; None where there is none."""
    try:
        with (meeting_folder() / name / RECORD).open("rb") as file:
            return decoded(_HEADS, next(_bodies(file)))
    except (OSError, StopIteration, BrokenFrame):
        return None


def forget_record(name: str) -> bool:
    """Take it away; whether there was one."""
    folder = meeting_folder() / name
    was_there = (folder / RECORD).exists()
    if was_there:
        shutil.rmtree(folder, ignore_errors=True)
    return was_there


def forget_old_records() -> None:
    """Take away what nobody took up for days."""
    with contextlib.suppress(OSError):
        for path in meeting_folder().glob(f"*/{RECORD}"):
            if time.time() - path.stat().st_mtime > KEPT_S:
                forget_record(path.parent.name)


def hand_over(name: str, source: int = 0, target: int = 1) -> bool:
    """Tell the record to who joins on the line, and take it away once all was heard; whether there is one."""
    head = record_head(name)
    if head is None:
        return False
    for request in _requests(source):
        match request:
            case Join():
                _tell(head, request, target)
            case Beat() if request.heard >= head.staying.said:
                break
            case Leave():
                break
            case _:
                continue
    else:
        return True  # the line ended before it was heard
    forget_record(name)
    return True


def _requests(source: int) -> Iterator[PorterRequest]:
    cutter = FrameCutter()
    while data := os.read(source, _READ_BYTES):
        for body in cutter.cut(data):
            yield decoded(_REQUESTS, body)


def _tell(head: RecordHead, join: Join, target: int) -> None:
    """As the porter tells what was missed."""
    heard = head.run_begins if join.is_new else join.heard
    told = 0
    with os.fdopen(os.dup(target), "wb") as line, (meeting_folder() / head.staying.name / RECORD).open("rb") as file:
        line.writelines(map(framed, head.before if join.is_new else ()))
        bodies = _bodies(file)
        next(bodies)
        for body in bodies:
            (number,) = _NUMBER.unpack_from(body)
            if number >= heard:
                line.write(framed(body[_NUMBER.size :]))
                told += 1
        lost = max(0, head.staying.said - heard - told)
        line.write(encode(msgspec.structs.replace(head.staying, lost=lost, is_joined=True)))


def _bodies(file: BinaryIO) -> Iterator[bytes]:
    cutter = FrameCutter()
    while data := file.read(_READ_BYTES):
        yield from cutter.cut(data)
