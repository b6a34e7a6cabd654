"""All that is wrong with a run, in order: failure, warnings without their repetitions, findings, a NaN that is left."""

import msgspec
import pytest

from gradstudio.advice.problem_report import holds_error, problems_json, run_problem_lines
from gradstudio.advice.run_problems import RunRecorder, run_problems
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Gradients, GradRow, NamedEntry, Traced, Warned
from gradstudio.protocol.messages.records import ModuleRecord, Record, Summary, TensorRecord
from tests.advice.teaching_programs import RECORDINGS, programs, recorder_of
from tests.helpers import recordings

TEXT = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\n"
NAN = Summary(dtype="float32", shape=(2,), nan=2)


def graph_and_items() -> tuple[Graph, ItemId, ItemId]:
    graph = read_script(TEXT).graph
    first, second, *_ = graph.order()
    return graph, first, second


def entry(node: ItemId, record: Record, name: str = "x") -> NamedEntry:
    return NamedEntry(name=name, node=node, operator="o", line=1, outputs=(record,))


def leaf(grad: Summary | None) -> TensorRecord:
    return TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2,)), requires_grad=True, grad=grad)


def run_of(name: str) -> tuple[Graph, RunRecorder]:
    """A kept run and its graph."""
    program = next(one for one in programs("planted") if one.name == name)
    return read_script(program.text).graph, recorder_of(recordings.kept_run(f"{RECORDINGS}/{name}"))


def test_what_a_failure_comes_of_stands_before_it_and_in_its_first_sentence() -> None:
    graph, recorder = run_of("integer_division_of_a_loss")
    cause, failure = run_problems(graph, recorder)
    assert (cause.kind, failure.kind) == ("rounds_down", "failure")
    assert failure.words.startswith("RuntimeError: ")
    assert failure.title == f"{cause.title}."
    assert "// rounds down in loss" in cause.title


def test_a_failure_is_placed_at_the_statement_that_caused_it() -> None:
    graph, recorder = run_of("overwritten_result")
    failed = recorder.failed
    assert failed is not None
    place = run_problems(graph, recorder)[0].node
    assert graph.nodes[place].operator == "operator.iadd"
    assert graph.nodes[failed.node].operator == "torch.Tensor.backward"


def test_a_warning_that_is_said_in_each_turn_is_told_once() -> None:
    graph, recorder = run_of("column_against_vector")
    assert len(recorder.warned) == 5
    assert {warned.message for warned in recorder.warned} == {recorder.warned[0].message}
    other = msgspec.structs.replace(recorder.warned[0], message="something else")
    recorder.hear(other)
    told = [problem for problem in run_problems(graph, recorder) if problem.kind == "warning"]
    assert [problem.words.partition(": ")[2] for problem in told] == [recorder.warned[0].message, "something else"]
    assert told[1].title == "something else"
    assert told[0].fixes


def test_a_nan_in_a_gradient_that_nobody_explained_is_named_with_its_leaf() -> None:
    graph, x, _ = graph_and_items()
    recorder = RunRecorder()
    recorder.hear(Gradients(1, (GradRow(node=x, state="accumulated", grad=NAN),)))
    (problem,) = run_problems(graph, recorder)
    assert (problem.severity, problem.kind, problem.title) == ("error", "spoilt_gradient", "x.grad holds NaN")


@pytest.mark.parametrize("grad", [None, Summary(dtype="float32", shape=(2,), minimum=0.0, maximum=1.0)])
def test_of_gradients_without_a_nan_nothing_is_said(grad: Summary | None) -> None:
    graph, x, _ = graph_and_items()
    recorder = RunRecorder()
    recorder.read_report([entry(x, leaf(grad))])
    assert run_problems(graph, recorder) == ()


def test_without_a_record_the_report_tells_of_a_modules_parameter() -> None:
    graph, x, _ = graph_and_items()
    parameters = {"fc.bias": leaf(None), "fc.weight": leaf(NAN)}
    recorder = RunRecorder()
    recorder.read_report([entry(x, ModuleRecord(class_name="Net", parameters=parameters))])
    assert recorder.spoilt_gradient() == (x, "fc.weight")
    (problem,) = run_problems(graph, recorder)
    assert problem.title == "x.fc.weight.grad holds NaN"
    assert "--problems" in problem.explanation


def test_the_newest_value_is_that_of_the_record_else_that_of_the_report() -> None:
    _, x, y = graph_and_items()
    recorder = RunRecorder()
    reported, ran = leaf(None), leaf(NAN)
    recorder.read_report([entry(x, reported), NamedEntry(name="_", node=y, operator="o", line=2)])
    assert recorder.value(x, 0) == reported
    assert recorder.value(y, 0) is None
    graph, run = run_of("log_of_zero")
    item = next(iter(graph.order()))
    row = run.timeline.row(item)
    assert row is not None
    recorder.hear(Traced(1, (msgspec.structs.replace(row, node=x, outputs=(ran,)),)))
    assert recorder.value(x, 0) == ran
    assert recorder.value(x, 1) is None


def test_problems_are_plain_data_with_lines_and_people_read_all_but_the_failure() -> None:
    graph, recorder = run_of("integer_division_of_a_loss")
    lines = {item: number for number, item in enumerate(graph.order(), 1)}
    problems = problems_json(graph, recorder, lines)
    assert holds_error(problems)
    text = list(run_problem_lines(problems))
    assert text[0].startswith("ERROR at loss (line ")
    assert text[-1] == "  → Divide by / instead of //"
    assert [line for line in text if "ERROR" in line] == text[:1]


def test_what_is_no_event_of_a_run_is_not_heard() -> None:
    recorder = RunRecorder()
    recorder.hear(Warned(node=ItemId("n1"), line=1, category="UserWarning", message="w"))
    assert (len(recorder.warned), recorder.failed, recorder.gradients()) == (1, None, ())
