"""Leaves as they stand now: what a loop has trained is told after each verb."""

import pytest
import torch

from gradstudio.protocol.messages.events import Gradients, ValueNow
from gradstudio.protocol.messages.records import TensorRecord
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
