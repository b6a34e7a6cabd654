"""Where a run pauses on its way: breakpoints and watches, run to here, step over and out."""

from typing import Any

import pytest
import torch

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Incomplete, Statement
from gradstudio.protocol.messages.debugging import Breakpoint, Condition, Hit
from gradstudio.protocol.messages.events import Paused
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node, program
from tests.engine.conftest import Bench

UNREADABLE = Condition(kind="expression", text="nrm > 1")
CHAIN = """
x = torch.tensor([1.0, -2.0], requires_grad=True)
y = x * 3
z = y.relu()
s = z.sum()
s.backward()
"""
LOOP = """
x = torch.tensor(1.0, requires_grad=True)
total = torch.zeros(())
for i in range(3):
    part = x * (i + 1)
    total = total + part
total.backward()
"""
BLOCKS = """
x = torch.tensor(1.0)
for i in range(2):
    for j in range(2):
        x = x + 1
    y = x * 2
z = x + 5
with torch.no_grad():
    w = z * 2
v = w + 1
"""


def at(line: int, **options: Any) -> Breakpoint:
    return Breakpoint(id=options.pop("id", f"b{line}"), node=node(line), **options)


def ask(bench: Bench, verb: str = "run", *breakpoints: Breakpoint, **options: Any) -> Paused:
    bench.events.clear()
    return bench.engine.do(Do(verb=verb, breakpoints=breakpoints, **options))  # type: ignore[arg-type]


def hits(bench: Bench) -> list[Hit]:
    return [event for event in bench.events if isinstance(event, Hit)]


def ran(bench: Bench) -> list[str]:
    return [row.node for row in bench.rows()]


# ------------------------------------------------------------------ forward


def test_a_run_pauses_before_the_node_and_says_which_breakpoint_it_was(bench: Bench) -> None:
    bench.load(CHAIN)
    paused = ask(bench, "run", at(3))
    assert (paused.outcome, paused.hit, paused.next_node) == ("breakpoint", "b3", node(3))
    assert ran(bench) == [node(1), node(2)]
    (hit,) = hits(bench)
    assert (hit.node, hit.step, hit.backward, hit.place, hit.stopped) == (node(3), 2, 0, -1, True)
    assert hit.summary is not None
    assert hit.summary.value == [3.0, -6.0]


def test_going_on_runs_the_node_and_does_not_stop_at_it_again(bench: Bench) -> None:
    bench.load(CHAIN)
    ask(bench, "run", at(3))
    paused = ask(bench, "run", at(3))
    assert (paused.outcome, paused.at_end) == ("done", True)
    assert hits(bench) == []
    assert ran(bench) == [node(3), node(4), node(5)]


def test_a_step_onto_a_breakpoint_and_run_goes_on_but_tells_it(bench: Bench) -> None:
    bench.load(CHAIN)
    for _ in range(2):
        ask(bench, "step", at(3))
    paused = ask(bench, "run", at(3))
    assert (paused.outcome, [hit.stopped for hit in hits(bench)]) == ("done", [False])


def test_a_breakpoint_at_the_first_statement_stops_there(bench: Bench) -> None:
    bench.load(CHAIN)
    paused = ask(bench, "run", at(1))
    assert (paused.outcome, paused.next_node, ran(bench)) == ("breakpoint", node(1), [])
    assert ask(bench, "run", at(1)).outcome == "done"
    assert ask(bench, "run", at(1)).outcome == "breakpoint"


def test_behind_a_node_its_results_are_tested(bench: Bench) -> None:
    bench.load(CHAIN)
    condition = Condition(kind="expression", text="min == 0 and max == 3")
    paused = ask(bench, "run", at(2, place="after", condition=condition), at(3, place="after", condition=condition))
    assert (paused.hit, paused.next_node) == ("b3", node(4))
    assert hits(bench)[0].step == 3


def test_a_wire_is_tested_behind_its_source(bench: Bench) -> None:
    bench.load("x = torch.arange(6.0)\na, b = x.split(3)\ny = b + 1")
    above = Condition(kind="above", number=2.5)
    assert ask(bench, "run", at(2, place="after", output=0, condition=above)).outcome == "done"
    paused = ask(
        bench, "run", at(2, place="after", output=1, target=node(3), port="input", condition=above), restart=True
    )
    assert (paused.outcome, paused.next_node) == ("breakpoint", node(3))
    summary = hits(bench)[0].summary
    assert summary is not None
    assert summary.value == [3.0, 4.0, 5.0]


def test_inputs_are_tested_as_they_are_before_an_in_place_write(bench: Bench) -> None:
    bench.load("x = torch.ones(2)\nx += 5\ny = x * 2")
    assert ask(bench, "run", at(2, condition=Condition(kind="above", number=2))).outcome == "done"
    paused = ask(bench, "run", at(2, place="after", condition=Condition(kind="above", number=2)), restart=True)
    assert paused.next_node == node(3)


def test_a_plain_number_can_be_tested(bench: Bench) -> None:
    bench.load("x = torch.tensor(3.0)\nn = x.item()\ny = x + n")
    assert ask(bench, "run", at(2, place="after", condition=Condition(kind="above", number=2.5))).next_node == node(3)


def test_every_turn_of_a_loop_counts(bench: Bench) -> None:
    bench.load(LOOP)
    for turn in range(3):
        assert ask(bench, "run", at(5)).outcome == "breakpoint"
        assert hits(bench)[0].turns == (turn,)
    assert ask(bench, "run", at(5)).at_end


def test_a_loop_stops_in_the_turn_where_the_condition_holds(bench: Bench) -> None:
    bench.load(LOOP)
    paused = ask(bench, "run", at(4, place="after", condition=Condition(kind="above", number=1.5)))
    assert (paused.next_node, hits(bench)[0].turns) == (node(5), (1,))


def test_a_loop_variable_is_tested_when_it_is_bound(bench: Bench) -> None:
    bench.load(LOOP)
    bench_at = at(3, place="after", output=0, condition=Condition(kind="above", number=1.5))
    paused = ask(bench, "run", bench_at)
    assert (paused.next_node, hits(bench)[0].turns) == (node(4), (2,))


def test_before_a_block_the_run_pauses_when_it_is_entered(bench: Bench) -> None:
    bench.load(BLOCKS)
    assert ask(bench, "run", at(3)).next_node == node(3)
    assert hits(bench)[0].turns == (0,)
    assert ask(bench, "run", at(3)).next_node == node(3)
    assert (hits(bench)[0].turns, ran(bench)) == ((1,), [node(4), node(4), node(5)])
    assert ask(bench, "run", at(3)).at_end


def test_a_block_whose_first_node_has_a_breakpoint_too_is_entered_up_to_it(bench: Bench) -> None:
    bench.load(BLOCKS)
    stops = [ask(bench, "run", at(3), at(4)).next_node for _ in range(4)]
    assert stops == [node(3), node(4), node(4), node(3)]


def test_a_block_that_is_stepped_to_is_told_and_entered(bench: Bench) -> None:
    bench.load(BLOCKS)
    ask(bench, "step", at(2))
    assert ask(bench, "run", at(2)).at_end
    assert [hit.stopped for hit in hits(bench)] == [False]


def test_a_watch_notes_every_value_and_stops_nothing(bench: Bench) -> None:
    bench.load(LOOP)
    paused = ask(bench, "run", at(5, place="after", stops=False))
    assert paused.outcome == "done"
    assert [(hit.turns, hit.stopped, hit.summary and hit.summary.value) for hit in hits(bench)] == [
        ((0,), False, 1.0),
        ((1,), False, 3.0),
        ((2,), False, 6.0),
    ]


def test_forward_and_backward_pause_too(bench: Bench) -> None:
    bench.load(CHAIN)
    assert ask(bench, "forward", at(3)).next_node == node(3)
    assert ask(bench, "backward", at(4)).next_node == node(4)
    assert ask(bench, "backward", at(4)).at_end


def test_a_part_inside_another_statement_can_be_paused_at(bench: Bench) -> None:
    built = program("x = torch.ones(2)\np = x + 1\ny = p * 2")
    first, part, user = (s for s in built.statements if isinstance(s, Statement))
    parts = (
        first,
        Statement(**{f: getattr(part, f) for f in part.__struct_fields__ if f != "is_part"}, is_part=True),
        Statement(**{f: getattr(user, f) for f in user.__struct_fields__ if f != "drops"}, drops=("p",)),
    )
    kept = {f: getattr(built, f) for f in built.__struct_fields__ if f != "statements"}
    bench.load(type(built)(**kept, statements=parts))
    assert ask(bench, "run", at(2, place="after")).next_node == node(3)
    assert "p" in bench
    assert ask(bench, "run", at(2, place="after")).at_end


def test_without_breakpoints_nothing_is_asked(bench: Bench) -> None:
    bench.load(CHAIN)
    assert ask(bench, "run").outcome == "done"
    assert bench.engine.runner.pauses.breaks is None


# ------------------------------------------------------------------ where NaN and Inf appear


def anywhere(**options: Any) -> Breakpoint:
    return Breakpoint(id="nan", node=ItemId(""), place="after", condition=Condition(kind="not_finite"), **options)


def test_a_run_pauses_where_a_nan_appears_and_not_where_it_goes_on(bench: Bench) -> None:
    bench.load("x = torch.tensor([0.0, 1.0])\ny = x / x\nz = y + 1\nw = z.log() - z.log()")
    paused = ask(bench, "run", anywhere())
    assert (paused.outcome, paused.hit, paused.next_node) == ("breakpoint", "nan", node(3))
    assert hits(bench)[0].node == node(2)
    assert ask(bench, "run", anywhere()).at_end


def test_a_nan_that_comes_of_an_infinity_is_paused_at_too(bench: Bench) -> None:
    bench.load(program("x = torch.tensor([0.0, 1.0])\nl = x.log()\nz = l * x\nw = z + 1\n"))
    stopped = []
    while ask(bench, "run", anywhere()).outcome == "breakpoint":
        stopped += [hit.node for hit in hits(bench) if hit.stopped]
    assert stopped == [node(2), node(3)], "-inf in l, 0 * -inf in z; w only passes it on"


def test_a_nan_that_is_written_in_place_appears_there(bench: Bench) -> None:
    bench.load("x = torch.tensor([-1.0, 1.0])\nx.log_()\nx += 1\ny = x * 2")
    assert ask(bench, "run", anywhere()).next_node == node(3)
    assert ask(bench, "run", anywhere()).at_end


def test_a_run_pauses_behind_the_backward_in_which_an_inf_appears(bench: Bench) -> None:
    bench.load("x = torch.tensor([0.0, 1.0], requires_grad=True)\ny = x.sqrt()\ns = y.sum()\ns.backward()")
    assert ask(bench, "run", anywhere()).outcome == "done"
    paused = ask(bench, "run", anywhere(phase="backward"))
    assert (paused.outcome, paused.at_end) == ("breakpoint", True)
    (hit,) = hits(bench)
    (traced,) = bench.autograd()
    assert (hit.node, traced.rows[hit.place].autograd) == (node(2), "SqrtBackward0")
    assert hit.backward == traced.backward


# ------------------------------------------------------------------ backward


def backward_hit(bench: Bench, breakpoint_: Breakpoint) -> tuple[Hit, Any]:
    paused = ask(bench, "run", breakpoint_, restart=True)
    assert (paused.outcome, paused.hit) == ("breakpoint", breakpoint_.id)
    hit = next(hit for hit in hits(bench) if hit.stopped)
    return hit, bench.autograd()[0].rows[hit.place]


def test_before_a_node_in_the_backward_the_gradient_that_arrives_is_tested(bench: Bench) -> None:
    bench.load(CHAIN)
    hit, row = backward_hit(bench, at(3, phase="backward"))
    assert (row.autograd, hit.summary) == ("ReluBackward0", row.incoming[0])
    assert hit.step == 5


def test_behind_a_node_in_the_backward_what_it_sends_back_is_tested(bench: Bench) -> None:
    bench.load(CHAIN)
    zero_somewhere = Condition(kind="expression", text="min == 0 and max == 1")
    hit, row = backward_hit(bench, at(3, phase="backward", place="after", condition=zero_somewhere))
    assert row.autograd == "ReluBackward0"
    assert hit.summary is not None
    assert hit.summary.value == [1.0, 0.0]


def test_along_a_wire_in_the_backward_what_its_target_sends_back_is_tested(bench: Bench) -> None:
    bench.load("x = torch.tensor(2.0, requires_grad=True)\na = x * 3\nb = x * 5\ns = a + b\ns.backward()")
    hit, row = backward_hit(bench, at(1, phase="backward", place="after", target=node(3), port="input"))
    assert (row.autograd, row.node) == ("MulBackward0", node(3))
    assert hit.summary is not None
    assert hit.summary.value == 5.0
    above = Condition(kind="above", number=6)
    assert ask(bench, "run", at(1, phase="backward", target=node(3), port="input", condition=above)).outcome == "done"


def test_behind_a_leaf_in_the_backward_what_it_holds_is_tested(bench: Bench) -> None:
    bench.load(CHAIN)
    hit, row = backward_hit(bench, at(1, phase="backward", place="after"))
    assert row.autograd == "AccumulateGrad"
    assert hit.summary is not None
    assert hit.summary.value == [3.0, 0.0]


def test_one_of_several_results_is_tested_in_the_backward(bench: Bench) -> None:
    bench.load("x = torch.ones(4, requires_grad=True)\na, b = x.split(2)\ns = a.sum() + 5 * b.sum()\ns.backward()")
    above = Condition(kind="above", number=2)
    assert ask(bench, "run", at(2, phase="backward", output=0, condition=above)).outcome == "done"
    hit, _ = backward_hit(bench, at(2, phase="backward", output=1, condition=above))
    assert hit.summary is not None
    assert hit.summary.value == [5.0, 5.0]


def test_a_backward_condition_that_never_holds_stops_nothing(bench: Bench) -> None:
    bench.load(CHAIN)
    assert ask(bench, "run", at(3, phase="backward", condition=Condition(kind="above", number=9))).outcome == "done"
    assert hits(bench) == []


def test_every_turn_counts_in_the_backward_and_the_first_one_torch_comes_to_stops(bench: Bench) -> None:
    bench.load(LOOP)
    paused = ask(bench, "run", at(4, phase="backward"))
    assert paused.at_end
    assert [(hit.turns, hit.stopped) for hit in hits(bench)] == [((2,), True), ((1,), False), ((0,), False)]


def test_a_backward_that_is_run_again_is_tested_again(bench: Bench) -> None:
    bench.load("x = torch.tensor(2.0, requires_grad=True)\ny = x + 1\ny.backward()")
    ask(bench, "run")
    paused = ask(bench, "backward", at(2, phase="backward"))
    assert (paused.outcome, hits(bench)[0].backward) == ("breakpoint", 2)


def test_a_hit_comes_behind_the_rows_it_speaks_of(bench: Bench) -> None:
    bench.load(CHAIN)
    ask(bench, "run", at(2, phase="backward"))
    kinds = [type(event).__name__ for event in bench.events]
    assert kinds.index("BackwardTraced") < kinds.index("Hit")
    assert len(kinds) - 1 - kinds[::-1].index("Traced") < kinds.index("Hit")


# ------------------------------------------------------------------ run to here


def test_run_to_here_pauses_directly_behind_the_node(bench: Bench) -> None:
    bench.load(CHAIN)
    paused = ask(bench, "run", until=node(2))
    assert (paused.outcome, paused.next_node, paused.reason) == ("done", node(3), "")
    assert ask(bench, "run", until=node(4)).next_node == node(5)
    assert ran(bench) == [node(3), node(4)]


def test_run_to_a_node_behind_begins_from_nothing(bench: Bench) -> None:
    bench.load(CHAIN)
    ask(bench, "run", until=node(4))
    assert ask(bench, "run", until=node(2)).next_node == node(3)
    assert ran(bench) == [node(1), node(2)]


def test_run_goes_on_from_there(bench: Bench) -> None:
    bench.load(CHAIN)
    ask(bench, "run", until=node(3))
    assert ask(bench, "run").at_end
    assert ran(bench) == [node(4), node(5)]


def test_run_to_here_in_a_loop_is_the_next_time_from_here(bench: Bench) -> None:
    bench.load(LOOP)
    for turn in range(3):
        ask(bench, "run", until=node(4))
        assert bench.rows()[-1].turns == (turn,)
    ask(bench, "run", until=node(4))
    assert bench.rows()[0].node == node(1)


def test_run_to_a_block_pauses_behind_it(bench: Bench) -> None:
    bench.load(BLOCKS)
    assert ask(bench, "run", until=node(2)).next_node == node(6)
    assert ask(bench, "run", until=node(7)).next_node == node(9)


def test_a_node_that_cannot_run_is_refused_in_words_and_nothing_is_lost(bench: Bench) -> None:
    built = program(CHAIN)
    kept = {f: getattr(built, f) for f in built.__struct_fields__ if f != "incomplete"}
    bench.load(type(built)(**kept, incomplete=(Incomplete(ItemId("loose"), "its input is empty."),)))
    ask(bench, "run", until=node(3))
    paused = ask(bench, "run", until=ItemId("loose"))
    assert (paused.outcome, paused.next_node) == ("refused", node(4))
    assert "its input is empty." in paused.reason
    assert ask(bench, "run", until=ItemId("gone")).outcome == "refused"


def test_a_node_that_the_run_does_not_come_to_is_said(bench: Bench) -> None:
    bench.load("x = torch.tensor(1.0)\nif x > 5:\n    y = x + 1\nz = x * 2")
    paused = ask(bench, "run", until=node(3))
    assert paused.at_end
    assert "did not come to this node" in paused.reason


# ------------------------------------------------------------------ over and out


@pytest.mark.parametrize(
    ("strides", "stands"),
    [
        (["over", "over"], 6),
        (["over", "node"], 4),
        (["over", "node", "out"], 5),
        (["over", "node", "out", "out"], 6),
        (["over", "over", "over"], 7),
        (["over", "over", "over", "over"], 9),
    ],
)
def test_over_takes_a_block_at_once_and_out_leaves_the_innermost(bench: Bench, strides: list[str], stands: int) -> None:
    bench.load(BLOCKS)
    for stride in strides:
        paused = ask(bench, "step", stride=stride)
    assert paused.next_node == node(stands)


def test_a_block_is_stepped_over_to_its_breakpoint(bench: Bench) -> None:
    bench.load(BLOCKS)
    ask(bench, "step")
    paused = ask(bench, "step", at(5), stride="over")
    assert (paused.outcome, paused.next_node) == ("breakpoint", node(5))


def test_out_of_no_block_is_refused(bench: Bench) -> None:
    bench.load(BLOCKS)
    assert ask(bench, "step", stride="out").outcome == "refused"
    ask(bench, "step")
    assert ask(bench, "step", stride="out").outcome == "refused"
    assert ask(bench, "step").outcome == "done"


def test_restart_begins_from_nothing_also_when_paused_by_a_breakpoint(bench: Bench) -> None:
    bench.load(CHAIN)
    ask(bench, "run", at(3))
    ask(bench, "run", restart=True)
    assert len(ran(bench)) == 5


def test_pausing_changes_no_number(bench: Bench) -> None:
    bench.load("x = torch.randn(3, requires_grad=True)\ny = x * torch.randn(3)\ny.sum().backward()")
    while not ask(bench, "run", at(2), at(3), anywhere()).at_end:
        pass
    plain = Bench()
    plain.run("x = torch.randn(3, requires_grad=True)\ny = x * torch.randn(3)\ny.sum().backward()")
    mine, theirs = bench["x"], plain["x"]
    assert isinstance(mine, torch.Tensor)
    assert isinstance(theirs, torch.Tensor)
    assert mine.grad is not None
    assert theirs.grad is not None
    assert torch.equal(mine.grad, theirs.grad)


# ------------------------------------------------------------------ Stop


def test_stop_does_not_wait_for_figures_and_they_follow(bench: Bench) -> None:
    bench.load("x = torch.ones(300_000)\n" + "x = x + 1\n" * 30)  # beyond what is told at once
    bench.engine._stopped = bench.engine.runner._stopped = lambda: "x" in bench and bool(bench["x"][0] == 20)  # type: ignore[index]  # a tensor
    assert ask(bench, "run").outcome == "stopped"
    outlined = [row.step for row in bench.rows() if not row.complete]
    assert (len(bench.rows()), outlined[-1]) == (20, 20)
    bench.events.clear()
    while bench.engine.idle():
        pass
    assert [(row.step, row.complete) for row in bench.rows()] == [(step, True) for step in outlined]
    last = bench.rows()[-1].outputs[0]
    assert isinstance(last, TensorRecord)
    assert last.summary.mean == 20.0


def test_stop_before_a_statement_that_overwrites_leaves_it_for_later(bench: Bench) -> None:
    bench.load("x = torch.ones(2)\ny = x * 2\nx += 5\nz = x + y")
    bench.engine._stopped = bench.engine.runner._stopped = lambda: node(2) in ran(bench)
    paused = ask(bench, "run")
    assert (paused.outcome, paused.next_node) == ("stopped", node(3))
    first = bench.rows()[0].outputs[0]
    assert isinstance(first, TensorRecord)
    assert first.summary.value == [1.0, 1.0]


def test_a_condition_that_cannot_be_read_refuses_the_run_with_the_reason(bench: Bench) -> None:
    bench.load(CHAIN)
    point = Breakpoint(id="b", node=node(2), condition=UNREADABLE)
    paused = bench.engine.do(Do(verb="run", breakpoints=(point,)))
    assert paused.outcome == "refused"
    assert "“nrm” is not known here" in paused.reason
    assert bench.rows() == []
    assert bench.engine.do(Do(verb="run")).outcome == "done"
