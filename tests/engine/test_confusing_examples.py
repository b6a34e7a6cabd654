"""The examples of what confuses people: each shows in the engine what it shows in plain torch."""

import math

import pytest
import torch

from gradstudio import paths
from gradstudio.document import file
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Failed, Paused, Report
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Collect, Do, Load
from tools.confusing_examples import EXAMPLES, FAILS

TIMEOUT_S = 120
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine():
    with EngineProcess() as process:
        process.wait_until_ready(TIMEOUT_S)
        yield process


@pytest.fixture(scope="module")
def told(engine):
    """By example: the failure, if there was one, and the tensors by name."""
    return {name: run(engine, name) for name in EXAMPLES}


def run(engine: EngineProcess, name: str) -> tuple[Failed | None, dict[str, TensorRecord]]:
    program = compile_graph(file.load(paths.examples() / f"{name}.gsg"), stem=name)
    engine.send(Load(document=name, revision=1, program=program))
    engine.send(Do(verb="run"))
    events: list[object] = []
    engine.wait_for(Paused, timeout=TIMEOUT_S, on_event=events.append)
    engine.send(Collect())
    report = engine.wait_for(Report, timeout=TIMEOUT_S)
    assert isinstance(report, Report)
    records = {entry.name: entry.outputs[0] for entry in report.entries if entry.outputs}
    failed = next((event for event in events if isinstance(event, Failed)), None)
    return failed, {key: record for key, record in records.items() if isinstance(record, TensorRecord)}


def test_only_the_one_about_an_error_fails(told):
    assert {name for name, (failed, _) in told.items() if failed is not None} == FAILS


def test_the_gradient_doubles_as_in_torch(told):
    x = torch.tensor(3.0, requires_grad=True)
    for _ in range(2):
        (x**2).backward()
    record = told["09_doubled_gradient"][1]["x"]
    assert record.grad is not None and x.grad is not None
    assert record.grad.value == x.grad.item()
    assert record.grad_state == "accumulated"


def test_torch_refuses_the_overwritten_result_in_its_own_words(told):
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.exp(x)
    y += 1
    with pytest.raises(RuntimeError) as refused:
        y.sum().backward()
    failed = told["10_in_place_after_exp"][0]
    assert failed.message.partition(", which")[0] == str(refused.value).partition(", which")[0]


def test_the_nan_is_where_torch_has_it(told):
    x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
    torch.where(x > 0, torch.sqrt(x), 0.0).sum().backward()
    assert math.isnan(x.grad[0])
    assert told["11_nan_from_sqrt"][1]["x"].grad.value == ["nan", *x.grad[1:].tolist()]


def test_the_gradient_fades_as_in_torch(told):
    w = torch.tensor(4.0, requires_grad=True)
    h = w
    for _ in range(8):
        h = torch.sigmoid(h)
    h.backward()
    assert told["12_vanishing_sigmoids"][1]["w"].grad.value == w.grad.item() < 1e-6


def test_the_frozen_weight_is_not_reached(told):
    records = told["13_frozen_branch"][1]
    assert (records["w2"].grad_state, records["w2"].grad) == ("not_reached", None)
    assert records["right"].grad_state == "cut"
    assert records["w1"].grad.value == 16.0


def test_the_second_derivative_is_that_of_torch(told):
    x = torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(x**3, x, create_graph=True)
    first.backward()
    records = told["14_double_backward"][1]
    assert records["first"].summary.value == first.item() == 27.0
    assert records["x"].grad.value == x.grad.item() == 18.0
