"""Leaves and lists as they stand now: what a loop has trained or appended is told after each verb."""

import pytest
import torch

from gradstudio.protocol.messages.events import Gradients, ValueNow
from gradstudio.protocol.messages.records import TensorRecord, TupleRecord
from tests.engine.build import node
from tests.engine.conftest import Bench

TRAINED = """
W = torch.zeros(2, requires_grad=True)
V = torch.zeros(2, requires_grad=True)
still = torch.zeros(2, requires_grad=True)
optimizer = optim.SGD([V], lr=0.1)
for k in range(60):
    loss = ((W - 3) ** 2).sum() + ((V + 2) ** 2).sum() + (still * 0).sum()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        W -= 0.1 * W.grad
    W.grad = None
    V.grad = None
"""


def told(bench: Bench) -> dict[str, ValueNow]:
    """What the last word on gradients said of leaves that were written into."""
    last = [event for event in bench.events if isinstance(event, Gradients) and event.whole][-1]
    names = {node(1): "W", node(2): "V", node(3): "still"}
    return {names[value.node]: value for value in last.written}


@pytest.mark.parametrize("steps", [1, 60])
def test_a_trained_leaf_is_told_with_its_value_of_now(bench: Bench, steps: int) -> None:
    bench.run(TRAINED.replace("60", str(steps)))
    bench.engine.settle()
    found = told(bench)
    assert set(found) == {"W", "V"}, "nothing wrote to the third"
    for name, value in found.items():
        now = bench[name]
        assert isinstance(now, torch.Tensor)
        assert isinstance(value.record, TensorRecord)
        assert value.record.summary.value == now.tolist()
        assert value.record.version == steps


LISTS = """
losses = []
still = [1.0, 2.0]
changed = [1.0, 2.0]
for k in range(200):
    losses.append(k * 0.5)
changed[0] = 7.0
"""


def test_a_list_that_a_loop_appends_to_is_told_with_the_items_of_now(bench: Bench) -> None:
    bench.run(LISTS)
    bench.engine.settle()
    last = [event for event in bench.events if isinstance(event, Gradients) and event.whole][-1]
    found = {value.node: value.record for value in last.written}
    assert set(found) == {node(1), node(3)}, "nothing wrote to the second"
    for place, name in ((1, "losses"), (3, "changed")):
        record, now = found[node(place)], bench[name]
        assert isinstance(record, TupleRecord) and isinstance(now, list)
        assert record.length == len(now)
        assert [getattr(item, "value", None) for item in record.items] == now[:64]


AVERAGE = """
w = torch.ones(3, requires_grad=True)
average = torch.zeros(3)
still = torch.zeros(3)
moved = torch.zeros(3, requires_grad=True) * 1
for k in range(10):
    with torch.no_grad():
        average.mul_(0.9).add_(w, alpha=0.1)
moved.add_(1)
"""


def test_an_average_that_is_written_in_place_is_told_with_its_value_of_now(bench: Bench) -> None:
    bench.run(AVERAGE)
    bench.engine.settle()
    last = [event for event in bench.events if isinstance(event, Gradients) and event.whole][-1]
    found = {value.node: value.record for value in last.written}
    assert set(found) == {node(2)}, "within a graph a write makes a value of its own"
    record, now = found[node(2)], bench["average"]
    assert isinstance(record, TensorRecord) and isinstance(now, torch.Tensor)
    assert record.summary.value == now.tolist() != [0.0, 0.0, 0.0]
