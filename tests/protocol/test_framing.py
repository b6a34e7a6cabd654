"""Frames: what is encoded comes back, in whatever pieces it arrives."""

from typing import cast

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Program, Statement
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.events import Event, Hello, Printed, Row, Traced
from gradstudio.protocol.messages.records import PlainRecord, Preview, Summary, TensorRecord
from gradstudio.protocol.messages.requests import Do, Load, Request, Stop

BODY = (
    Statement(node=ItemId("n1"), operator="torch.zeros", text="x = torch.zeros(2)", address="x", line=3, names=("x",)),
)
PROGRAM = Program(
    script="s",
    code="s",
    prelude="",
    statements=(
        *BODY,
        BlockStatement(block=ItemId("b"), kind="for", line=4, iterable="range(3)", variable="t", body=BODY),
    ),
    spans=(),
    seed=0,
    device="cpu",
)


def requests() -> Decoder[Request]:
    return Decoder(cast(type[Request], Request))


def events() -> Decoder[Event]:
    return Decoder(cast(type[Event], Event))


def test_requests_come_back_equal_in_order() -> None:
    sent = [Load(document="d", revision=3, program=PROGRAM, tensors={"ab": b"\x00\x01"}), Do(verb="run"), Stop()]
    assert requests().feed(b"".join(map(encode, sent))) == sent


def test_a_frame_that_comes_byte_by_byte_is_one_message() -> None:
    decoder, message = events(), Printed(node=ItemId("n"), line=2, text="grüß " * 50)
    got = [m for byte in encode(message) for m in decoder.feed(bytes([byte]))]
    assert got == [message]


def test_records_of_every_kind_of_value_survive_the_pipe() -> None:
    summary = Summary(dtype="float32", shape=(2,), minimum=1.0, value=["nan", 1.0], preview=Preview(1, 2, b"12345678"))
    row = Row(
        step=1,
        node=ItemId("n"),
        outputs=(TensorRecord(device="cpu", summary=summary), PlainRecord(what="none", class_name="NoneType")),
    )
    message = Traced(revision=1, rows=(row,))
    assert events().feed(encode(message)) == [message]


def test_bytes_that_are_no_message_are_refused() -> None:
    with pytest.raises(BrokenFrame):
        events().feed(b"\x00\x00\x00\x03abc")


def test_an_event_is_not_taken_for_a_request() -> None:
    with pytest.raises(BrokenFrame):
        requests().feed(encode(Hello(protocol=1, ready=True, pid=1)))


@pytest.mark.parametrize(
    "change",
    [{"rows": 0, "data": b""}, {"rows": -1}, {"columns": 3}, {"data": b"1234"}, {"tile_rows": 2}, {"rows": 2**40}],
)
def test_a_picture_of_other_rows_and_columns_than_its_bytes_is_refused(change: dict[str, object]) -> None:
    summary = Summary(dtype="float32", shape=(2,), preview=Preview(1, 2, b"12345678"))
    row = Row(step=1, node=ItemId("n"), outputs=(TensorRecord(device="cpu", summary=summary),))
    content = msgspec.to_builtins(Traced(revision=1, rows=(row,)), builtin_types=(bytes,))
    assert events().feed(framed(content))
    content["rows"][0]["outputs"][0]["summary"]["preview"].update(change)
    with pytest.raises(BrokenFrame):
        events().feed(framed(content))


def framed(content: object) -> bytes:
    body = msgspec.msgpack.encode(content)
    return len(body).to_bytes(4, "big") + body
