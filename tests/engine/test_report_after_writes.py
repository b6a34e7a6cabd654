"""The report pairs a value only with a gradient of its own: not with that of what a write in place took away."""

import pytest
import torch

from gradstudio.protocol.messages.events import NamedEntry
from gradstudio.protocol.messages.records import TensorRecord
from tests.engine.conftest import Bench

BEHIND = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
(y ** 2).sum().backward()
y.mul_(10)
"""
BEFORE = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.mul_(10)
y += 1
(y ** 2).sum().backward()
"""
BY_A_VIEW = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
(y ** 2).sum().backward()
v = y.view(2)
v.mul_(10)
"""
STEP = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x ** 2).sum().backward()
with torch.no_grad():
    x -= 0.1 * x.grad
"""


def tensor(report: dict[str, NamedEntry], name: str) -> TensorRecord:
    """What was reported of a tensor."""
    record = report[name].outputs[0]
    assert isinstance(record, TensorRecord)
    return record


@pytest.mark.parametrize("text", [BEHIND, BY_A_VIEW])
def test_a_value_written_into_behind_the_backward_has_no_gradient(bench: Bench, text: str) -> None:
    bench.run(text)
    record = tensor(bench.report(trace=True), "y")
    assert record.summary.value == [30.0, 60.0]
    assert record.grad is None
    assert record.grad_state not in ("value", "accumulated")


def test_a_value_written_into_before_the_backward_has_the_gradient_of_what_it_became(bench: Bench) -> None:
    bench.run(BEFORE)
    record = tensor(bench.report(trace=True), "y")
    assert record.summary.value == [31.0, 61.0]
    assert record.grad is not None
    assert record.grad.value == [62.0, 122.0]


def test_a_leaf_has_its_grad_whatever_was_written_into_it(bench: Bench) -> None:
    bench.run(STEP)
    x = bench["x"]
    assert isinstance(x, torch.Tensor)
    assert x.grad is not None
    record = tensor(bench.report(trace=True), "x")
    assert record.grad is not None
    assert record.grad.value == x.grad.tolist()
