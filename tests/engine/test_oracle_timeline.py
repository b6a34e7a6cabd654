"""A backward that executes no autograd node is a backward: afterwards gradients were not reached, before it not run."""

import pytest

from tests.engine.build import node
from tests.engine.conftest import Bench

LEAVES = "x = torch.ones(3, requires_grad=True)\nu = torch.ones(3, requires_grad=True)\ny = x.sum()\n"


@pytest.mark.parametrize(
    "backward", ["y.backward(inputs=[u])", "(g,) = torch.autograd.grad(y, [u], allow_unused=True)"]
)
def test_nothing_was_reached_from_that_moment_on_and_not_before(bench: Bench, backward: str) -> None:
    bench.run(f"{LEAVES}{backward}\nz = x * 2\ns = z.sum()")
    timeline = bench.timeline()
    (at,) = [tick.index for tick in timeline.ticks if tick.node == node(4)]
    states = [row.state if (row := timeline.grad(node(1), tick=tick)) else None for tick in range(len(timeline.ticks))]
    assert states == ["not_run"] * at + ["not_reached"] * (len(timeline.ticks) - at)
    last = timeline.grad(node(1))
    assert last is not None
    assert bench.state(1) == last.state


def test_one_that_failed_before_it_began_is_none(bench: Bench) -> None:
    bench.run("x = torch.ones(3)\nw = torch.ones(3, requires_grad=True)\ny = x.sum()\ny.backward()")
    timeline = bench.timeline()
    row = timeline.grad(node(2))
    assert row is not None
    assert row.state == "not_run" == bench.state(2)
