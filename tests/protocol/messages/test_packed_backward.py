"""A backward on the pipe: every summary once, and the record that arrives is the one that was sent."""

from typing import cast

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.backward_trace import (
    AutogradRow,
    BackwardTraced,
    EdgeValue,
    HookRun,
    Reduction,
    SavedTensor,
    Share,
    WireGrad,
)
from gradstudio.protocol.messages.events import Event
from gradstudio.protocol.messages.packed_backward import PackedBackward, packed
from gradstudio.protocol.messages.records import Preview, Summary

PICTURE_BYTES = 4 * 32 * 32
SHARE = Share(1, 1.5, (Summary(dtype="float32", shape=(), mean=1.0),))


def summary_of(mean: float) -> Summary:
    return Summary(
        dtype="float32", shape=(64, 32), mean=mean, preview=Preview(32, 32, bytes(PICTURE_BYTES), 2, 1, False)
    )


def backward() -> BackwardTraced:
    """Two nodes and a leaf; what has left one has come into the next, by a wire."""
    came, went, grad = summary_of(1.0), summary_of(2.0), summary_of(3.0)
    value = EdgeValue(node=ItemId("a"), index=1, turns=(2,))
    saved = SavedTensor(name="self", dtype="float32", shape=(64, 32), size_bytes=8192, version=1, node=ItemId("b"))
    rows = (
        AutogradRow(backward=1, autograd="MulBackward0", node=ItemId("a"), incoming=(came,), outgoing=(went, None),
                    id=0, next=((1, 0), (-1, 0)), values=(value,), saved=(saved,), seconds=0.25),
        AutogradRow(backward=1, autograd="AddBackward0", node=ItemId("b"), turns=(3,), incoming=(went,),
                    outgoing=(went, went), id=1, next=((2, 0), (2, 0)), order=2),
        AutogradRow(backward=1, autograd="AccumulateGrad", node=ItemId("c"), incoming=(went,), id=2, before=grad,
                    after=came, hooks=(HookRun(kind="tensor", name="double", after=SHARE.grads[0]),)),
        AutogradRow(backward=1, autograd="AllReduce", node=ItemId("c"), incoming=(went,), outgoing=(came,),
                    reduction=Reduction(bucket=1, ranks=2, came_s=1.0, done_s=2.0, shares=(SHARE,))),
    )  # fmt: skip
    wires = (
        WireGrad(source=ItemId("b"), target=ItemId("a"), port="input", turns=(1,), source_turns=(1,), grad=went),
        WireGrad(source=ItemId("c"), target=ItemId("b"), port="other", output=1, place=1, grad=None, parts=2),
    )
    return BackwardTraced(revision=4, rows=rows, wires=wires, backward=1, statement=ItemId("s"), turns=(1,), at_s=2.0)


def events() -> Decoder[Event]:
    return Decoder(cast(type[Event], Event))


def test_what_arrives_is_what_was_sent() -> None:
    assert events().feed(encode(backward())) == [backward()]


def test_no_field_is_left_behind() -> None:
    rows, wires = backward().rows, backward().wires
    for records in (rows, wires):
        for field in msgspec.structs.fields(records[0]):
            assert any(getattr(record, field.name) != field.default for record in records), f"{field.name} is not tried"


def test_a_summary_is_written_once_and_shared_by_all_who_show_it() -> None:
    sent = encode(backward())
    (arrived,) = events().feed(sent)
    assert isinstance(arrived, BackwardTraced)
    first, second, last, _ = arrived.rows
    assert first.outgoing[0] is second.incoming[0] is last.incoming[0] is arrived.wires[0].grad
    assert 3 * PICTURE_BYTES < len(sent) < 4 * PICTURE_BYTES


def test_equal_summaries_of_two_gradients_stay_two() -> None:
    rows = tuple(AutogradRow(backward=1, autograd="A", node=ItemId("a"), incoming=(summary_of(1.0),)) for _ in "ab")
    assert len(packed(BackwardTraced(revision=1, rows=rows)).summaries) == 2


@pytest.mark.parametrize("number", [3, -1])
def test_a_number_of_no_summary_is_no_message(number: int) -> None:
    message = packed(backward())
    row = msgspec.structs.replace(message.rows[0], incoming=(number,))
    broken: PackedBackward = msgspec.structs.replace(message, rows=(row,))
    with pytest.raises(BrokenFrame):
        events().feed(encode(broken))
