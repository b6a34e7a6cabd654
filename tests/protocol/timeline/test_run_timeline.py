"""The timeline: every answer against one that is found naively, by looking at all that was told."""

import random
from itertools import pairwise

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, SavedTensor, WireGrad
from gradstudio.protocol.messages.events import GradRow, InRecord, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.timeline.run_timeline import TRIM_EVERY, Timeline
from gradstudio.protocol.timeline.tick_trimming import (
    FIRST_TURNS,
    LAST_SAMPLES,
    LAST_TURNS,
    MIDDLE_TURNS,
    select_ticks,
)

A, B, C, LOSS, BACKWARD = (ItemId(word) for word in ("a", "b", "c", "loss", "backward"))


def summary(value: float) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, value=value)


def row(node: ItemId, step: int, value: float = 0.0, turns: tuple[int, ...] = (), **fields: object) -> Row:
    record = TensorRecord(device="cpu", summary=summary(value), requires_grad=True, is_leaf=node == A)
    return Row(step=step, node=node, outputs=(record,), turns=turns, **fields)  # type: ignore[arg-type]


def autograd(node: ItemId, number: int, name: str = "MulBackward0", grad: float = 1.0, **fields: object) -> AutogradRow:
    return AutogradRow(
        backward=1, autograd=name, node=node, id=number, incoming=(summary(grad),), **fields  # type: ignore[arg-type]
    )  # fmt: skip


def chain() -> Timeline:
    """a -> b -> loss, backward: two autograd nodes of b, one each of the others."""
    timeline = Timeline()
    timeline.begin()
    timeline.add_rows([row(A, 1), row(B, 2), row(LOSS, 3)])
    rows = (
        autograd(LOSS, 0, next=((1, 0),), values=(EdgeValue(node=LOSS),)),
        autograd(B, 1, grad=2.0, next=((2, 0),), values=(EdgeValue(node=B),), saved=(SavedTensor(name="self"),)),
        autograd(B, 2, grad=3.0, next=((3, 0),)),
        autograd(A, 3, "AccumulateGrad", grad=4.0, values=(EdgeValue(node=A),), after=summary(4.0)),
    )
    wires = (
        WireGrad(source=B, target=LOSS, port="input", place=0, grad=summary(2.0)),
        WireGrad(source=A, target=B, port="input", place=2, grad=summary(4.0)),
    )
    timeline.add_backward(BackwardTraced(revision=1, rows=rows, wires=wires, backward=1, statement=BACKWARD))
    timeline.add_rows([row(BACKWARD, 4)])
    return timeline


def test_a_backward_is_folded_by_node_and_unfolded_by_autograd_node() -> None:
    timeline = chain()
    assert [tick.group for tick in timeline.ticks] == [0, 1, 2, 3, 4, 4, 5, 6]
    folded = [0]
    while (following := timeline.next(folded[-1])) is not None:
        folded.append(following)
    assert folded == [0, 1, 2, 3, 5, 6, 7], "a folded step ends on the last tick of its group"
    back = [7]
    while (before := timeline.previous(back[-1])) is not None:
        back.append(before)
    assert back == folded[::-1]
    assert timeline.next(4) == 5 and timeline.next(4, unfolded=True) == 5
    assert timeline.previous(5, unfolded=True) == 4
    assert list(timeline.group_of(4)) == [4, 5]


def test_a_step_of_a_backward_says_what_came_and_what_went_as_far_as_it_is() -> None:
    timeline = chain()
    begun, done = timeline.backward_step(4), timeline.backward_step(5)
    assert begun is not None and done is not None
    assert [arrival.value.node for arrival in begun.arrivals if arrival.value] == [B]
    assert begun.arrivals[0].grad == summary(2.0)
    assert [(part.node, part.autograd, part.port) for part in begun.arrivals[0].parts] == [
        (LOSS, "MulBackward0", "input")
    ]
    assert (begun.wires, len(begun.saved)) == ((), 1)
    assert [wire.grad for wire in done.wires] == [summary(4.0)]
    assert len(done.arrivals) == 1, "what b's two autograd nodes hand one another is no arrival"
    assert timeline.backward_step(0) is None


def test_a_gradient_is_there_from_the_tick_it_arrived_on() -> None:
    timeline = chain()
    states = {
        node: [row.state if (row := timeline.grad(node, tick=k)) else None for k in range(8)] for node in (A, B, LOSS)
    }
    assert states[A] == ["not_run"] * 6 + ["value"] * 2
    assert states[B] == [None] + ["not_run"] * 3 + ["value"] * 4
    assert states[LOSS] == [None, None, "not_run"] + ["value"] * 5
    assert timeline.wire_grad(A, 0, B, "input", tick=4) is None
    found = timeline.wire_grad(A, 0, B, "input", tick=5)
    assert found is not None and found.grad == summary(4.0)


def test_zero_grad_has_no_tick_and_holds_from_behind_the_last() -> None:
    timeline = chain()
    told = GradRow(node=A, state="value", grad=summary(4.0))
    timeline.add_gradients([told], whole=False)
    timeline.begin()
    timeline.add_gradients([GradRow(node=A, state="not_run", reason="zeroed")], whole=False)
    assert timeline.grad(A, tick=7) == told
    now = timeline.grad(A)
    assert now is not None and now.reason == "zeroed"
    timeline.add_rows([row(C, 5)])
    assert timeline.grad(A, tick=8) == now


def test_a_whole_telling_forgets_what_it_does_not_list() -> None:
    timeline = chain()
    timeline.add_gradients([GradRow(node=A, state="value", grad=summary(4.0))], whole=True)
    assert timeline.grad(B) is None
    assert timeline.grad(B, tick=6) is not None, "what was, was"


def test_a_whole_telling_leaves_what_it_says_is_in_the_record() -> None:
    timeline = chain()
    before = [timeline.grad(node) for node in (B, LOSS)]
    timeline.add_gradients([], True, InRecord(arrivals=(B, LOSS)))
    assert [timeline.grad(node) for node in (B, LOSS)] == before
    assert timeline.grad(A) is None
    timeline.add_rows([row(C, 5)])
    waiting = timeline.grad(C)
    assert waiting is not None and waiting.state == "not_run"
    timeline.add_gradients([], True, InRecord(births=(C,)))
    assert timeline.grad(C) == waiting


def test_of_a_record_that_was_not_heard_no_gradient_is_made_up() -> None:
    timeline = chain()
    timeline.add_gradients([], True, InRecord(births=(B,), arrivals=(C,)))
    born, arrived = timeline.grad(B), timeline.grad(C)
    assert born is not None and (born.state, born.grad) == ("not_run", None), "its new row was lost, and it waits"
    assert arrived is not None and (arrived.state, arrived.grad) == ("not_retained", None)


def test_a_leaf_that_no_backward_reached_waited_for_one_until_it_ran() -> None:
    timeline = Timeline()
    timeline.begin()
    timeline.add_rows([row(A, 1), row(LOSS, 2)])
    rows = (autograd(LOSS, 0, values=(EdgeValue(node=LOSS),)),)
    timeline.add_backward(BackwardTraced(revision=1, rows=rows, wires=(), backward=1, statement=BACKWARD))
    timeline.add_gradients([GradRow(node=A, state="not_reached", reason="It failed before.")], whole=True)
    states = [found.state if (found := timeline.grad(A, tick=k)) else None for k in range(3)]
    assert states == ["not_run", "not_run", "not_reached"]


def test_a_cut_is_one_from_the_birth_of_the_value_on() -> None:
    timeline = Timeline()
    timeline.begin()
    record = TensorRecord(device="cpu", summary=summary(1.0))
    timeline.add_rows([Row(step=k + 1, node=C, outputs=(record,), turns=(k,)) for k in range(3)])
    cut = GradRow(node=C, state="cut", reason="Cut here.", cause=C)
    timeline.add_gradients([cut], whole=True)
    assert [timeline.grad(C, tick=k) for k in range(3)] == [cut] * 3


def test_a_new_pass_makes_the_repeated_part_history_and_leaves_what_leaves_hold() -> None:
    timeline = chain()
    timeline.repeated = frozenset((B, LOSS, BACKWARD))
    timeline.begin()
    timeline.add_rows([row(B, 5, pass_number=2)])
    leaf, value, gone = (timeline.grad(node) for node in (A, B, LOSS))
    assert leaf is not None and (leaf.state, leaf.grad) == ("accumulated", summary(4.0))
    assert "pass 1" in leaf.reason
    assert value is not None and value.state == "not_run"
    assert gone is None
    assert timeline.grad(LOSS, tick=7) is not None
    assert timeline.wire_grad(B, 0, LOSS, "input") is None
    assert timeline.wire_grad(B, 0, LOSS, "input", tick=7) is not None


def test_a_row_that_was_not_complete_is_replaced_in_its_place() -> None:
    timeline = Timeline()
    timeline.add_rows([row(A, 1, complete=False), row(B, 2)])
    timeline.add_rows([row(A, 1, value=5.0)])
    assert len(timeline.ticks) == 2
    found = timeline.row(A, 0)
    assert found is not None and found.complete and found.outputs == row(A, 1, value=5.0).outputs


def random_rows(seed: int, count: int = 400) -> list[Row]:
    generator = random.Random(seed)
    rows, pass_number = [], 1
    for step in range(1, count + 1):
        pass_number += generator.random() < 0.02
        node = ItemId(generator.choice("abcdefgh"))
        turns = (generator.randrange(3), generator.randrange(4)) if node > "d" else ()
        rows.append(row(node, step, value=step, turns=turns, pass_number=pass_number))
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_rows_and_turns_are_those_a_naive_search_finds(seed: int) -> None:
    rows = random_rows(seed)
    timeline = Timeline()
    for begin in range(0, len(rows), 7):
        timeline.add_rows(rows[begin : begin + 7])
    for tick in range(0, len(rows), 11):
        for node in map(ItemId, "abcdefghz"):
            ran = [each for each in rows[: tick + 1] if each.node == node]
            assert timeline.row(node, tick) == (ran[-1] if ran else None)
            in_pass = [each.turns for each in ran if each.pass_number == ran[-1].pass_number]
            assert set(timeline.turns_of(node, tick)) == set(in_pass)
            for turns in set(in_pass) - {()}:
                chosen = [each for each in ran if each.turns == turns]
                assert timeline.row(node, tick, turns) == chosen[-1]


@pytest.mark.parametrize("seed", range(4))
def test_nodes_that_are_not_announced_between_two_moments_look_the_same(seed: int) -> None:
    timeline = chain()
    timeline.begin()
    timeline.add_rows(random_rows(seed, 60))
    generator = random.Random(seed)
    nodes = [*timeline.nodes()]
    for _ in range(200):
        one, other = (generator.choice([None, *range(len(timeline.ticks))]) for _ in range(2))
        changed = timeline.changed_between(one, other)
        assert changed is not None
        for node in nodes:
            pictures = [(timeline.row(node, tick), timeline.grad(node, tick=tick)) for tick in (one, other)]
            assert pictures[0] == pictures[1] or node in changed


def test_far_apart_moments_differ_too_much_to_tell() -> None:
    timeline = Timeline()
    timeline.add_rows([row(A, step) for step in range(1, 6000)])
    assert timeline.changed_between(0, None) is None


def test_of_a_long_loop_the_first_and_the_last_turns_stay_and_what_still_holds() -> None:
    timeline = Timeline()
    turns = 5000
    rows = [row(A, 1)]
    for turn in range(turns):
        rows.append(row(B, 2 + 2 * turn, value=turn, turns=(turn,)))
        if turn == 1000:
            rows.append(row(C, 3 + 2 * turn, value=7.0, turns=(turn,)))
    timeline.add_rows(rows)
    kept = timeline.trim()
    assert kept is not None and len(timeline.ticks) == len(kept)
    assert [tick.index for tick in timeline.ticks] == list(range(len(kept)))
    found = [turn for (turn,) in timeline.turns_of(B)]
    assert found[:FIRST_TURNS] == list(range(FIRST_TURNS))
    assert found[-LAST_TURNS:] == list(range(turns - LAST_TURNS, turns))
    assert found[FIRST_TURNS:-LAST_TURNS] == [1000], "what it held when the other node last ran"
    held = timeline.row(C)
    assert held is not None and held.turns == (1000,), "it ran in a middle turn and never again"
    assert timeline.row(A, 0) is not None


def test_of_turns_that_are_a_sample_some_in_between_stay_evenly_spread_however_often_some_go() -> None:
    timeline = Timeline()
    timeline.is_sampled = True
    for turn in range(20_000):
        timeline.add_rows([row(B, turn + 1, value=turn, turns=(7 * turn,))])
        timeline.trim()
    timeline._rebuild(select_ticks(timeline.ticks, 200_000, is_sampled=True))
    found = [turn // 7 for (turn,) in timeline.turns_of(B)]
    assert found[:FIRST_TURNS] == list(range(FIRST_TURNS))
    assert found[-LAST_SAMPLES:] == list(range(20_000 - LAST_SAMPLES, 20_000))
    middle = found[FIRST_TURNS:-LAST_SAMPLES]
    assert MIDDLE_TURNS / 2 <= len(middle) <= MIDDLE_TURNS
    gaps = [after - before for before, after in pairwise(middle)]
    assert max(gaps) <= 3 * sorted(gaps)[len(gaps) // 2]


def test_of_too_many_ticks_the_oldest_go_and_what_they_left_stays() -> None:
    timeline = Timeline()
    rows = [row(ItemId("abcd"[k % 4]), k + 2) for k in range(1000)]
    timeline.add_rows([row(ItemId("setup"), 1), *rows])
    kept = select_ticks(timeline.ticks, 500)
    assert kept == list(range(551, 1001))
    timeline._rebuild(kept)
    held = timeline.row(ItemId("setup"), 0)
    assert held is not None and held.step == 1, "a set-up node holds its value"
    assert timeline.forgotten == 551


def test_who_held_something_in_a_storage_is_known_also_after_a_trim() -> None:
    timeline = Timeline()
    held = ((A, 7), (B, 7), (C, 8))
    records = {node: TensorRecord(device="cpu", summary=summary(1.0), storage=storage) for node, storage in held}
    timeline.add_rows([Row(step=1, node=A, outputs=(records[A],))])
    assert (timeline.holders(7), timeline.sharers()) == ((A,), ())
    timeline.add_rows([Row(step=k, node=node, outputs=(records[node],)) for k, node in ((2, B), (3, C))])
    for kept in ([1, 2], [1]):
        assert (timeline.holders(7), timeline.holders(8), timeline.holders(9)) == ((A, B), (C,), ())
        assert timeline.sharers() == (A, B)
        timeline._rebuild(kept)


def test_after_a_trim_every_answer_is_as_before() -> None:
    timeline = Timeline()
    timeline.begin()
    step = 0
    for turn in range(2200):
        step += 3
        timeline.add_rows([row(A, step, value=turn, turns=(turn,)), row(B, step + 1, value=turn, turns=(turn,))])
        rows = (autograd(B, 0, grad=turn, values=(EdgeValue(node=B, turns=(turn,)),), turns=(turn,)),)
        wires = (WireGrad(source=A, target=B, port="x", turns=(turn,), source_turns=(turn,), grad=summary(turn)),)
        timeline.add_backward(
            BackwardTraced(revision=1, rows=rows, wires=wires, backward=turn + 1, statement=BACKWARD, turns=(turn,))
        )
        timeline.add_rows([row(BACKWARD, step + 2, turns=(turn,))])

    def picture(tick: int) -> list[object]:
        wire = timeline.wire_grad(A, 0, B, "x", tick)
        return [
            timeline.row(A, tick),
            timeline.row(B, tick),
            timeline.grad(A, tick=tick),
            timeline.grad(B, tick=tick),
            wire,
        ]

    before = [picture(tick.index) for tick in timeline.ticks]
    kept = timeline.trim()
    assert kept is not None and len(kept) < 1100
    assert [picture(tick.index) for tick in timeline.ticks] == [before[place] for place in kept]
    assert set(timeline.backwards) == {tick.backward for tick in timeline.ticks} - {0}
    step_there = timeline.backward_step(next(t.index for t in timeline.ticks if t.backward == 2200))
    assert step_there is not None and step_there.turns == (2199,)


def test_what_is_remembered_of_a_loop_does_not_grow_with_its_turns() -> None:
    def remembered(turns: int) -> int:
        timeline = Timeline()
        timeline.begin()
        for turn in range(turns):
            timeline.add_rows([row(B, 2 * turn, turn, (turn,))])
            rows = tuple(
                autograd(B, place, turns=(turn,), values=(EdgeValue(node=B, turns=(turn,)),)) for place in range(4)
            )
            wires = tuple(
                WireGrad(source=A, target=B, port=port, place=3, grad=summary(2.0), turns=(turn,)) for port in "xyz"
            )
            timeline.add_backward(
                BackwardTraced(revision=1, rows=rows, wires=wires, backward=turn + 1, statement=BACKWARD, turns=(turn,))
            )
            timeline.add_rows([row(BACKWARD, 2 * turn + 1, 0, (turn,))])
            timeline.trim()
        gradients, wires = timeline._gradients, timeline._wires
        return len(gradients._nodes) + len(gradients._ended) + len(wires._ends)

    # Both end as far behind a trim: 6 ticks a turn, and one trim in TRIM_EVERY of them.
    few, many = remembered(2 * TRIM_EVERY // 6), remembered(6 * TRIM_EVERY // 6)
    assert many < 1.3 * few
