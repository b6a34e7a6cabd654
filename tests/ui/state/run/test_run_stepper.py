"""Stepping through what was recorded, and asking for what was not; the run is a list of what it was asked for."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.events import Paused, Row
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.record_stepper import RecordStepper
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.run_state import Command
from gradstudio.ui.state.run.run_status import RunStatus
from gradstudio.ui.state.run.run_stepper import RunStepper


class Run:
    """Carries nothing out."""

    def __init__(self, program: Program) -> None:
        self.program, self.asked = program, list[tuple[str, object]]()

    def why_not(self, command: Command, /) -> str:
        return f"no {command}"

    def do(self, verb: Verb, command: Command | None = None, /, **fields: object) -> None:
        self.asked.append((command or verb, fields.get("stride")))


@pytest.fixture
def store(qtbot: QtBot) -> GraphStore:
    return GraphStore(read_script("import torch\na = torch.tensor(1.0)\nb = a + a\nc = b * b\n").graph)


def stepper_of(store: GraphStore) -> tuple[RunStepper, Run, RunStatus, ResultStore]:
    results = ResultStore(store, store=store)
    run, status = Run(compile_graph(store.graph)), RunStatus(store)
    return RunStepper(run, status, results, RecordStepper(results, store)), run, status, results


def test_at_now_a_step_is_asked_of_the_run(store: GraphStore) -> None:
    stepper, run, _, _ = stepper_of(store)
    stepper.step()
    stepper.step_over()
    stepper.step_out()
    assert run.asked == [("step", None), ("step_over", "over"), ("step_out", "out")]


def test_looking_back_a_step_is_taken_in_the_record(store: GraphStore) -> None:
    stepper, run, _, results = stepper_of(store)
    results.tables.add_rows(Row(step=k, node=ItemId(item), outputs=()) for k, item in enumerate(store.graph.nodes))
    stepper.to_start()
    assert results.moment == 0
    stepper.step()
    assert results.moment == 1
    stepper.step()
    assert results.moment is None and run.asked == []


def test_behind_the_end_it_begins_at_the_first_step_again_and_says_so(store: GraphStore) -> None:
    stepper, run, status, results = stepper_of(store)
    words = list[str]()
    status.noted.connect(words.append)
    results.tables.add_rows(Row(step=k, node=ItemId(item), outputs=()) for k, item in enumerate(store.graph.nodes))
    status.set(live=True, at_end=True)
    stepper.step()
    assert results.moment == 0 and run.asked == [] and "first step again" in words[0]


def test_before_the_first_step_there_is_none_and_the_reason_is_told(store: GraphStore) -> None:
    stepper, _, status, _ = stepper_of(store)
    words = list[str]()
    status.refused.connect(words.append)
    stepper.step_back()
    assert words == ["no step_back"]


def test_a_card_that_was_run_to_in_vain_is_not_looked_into_by_a_later_step(qtbot: QtBot) -> None:
    text = "import torch\n\ndef double(x):\n    return x + x\n\na = torch.tensor(1.0)\nc = double(a)\n"
    store = GraphStore(read_script(text).graph)
    stepper, _, status, results = stepper_of(store)
    call = next(item for item, node in store.graph.nodes.items() if "c" in node.names)
    results.attention.select((call,))
    assert results.attention.current == call
    stepper.step_into()
    refused = list[str]()
    status.refused.connect(refused.append)
    status.set(verb="step_into", outcome="stopped")
    results.attention.select(())
    stepper.step_into()
    status.set(verb="step_into", outcome="done")
    done = Paused(revision=0, verb="step", outcome="done", next_node=ItemId(""), at_end=False, pass_number=1)
    stepper.look_where_it_paused(done)
    assert refused == []
