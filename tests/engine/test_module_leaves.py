"""Parameters and buffers of modules: expected before a run, recorded after it, as plain torch has them."""

from typing import Any

import pytest
import torch
from torch import nn

from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.live.value_changes import values_now
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.protocol.messages.events import Gradients, NamedEntry
from gradstudio.protocol.messages.inference import Infer, PortInference
from gradstudio.protocol.messages.records import ModuleRecord
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node, program
from tests.engine.conftest import Bench

MODULES = {
    "nn.Linear(4, 8)": lambda: nn.Linear(4, 8),
    "nn.Linear(4, 8, bias=False)": lambda: nn.Linear(4, 8, bias=False),
    "nn.BatchNorm1d(8)": lambda: nn.BatchNorm1d(8),
    "nn.LSTM(3, 4)": lambda: nn.LSTM(3, 4),
    "nn.MultiheadAttention(8, 2)": lambda: nn.MultiheadAttention(8, 2),
    "nn.TransformerEncoderLayer(8, 2)": lambda: nn.TransformerEncoderLayer(8, 2),
    "nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))": lambda: nn.Sequential(
        nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)
    ),
    "nn.ReLU()": lambda: nn.ReLU(),
}


def expected(text: str) -> dict[str, PortInference]:
    built = program(text)
    answer = Inference().infer(Infer(revision=1, program=built), StoredTensors().load_file)
    names = {statement.node: statement.names[0] for statement in built.statements if statement.names}  # type: ignore[union-attr]  # no blocks here
    return {names[port.node]: port for port in answer.ports if port.node in names}


@pytest.mark.parametrize("text", list(MODULES))
def test_leaves_are_known_before_a_run(text: str) -> None:
    leaves = expected(f"m = {text}")["m"].leaves
    module = MODULES[text]()
    assert leaves is not None
    assert [(leaf.path, leaf.shape, leaf.requires_grad, leaf.buffer) for leaf in leaves] == [
        *((name, tuple(p.shape), p.requires_grad, False) for name, p in module.named_parameters()),
        *((name, tuple(b.shape), False, True) for name, b in module.named_buffers()),
    ]


def test_a_tensor_has_no_leaves_of_its_own() -> None:
    assert expected("x = torch.ones(3)")["x"].leaves is None


def test_asking_draws_no_random_numbers() -> None:
    before = torch.get_rng_state()
    expected("m = nn.LSTM(3, 4)")
    assert torch.equal(before, torch.get_rng_state())


FROZEN = """
x = torch.randn(3, 4)
fc = nn.Linear(4, 2)
fc.requires_grad_(False)
out = nn.Linear(2, 1)
y = out(fc(x)).sum()
y.backward()
"""


@pytest.mark.parametrize("trace", [False, True])
def test_a_frozen_module_requires_no_gradient(bench: Bench, trace: bool) -> None:
    bench.run(FROZEN, trace=trace)
    report = bench.report()
    assert {leaf.grad_state for leaf in module(report, "fc").parameters.values()} == {"not_required"}
    assert {leaf.grad_state for leaf in module(report, "out").parameters.values()} == {"value"}


NETWORK = """
x = torch.randn(6, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
lstm = nn.LSTM(2, 3)
out, state = lstm(model(x))
loss = out.pow(2).sum()
loss.backward()
loss2 = model(x).sum()
loss2.backward()
"""


def plain(text: str, seed: int) -> dict[str, Any]:
    """What a script of the same lines leaves, run by Python alone."""
    torch.manual_seed(seed)
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(text, names)
    return names


def module(report: dict[str, NamedEntry], name: str) -> ModuleRecord:
    record = report[name].outputs[0]
    assert isinstance(record, ModuleRecord)
    return record


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("seed", [0, 7])
def test_leaves_and_their_gradients_are_those_of_the_script_to_the_bit(bench: Bench, trace: bool, seed: int) -> None:
    bench.run(NETWORK, trace=trace, seed=seed)
    report, names = bench.report(max_values=1000), plain(NETWORK, seed)
    for name in ("model", "lstm"):
        record, there = module(report, name), names[name]
        assert list(record.parameters) == [path for path, _ in there.named_parameters()]
        for path, parameter in there.named_parameters():
            told = record.parameters[path]
            assert told.summary.value == parameter.detach().tolist()
            assert told.grad is not None
            assert told.grad.value == parameter.grad.tolist()
        for path, buffer in there.named_buffers():
            assert record.buffers[path].summary.value == buffer.tolist()


def test_a_leaf_reached_by_two_backwards_is_a_sum_with_its_parts(bench: Bench) -> None:
    bench.run(NETWORK)
    row = bench.grad(2, path="0.weight")
    assert row.state == "accumulated"
    assert [part.backward for part in row.parts] == [1, 2]


TRAINED = """
x = torch.randn(6, 4)
fc = nn.Linear(4, 2)
norm = nn.BatchNorm1d(2)
optimizer = optim.SGD(fc.parameters(), lr=0.1)
y = norm(fc(x)).pow(3).sum()
y.backward()
optimizer.step()
relu = nn.ReLU()
"""


def stepped(bench: Bench) -> None:
    """Run node by node: each is recorded before the next one writes to it."""
    bench.load(TRAINED)
    bench.do("step", restart=True)
    for _ in range(7):
        bench.engine.do(Do(verb="step", trace=True))
    bench.engine.settle()


def test_what_was_trained_since_is_told_as_it_stands_now(bench: Bench) -> None:
    stepped(bench)
    last = [event for event in bench.events if isinstance(event, Gradients)][-1]
    told = {module.node: module.record for module in last.written}
    torch.manual_seed(0)
    names: dict[str, Any] = {"torch": torch, "nn": nn, "optim": torch.optim}
    exec(TRAINED, names)
    assert set(told) == {node(2), node(3)}  # nothing wrote to relu
    assert told[node(2)].parameters["weight"].summary.value == names["fc"].weight.tolist()
    assert told[node(3)].buffers["running_mean"].summary.value == names["norm"].running_mean.tolist()
    assert bench.engine.live is not None
    made = bench.engine.live.last_rows[node(3)].outputs[0]
    assert isinstance(made, ModuleRecord)
    assert made.buffers["running_mean"].summary.value == [0.0, 0.0]


def test_only_modules_in_view_are_summarised_again(bench: Bench) -> None:
    stepped(bench)
    assert bench.engine.live is not None
    assert {told.node for told in values_now(bench.engine.live, 64, frozenset({node(3)}))} == {node(3)}
