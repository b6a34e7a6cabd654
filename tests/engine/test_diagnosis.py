"""Diagnosis of real runs: what it names is where torch shows the trouble. What torch said is kept for tests/advice."""

from types import SimpleNamespace

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Statement
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.requests import Do
from tests.advice.diagnosed import TOLD, Diagnosed, Found, found_in
from tests.engine.conftest import Bench
from tests.graph.builder import Drawing
from tests.helpers import recordings


@pytest.fixture
def diagnosis(bench: Bench, request: pytest.FixtureRequest):
    """Runs a drawing and gives what is found."""

    def find(drawing: Drawing) -> Found:
        bench.run(compile_graph(drawing.graph))
        told = [event for event in bench.events if isinstance(event, TOLD)]
        found = found_in(drawing, told)
        concluded = {key: finding.title for key, finding in found.items()}
        recordings.settle(recordings.of_test(request, "advice"), told, concluded, recordings.ids_of(drawing.graph))
        return found

    return find


class TestRealRuns(Diagnosed):
    """Each drawing is run by the engine."""


EMPTY = """import torch
from torch import nn
net = nn.Linear(3, 1)
rows = torch.ones(5, 3)[5:]
part = net(rows).mean()
w = torch.tensor([0.0, 1.0], requires_grad=True)
other = WRONG
loss = part.detach() + other
loss.backward()
"""


@pytest.mark.parametrize(
    ("wrong", "is_told"), [("(w / torch.zeros(2)).sum()", True), ("(w * 2).sum()", False)]
)  # fmt: skip
def test_data_of_no_rows_hide_what_follows_of_them_and_nothing_else(bench: Bench, wrong: str, is_told: bool) -> None:
    graph = read_script(EMPTY.replace("WRONG", wrong)).graph
    bench.run(compile_graph(graph))
    found = found_in(SimpleNamespace(graph=graph), [event for event in bench.events if isinstance(event, TOLD)])  # type: ignore[arg-type]
    kinds = [finding.kind for finding in found.values()]
    assert "no_rows" in kinds
    nodes = {"".join(graph.nodes[one.node].names) for one in found.values() if one.kind == "not_finite"}
    assert "part" not in nodes and bool(nodes) == is_told


TWO_LOSSES = """import torch
from torch import nn
maker = nn.Linear(2, 2)
judge = nn.Linear(2, 1)
made = maker(torch.ones(3, 2))
first = judge(made.detach()).mean()
first.backward()
second = -judge(made).mean()
SECOND
"""


@pytest.mark.parametrize(("second", "is_told"), [("second.backward()", False), ("", True)])
def test_a_leaf_whose_backward_is_still_to_come_is_not_called_unreached(
    bench: Bench, second: str, is_told: bool
) -> None:
    graph = read_script(TWO_LOSSES.replace("SECOND", second)).graph
    program = compile_graph(graph)
    bench.load(program)
    first = next(step.node for step in program.statements if isinstance(step, Statement) and step.backward)
    bench.engine.do(Do(verb="run", until=first))
    found = found_in(SimpleNamespace(graph=graph), [event for event in bench.events if isinstance(event, TOLD)])  # type: ignore[arg-type]
    assert ("no_gradient" in {finding.kind for finding in found.values()}) == is_told
