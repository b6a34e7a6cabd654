"""A learning rate that is typed while a loop is paused: it holds from there on, is marked, and undo puts it back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import OptimizerRecord
from tests.ui.desk import Desk
from tests.ui.test_charts_by_hand import LEARNING

Key = Qt.Key


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LEARNING)
    desk.window.canvas.setFocus()


def rate(desk: Desk) -> object:
    (record,) = desk.session.results.outputs(desk.node("optimizer")) or (None,)
    assert isinstance(record, OptimizerRecord)
    return record.groups[0]["lr"]


def test_a_rate_typed_in_a_paused_loop_holds_on_is_marked_and_is_undone(desk: Desk) -> None:
    desk.session.run.run_to(desk.node("loss"))
    desk.until(lambda: desk.session.run.state.live and not desk.session.run.state.busy)
    store, curves = desk.session.graph_store, desk.session.results.tables.curves
    optimizer, loop = desk.node("optimizer"), desk.graph.parents[desk.node("loss")]
    assert store.attempt(recipes.set_literal, "Set lr", optimizer, "lr", "0.125")
    desk.until(lambda: len(curves.marks) == 1)
    desk.rest()
    assert curves.marks[0][:2] == (loop, 0) and curves.marks[0].words == "optimizer: lr 0.5 → 0.125"
    state = desk.session.run.state
    assert state.live and not state.stale and not desk.session.results.tables.is_stale
    desk.key(Key.Key_F10)
    desk.until(lambda: rate(desk) == 0.125)  # on the card, too
    desk.rest()
    store.undo()
    desk.until(lambda: len(curves.marks) == 2)
    assert curves.marks[1].words == "optimizer: lr 0.125 → 0.5"
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert desk.session.run.state.changed_by_hand
    x, _ = curves.points(next(name for name in curves.names if name[0] == loop))
    assert x[-1] == 199
    desk.session.run.restart()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy and not curves.marks)
    assert not desk.session.run.state.changed_by_hand


def begin_long(desk: Desk) -> ItemId:
    """A loop that does not end by itself; it runs, and is not paused."""
    desk.open(LEARNING.replace("range(200)", "range(10_000_000)"))
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.status.is_in_loop)
    return desk.graph.parents[desk.node("loss")]


def end(desk: Desk) -> None:
    desk.session.run.stop()
    desk.until(lambda: not desk.session.run.state.busy)
    desk.rest()


def test_a_rate_typed_while_the_loop_runs_holds_from_the_next_turn_on_and_is_undone(desk: Desk) -> None:
    loop = begin_long(desk)
    store, curves, run = desk.session.graph_store, desk.session.results.tables.curves, desk.session.run
    assert store.attempt(recipes.set_literal, "Set lr", desk.node("optimizer"), "lr", "0.125")
    desk.until(lambda: len(curves.marks) == 1)
    assert run.status.is_in_loop and not run.state.stale and not desk.session.results.tables.is_stale
    first = curves.marks[0]
    assert first.loop == loop and first.words == "optimizer: lr 0.5 → 0.125"
    assert f"lr 0.5 → 0.125 holds from turn {first.number + 1:,} on" in desk.said
    desk.until(lambda: rate(desk) == 0.125)  # on the card, too
    store.undo()
    desk.until(lambda: len(curves.marks) == 2)
    assert run.status.is_in_loop and curves.marks[1].words == "optimizer: lr 0.125 → 0.5"
    assert curves.marks[1].number > first.number
    end(desk)
    assert len(curves.marks) == 2 and run.state.changed_by_hand and not run.state.stale


def test_a_pause_is_found_by_its_name_and_stands_at_the_end_of_a_turn(desk: Desk) -> None:
    begin_long(desk)
    run = desk.session.run
    desk.window.actions["help.palette"].trigger()
    desk.until(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    desk.type("pause")
    desk.rest()
    first = next(item for item in desk.graph.order(desk.graph.parents[desk.node("loss")]))
    assert run.state.outcome == "stopped" and run.state.next_node == first and not run.state.at_end
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: run.status.is_in_loop)
    end(desk)


def test_a_number_that_cannot_hold_in_the_middle_says_so_and_the_run_goes_on(desk: Desk) -> None:
    begin_long(desk)
    run = desk.session.run
    assert desk.session.graph_store.attempt(recipes.set_literal, "Set", desk.node("x"), "size", "(32, 2)")
    desk.until(lambda: "holds from the next run on" in desk.said)
    assert run.status.is_in_loop and not run.state.stale and not desk.session.results.tables.curves.marks
    end(desk)
    desk.until(lambda: run.state.stale)  # the engine takes it up behind the run


def test_what_is_drawn_anew_while_the_loop_runs_is_said_to_wait(desk: Desk) -> None:
    begin_long(desk)
    edits, _ = recipes.add_operator(desk.graph, "torch.relu", 0, 0)
    desk.session.graph_store.submit(edits, "Add relu")
    desk.until(lambda: "holds from the next run on" in desk.said)
    assert desk.session.run.status.is_in_loop
    end(desk)


def test_a_slider_dragged_while_the_loop_runs_changes_it_and_begins_no_other(desk: Desk) -> None:
    begin_long(desk)
    run, curves, optimizer = desk.session.run, desk.session.results.tables.curves, desk.node("optimizer")
    for text in ("0.25", "0.125"):
        edits = recipes.set_literals(desk.graph, (optimizer,), "lr", text)
        run.follow(edits, "Slide lr", "slide lr")
    desk.until(lambda: bool(curves.marks) and curves.marks[-1].words.endswith("→ 0.125"))
    assert run.status.is_in_loop
    end(desk)
    assert run.state.outcome == "stopped" and rate(desk) == 0.125


def test_going_back_to_before_a_change_says_that_it_is_another_run(desk: Desk) -> None:
    run, store = desk.session.run, desk.session.graph_store
    run.run_to(desk.node("loss"))
    desk.until(lambda: run.state.live and not run.state.busy)
    loss, loop = desk.node("loss"), desk.graph.parents[desk.node("loss")]
    assert store.attempt(recipes.set_literal, "Set lr", desk.node("optimizer"), "lr", "0.125")
    desk.rest()
    run.run()
    desk.until(lambda: run.state.at_end and not run.state.busy)
    desk.session.results.timeline.cut(0)  # nothing is recorded: every turn has to be gone to
    said: list[str] = []
    run.status.noted.connect(said.append)
    desk.session.turns.go_to(ItemId(loop), loss, (0,))
    desk.until(lambda: bool(said) and not run.state.busy)
    assert "run again from nothing" in said[-1] and "It stands at the end of turn 1;" in said[-1]


def test_a_change_while_the_test_runs_is_marked_on_the_curve_of_the_steps(desk: Desk) -> None:
    steps = LEARNING.replace("range(200)", "range(3)").replace("\n    ", "\n        ")
    text = steps.replace("for t in range(3):", "for epoch in range(4):\n    for t in range(3):")
    desk.open(f"{text}    for k in range(2):\n        check = F.cross_entropy(net(x), y)\n")
    curves, loop = desk.session.results.tables.curves, desk.graph.parents[desk.node("loss")]
    desk.session.run.run_to(desk.node("check"))
    desk.until(lambda: desk.session.run.state.live and not desk.session.run.state.busy)
    assert desk.session.graph_store.attempt(recipes.set_literal, "Set lr", desk.node("optimizer"), "lr", "0.125")
    desk.until(lambda: bool(curves.marks))
    assert (loop, 3, "optimizer: lr 0.5 → 0.125") in curves.marks
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert len(curves.marks) > 1  # of every loop: the test, too, has turns
    assert curves.marks_on_axis() == ((loop, 3, "optimizer: lr 0.5 → 0.125"),)
