"""The table of breakpoints under a person's hand."""

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Breakpoint, Condition, Hit
from gradstudio.ui.docks.breakpoints.breakpoint_model import CONDITION, DOES, HITS, LAST, WHERE, place_words
from gradstudio.ui.docks.breakpoints.condition_editor import LATER_MS, ConditionEditor
from gradstudio.ui.docks.breakpoints.panel import BreakpointsPanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add
from tests.ui.timeline.runs import summary


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> BreakpointsPanel:
    made = BreakpointsPanel(session, dark)
    qtbot.addWidget(made)
    made.resize(700, 240)
    made.show()
    return made


def text(panel: BreakpointsPanel, row: int, column: int) -> object:
    return panel.model.index(row, column).data()


def editor(panel: BreakpointsPanel, row: int) -> ConditionEditor:
    """The condition's editor, opened as F2 does."""
    panel.view.setCurrentIndex(panel.model.index(row, WHERE))
    QTest.keyClick(panel.view, Qt.Key.Key_F2)
    (made,) = panel.view.viewport().findChildren(ConditionEditor)
    return made


def commit(panel: BreakpointsPanel, made: QWidget) -> None:
    panel.view.commitData(made)
    panel.view.closeEditor(made, panel.view.itemDelegate().EndEditHint.NoHint)


@pytest.mark.feature(62)
def test_f9_fills_a_row_and_delete_removes_it(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    item = add("torch.randn")
    session.debug.toggle(item)
    assert (text(panel, 0, CONDITION), text(panel, 0, DOES), text(panel, 0, HITS)) == ("always", "pauses", "0")
    panel.view.selectRow(0)
    QTest.keyClick(panel.view, Qt.Key.Key_Delete)
    assert session.debug.breakpoints == ()


def test_where_says_the_node_or_the_wire_and_which_way(session: Session, add: Add) -> None:
    graph = session.graph_store.graph
    source, target = add("torch.randn"), add("torch.sin")
    name, other = graph.nodes[source].names[0], graph.nodes[target].names[0]
    assert place_words(Breakpoint(id="a", node=source), graph) == f"before {name}"
    assert place_words(Breakpoint(id="a", node=source, place="after", output=1), graph) == f"after {name} [1]"
    wire = Breakpoint(id="a", node=source, place="after", phase="backward", target=target, port="input")
    assert place_words(wire, graph) == f"{name} → {other}.input, backward"
    assert place_words(Breakpoint(id="a", node=ItemId("")), graph) == "anywhere, forward"


def test_the_box_switches_it_off(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    session.debug.toggle(add("torch.randn"))
    panel.model.setData(panel.model.index(0, WHERE), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    assert session.debug.active == ()


@pytest.mark.feature(63)
def test_a_click_makes_it_a_watch(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    session.debug.toggle(add("torch.randn"))
    at = panel.view.visualRect(panel.model.index(0, DOES)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not session.debug.breakpoints[0].stops
    assert text(panel, 0, DOES) == "watches"


@pytest.mark.feature(62)
def test_a_condition_is_typed_in_its_row(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    made.kind.setCurrentIndex(made.kind.findData("above"))
    made.field.clear()
    QTest.keyClicks(made.field, "2.5")
    commit(panel, made)
    assert session.debug.breakpoints[0].condition == Condition(kind="above", number=2.5)
    assert text(panel, 0, CONDITION) == "largest magnitude > 2.5"


def test_what_cannot_be_read_is_red_and_changes_nothing(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    made.kind.setCurrentIndex(made.kind.findData("shape_differs"))
    made.field.setText("2, three")
    assert made.field.property("invalid") is True
    assert panel.trouble.text() == "Type sizes, for example 2, 3."
    commit(panel, made)
    assert session.debug.breakpoints[0].condition == Condition()


def test_a_condition_is_picked_and_typed_with_the_keyboard_and_taken_by_enter(
    panel: BreakpointsPanel, session: Session, add: Add, qtbot: QtBot
) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    qtbot.waitUntil(made.kind.hasFocus)
    made.kind.setCurrentIndex(made.kind.findData("above"))
    made.kind.activated.emit(made.kind.currentIndex())
    assert made.field.hasFocus() and made.field.property("invalid") is False and not panel.trouble.isVisible()
    assert made.field.width() >= 60, "there is room for a number"
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    assert made.field.property("invalid") is True and session.debug.breakpoints[0].condition == Condition()
    QTest.keyClicks(made.field, "10")
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    assert session.debug.breakpoints[0].condition == Condition(kind="above", number=10.0)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)  # a popup, without a screen
def test_a_kind_of_condition_is_picked_from_the_list_with_the_mouse(
    panel: BreakpointsPanel, session: Session, add: Add, qtbot: QtBot
) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    qtbot.waitUntil(made.kind.hasFocus)
    QTest.mouseClick(made.kind, Qt.MouseButton.LeftButton)
    choices = made.kind.view()
    qtbot.waitUntil(lambda: choices.isVisible() and choices.hasFocus())
    looked: list[bool] = []
    QTimer.singleShot(LATER_MS + 1, panel, lambda: looked.append(True))  # after what looks who has the keyboard
    qtbot.waitUntil(lambda: bool(looked))
    assert made.isVisible() and choices.isVisible()
    row = choices.visualRect(made.kind.model().index(made.kind.findData("above"), 0)).center()
    with qtbot.waitSignal(made.kind.activated):
        QTest.mousePress(choices.viewport(), Qt.MouseButton.LeftButton, pos=row)
        QTest.mouseMove(choices.viewport(), row)
        QTest.mouseRelease(choices.viewport(), Qt.MouseButton.LeftButton, pos=row, delay=300)
    qtbot.waitUntil(made.field.hasFocus)
    QTest.keyClicks(made.field, "10")
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    assert session.debug.breakpoints[0].condition == Condition(kind="above", number=10.0)


def test_arrows_walk_the_kinds_tab_goes_to_the_number_and_leaving_takes_it(
    panel: BreakpointsPanel, session: Session, add: Add, qtbot: QtBot
) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    qtbot.waitUntil(made.kind.hasFocus)
    for _ in range(3):
        QTest.keyClick(made.kind, Qt.Key.Key_Down)
    assert made.kind.currentData() == "below" and made.kind.hasFocus()
    QTest.keyClick(made.kind, Qt.Key.Key_Tab)
    assert made.field.hasFocus()
    QTest.keyClicks(made.field, "2")
    panel.view.setFocus()
    qtbot.waitUntil(lambda: session.debug.breakpoints[0].condition == Condition(kind="below", number=2.0))


def test_keys_of_the_condition_are_not_the_windows(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    for part in (made.kind, made.field):
        typed = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        typed.ignore()
        assert made.eventFilter(part, typed) and typed.isAccepted()
    run = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    run.ignore()
    assert not made.eventFilter(made.field, run) and not run.isAccepted()


def test_the_row_at_which_the_run_has_paused_says_so(
    panel: BreakpointsPanel, session: Session, add: Add, dark: Theme
) -> None:
    session.debug.toggle(add("torch.randn"))
    session.run.status.set(hit=session.debug.breakpoints[0].id, outcome="breakpoint")
    assert text(panel, 0, DOES) == "paused here"
    assert panel.model.index(0, WHERE).data(Qt.ItemDataRole.BackgroundRole) == dark.color("past")
    session.run.status.set(hit="")
    assert text(panel, 0, DOES) == "pauses"


def test_an_expression_that_is_none_stays_red_in_its_row_with_the_reason(
    panel: BreakpointsPanel, session: Session, add: Add, dark: Theme
) -> None:
    session.debug.add(
        Breakpoint(id="b", node=add("torch.randn"), condition=Condition(kind="expression", text="nrm > 1"))
    )
    index = panel.model.index(0, CONDITION)
    assert index.data(Qt.ItemDataRole.ForegroundRole) == dark.color("danger")
    assert "nrm" in index.data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("typed", ["norm >", "nrm > 1", "", "import os"])
def test_an_expression_that_is_none_is_not_taken_and_the_reason_is_said(
    panel: BreakpointsPanel, session: Session, add: Add, qtbot: QtBot, typed: str
) -> None:
    session.debug.toggle(add("torch.randn"))
    made = editor(panel, 0)
    qtbot.waitUntil(made.kind.hasFocus)
    made.kind.setCurrentIndex(made.kind.findData("expression"))
    QTest.keyClicks(made.field, typed)
    QTest.keyClick(made.field, Qt.Key.Key_Return)
    assert made.isVisible() and made.field.property("invalid") is True
    assert panel.trouble.isVisible() and panel.trouble.text()
    panel.view.setFocus()
    qtbot.waitUntil(lambda: not panel.view.viewport().findChildren(ConditionEditor))
    assert session.debug.breakpoints[0].condition == Condition()


@pytest.mark.feature(63)
def test_hits_and_the_last_value_are_shown(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    item = add("torch.randn")
    session.debug.toggle(item)
    (made,) = session.debug.breakpoints
    session.debug.add_hit(Hit(breakpoint=made.id, node=item, step=4, summary=summary(2.5)))
    assert text(panel, 0, HITS) == "1"
    assert "2.5" in str(text(panel, 0, LAST))


def test_a_double_click_goes_to_the_node(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    item = add("torch.randn")
    session.debug.toggle(item)
    session.attention.select(())
    at = panel.view.visualRect(panel.model.index(0, WHERE)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseDClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert session.attention.selection == {item}


def test_the_button_is_for_the_selected_node(panel: BreakpointsPanel, session: Session, add: Add) -> None:
    assert not panel.add_button.isEnabled()
    item = add("torch.randn")
    session.attention.select([item])
    assert panel.add_button.isEnabled()
    actions = [action for action in panel.add_button.menu().actions() if not action.isSeparator()]
    actions[2].trigger()
    (made,) = session.debug.breakpoints
    assert (made.node, made.phase, made.place) == (item, "backward", "before")
