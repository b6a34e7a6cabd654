"""A slider's verb: again from nothing, with the same seed, to where the live state stood."""

import pytest
import torch

from gradstudio.protocol.messages.debugging import Breakpoint, Hit
from gradstudio.protocol.messages.events import Started
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.engine.test_verbs import SQUARE, TRAINING

RANDOM = """
x = torch.randn(3, requires_grad=True)
y = x * 2
s = y.sum()
s.backward()
"""


def ran(bench: Bench) -> list[tuple[str, tuple[int, ...]]]:
    return [(row.node, row.turns) for row in bench.rows()]


def tensor(bench: Bench, name: str) -> torch.Tensor:
    value = bench[name]
    assert isinstance(value, torch.Tensor)
    return value


def test_with_nothing_live_everything_runs_backwards_too(bench: Bench) -> None:
    paused = bench.run(SQUARE, "repeat")
    assert (paused.outcome, paused.at_end) == ("done", True)
    assert tensor(bench, "x").grad == 4


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 7, 9, 11, 14])
def test_it_goes_as_far_as_the_run_stood_loops_included(bench: Bench, steps: int) -> None:
    bench.load(TRAINING)
    before = [bench.do("step") for _ in range(steps)][-1]
    executed = bench.engine.live.step_count if bench.engine.live is not None else 0
    after = bench.do("repeat")
    assert (after.next_node, after.at_end, after.outcome) == (before.next_node, before.at_end, "done")
    assert len(ran(bench)) == executed == steps


def test_it_gives_the_same_numbers_and_the_edited_ones_when_a_literal_changed(bench: Bench) -> None:
    bench.run(SQUARE, "forward", "backward")
    bench.load(SQUARE.replace("2.0", "5.0"))
    paused = bench.do("repeat")
    assert paused.at_end
    assert tensor(bench, "x").grad == 10
    assert paused.pass_number == 1


def test_before_the_backward_it_stops_before_the_backward(bench: Bench) -> None:
    bench.run(SQUARE, "forward")
    bench.load(SQUARE.replace("2.0", "5.0"))
    paused = bench.do("repeat")
    assert (paused.next_node, tensor(bench, "y").item()) == (node(3), 25)
    assert bench.do("backward").at_end


def test_a_backward_that_was_run_again_does_not_move_the_place(bench: Bench) -> None:
    text = "x = torch.tensor(2.0, requires_grad=True)\ny = x + 1\ny.backward()\nz = x * 5\nw = z * 2"
    bench.run(text, "backward", "step", "backward")
    paused = bench.do("repeat")
    assert (paused.next_node, [row[0] for row in ran(bench)]) == (node(5), [node(n) for n in (1, 2, 3, 4)])


def test_a_drawn_seed_is_used_again(bench: Bench) -> None:
    bench.run(RANDOM, seed=None)
    first = tensor(bench, "x").detach().clone()
    bench.load(RANDOM.replace("* 2", "* 3"), seed=None)
    bench.do("repeat")
    (started,) = (event for event in bench.events if isinstance(event, Started))
    assert started.fresh
    assert torch.equal(tensor(bench, "x"), first)
    assert torch.equal(tensor(bench, "y"), first * 3)
    bench.do("run", restart=True)
    assert not torch.equal(tensor(bench, "x"), first)


def test_after_several_passes_it_is_the_same_place_of_the_first(bench: Bench) -> None:
    bench.run(SQUARE, "forward", "backward", "forward")
    paused = bench.do("repeat")
    assert (paused.pass_number, paused.next_node, tensor(bench, "x").grad) == (1, node(3), None)


def test_zero_grad_is_forgotten_by_it(bench: Bench) -> None:
    bench.run(SQUARE, "run", "zero_grad")
    paused = bench.do("repeat")
    assert not paused.changed_by_hand
    assert tensor(bench, "x").grad == 4


def test_run_goes_on_behind_it_when_it_would_have_before(bench: Bench) -> None:
    bench.load(SQUARE)
    bench.do("step", "repeat", "run")
    assert ran(bench) == [(node(2), ()), (node(3), ())]


def test_a_repeat_that_failed_or_was_stopped_is_repeated_to_where_it_was_to_go(bench: Bench) -> None:
    bench.run(TRAINING)
    bench.stop_after = 6
    assert bench.do("repeat").outcome == "stopped"
    bench.stop_after = None
    assert bench.do("repeat").at_end
    bench.load(TRAINING.replace("[1.0, 2.0]", "['no']"))
    assert bench.do("repeat").outcome == "failed"
    bench.load(TRAINING)
    assert bench.do("repeat").at_end


def test_a_run_that_failed_is_repeated_to_the_end_when_the_cause_is_gone(bench: Bench) -> None:
    text = "x = torch.ones(3)\ny = x.reshape(2, 2)\nz = y + 1\nw = z * 2"
    assert bench.run(text).outcome == "failed"
    bench.load(text.replace("ones(3)", "ones(4)"))
    assert bench.do("repeat").at_end


def test_a_step_that_failed_is_tried_again(bench: Bench) -> None:
    text = "x = torch.ones(3)\ny = x.reshape(2, 2)\nz = y + 1\nw = z * 2"
    bench.load(text)
    bench.do("step", "step")
    bench.load(text.replace("ones(3)", "ones(4)"))
    assert bench.do("repeat").next_node == node(3)


def test_a_place_that_is_gone_is_the_end(bench: Bench) -> None:
    bench.load(TRAINING)
    for _ in range(9):
        bench.do("step")
    bench.load(TRAINING.replace("range(3)", "range(1)"))
    assert bench.do("repeat").at_end


def test_breakpoints_are_told_and_stop_nothing(bench: Bench) -> None:
    bench.run(TRAINING)
    bench.events.clear()
    paused = bench.engine.do(Do(verb="repeat", breakpoints=(Breakpoint(id="b", node=node(4)),)))
    assert paused.at_end
    hits = [event for event in bench.events if isinstance(event, Hit)]
    assert [(hit.turns, hit.stopped) for hit in hits] == [((0,), False), ((1,), False), ((2,), False)]


def test_behind_a_plain_run_it_goes_to_the_end(bench: Bench) -> None:
    bench.run(SQUARE, trace=False)
    assert bench.do("repeat").at_end
    assert len(bench.autograd()) == 1
