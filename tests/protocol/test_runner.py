"""Runs and questions for shapes on an engine that speaks the real codec, without torch."""

import sys

import pytest

from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.events import Gradients, Started, Traced
from gradstudio.protocol.runner import infer_program, run_program, trace_program
from tests.graph.builder import Drawing


def engine(mode: str) -> EngineProcess:
    return EngineProcess([sys.executable, "-m", "tests.helpers.fake_engine", mode])


@pytest.fixture
def graph() -> Graph:
    drawing = Drawing()
    drawing.add("torch.relu", drawing.add("torch.ones", name="x"), name="y")
    return drawing.graph


def test_a_run_gathers_what_the_engine_said_by_kind(graph: Graph) -> None:
    with engine("talking") as process:
        process.wait_until_ready()
        outcome = run_program(process, graph, compile_graph(graph), document="one")
    assert outcome.paused.outcome == "done"
    assert outcome.failed is None
    assert [printed.text for printed in outcome.printed] == ["hello\n"]
    assert [warned.message for warned in outcome.warned] == ["careful"]
    assert [logged.text for logged in outcome.logged] == ["stored: nothing"]
    assert [row.autograd for traced in outcome.backward for row in traced.rows] == ["ReluBackward0"]


def test_a_run_ends_with_the_report_of_what_is_bound(graph: Graph) -> None:
    with engine("fine") as process:
        process.wait_until_ready()
        outcome = run_program(process, graph, compile_graph(graph), document="one", trace=True)
    assert [entry.name for entry in outcome.report.entries] == ["x", "y"]
    assert outcome.report.revision == graph.revision
    assert len(outcome.report.rows) == 2


def test_rows_are_reported_only_when_a_trace_was_asked_for(graph: Graph) -> None:
    with engine("fine") as process:
        process.wait_until_ready()
        outcome = run_program(process, graph, compile_graph(graph), document="one")
    assert outcome.report.rows == ()


def test_a_failure_comes_with_its_node(graph: Graph) -> None:
    program = compile_graph(graph)
    with engine("failing") as process:
        process.wait_until_ready()
        outcome = run_program(process, graph, program, document="one")
    assert outcome.paused.outcome == "failed"
    assert outcome.failed is not None
    assert outcome.failed.node == program.statements[0].node
    assert outcome.failed.address == "x"


def test_an_engine_that_ends_in_the_middle_of_a_run_is_not_waited_for(graph: Graph) -> None:
    with engine("dying") as process:
        process.wait_until_ready()
        with pytest.raises(EngineDied) as died:
            run_program(process, graph, compile_graph(graph), document="one")
    assert died.value.code == 9


def test_a_traced_run_hands_over_every_event_in_its_order(graph: Graph) -> None:
    with engine("fine") as process:
        process.wait_until_ready()
        events = trace_program(process, graph, compile_graph(graph), document="one")
    assert [type(event) for event in events] == [Started, Traced, Gradients]


def test_shapes_are_told_for_every_node_without_a_run(graph: Graph) -> None:
    program = compile_graph(graph)
    with engine("fine") as process:
        process.wait_until_ready()
        inferred = infer_program(process, graph, program)
    assert [port.node for port in inferred.ports] == [statement.node for statement in program.statements]
    assert inferred.revision == graph.revision


def test_stored_tensors_go_along_with_the_program() -> None:
    drawing = Drawing()
    stored = stored_tensor(bytes(8), "float32", (2,))
    drawing.graph.tensors[stored.digest] = stored
    drawing.add("python.stored", digest=f'"{stored.digest}"', name="data")
    with engine("talking") as process:
        process.wait_until_ready()
        outcome = run_program(process, drawing.graph, compile_graph(drawing.graph), document="one")
    assert [logged.text for logged in outcome.logged] == [f"stored: {stored.digest}"]
