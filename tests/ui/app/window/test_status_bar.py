"""The status bar."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.events import Failed, Memory
from gradstudio.protocol.messages.progress import Turned
from gradstudio.ui.app.window.status_bar import StatusBar
from gradstudio.ui.app.window.status_parts import SMALL_PX, StatusWords
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.offer_field import OfferField
from tests.ui.conftest import Add


def bar(qtbot: QtBot, session: Session, theme: Theme) -> StatusBar:
    made = StatusBar(session, theme)
    qtbot.addWidget(made)
    made.show()
    return made


def test_nodes_and_wires_are_counted(qtbot: QtBot, session: Session, dark: Theme, add: Add) -> None:
    status = bar(qtbot, session, dark)
    assert status.counts.text() == "0 nodes · 0 wires"
    add("torch.randn")
    qtbot.waitUntil(lambda: status.counts.text() == "1 node · 0 wires")


def test_a_refusal_is_said(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.graph_store.refused.emit("a loop: a → b → a")
    assert status.message.full == "a loop: a → b → a"
    session.run.forward()
    assert "nothing to run" in status.message.full


def test_a_warning_goes_when_a_later_action_succeeds(qtbot: QtBot, session: Session, dark: Theme, add: Add) -> None:
    status = bar(qtbot, session, dark)
    session.graph_store.refused.emit("a loop: a → b → a")
    add("torch.ones")
    assert status.message.full, "an edit of the same gesture leaves it"
    qtbot.waitUntil(lambda: status._old_warning)
    add("torch.randn")
    assert not status.message.full
    status.note("something that was done")
    add("torch.randn")
    assert status.message.full


def test_a_second_pass_and_changes_by_hand_are_told(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.run.state_changed.emit(RunState(live=True, at_end=True))
    assert not status.passes.isVisible()
    session.run.state_changed.emit(RunState(live=True, at_end=True, pass_number=2, changed_by_hand=True))
    assert status.passes.text() == "pass 2 · changed by hand"


def test_the_engines_state_is_a_light_with_words(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.engine.state_changed.emit("dead")
    assert "does not start" in status.light.words.text()


def test_the_memory_of_the_process_is_shown(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.memory.add(Memory(time_s=0.0, device="cpu", series={"tensors": 5, "process": 2**30}))
    qtbot.waitUntil(lambda: status.memory.text() == "RSS 1 GiB")


def test_the_first_sample_of_memory_moves_no_other_word(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    status.resize(900, 30)
    before = status.counts.geometry()
    session.memory.add(Memory(time_s=0.0, device="cpu", series={"tensors": 5, "process": 415 * 2**20}))
    qtbot.waitUntil(lambda: status.memory.text() == "RSS 415 MiB")
    QApplication.processEvents()
    assert status.counts.geometry() == before


ENDED = (
    "Rank 3 was killed by SIGKILL at line 28 (torch.distributed.barrier()). All ranks were ended, and begin from "
    "nothing. The training was cut off at turn 1,234."
)


def is_whole(words: StatusWords) -> bool:
    """Whether all of it is painted within its place, in one line or two."""
    painted = words.fontMetrics().boundingRect(words.contentsRect(), 0, words.text())
    room = words.contentsRect()
    is_within = painted.height() <= room.height() and painted.width() <= room.width()
    return words.text().replace("\n", " ") == words.full and is_within


@pytest.mark.parametrize("width", [1280, 1920])
def test_what_is_to_be_decided_is_read_in_full_and_has_the_room_of_the_facts(
    qtbot: QtBot, session: Session, dark: Theme, width: int
) -> None:
    status = bar(qtbot, session, dark)
    status.show_switch(QAction("Snap", status))
    status.resize(width, status.sizeHint().height())
    status.light.show_light("trusted code · 4 processes · torch 2.13.0 ready", dark.color("ok"))
    field = OfferField(session.run.status, dark, StatusWords(status), status)
    field.stands.connect(status.make_room)
    status.insertWidget(0, field)
    field.show_offer(Offer(ENDED, "Continue from turn 1,234", int, int))
    qtbot.waitUntil(lambda: is_whole(field.words))
    assert not status.counts.isVisible() and not status.device.isVisible()
    assert status.rect().contains(field.geometry()) and field.decline.geometry().right() <= field.width()
    QTest.mouseClick(field.decline, Qt.MouseButton.LeftButton)
    assert status.counts.isVisible() and status.device.isVisible()


def test_a_line_that_is_too_long_takes_two(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    status.resize(1000, status.sizeHint().height())
    height = status.sizeHint().height()
    status.note("Stopped: the operator under way did not answer, so the engine was replaced; the run is lost.")
    QApplication.processEvents()
    assert is_whole(status.message) and "\n" in status.message.text()
    assert status.sizeHint().height() == height
    status.note("short")
    assert "\n" not in status.message.text() and status.message.font().pixelSize() > SMALL_PX


def test_a_long_line_is_cut_between_words_and_its_tooltip_has_all(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status, words = bar(qtbot, session, dark), "Nothing ran here because another statement is open"
    status.resize(1000, 30)
    for _ in range(8):
        words += ", and another statement is open"
    status.note(words)
    shown = status.message.text().replace("\n", " ")
    assert shown.endswith(" …") and words.startswith(shown.removesuffix(" …"))
    assert words[len(shown) - 2] in " ,"
    assert status.message.toolTip() == words
    status.resize(6000, 30)
    assert status.message.text() == words


def fail(session: Session, node: ItemId, what: str) -> None:
    failed = Failed(revision=1, node=node, address="y", line=1, type_name="RuntimeError", message=what)
    session.results.tables.add_failure(Failure(failed))


def test_a_failure_stands_until_it_is_mended_and_a_click_goes_to_its_node(
    qtbot: QtBot, session: Session, dark: Theme, add: Add
) -> None:
    status = bar(qtbot, session, dark)
    item = add("torch.exp")
    add("torch.randn")
    fail(session, item, "the shapes\n do not fit")
    name = session.graph_store.graph.nodes[item].names[0]
    qtbot.waitUntil(lambda: status.message.full == f"{name} failed: RuntimeError: the shapes do not fit")
    assert dark.danger in status.message.styleSheet()
    status.note("Copied 2 items")
    assert status.message.full == "Copied 2 items"
    status._timer.timeout.emit()
    assert status.message.full.startswith(f"{name} failed")
    QTest.mouseClick(status.message, Qt.MouseButton.LeftButton)
    assert session.attention.selection == {item}
    session.results.tables.begin(fresh=True)
    qtbot.waitUntil(lambda: not status.message.full)


def test_a_failure_is_said_in_our_words_where_we_have_some(
    qtbot: QtBot, session: Session, dark: Theme, add: Add
) -> None:
    status = bar(qtbot, session, dark)
    item = add("torch.exp")
    failed = Failed(revision=1, node=item, address="y", line=1, type_name="RuntimeError", message="mat1 and mat2")
    session.results.tables.add_failure(Failure(failed, "The inner sizes 3.5 and 4 differ. Transpose one of them."))
    name = session.graph_store.graph.nodes[item].names[0]
    qtbot.waitUntil(lambda: status.message.full == f"{name} failed: The inner sizes 3.5 and 4 differ")


def test_a_stop_that_was_asked_for_is_no_error(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.run.state_changed.emit(RunState(verb="run", outcome="stopped", reason="Stopped: replaced"))
    assert status.message.full == "Stopped: replaced"
    assert dark.text_dim in status.message.styleSheet()
    session.run.state_changed.emit(RunState(verb="run", outcome="died", reason="The engine died"))
    assert dark.danger in status.message.styleSheet()


@pytest.mark.parametrize("verb", ["run", "forward", "backward"])
def test_nodes_that_a_run_passed_over_are_told_with_the_first_reason(
    qtbot: QtBot, session: Session, dark: Theme, add: Add, verb: Verb
) -> None:
    status = bar(qtbot, session, dark)
    add("torch.randn")
    first = add("torch.exp")
    add("torch.exp")
    graph, reason = session.graph_store.graph, session.run.program.incomplete[0].reason
    session.run.state_changed.emit(RunState(busy=True, verb=verb))
    session.run.state_changed.emit(RunState(verb=verb, outcome="done", live=True))
    assert status.message.full == f"2 nodes did not run: {graph.nodes[first].names[0]} – {reason}"
    assert dark.warning in status.message.styleSheet()


def test_a_node_that_came_after_the_run_was_not_passed_over_by_it(
    qtbot: QtBot, session: Session, dark: Theme, add: Add
) -> None:
    status = bar(qtbot, session, dark)
    add("torch.randn")
    session.run.state_changed.emit(RunState(busy=True, verb="run"))
    session.run.state_changed.emit(RunState(verb="run", outcome="done", live=True))
    add("torch.exp")
    assert session.run.program.incomplete
    status.say("")
    assert status.message.full == ""


def test_a_long_message_is_cut_and_whole_in_its_tooltip(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    status.resize(700, 26)
    status.say("word " * 100)
    assert status.message.text().endswith("…")
    assert status.message.toolTip() == "word " * 100


def test_how_far_a_long_run_is_has_the_room_of_what_the_program_is(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    status.device.setText("device cuda:0")
    status.light.show_light("trusted code · torch 2.12.0 ready", dark.color("ok"))
    status.resize(800, 30)
    tables = session.results.tables
    tables.add_turns(Turned(loop=ItemId("epochs"), turn=0, total=40))
    tables.add_turns(Turned(loop=ItemId("batches"), around=(0,), turn=0, total=44_888))
    tables.add_turns(Turned(loop=ItemId("batches"), around=(0,), turn=3_777, total=44_888, seconds=10.0))
    tables.pace.flush()
    assert status.passes.text().endswith(" left") and not status.counts.isVisible()
    qtbot.waitUntil(lambda: status.passes.width() >= status.passes.sizeHint().width())
    tables.rest(is_inside=False)
    tables.pace.flush()
    assert status.counts.isVisible() and status.device.isVisible() and not status.passes.isVisible()
