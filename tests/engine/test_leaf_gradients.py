"""The `.grad` of leaves and how it is spoken of, in a recorded and in a plain run alike."""

import pytest
import torch

from gradstudio.protocol.messages.events import NamedEntry
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord, TupleRecord
from tests.engine.conftest import Bench

runs = pytest.mark.parametrize("trace", [False, True], ids=["plain", "recorded"])
TWO_BACKWARDS = """
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
(y * 3).sum().backward()
(y * 3).sum().backward()
z = torch.ones(2, requires_grad=True)
(z * 2).sum().backward()
q = torch.ones(2, requires_grad=True)
(q * 4).sum().backward()
q.grad = None
(q * 4).sum().backward()
late = torch.ones(2, requires_grad=True)
"""
CARRIED = """
h = torch.zeros(3)
for t in range(3):
    h = (h.detach() * 0.5 + 1.0).requires_grad_(True)
    loss = (h ** 2).sum()
    loss.backward()
w = torch.zeros(3, requires_grad=True)
(w * 2).sum().backward()
"""
FROZEN = """
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
x.requires_grad = False
fc = nn.Linear(2, 1)
fc(x).sum().backward()
fc.requires_grad_(False)
bare = torch.ones(2, requires_grad=True)
bare.requires_grad = False
(x * 2).sum()
"""


def tensor(report: dict[str, NamedEntry], name: str) -> TensorRecord:
    """What was reported of a tensor."""
    record = report[name].outputs[0]
    assert isinstance(record, TensorRecord)
    return record


@runs
def test_only_a_sum_of_several_backwards_is_accumulated(bench: Bench, trace: bool) -> None:
    bench.run(TWO_BACKWARDS, trace=trace)
    report = bench.report()
    found = {name: tensor(report, name).grad_state for name in ("x", "y", "z", "q", "late")}
    assert found == {"x": "value", "y": "accumulated", "z": "value", "q": "value", "late": "not_run"}


@runs
def test_a_leaf_that_a_loop_makes_anew_has_the_gradient_of_its_own_backward(bench: Bench, trace: bool) -> None:
    bench.run(CARRIED, trace=trace)
    report = bench.report()
    assert tensor(report, "h").grad_state == "value"
    assert tensor(report, "w").grad_state == "value"


@runs
def test_a_leaf_that_requires_grad_no_more_shows_the_gradient_it_still_has(bench: Bench, trace: bool) -> None:
    bench.run(FROZEN, trace=trace)
    report = bench.report()
    x = bench["x"]
    assert isinstance(x, torch.Tensor)
    assert x.grad is not None
    record = tensor(report, "x")
    assert record.grad is not None
    assert record.grad.value == x.grad.tolist()
    assert record.grad_state == "value"
    assert record.grad_reason.endswith("It does not require grad any more.")
    made = report["fc"].outputs[0]
    assert isinstance(made, ModuleRecord)
    weight = made.parameters["weight"]
    assert weight.grad_state == "value"
    assert weight.grad is not None
    assert weight.grad.value == [[1.0, 1.0]]
    assert tensor(report, "bare").grad_state == "not_required"


MODULES_IN_LISTS = """
nets = [nn.Linear(2, 1), nn.Linear(1, 1)]
pair = (nn.Linear(2, 1), torch.ones(2, requires_grad=True))
many = []
for i in range(3):
    many.append(nn.Linear(2, 2))
deep = [[nn.Linear(2, 2)], many[0]]
h = torch.randn(4, 2)
for m in many:
    h = m(h)
y = nets[1](nets[0](deep[0][0](h))) + pair[0](h)
y.sum().backward()
"""


@runs
def test_modules_in_lists_have_the_gradients_that_are_there(bench: Bench, trace: bool) -> None:
    bench.run(MODULES_IN_LISTS, trace=trace)
    report = bench.report()
    seen = 0
    for name in ("nets", "pair", "many"):
        record, value = report[name].outputs[0], bench[name]
        assert isinstance(record, TupleRecord)
        assert isinstance(value, list | tuple)
        for item, module in zip(record.items, value, strict=True):
            if not isinstance(item, ModuleRecord):
                continue
            for path, leaf in module.named_parameters():
                told = item.parameters[path]
                assert told.grad is not None, (name, path)
                assert told.grad.value == leaf.grad.tolist()
                assert told.grad_state == "value"
                seen += 1
    assert seen == 12
