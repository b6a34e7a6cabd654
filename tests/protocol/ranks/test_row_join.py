"""What ranks say of one step as one row: whoever is first, whoever is late, and who is shown afterwards."""

import random

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.messages.events import Gradients, GradRow, LeafState, NamedEntry, Report, Row, ValueNow
from gradstudio.protocol.messages.ranks import Holders, Range, Spread
from gradstudio.protocol.messages.records import ModuleRecord, PlainRecord, Summary, TensorRecord, TupleRecord
from gradstudio.protocol.ranks.report_join import require_own_report
from gradstudio.protocol.ranks.row_join import MOST_BYTES, GradJoin, RowJoin
from gradstudio.protocol.ranks.spread_tree import spreads_of
from gradstudio.protocol.ranks.stragglers import MOST_LINES, Stragglers

RANKS = 3


def summary(rank: int, value: float) -> Summary:
    told = Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, rms=abs(value), value=value)
    return msgspec.structs.replace(told, spread=Spread.of(rank, told, str(value).encode()))


def tensor(rank: int, value: float) -> TensorRecord:
    return TensorRecord(device="cpu", summary=summary(rank, value), grad=summary(rank, -value))


def row(rank: int, step: int, *values: float, complete: bool = True) -> Row:
    outputs = tuple(tensor(rank, value) for value in values)
    return Row(step=step, node=ItemId(f"n{step}"), outputs=outputs, complete=complete)


def values_of(row: Row) -> list[object]:
    return [one.summary.value for one in row.outputs if isinstance(one, TensorRecord)]


def ends(spread: Spread | None) -> tuple[object, object]:
    assert spread is not None and spread.mean is not None
    return spread.mean.least, spread.mean.most


def test_the_last_rank_to_tell_completes_a_row_that_was_shown_before() -> None:
    rows = RowJoin(RANKS)
    rows.tell(0, [row(0, 1, 5.0)])
    (shown,) = rows.show([row(0, 1, 5.0)])
    assert not shown.complete and not rows.take_known()
    rows.tell(2, [row(2, 1, 7.0)])
    assert not rows.take_known()
    rows.tell(1, [row(1, 1, 6.0)])
    (known,) = rows.take_known()
    assert known.complete and [ends(spread) for spread in spreads_of(known)] == [(5.0, 7.0), (-7.0, -5.0)]
    assert isinstance(known.outputs[0], TensorRecord) and known.outputs[0].summary.value == 5.0
    assert not rows.take_known() and not rows.finish()


def test_a_row_that_all_others_have_told_is_complete_at_once() -> None:
    rows = RowJoin(RANKS)
    for rank in (1, 2, 0):
        rows.tell(rank, [row(rank, 1, 4.0)])
    (shown,) = rows.show([row(0, 1, 4.0)])
    assert shown.complete and all(spread is not None and spread.is_equal for spread in spreads_of(shown))
    assert not rows.take_known()


def test_a_row_that_waits_when_another_rank_is_shown_is_given_out_as_that_rank_told_it() -> None:
    rows = RowJoin(RANKS)
    rows.tell(0, [row(0, 1, 5.0), row(0, 2, 8.0)])
    rows.show([row(0, 1, 5.0), row(0, 2, 8.0)])
    rows.tell(1, [row(1, 1, 6.0)])
    rows.look_elsewhere(1)
    (recalled,) = rows.recall([row(1, 1, 6.0)])
    assert not recalled.complete
    rows.tell(2, [row(2, 1, 7.0), row(2, 2, 9.0)])
    (known,) = rows.take_known()
    assert known.complete and values_of(known) == [6.0]
    assert [ends(spread) for spread in spreads_of(known)] == [(5.0, 7.0), (-7.0, -5.0)]
    rows.tell(1, [row(1, 2, 4.0)])
    (shown,) = rows.show([row(1, 2, 4.0)])
    assert shown.complete and values_of(shown) == [4.0] and ends(spreads_of(shown)[0]) == (4.0, 9.0)
    assert not rows.take_known() and not rows.finish()


def test_a_row_that_was_known_and_not_taken_is_of_no_use_where_another_rank_is_shown() -> None:
    rows = RowJoin(RANKS)
    rows.tell(0, [row(0, 1, 5.0)])
    rows.show([row(0, 1, 5.0)])
    rows.tell(1, [row(1, 1, 6.0)])
    rows.tell(2, [row(2, 1, 7.0)])
    rows.look_elsewhere(1)
    (recalled,) = rows.recall([row(1, 1, 6.0)])
    assert recalled.complete and values_of(recalled) == [6.0] and ends(spreads_of(recalled)[0]) == (5.0, 7.0)
    assert not rows.take_known() and not rows.finish()


def in_turn(rank: int, step: int, turn: int, value: float) -> Row:
    return msgspec.structs.replace(row(rank, step, value), node=ItemId("n"), turns=(turn,))


def test_rows_are_joined_by_their_turn_however_many_steps_each_rank_has_counted() -> None:
    rows = RowJoin(2)
    rows.tell(0, [in_turn(0, 40, 9, 5.0), in_turn(0, 41, 9, 1.0)])  # a function that is called twice in that turn
    rows.tell(1, [in_turn(1, 52, 8, 7.0), in_turn(1, 60, 9, 6.0), in_turn(1, 61, 9, 1.0)])
    first, second = rows.show([in_turn(0, 40, 9, 5.0), in_turn(0, 41, 9, 1.0)])
    assert first.complete and (first.step, ends(spreads_of(first)[0])) == (40, (5.0, 6.0))
    assert second.complete and [spread is not None and spread.is_equal for spread in spreads_of(second)] == [True] * 2
    rows.finish()
    rows.look_elsewhere(1)
    alone, (known, _) = (
        rows.recall([in_turn(1, 52, 8, 7.0)])[0],
        rows.recall([in_turn(1, 60, 9, 6.0), in_turn(1, 61, 9, 1.0)]),
    )
    assert (known.step, ends(spreads_of(known)[0])) == (60, (5.0, 6.0))
    spread = spreads_of(alone)[0]
    assert spread is not None and (spread.ranks, spread.missing, spread.is_equal) == (1, 1, False)


def test_what_one_rank_alone_has_told_is_equal_to_nothing() -> None:
    rows, grads = RowJoin(RANKS), GradJoin(2)
    rows.tell(0, [row(0, 1, 5.0)])
    (shown,) = rows.show([row(0, 1, 5.0)])
    assert [(one.missing, one.is_equal) for one in spreads_of(shown) if one is not None] == [(2, False)] * 2
    grads.tell(0, Gradients(revision=1, rows=(GradRow(node=ItemId("w"), grad=summary(0, 1.0)),), whole=True))
    grads.tell(1, Gradients(revision=1, rows=(GradRow(node=ItemId("v"), grad=summary(1, 1.0)),), whole=True))
    (known,) = grads.rows(0)
    assert known.grad is not None and known.grad.spread is not None and not known.grad.spread.is_equal


def test_parameters_as_they_stand_now_are_compared_over_ranks() -> None:
    grads = GradJoin(RANKS)
    for rank in range(RANKS):
        held = {"weight": tensor(rank, 4.0), "bias": tensor(rank, float(rank))}
        net = ModuleRecord(class_name="Linear", parameters=held)
        written = [ValueNow(node=ItemId("net"), step=9 + rank, record=net)]
        written += [ValueNow(node=ItemId("w"), step=2, record=tensor(rank, 1.0))] * (rank < 2)
        grads.tell(rank, Gradients(revision=1, rows=(), written=tuple(written)))
    net_now, w_now = grads.known(1, 3).written
    module = net_now.record
    assert isinstance(module, ModuleRecord) and net_now.step == 10
    weight, bias = module.parameters["weight"].summary, module.parameters["bias"].summary
    assert bias.value == 1.0 and ends(bias.spread) == (0.0, 2.0)
    assert weight.spread is not None and weight.spread.ranks == RANKS and weight.spread.is_equal
    assert isinstance(w_now.record, TensorRecord) and w_now.record.summary.spread is not None
    assert (w_now.record.summary.spread.ranks, w_now.record.summary.spread.missing) == (2, 1)
    with pytest.raises(BrokenFrame, match="speaks of other ranks"):
        grads.tell(0, Gradients(revision=1, rows=(), written=(w_now,)))
    with pytest.raises(BrokenFrame, match="more gradients"):
        grads.tell(
            0, Gradients(revision=1, rows=(), written=(ValueNow(ItemId("w"), 2, tensor(0, 1.0)),)), MOST_BYTES + 9
        )


def test_what_a_rank_never_tells_is_told_without_it_at_the_end() -> None:
    rows = RowJoin(RANKS)
    rows.tell(0, [row(0, 1, 5.0)])
    rows.tell(1, [row(1, 1, 9.0)])
    rows.show([row(0, 1, 5.0)])
    (left,) = rows.finish()
    assert left.complete and ends(spreads_of(left)[0]) == (5.0, 9.0)
    spread = spreads_of(left)[0]
    assert spread is not None and spread.ranks == 2


def test_outlines_wait_for_their_figures_as_they_do_with_one_rank() -> None:
    rows = RowJoin(RANKS)
    outline = row(0, 1, 5.0, complete=False)
    rows.tell(0, [outline])
    assert rows.show([outline]) == (outline,) and not rows.finish()


def test_a_rank_looked_at_later_shows_its_own_values_with_what_was_known_of_all() -> None:
    rows = RowJoin(2)
    for rank, value in ((0, 1.0), (1, 3.0)):
        rows.tell(rank, [row(rank, 1, value)])
    rows.show([row(0, 1, 1.0)])
    rows.finish()
    (recalled,) = rows.recall([row(1, 1, 3.0)])
    assert isinstance(recalled.outputs[0], TensorRecord) and recalled.outputs[0].summary.value == 3.0
    assert ends(spreads_of(recalled)[0]) == (1.0, 3.0)


def test_the_same_steps_come_again_after_the_end_and_nothing_old_is_joined() -> None:
    rows = RowJoin(2)
    for value in (1.0, 8.0):
        for rank in (0, 1):
            rows.tell(rank, [row(rank, 1, value + rank)])
        (shown,) = rows.show([row(0, 1, value)])
        rows.finish()
        assert ends(spreads_of(shown)[0]) == (value, value + 1)


def test_ranks_whose_values_have_another_structure_are_not_compared() -> None:
    rows = RowJoin(2)
    rows.tell(0, [row(0, 1, 1.0)])
    rows.tell(1, [row(1, 1, 1.0, 2.0)])
    (shown,) = rows.show([row(0, 1, 1.0)])
    assert spreads_of(shown) == [None, None]


def test_everything_within_records_is_joined_in_its_order() -> None:
    def nested(rank: int) -> Row:
        pair = TupleRecord(class_name="tuple", length=2, items=(tensor(rank, 1.0 + rank), tensor(rank, 10.0 + rank)))
        module = ModuleRecord(class_name="Linear", parameters={"weight": tensor(rank, 100.0 + rank)})
        told = Summary(dtype="int", shape=(), minimum=rank, maximum=rank)
        plain = PlainRecord(what="number", class_name="int", value=rank, spread=Spread.of(rank, told))
        written = LeafState(7, tensor(rank, 1000.0 + rank))
        return Row(step=1, node=ItemId("n"), outputs=(pair, module, plain), writes=(written,))

    rows = RowJoin(2)
    rows.tell(0, [nested(0)])
    rows.tell(1, [nested(1)])
    (shown,) = rows.show([nested(0)])
    spreads = list(spreads_of(shown))
    plain = spreads.pop(6)
    assert plain is not None and plain.minimum == plain.maximum == Range(0, 0, 1, 1)
    values = [ends(spread) for spread in spreads[::2]]
    assert values == [(1.0, 2.0), (10.0, 11.0), (100.0, 101.0), (1000.0, 1001.0)]


@pytest.mark.parametrize("seed", range(20))
def test_in_whatever_order_ranks_tell_all_steps_come_out_once_with_the_spread_of_all(seed: int) -> None:
    draw, steps = random.Random(seed), 12
    value = {(rank, step): draw.uniform(-5, 5) for rank in range(RANKS) for step in range(steps)}
    left = {rank: list(range(steps)) for rank in range(RANKS)}
    rows, complete = RowJoin(RANKS), []
    while any(left.values()):
        rank = draw.choice([rank for rank, steps_left in left.items() if steps_left])
        count = draw.randint(1, 3)
        told = [row(rank, step, value[rank, step]) for step in left[rank][:count]]
        del left[rank][:count]
        rows.tell(rank, told)
        if rank == 0:
            complete += [one for one in rows.show(told) if one.complete]
        complete += rows.take_known()
    assert not rows.finish() and sorted(one.step for one in complete) == list(range(steps))
    for one in complete:
        of_ranks = [value[rank, one.step] for rank in range(RANKS)]
        assert ends(spreads_of(one)[0]) == (min(of_ranks), max(of_ranks))


def test_gradients_are_those_that_each_rank_told_last() -> None:
    def grad(rank: int, value: float, *, whole: bool) -> Gradients:
        rows = (GradRow(node=ItemId("w"), path="weight", state="value", grad=summary(rank, value)),)
        return Gradients(revision=1, rows=rows, whole=whole)

    grads = GradJoin(2)
    grads.tell(0, grad(0, 1.0, whole=True))
    grads.tell(1, grad(1, 1.0, whole=True))
    grads.tell(1, grad(1, 2.0, whole=False))
    (told,) = grads.rows(0)
    assert told.grad is not None and told.grad.value == 1.0 and ends(told.grad.spread) == (1.0, 2.0)
    grads.tell(1, Gradients(revision=1, rows=()))
    (told,) = grads.rows(0)
    assert told.grad is not None and told.grad.spread is not None and told.grad.spread.ranks == 1


def test_more_than_can_be_kept_is_given_out_as_far_as_it_is_known() -> None:
    rows = RowJoin(RANKS)
    rows.tell(0, [row(0, 1, 5.0)], MOST_BYTES)
    assert not rows.show([row(0, 1, 5.0)])[0].complete and not rows.take_known()
    rows.tell(0, [row(0, 2, 6.0)], 1)
    (known,) = rows.take_known()
    assert known.step == 1 and known.complete
    spread = spreads_of(known)[0]
    assert spread is not None and spread.ranks == 1


def test_a_rank_that_speaks_of_others_or_of_too_much_is_refused() -> None:
    rows, grads = RowJoin(2), GradJoin(2)
    with pytest.raises(BrokenFrame, match="Rank 0 speaks of other ranks"):
        rows.tell(0, [row(1, 1, 5.0)])
    told = Gradients(revision=1, rows=(GradRow(node=ItemId("w"), state="value", grad=summary(1, 1.0)),))
    with pytest.raises(BrokenFrame, match="Rank 0 speaks of other ranks"):
        grads.tell(0, told)
    with pytest.raises(BrokenFrame, match="more gradients"):
        grads.tell(1, told, MOST_BYTES + 1)
    entry = NamedEntry(name="x", node=ItemId("n"), operator="o", line=1, outputs=(tensor(0, 1.0),))
    with pytest.raises(BrokenFrame, match="Rank 1 speaks of other ranks"):
        require_own_report(Report(revision=1, entries=(entry,)), 1)


def test_a_spread_of_one_rank_is_of_no_other() -> None:
    whole = Spread(1, "float32 []", nan=Holders(1, (1,)))
    assert whole.is_of(1) and not whole.is_of(0)
    assert not msgspec.structs.replace(whole, nan=Holders(2, (1,))).is_of(1)
    assert not (Spread(1, "x") | Spread(1, "x")).is_of(0)


def met(rank: int, came_s: float) -> Row:
    return msgspec.structs.replace(row(rank, 1, 1.0), came=Range(came_s, rank, came_s, rank))


def test_where_ranks_met_the_first_and_the_last_to_come_are_known() -> None:
    rows = RowJoin(2)
    rows.tell(1, [met(1, 3.5)])
    rows.tell(0, [met(0, 2.0)])
    (shown,) = rows.show([met(0, 2.0)])
    assert shown.came == Range(2.0, 0, 3.5, 1)
    rows.finish()
    (recalled,) = rows.recall([met(1, 3.5)])
    assert recalled.came == shown.came
    with pytest.raises(BrokenFrame, match="Rank 0 speaks of other ranks"):
        rows.tell(0, [met(1, 2.0)])


def test_a_straggler_is_said_once_for_each_line() -> None:
    stragglers = Stragglers()
    late = msgspec.structs.replace(row(0, 1, 1.0), came=Range(2.0, 0, 3.5, 1))
    early = msgspec.structs.replace(row(0, 2, 1.0), came=Range(2.0, 0, 2.1, 1))
    assert list(stragglers.words([late, early, late], b"")) == ["Rank 1 came 1.5 s later than rank 0 to line 0."]
    many = [msgspec.structs.replace(row(0, step, 1.0), came=late.came) for step in range(3 * MOST_LINES)]
    assert len(list(stragglers.words(many, b""))) == MOST_LINES - 1
