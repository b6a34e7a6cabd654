"""What a far end says, changed: recorded runs with the porter's words among them, as a window and as a porter hear it.

Frames are changed in bytes and values, repeated, put in another order, cut off, told longer than they are, filled
with what is huge or nested without end.
"""

import lzma
import tracemalloc
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import msgspec

from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.protocol.framing import encode, framed
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_command import MARK, MARK_END, STARTS
from gradstudio.protocol.hosts.tensor_sending import TensorSending
from gradstudio.protocol.messages.base import PROTOCOL_VERSION, Message
from gradstudio.protocol.messages.events import Device, Event, Hello, Log
from gradstudio.protocol.messages.hosting import Beat, Document, Handover, Join, Lacking, Staying
from gradstudio.protocol.messages.requests import Load
from tools.campaign import frames, mutations
from tools.campaign.watch import Wrong

RUNS: Final = Path(__file__).resolve().parents[3] / "tests" / "advice" / "recordings"
EVERY: Final = 8
"""Of many recordings."""
NAME: Final = "0123456789abcdef" * 2
TENSOR: Final = b"tensor" * 500
DIGEST: Final = sha256(TENSOR).hexdigest()
GREETING: Final = MARK + STARTS.encode() + MARK_END
MOST_FRAMES: Final = 12
MOST_FLOOD: Final = 300
LARGEST: Final = 200_000
"""Bytes or values of what is huge."""
SLACK_BYTES: Final = 1 << 22
TIMES: Final = 100
"""So many times its bytes may what came take in memory, beside the slack."""


@cache
def runs() -> tuple[tuple[bytes, ...], ...]:
    """The frames of recorded runs, short ones."""
    found = []
    for path in sorted(RUNS.rglob("*.msgpack.xz"))[::EVERY]:
        events = msgspec.msgpack.decode(lzma.decompress(path.read_bytes()), type=list[Event])
        sound = tuple(frame for frame in map(encode, events) if len(frame) < frames.MOST_BYTES)
        if sound:
            found.append(sound)
    return tuple(found)


@cache
def words() -> tuple[bytes, ...]:
    """What else is said from there."""
    hello = Hello(protocol=PROTOCOL_VERSION, ready=True, pid=1, torch="2.13", devices=(Device("cpu", "x"),))
    staying = Staying(name=NAME, title="net", is_busy=True, is_joined=True, since_s=1.0, pid=1, said=3)
    said = (
        *(hello, staying, Handover(), Lacking(digests=(DIGEST,)), Lacking(digests=(DIGEST, "0" * 64))),
        *(Document(name="a", revision=1, text=b'{"nodes": []}'), Log(level="warning", text="x")),
    )
    return tuple(map(encode, said))


def conversation(generator: Random) -> list[bytes]:
    """A piece of what was said in a run, with words of the porter in it."""
    run = generator.choice(runs())
    begin = generator.randrange(len(run))
    said = [words()[0], *run[begin : begin + generator.randint(1, MOST_FRAMES)]]
    for _ in range(generator.randint(0, 3)):
        said.insert(generator.randint(0, len(said)), generator.choice(words()))
    return said


def changed(generator: Random, said: list[bytes]) -> bytes:
    """A conversation after one to four changes, of frames or of their order."""
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(said))
        match generator.randrange(9):
            case 0 | 1:
                said[at] = mutations.of_bytes(generator, said[at], said)
            case 2 | 3:
                said[at] = _of_values(generator, said[at])
            case 4:
                said[at] = _of_length(generator, said[at])
            case 5:
                said[at] = _huge(generator, said[at])
            case 6:
                other = generator.randrange(len(said))
                said[at], said[other] = said[other], said[at]
            case 7:
                said[at] *= generator.choice((2, 3, MOST_FLOOD // max(1, len(said[at]) >> 10)))
            case _:
                said[at] = said[at][: generator.randint(0, len(said[at]))]
    return b"".join(said)


def make_far(generator: Random) -> bytes:
    """Bytes on their way from a host to a window."""
    greeting = GREETING
    match generator.randrange(12):
        case 0:
            greeting = mutations.of_bytes(generator, b"Welcome!\r\n" + GREETING, words())
        case 1:
            greeting = generator.randbytes(generator.choice((9, 3000, 70_000))) + GREETING
    return greeting + changed(generator, conversation(generator))


def put_far(data: bytes, folder: Path) -> Callable[[], object]:
    """How a window reads them, within its memory; what it answers can be sent."""

    def read() -> None:
        sending = TensorSending()
        list(sending.frames_of(Load(document="d", revision=1, program=_program(), tensors={DIGEST: TENSOR})))
        decoder = FarDecoder(lambda reason: f"No engine begins: {reason}")
        size = max(1, len(data) // 3)
        tracemalloc.start()
        try:
            for at in range(0, len(data), size):
                for event in decoder.feed(data[at : at + size]):
                    _answer(event, decoder, sending)
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            if peak > SLACK_BYTES + TIMES * len(data):
                raise Wrong(f"{len(data)} bytes took {peak} bytes")

    return read


@cache
def _program() -> Program:
    return compile_graph(Graph())


def _answer(event: Event, decoder: FarDecoder, sending: TensorSending) -> None:
    """What a window says to it."""
    encode(cast(Message, event))
    encode(Beat(heard=decoder.heard))
    if isinstance(event, Staying):
        encode(Join(heard=decoder.heard))
    if isinstance(event, Lacking):
        if sending.begin(event) > len(TENSOR):
            raise Wrong("more is sent than was offered")
        while sending.next_frame():
            pass


def _of_values(generator: Random, frame: bytes) -> bytes:
    try:
        content: Any = msgspec.msgpack.decode(frame[frames.LENGTH_BYTES :])
        return framed(msgspec.msgpack.encode(mutations.of_values(generator, content)))
    except (msgspec.MsgspecError, OverflowError, UnicodeError, RecursionError, TypeError):  # it was changed before
        return mutations.of_bytes(generator, frame, [frame])


def _of_length(generator: Random, frame: bytes) -> bytes:
    """The frame, told longer or shorter than it is."""
    body = frame[frames.LENGTH_BYTES :]
    told = generator.choice((0, 1, len(body) - 1, len(body) + 1, 1 << 16, 1 << 26, (1 << 26) + 1, 1 << 31, 2**32 - 1))
    return max(0, told).to_bytes(frames.LENGTH_BYTES, "big") + body


def _huge(generator: Random, frame: bytes) -> bytes:
    """The frame with a field more, or in a value, that is huge, nested, or said to be huge."""
    count = generator.choice((2000, LARGEST))
    told, number = count.to_bytes(4, "big"), b"\xcf" + b"\xff" * 8
    value = generator.choice(
        (
            *(b"\x91" * count + b"\xc0", b"\x81\xa1x" * count + b"\xc0", b"\xdd\xff\xff\xff\xff"),
            *(b"\xdb\xff\xff\xff\xffx", b"\xc6\xff\xff\xff\xffx", b"\xdd" + told + b"\x90" * count),
            *(b"\xdb" + told + b"x" * count, number, b"\x9f" + number * 15, b"\xdf\x7f\xff\xff\xff"),
            *(b"\xc7\x04\x01abcd", b"\xa2\xff\xfe", b"\xcb\x7f\xf0" + bytes(6), b"\xcb\x7f\xf8" + bytes(6)),
        )
    )
    body = frame[frames.LENGTH_BYTES :]
    places = [at for at in range(len(body)) if body[at] in b"\xc0\x90\x80"] or [len(body)]
    at = generator.choice(places)
    field = b"\xa4more" + value
    if generator.random() < 0.5 and body[:1] and 0x80 <= body[0] < 0x8F:
        return framed(bytes([body[0] + 1]) + body[1:] + field)
    return framed(body[:at] + value + body[at + 1 :])
