"""Lazy modules: what has no shape yet is left out, and is there as soon as the first call has made it."""

import pytest
import torch
from torch import nn

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.memory.memory_sampler import LiveBytes
from gradstudio.engine.memory.memory_usage import memory_by_node
from gradstudio.protocol.messages.records import ModuleRecord
from tests.engine.conftest import Bench

PROGRAM = """
x = torch.ones(2, 3)
m = nn.LazyLinear(2)
y = m(x)
loss = y.sum()
loss.backward()
"""


@pytest.mark.parametrize("trace", [True, False])
def test_parameters_of_a_lazy_module_are_reported_with_gradients_once_they_are_there(trace: bool) -> None:
    bench = Bench()
    assert bench.run(PROGRAM, "run", trace=trace).outcome == "done"
    record = bench.report()["m"].outputs[0]
    assert isinstance(record, ModuleRecord)
    torch.manual_seed(0)
    module = nn.LazyLinear(2)
    module(torch.ones(2, 3)).sum().backward()
    for name, parameter in module.named_parameters():
        told = record.parameters[name]
        assert told.summary.value == parameter.tolist()
        assert told.grad is not None
        assert told.grad.value == parameter.grad.tolist()  # type: ignore[union-attr]  # backward has run


@pytest.mark.parametrize("trace", [True, False])
def test_before_its_first_call_a_lazy_module_has_no_parameters(trace: bool) -> None:
    bench = Bench()
    assert bench.run("m = nn.LazyConv1d(4, 3)\nn = nn.LazyBatchNorm1d()", "run", trace=trace).outcome == "done"
    for name in ("m", "n"):
        record = bench.report()[name].outputs[0]
        assert isinstance(record, ModuleRecord)
        assert not record.parameters
    assert isinstance(bench.engine.live, Live)
    assert memory_by_node(bench.engine.live, LiveBytes()) is not None
