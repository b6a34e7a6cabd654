"""All-reduces that several ranks tell of: joined whoever is first, whoever is shown, within bounds; and in words."""

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import decoded
from gradstudio.protocol.messages.backward_trace import ALL_REDUCE, AutogradRow, BackwardTraced, EdgeValue, Reduction
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.packed_backward import packed, unpacked
from gradstudio.protocol.messages.ranks import Range, Spread
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.ranks.arrival_words import duration_words, late_words, waits
from gradstudio.protocol.ranks.backward_join import MOST_BYTES, BackwardJoin
from gradstudio.protocol.timeline.run_timeline import Timeline

NET, MODEL = ItemId("net"), ItemId("model")
RANKS = 3


def summary(rank: int, value: float) -> Summary:
    told = Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, rms=abs(value), value=value)
    return msgspec.structs.replace(told, spread=Spread.of(rank, told, str(value).encode()))


def reduction(rank: int, bucket: int, value: float, came_s: float) -> AutogradRow:
    values = (EdgeValue(node=NET, path=f"{bucket}.weight"), EdgeValue(node=MODEL, path=f"module.{bucket}.weight"))
    return AutogradRow(
        backward=1, autograd=ALL_REDUCE, node=MODEL, incoming=(summary(rank, value),), outgoing=(summary(rank, 5.0),),
        values=values, reduction=Reduction(bucket=bucket, ranks=RANKS, came_s=came_s, done_s=9.0),
    )  # fmt: skip


def record(rank: int, *came_s: float, backward: int = 1) -> BackwardTraced:
    leaf = AutogradRow(
        backward=backward, autograd="AccumulateGrad", node=NET, incoming=(summary(rank, 1.0 + rank),),
        values=(EdgeValue(node=NET, path="0.weight"),), after=summary(rank, 1.0 + rank),
    )  # fmt: skip
    rows = (leaf, *(reduction(rank, bucket, 1.0 + rank, at) for bucket, at in enumerate(came_s)))
    return BackwardTraced(revision=1, rows=rows, backward=backward, statement=ItemId("b"), at_s=1.0 + rank)


def reductions(traced: BackwardTraced) -> list[Reduction]:
    return [row.reduction for row in traced.rows if row.reduction is not None]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_last_to_tell_completes_what_was_shown_before(order: tuple[int, ...]) -> None:
    join, told = BackwardJoin(RANKS), []
    for rank in order:
        traced = record(rank, 1.0, 2.0 + rank)
        join.tell(rank, traced)
        if rank == 0:
            told.append(join.show(traced))
        elif (known := join.take_known(traced)) is not None:
            told.append(known)
    assert [row.reduction is None for row in told[-1].rows] == [True, False, False]
    first, second = reductions(told[-1])
    assert first.arrivals == Range(1.0, 0, 1.0, 0) and second.arrivals == Range(2.0, 0, 4.0, 2)
    assert [share.grads[0] and share.grads[0].value for share in second.shares] == [1.0, 2.0, 3.0]
    spread = told[-1].rows[1].incoming[0] and told[-1].rows[1].incoming[0].spread
    assert spread is not None and spread.ranks == RANKS and spread.mean == Range(1.0, 0, 3.0, 2)
    assert told[-1].at_s == 1.0


def test_a_rank_that_is_looked_at_later_has_the_shares_of_all_and_none_of_the_rank_before() -> None:
    join = BackwardJoin(2)
    join.tell(0, record(0, 1.0))
    join.show(record(0, 1.0))
    join.look_elsewhere()
    join.tell(1, record(1, 1.5))
    assert join.take_known(record(1, 1.5)) is None
    (found,) = reductions(join.show(record(1, 1.5)))
    assert [share.came_s for share in found.shares] == [1.0, 1.5]


def test_a_run_from_nothing_has_nothing_of_the_one_before() -> None:
    join = BackwardJoin(2)
    for rank in (0, 1):
        join.tell(rank, record(rank, 1.0))
    for rank in (0, 1):
        join.begin_anew(rank)
    join.tell(0, record(0, 3.0))
    assert not reductions(join.show(record(0, 3.0)))[0].shares


def test_other_buckets_are_not_joined_and_a_backward_without_any_is_as_it_is() -> None:
    join = BackwardJoin(2)
    join.tell(0, record(0, 1.0))
    join.tell(1, record(1, 1.0, 2.0))
    assert join.show(record(0, 1.0)) == record(0, 1.0)
    alone = record(0)
    join.tell(0, alone)
    assert join.show(alone) is alone and join.take_known(alone) is None


def test_who_speaks_of_others_is_refused_and_only_so_much_is_kept() -> None:
    join = BackwardJoin(2)
    with pytest.raises(BrokenFrame, match="Rank 1 speaks of other ranks"):
        join.tell(1, record(0, 1.0))
    for number in (1, 2):
        for rank in (0, 1):
            join.tell(rank, record(rank, 1.0, backward=number), MOST_BYTES // 2)
    assert not reductions(join.show(record(0, 1.0, backward=1)))[0].shares
    assert reductions(join.show(record(0, 1.0, backward=2)))[0].shares


def test_it_crosses_the_pipe_and_is_one_step_a_bucket_whose_mean_is_what_the_leaf_then_holds() -> None:
    join = BackwardJoin(2)
    for rank in (0, 1):
        join.tell(rank, record(rank, 1.0, 1.8))
    traced = join.show(record(0, 1.0, 1.8))
    assert unpacked(packed(traced)) == traced
    timeline = Timeline()
    timeline.add_backward(record(0, 1.0, 1.8))
    timeline.add_backward(traced)  # told again, with the shares of all
    assert len(timeline.ticks) == 3 and [len(timeline.group_of(tick)) for tick in range(3)] == [1, 1, 1]
    before, after = (timeline.grad(NET, 0, "0.weight", tick) for tick in (0, 1))
    assert isinstance(before, GradRow) and before.grad is not None and before.grad.value == 1.0
    assert after is not None and after.grad is not None and after.grad.value == 5.0 and after.state == "value"
    step = timeline.backward_step(2)
    assert step is not None and step.node == MODEL and step.rows[0].reduction is not None
    assert len(step.rows[0].reduction.shares) == 2
    assert timeline.next(1) == 2 and timeline.previous(2) == 1


def test_who_was_late_is_said_and_how_long_each_waited() -> None:
    assert late_words(Range(1.0, 0, 1.8, 1)) == "rank 1 came 0.8 s later than rank 0"
    assert late_words(Range(1.0, 3, 1.012, 2)) == "rank 2 came 12 ms later than rank 3"
    assert late_words(Range(1.0, 0, 1.0001, 1)) == "" and late_words(None) == ""
    join = BackwardJoin(2)
    join.tell(0, record(0, 1.0))
    join.tell(1, record(1, 1.8))
    (found,) = reductions(join.show(record(0, 1.0)))
    assert waits(found) == ((0, pytest.approx(0.8)), (1, 0.0))
    assert waits(Reduction(bucket=0, ranks=2, came_s=1.0, done_s=2.0)) == ()
    assert duration_words(4e-5) == "40 µs"


def test_more_shares_than_are_named_are_refused() -> None:
    join = BackwardJoin(2)
    for rank in (0, 1):
        join.tell(rank, record(rank, 1.0))
    row = join.show(record(0, 1.0)).rows[1]
    assert row.reduction is not None
    many = msgspec.structs.replace(row.reduction, shares=row.reduction.shares * 5)
    message = BackwardTraced(revision=1, rows=(msgspec.structs.replace(row, reduction=many),))
    decoder = msgspec.msgpack.Decoder(BackwardTraced)
    with pytest.raises(BrokenFrame):
        decoded(decoder, msgspec.msgpack.encode(message))
