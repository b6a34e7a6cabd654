"""The record of a run in a file beside its document: what an engine would say of it, kept to be looked at again.

It may come from anybody, so it is read as what an engine sends is: messages of ours, whole and within bounds, or
nothing. It holds no code, and reading it runs none.
"""

import hashlib
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gradstudio.document.atomic_write import system_refusal, write_file
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.errors import BadRecord, BrokenFrame
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count
from gradstudio.protocol.messages.events import Gradients, Traced

SUFFIX = ".record"
BEGINNING = b"GradStudio record 1\n"
LARGEST_RECORD = 1 << 28
"""Bytes of a file."""
MOST_EVENTS = 100_000
Recorded = Traced | BackwardTraced | Gradients


class SourceLine(msgspec.Struct, frozen=True):
    """A line of the script that was recorded."""

    file: str
    line: Count
    text: str


class RecordHead(Message, frozen=True):
    """What was recorded.

    Attributes:
        program: digest of the program that the events speak of.
        title: how the script is called; `torch` the version it ran on.
        sources: by node, the line of the script that it is.
        notes: what a person should know of it.
        repeats: a run of the document begins with the weights, inputs and random numbers of the record.
    """

    program: str
    title: str
    torch: str = ""
    sources: dict[ItemId, SourceLine] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    repeats: bool = False


class RunRecord(msgspec.Struct, frozen=True):
    """A record that was read."""

    head: RecordHead
    events: tuple[Recorded, ...]


def record_beside(document: Path) -> Path:
    """Where the record of a document lies."""
    return document.with_suffix(SUFFIX)


def program_digest(program: Program) -> str:
    """What ties a record to its program: its text, without places and pictures."""
    return code_digest(program.code)


def code_digest(code: str) -> str:
    """The same of the code of a program."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def write_record(path: Path, head: RecordHead, events: Iterable[Recorded]) -> None:
    """Write it, whole or not at all.

    Raises:
        CannotSave: the system refused.
        BadRecord: it is larger than what is read.
    """
    data = BEGINNING + b"".join([encode(head), *map(encode, events)])
    if len(data) > LARGEST_RECORD:
        raise BadRecord(f"it has {len(data):,} bytes, more than {LARGEST_RECORD // 2**20} MiB")
    write_file(path, data, durable=False)


def read_record(path: Path) -> RunRecord:
    """What a file holds.

    Raises:
        BadRecord: there is none, or it holds something else.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise BadRecord("it is no ordinary file")
        if status.st_size > LARGEST_RECORD:
            raise BadRecord(f"it has {status.st_size:,} bytes, more than {LARGEST_RECORD // 2**20} MiB")
        return parse_record(path.read_bytes())
    except OSError as error:
        raise BadRecord(system_refusal(error, path)) from error


def parse_record(data: bytes) -> RunRecord:
    """The record in the bytes of a file.

    Raises:
        BadRecord: they hold something else.
    """
    if not data.startswith(BEGINNING):
        raise BadRecord("it is no record of a run")
    decoder: Decoder[Recorded | RecordHead] = Decoder(Recorded | RecordHead)  # type: ignore[arg-type]  # a union is a type
    try:
        messages = decoder.feed(data[len(BEGINNING) :])
    except (BrokenFrame, RecursionError) as error:
        raise BadRecord(str(error)) from error
    if decoder.is_waiting or not messages:
        raise BadRecord("it ends in the middle")
    head, *events = messages
    if not isinstance(head, RecordHead) or len(events) > MOST_EVENTS:
        raise BadRecord("it does not say whose it is")
    if any(isinstance(event, RecordHead) for event in events):
        raise BadRecord("it says twice whose it is")
    return RunRecord(head, tuple(event for event in events if not isinstance(event, RecordHead)))
