"""What is wrong, and one click that takes it away."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes, slices
from gradstudio.graph.edits import RemoveWire
from gradstudio.graph.model import ItemId
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.protocol.messages.events import Failed, Row, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.docks.messages.message_model import name_of
from gradstudio.ui.state import idle_work
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.run.problem_store import MAX_WAITS, Problem, in_sentences
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add

WORDS = "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"


def tensor(*shape: int) -> TensorRecord:
    return TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=shape))


@pytest.fixture
def product(session: Session, add: Add) -> ItemId:
    """``a @ b`` of two matrices of shape (2, 3)."""
    a, b = add("torch.randn", size="(2, 3)"), add("torch.randn", size="(2, 3)")
    item = add("operator.matmul")
    for source, port in ((a, "a"), (b, "b")):
        assert session.graph_store.attempt(recipes.connect, "Connect", source, 0, item, port)
    return item


def fail(session: Session, item: ItemId, message: str = WORDS) -> None:
    failed = Failed(
        revision=1, node=item, address="y", line=5, type_name="RuntimeError", message=message,
        operands=(("a", tensor(2, 3)), ("b", tensor(2, 3))),
    )  # fmt: skip
    session.results.tables.add_failure(Failure(failed, "Inner sizes differ. Here a is (2, 3)."))


def only(session: Session, kind: str) -> list[Problem]:
    session.problems.refresh()
    return [problem for problem in session.problems.problems if problem.kind == kind]


def test_a_failure_has_fixes_that_are_one_undo_step(session: Session, product: ItemId) -> None:
    fail(session, product)
    (problem,) = only(session, "failure")
    assert (problem.title, problem.words) == ("Inner sizes differ.", f"RuntimeError: {WORDS}")
    fix = problem.fixes[0]
    count, before = session.graph_store.undo_stack.count(), len(session.graph_store.graph.nodes)
    assert session.problems.apply(problem, fix)
    stack = session.graph_store.undo_stack
    assert (stack.count(), stack.undoText()) == (count + 1, fix.title)
    assert len(session.graph_store.graph.nodes) == before + 1
    stack.undo()
    assert len(session.graph_store.graph.nodes) == before


def test_a_fix_of_words_changes_nothing(session: Session, product: ItemId) -> None:
    fail(session, product)
    (problem,) = only(session, "failure")
    words = next(fix for fix in problem.fixes if fix.edits is None)
    revision = session.graph_store.graph.revision
    assert not session.problems.apply(problem, words)
    assert session.graph_store.graph.revision == revision


def test_a_fix_computed_for_an_older_program_is_computed_anew(session: Session, product: ItemId, add: Add) -> None:
    fail(session, product)
    (problem,) = only(session, "failure")
    add("torch.zeros")
    assert session.problems.apply(problem, problem.fixes[0])


def test_a_fix_that_no_longer_fits_is_refused_in_words(qtbot: QtBot, session: Session, product: ItemId) -> None:
    fail(session, product)
    (problem,) = only(session, "failure")
    assert session.graph_store.attempt(recipes.delete, "Delete", (product,))
    with qtbot.waitSignal(session.graph_store.refused):
        assert not session.problems.apply(problem, problem.fixes[0])


def test_what_inference_refuses_is_explained_and_has_fixes(session: Session, product: ItemId) -> None:
    graph = session.graph_store.graph
    sources = [
        PortInference(node=w.source, dtype="float32", shape=(2, 3), device="cpu") for w in graph.wires_to(product)
    ]
    session.results.tables.set_inference([*sources, PortInference(node=product, refusal=WORDS)])
    (problem,) = only(session, "refusal")
    assert "columns of the left (3)" in problem.explanation and problem.words == WORDS
    assert [fix for fix in problem.fixes if fix.edits]


def test_what_torch_has_done_it_is_not_expected_to_refuse(session: Session, product: ItemId) -> None:
    tables = session.results.tables
    tables.set_inference([PortInference(node=product, refusal=WORDS)])
    assert only(session, "refusal")
    other = next(wire.source for wire in session.graph_store.graph.wires_to(product))
    tables.add_rows([Row(step=1, node=other, outputs=(tensor(2, 3),)), Row(step=2, node=product, outputs=())])
    assert not only(session, "refusal")
    session.attention.look_at(0)
    assert not only(session, "refusal"), "also at the moment before"
    inferred = session.results.inference(product)
    assert inferred is not None and not inferred.refusal
    tables.set_stale(True)
    assert only(session, "refusal"), "another program was run"


def test_failures_come_first_and_warnings_stand_at_their_node(session: Session, product: ItemId, add: Add) -> None:
    session.results.tables.add_warning(Warned(node=product, line=1, category="UserWarning", message="care\n ful"))
    fail(session, product)
    session.problems.refresh()
    problems = session.problems.problems
    assert problems[0].kind == "failure"
    assert session.problems.of(product)[1].title == "UserWarning: care ful"


def test_a_warning_of_each_turn_is_one_problem_that_says_how_often(session: Session, product: ItemId) -> None:
    for _ in range(25):
        session.results.tables.add_warning(Warned(node=product, line=1, category="UserWarning", message="care"))
    session.results.tables.add_warning(Warned(node=product, line=1, category="UserWarning", message="mind"))
    session.problems.refresh()
    told = [problem.title for problem in session.problems.of(product) if problem.kind == "warning"]
    assert told == ["UserWarning: care (25 times)", "UserWarning: mind"]


def test_a_finding_of_the_run_is_a_problem_with_its_path(session: Session, add: Add) -> None:
    item = add("torch.zeros")
    bad = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2,), nan=1))
    session.results.tables.add_rows([Row(step=1, node=item, outputs=(bad,))])
    session.run.state_changed.emit(session.run.state)
    (problem,) = only(session, "finding")
    assert problem.node == item and problem.severity == "error" and item in problem.path


def test_a_finding_is_a_sign_on_its_card_and_goes_with_it(qtbot: QtBot, session: Session, add: Add) -> None:
    item = add("torch.zeros")
    bad = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2,), nan=1))
    session.results.tables.add_rows([Row(step=1, node=item, outputs=(bad,))])
    with qtbot.waitSignal(session.results.changed, check_params_cb=lambda items: item in items):
        session.problems.refresh()
    assert session.results.alarm(item) == "error"
    assert session.results.resized == frozenset(), "no card needs another room for it"
    session.results.tables.set_stale(True)
    session.problems.refresh()
    assert session.results.alarm(item) == ""


def test_nothing_is_collected_while_a_verb_runs(qtbot: QtBot, session: Session, product: ItemId) -> None:
    session.problems.refresh()
    before = session.problems.problems
    session.run.status.state = RunState(busy=True)
    with qtbot.waitSignal(session.problems._throttle.due):
        fail(session, product)
    assert session.problems.problems == before
    session.run.status.state = RunState()
    with qtbot.waitSignal(session.problems.changed):
        session.run.state_changed.emit(session.run.state)
    assert session.problems.problems[0].kind == "failure"


def test_a_button_that_stays_pressed_puts_the_collecting_off_but_not_for_ever(
    qtbot: QtBot, session: Session, product: ItemId
) -> None:
    session.problems.refresh()
    widget = QWidget()
    QTest.mousePress(widget, Qt.MouseButton.LeftButton)
    fail(session, product)
    before = session.problems.problems
    for _ in range(MAX_WAITS):
        session.problems._throttle.request()
        session.problems._throttle.flush()
        assert session.problems.problems == before and session.problems._throttle.pending
    with qtbot.waitSignal(session.problems.changed):
        session.problems._throttle.flush()
    assert session.problems.problems[0].kind == "failure"


def test_what_cannot_run_inside_a_group_is_a_problem_that_leads_inside(session: Session, add: Add) -> None:
    store = session.graph_store
    x, total = add("torch.ones", size="(2,)"), add("torch.sum")
    assert store.attempt(recipes.connect, "Connect", x, 0, total, "input")
    assert store.attempt(make_group, "Make group", [total], "add_all")
    call = next(node.id for node in store.graph.nodes.values() if node.operator == "group:add_all")
    assert store.attempt(recipes.connect, "Connect", call, 0, add("torch.neg"), "input")
    assert session.scope.enter(call)
    shown = session.shown_store.graph
    session.shown_store.submit(tuple(RemoveWire(wire) for wire in shown.wires_to(total)), "Cut")
    assert session.run.program.incomplete
    outside = next(problem for problem in only(session, "incomplete") if problem.node == call)
    assert "inside 'add_all', " in outside.title and "'input' is empty" in outside.title
    inside = next(problem for problem in only(session, "incomplete") if problem.node == total)
    assert inside.title == "cannot run yet: 'input' is empty" and session.results.incomplete(total)
    assert name_of(store.graph, total).endswith(" in add_all")
    asked: list[object] = []
    session.attention.reveal_requested.connect(asked.append)
    session.problems.reveal(outside)
    assert asked == [total]


@pytest.mark.parametrize(
    ("title", "explanation", "text"),
    [
        (
            "The gradient vanishes on its way to w",
            "It began with 1.",
            "The gradient vanishes on its way to w. It began with 1.",
        ),
        ("The shapes do not fit.", "The shapes do not fit. Transpose one.", "The shapes do not fit. Transpose one."),
        ("Nothing reads it", "", "Nothing reads it"),
    ],
)
def test_title_and_explanation_are_sentences(title: str, explanation: str, text: str) -> None:
    assert in_sentences(Problem("warning", "finding", ItemId("n1"), title, explanation)) == text


def test_an_edit_while_they_are_collected_gives_that_up_and_what_is_found_is_of_the_program_as_it_stands(
    qtbot: QtBot, session: Session, product: ItemId, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "AT_ONCE", 1)
    monkeypatch.setattr(idle_work, "SLICE_S", 0.0)
    session.problems.put_off(False)
    while not session.idle.has("problems"):
        QApplication.processEvents()
    session.graph_store.submit((RemoveWire(session.graph_store.graph.wires_to(product)[0]),), "Remove")
    assert not session.idle.has("problems")
    while not session.idle.has("problems"):
        QApplication.processEvents()
    qtbot.waitUntil(lambda: not session.idle.has("problems") and not session.run.shapes.pending)
    in_slices = session.problems.problems
    session.problems.refresh()
    assert session.problems.problems == in_slices
    assert "incomplete" in {problem.kind for problem in in_slices if problem.node == product}
