"""Frames of the pipe between window and engine, in both directions: of sound messages, changed in bytes and values."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar, cast

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.debugging import WeighMemory
from gradstudio.protocol.messages.events import Event, Hello, Loaded, Log, Printed, Row, Traced
from gradstudio.protocol.messages.inference import Estimate, Infer
from gradstudio.protocol.messages.records import PlainRecord, Preview, Summary, TensorRecord
from gradstudio.protocol.messages.requests import Collect, Do, Fetch, Load, Request, SampleMemory, Stop
from tools.campaign import mutations, sources

MessageT = TypeVar("MessageT")
LENGTH_BYTES = 4
MOST_BYTES = 20_000
"""Of a message to begin from."""


@cache
def requests() -> tuple[bytes, ...]:
    """Sound frames to the engine."""
    programs = [compile_graph(graph) for graph in sources.graphs()[:6]]
    loads = (Load(document="d", revision=k, program=program) for k, program in enumerate(programs))
    item = ItemId("n1")
    plain = (Do(verb="run"), Stop(), Fetch(request=1, node=item), Collect(), SampleMemory(), Estimate(), WeighMemory())
    infer = (Infer(revision=1, program=program) for program in programs[:2])
    return _small((*loads, *plain, *infer))


@cache
def events() -> tuple[bytes, ...]:
    """Sound frames to the window."""
    item = ItemId("n1")
    summary = Summary(dtype="float32", shape=(2,), minimum=1.0, value=["nan", 1.0], preview=Preview(1, 2, b"12345678"))
    record = TensorRecord(device="cpu", summary=summary)
    row = Row(step=1, node=item, outputs=(record, PlainRecord(what="none", class_name="NoneType")))
    said = (Hello(protocol=1, ready=True, pid=1), Traced(revision=1, rows=(row, row)), Log(level="error", text="x"))
    told = (Loaded(document="d", revision=1, stale=True, live=False), Printed(node=item, line=1, text="x"))
    return _small((*said, *told))


def make_requests(generator: Random) -> bytes:
    """Bytes on their way to the engine."""
    return _make(generator, requests())


def make_events(generator: Random) -> bytes:
    """Bytes on their way to the window."""
    return _make(generator, events())


def put_requests(data: bytes, folder: Path) -> Callable[[], object]:
    """How the engine reads them."""
    return _reader(data, cast(type[Request], Request))


def put_events(data: bytes, folder: Path) -> Callable[[], object]:
    """How the window reads them."""
    return _reader(data, cast(type[Event], Event))


def _small(messages: Sequence[Message]) -> tuple[bytes, ...]:
    return tuple(frame for frame in map(encode, messages) if len(frame) < MOST_BYTES)


def _make(generator: Random, frames: Sequence[bytes]) -> bytes:
    frame = generator.choice(frames)
    if generator.random() < 0.4:
        return mutations.of_bytes(generator, frame, frames) + generator.choice((b"", frame))
    content: Any = msgspec.msgpack.decode(frame[LENGTH_BYTES:])
    for _ in range(generator.randint(1, 3)):
        content = mutations.of_values(generator, content)
    try:
        body = msgspec.msgpack.encode(content)
    except (OverflowError, UnicodeError, RecursionError):  # no such message can be sent
        return mutations.of_bytes(generator, frame, frames)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def _reader(data: bytes, union: type[MessageT]) -> Callable[[], object]:
    """Reads all in pieces as a pipe gives them; what was understood can be sent again."""

    def read() -> None:
        decoder: Decoder[MessageT] = Decoder(union)
        size = max(1, len(data) // 3)
        for at in range(0, len(data), size):
            for message in decoder.feed(data[at : at + size]):
                encode(cast(Message, message))

    return read
