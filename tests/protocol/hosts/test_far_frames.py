"""What a host sends is as untrusted as a file: bounded, checked, and never executed."""

from random import Random
from typing import Any

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BrokenFrame, HostFailed, ProtocolError
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, encode
from gradstudio.protocol.hosts.far_frames import MOST_NOISE, FarDecoder
from gradstudio.protocol.hosts.host_command import MARK, MARK_END
from gradstudio.protocol.messages.events import Device, Hello, Printed, Row, Traced
from gradstudio.protocol.messages.records import Preview, Summary, TensorRecord

BEGIN = MARK + b"engine" + MARK_END
HELLO = Hello(protocol=2, ready=True, pid=1, torch="2.13", devices=(Device("cpu", "x"),))
ROW = Row(
    step=1,
    node=ItemId("n"),
    outputs=(
        TensorRecord(
            device="cpu",
            summary=Summary(dtype="float32", shape=(2,), value=[1.0, "nan"], preview=Preview(1, 2, b"8" * 8)),
        ),
    ),
)
SAID = (HELLO, Traced(revision=1, rows=(ROW, ROW)), Printed(node=ItemId("n"), line=2, text="grüß " * 20))


def decoder() -> FarDecoder:
    return FarDecoder(lambda reason: f"because {reason}")


def test_what_a_shell_prints_before_the_engine_is_no_part_of_it_in_whatever_pieces_it_comes() -> None:
    far, data = decoder(), b"Welcome to gpu1!\r\n" + BEGIN + encode(HELLO)
    got = [event for byte in data for event in far.feed(bytes([byte]))]
    assert got == [HELLO]
    assert (far.greeted, far.noise) == (True, "Welcome to gpu1!")


def test_a_reason_why_no_engine_begins_is_said_in_words() -> None:
    with pytest.raises(HostFailed, match="because lacks msgspec"):
        decoder().feed(b"hello\n" + MARK + b"lacks msgspec" + MARK_END)


def test_a_shell_that_prints_without_end_is_said_and_not_kept() -> None:
    far = decoder()
    pieces = MOST_NOISE // 4
    assert [far.feed(b"yyy\n") for _ in range(pieces)] == [[]] * pieces
    with pytest.raises(BrokenFrame, match="something else"):
        far.feed(b"yyy\n")
    with pytest.raises(BrokenFrame):
        decoder().feed(MARK + b"x" * MOST_NOISE)


def test_a_frame_that_is_announced_larger_than_a_host_may_send_is_refused_before_it_comes() -> None:
    with pytest.raises(BrokenFrame, match="announced"):
        decoder().feed(BEGIN + (LARGEST_FAR_FRAME + 1).to_bytes(4, "big"))


@pytest.mark.parametrize("seed", range(20))
def test_changed_bytes_are_events_or_refused_in_words(seed: int) -> None:
    random, sound = Random(seed), BEGIN + b"".join(map(encode, SAID))
    refused = 0
    for _ in range(200):
        far, data = decoder(), bytearray(sound)
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(data))
            match random.randrange(3):
                case 0:
                    data[place] = random.randrange(256)
                case 1:
                    del data[place : place + random.randint(1, 9)]
                case _:
                    data[place:place] = random.randbytes(random.randint(1, 9))
        try:
            events = far.feed(bytes(data))
        except ProtocolError:
            refused += 1
        else:
            assert all(type(event).__module__.startswith("gradstudio.protocol.messages") for event in events)
            assert len(far._bytes) <= len(data)
    assert refused > 20


@pytest.mark.parametrize("value", [2**70, float("nan"), b"\xff", None, [], {"type": "Load"}, "x" * 1000])
@pytest.mark.parametrize("field", ["protocol", "pid", "devices", "torch", "type"])
def test_a_greeting_with_something_else_in_a_field_is_an_event_of_the_right_types_or_refused(
    field: str, value: Any
) -> None:
    content = msgspec.to_builtins(HELLO, builtin_types=(bytes,))
    content[field] = value
    try:
        body = msgspec.msgpack.encode(content)
    except OverflowError:
        body = msgspec.msgpack.encode({**content, field: 2**64 - 1})
    try:
        (event,) = decoder().feed(BEGIN + len(body).to_bytes(4, "big") + body)
    except BrokenFrame:
        return
    assert msgspec.convert(msgspec.to_builtins(event), Hello) == event
