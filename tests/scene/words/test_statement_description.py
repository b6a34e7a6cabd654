"""Statements in words: what they do, what came of them, what is the matter with them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.protocol.messages.events import Failed, GradRow
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.results import FailureLike
from gradstudio.scene.words.statement_description import (
    describe_statement,
    operator_words,
    signs,
    source_words,
    statement_words,
    value_words,
    wire_words,
)
from gradstudio.scene.words.statement_source import StatementSource
from tests.helpers.drawing import Drawing, GivenResults, matrix, scalar


class Problem(NamedTuple):
    severity: str
    title: str


class Failure(NamedTuple):
    failed: Failed
    what: str
    explanation: str


@dataclass
class State:
    live: bool = True
    busy: bool = False
    stale: bool = False
    at_end: bool = False


class EventfulResults(GivenResults):
    """Results of a run in which something went wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.failed: dict[ItemId, Failure] = {}
        self.missing: dict[ItemId, str] = {}
        self.old: set[ItemId] = set()
        self.grads: dict[ItemId, GradRow] = {}

    def failure(self, node: ItemId) -> FailureLike | None:
        return self.failed.get(node)

    def incomplete(self, node: ItemId) -> str:
        return self.missing.get(node, "")

    def stale(self, node: ItemId) -> bool:
        return node in self.old

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        return self.grads.get(node)


@dataclass
class Document:
    """An open document with no more than `StatementSource` names; it is its own graph, run and problems."""

    graph: Graph
    results: EventfulResults = field(default_factory=EventfulResults)
    lines: dict[ItemId, str] = field(default_factory=dict)
    found: dict[ItemId, tuple[Problem, ...]] = field(default_factory=dict)
    stops: set[ItemId] = field(default_factory=set)
    state: State = field(default_factory=State)

    @property
    def shown_store(self) -> "Document":
        return self

    @property
    def problems(self) -> "Document":
        return self

    @property
    def run(self) -> "Document":
        return self

    @property
    def debug(self) -> "Document":
        return self

    def text_of(self, node: ItemId) -> str:
        return self.lines.get(node, "")

    def of(self, node: ItemId) -> Sequence[Problem]:
        return self.found.get(node, ())

    def at(self, node: ItemId) -> Sequence[object]:
        return [node] if node in self.stops else []


@pytest.fixture
def document(drawing: Drawing) -> Document:
    return Document(drawing.graph)


def sign_words(source: StatementSource, item: ItemId) -> list[str]:
    return [sign.words for sign in signs(source, item)]


def test_before_a_run_it_says_what_is_expected_and_where_it_goes(drawing: Drawing, document: Document) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    expected = PortInference(node=y, dtype="torch.float32", shape=(2, 3))
    document.results.expected[y] = expected
    assert value_words(document.results, x) == ""
    assert value_words(document.results, y) == "f32[2, 3] expected"
    source = source_words(drawing.graph, x, 0)
    assert describe_statement(document, y) == f"f32[2, 3] expected; input from {source}"
    assert describe_statement(document, x) == "goes to relu"


def test_after_a_run_it_says_the_value_and_its_range(drawing: Drawing, document: Document) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    document.results.records.update({x: (matrix(),), y: (scalar(7.0),)})
    assert value_words(document.results, y) == "7"
    assert value_words(document.results, x).startswith("f32[4, 4]")
    assert "from 0 to 15" in describe_statement(document, x)
    assert describe_statement(document, y).startswith("7; ")


def test_several_results_are_said_one_after_the_other(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.aminmax")
    document.results.records[item] = (scalar(1.0), scalar(2.0))
    assert value_words(document.results, item) == "1, 2"


def test_a_gradient_is_its_size_or_the_reason_why_there_is_none(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.relu")
    document.results.records[item] = (matrix(),)
    grad = Summary(dtype="float32", shape=(), minimum=0.5, maximum=0.5, value=0.5)
    document.results.grads[item] = GradRow(node=item, state="value", grad=grad)
    assert "gradient 0.5" in describe_statement(document, item)
    document.results.grads[item] = GradRow(node=item, state="not_retained")
    assert "gradient not kept: A gradient passed here and nobody kept it." in describe_statement(document, item)
    document.results.grads[item] = GradRow(node=item, state="cut", reason="detach cuts it.")
    assert "gradient cut here: detach cuts it." in describe_statement(document, item)
    document.results.grads[item] = GradRow(node=item, state="not_run")
    assert "gradient" not in describe_statement(document, item)


def test_a_value_that_no_backward_reached_says_what_the_run_told(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.relu")
    summary = Summary(dtype="float32", shape=(), value=1.0)
    document.results.records[item] = (TensorRecord(device="cpu", summary=summary, grad_state="not_required"),)
    assert "gradient not required: Neither this value nor its inputs require grad." in describe_statement(
        document, item
    )


def test_signs_are_told_the_gravest_first(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.relu")
    assert sign_words(document, item) == []
    drawing.do(recipes.set_muted(drawing.graph, (item,), True))
    document.results.old.add(item)
    document.results.missing[item] = "input is missing"
    document.found[item] = (Problem("error", "shapes differ"), Problem("warning", "is slow"))
    document.stops.add(item)
    told = ["will fail", "incomplete", "warning", "stale", "muted", "breakpoint"]
    assert sign_words(document, item) == told
    words = describe_statement(document, item)
    for part in ("will fail: shapes differ", "incomplete: input is missing", "warning: is slow"):
        assert part in words


def test_a_failure_takes_the_place_of_what_was_foreseen(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.relu")
    failed = Failed(revision=0, node=item, address="", line=1, type_name="RuntimeError", message="torch's words")
    document.found[item] = (Problem("error", "shapes differ"),)
    document.results.failed[item] = Failure(failed, "torch's words", "")
    assert sign_words(document, item) == ["error"]
    assert "error: torch's words" in describe_statement(document, item)
    document.results.failed[item] = Failure(failed, "torch's words", "our explanation")
    assert "error: our explanation" in describe_statement(document, item)


def test_what_runs_next_is_paused_only_while_a_run_stands_there(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.relu")
    document.results.next_node = item
    assert sign_words(document, item) == ["paused here"]
    for state in (State(live=False), State(busy=True), State(stale=True), State(at_end=True)):
        document.state = state
        assert sign_words(document, item) == []
    document.results.running_node = item
    assert sign_words(document, item) == ["running"]


def test_a_bypassed_node_says_so(drawing: Drawing, document: Document) -> None:
    _, item = drawing.chain("torch.randn", "torch.relu")
    drawing.do(recipes.set_bypassed(drawing.graph, (item,), True))
    assert sign_words(document, item) == ["bypassed"]


def test_a_statement_is_read_as_what_it_does_and_its_line(drawing: Drawing, document: Document) -> None:
    item = drawing.add("torch.matmul")
    assert statement_words(document, item) == f"matmul {source_words(drawing.graph, item, 0)}"
    document.lines[item] = "y = a @ b"
    assert statement_words(document, item) == "matmul y = a @ b"
    document.lines[item] = "matmul(a, b)"
    assert statement_words(document, item) == "matmul(a, b)"


def test_blocks_and_groups_say_what_they_are(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    drawing.do(recipes.wrap(drawing.graph, (y,), "no_grad"))
    (block,) = drawing.graph.blocks
    assert operator_words(drawing.graph, block) == "no_grad"
    drawing.do(make_group(drawing.graph, (x,), "encoder"))
    (call,) = (item for item, node in drawing.graph.nodes.items() if node.operator == "group:encoder")
    assert operator_words(drawing.graph, call) == "group encoder"


def test_a_wire_says_its_input_and_the_name_of_what_flows(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    drawing.do(recipes.rename(drawing.graph, x, ("noise",)))
    assert source_words(drawing.graph, x, 0) == "noise"
    assert wire_words(drawing.graph, drawing.graph.wires[y, "input"]) == "input ← noise"
