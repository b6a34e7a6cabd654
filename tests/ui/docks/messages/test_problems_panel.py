"""The Problems dock under a person's hand: rows, jumps, fixes, filters."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed, Warned
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.docks.messages.message_model import LONGEST_NAME, name_of
from gradstudio.ui.docks.messages.message_view import LINE_PX
from gradstudio.ui.docks.messages.problems_panel import ProblemsPanel
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add

WORDS = "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> ProblemsPanel:
    made = ProblemsPanel(session, dark)
    qtbot.addWidget(made)
    made.resize(700, 260)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.fixture
def product(session: Session, add: Add) -> ItemId:
    """``a @ b`` of two matrices of shape (2, 3), which failed."""
    a, b = add("torch.randn", size="(2, 3)"), add("torch.randn", size="(2, 3)")
    item = add("operator.matmul")
    for source, port in ((a, "a"), (b, "b")):
        assert session.graph_store.attempt(recipes.connect, "Connect", source, 0, item, port)
    tensor = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2, 3)))
    failed = Failed(
        revision=1, node=item, address="y", line=5, type_name="RuntimeError", message=WORDS,
        operands=(("a", tensor), ("b", tensor)),
    )  # fmt: skip
    session.results.tables.add_failure(Failure(failed, "Inner sizes differ. Here a is (2, 3)."))
    session.results.tables.add_warning(Warned(node=a, line=1, category="UserWarning", message="careful"))
    return item


def rows(panel: ProblemsPanel) -> list[tuple[str, str]]:
    return [(entry.severity, entry.text) for entry in panel.model.entries]


def click(panel: ProblemsPanel, row: int) -> None:
    place = panel.view.visualRect(panel.model.index(row, 0)).topLeft()
    QTest.mouseClick(
        panel.view.viewport(), LEFT, NONE, place + panel.view.fontMetrics().boundingRect("xx").bottomRight()
    )


@pytest.mark.feature(67)
def test_problems_are_counted_and_a_click_goes_to_the_node(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, product: ItemId
) -> None:
    qtbot.waitUntil(lambda: len(rows(panel)) == 2)
    assert rows(panel) == [("error", "Inner sizes differ."), ("warning", "UserWarning: careful")]
    other = session.problems.problems[1].node
    click(panel, 1)
    assert session.attention.current == other
    panel.view.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_Up)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert session.attention.current == product


def test_a_failure_is_unfolded_with_both_words_and_its_fixes(
    qtbot: QtBot, panel: ProblemsPanel, product: ItemId
) -> None:
    qtbot.waitUntil(lambda: panel.view.details is not None)
    details = panel.view.details
    assert details is not None
    assert details.explanation.text() == "Here a is (2, 3)."
    assert details.words.text() == f"RuntimeError: {WORDS}"
    assert all(button.accessibleName().startswith("Fix: Transpose") for button in details.fixes.buttons)


def test_a_press_on_a_fix_is_one_undo_step_with_its_title(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, product: ItemId
) -> None:
    qtbot.waitUntil(lambda: panel.view.details is not None)
    assert panel.view.details is not None
    button = panel.view.details.fixes.buttons[0]
    title, count = button.title, session.graph_store.undo_stack.count()
    QTest.mouseClick(button, LEFT)
    stack = session.graph_store.undo_stack
    assert (stack.count(), stack.undoText()) == (count + 1, title)


def test_the_tab_key_goes_from_the_rows_to_the_fixes(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, product: ItemId
) -> None:
    qtbot.waitUntil(lambda: panel.view.details is not None)
    panel.activateWindow()
    panel.view.setFocus()
    qtbot.waitUntil(panel.view.hasFocus)
    QTest.keyClick(panel.view, Qt.Key.Key_Tab)
    assert panel.view.details is not None
    button = panel.view.details.fixes.buttons[0]
    assert QApplication.focusWidget() is button
    count = session.graph_store.undo_stack.count()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert session.graph_store.undo_stack.count() == count + 1


def test_a_severity_can_be_hidden_and_the_empty_list_says_so(
    qtbot: QtBot, panel: ProblemsPanel, product: ItemId
) -> None:
    qtbot.waitUntil(lambda: len(panel.model.entries) == 2)
    assert panel.filters["warning"].text() == "1 warning"
    QTest.mouseClick(panel.filters["warning"], LEFT)
    assert [severity for severity, _ in rows(panel)] == ["error"]
    QTest.mouseClick(panel.filters["error"], LEFT)
    assert not rows(panel) and "2 problems are hidden" in panel.view._empty.text()


def test_copy_takes_the_words_of_both(qtbot: QtBot, panel: ProblemsPanel, product: ItemId) -> None:
    qtbot.waitUntil(lambda: panel.view.details is not None)
    panel.view.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert "Here a is (2, 3)." in copied and WORDS in copied


def test_a_node_that_cannot_run_is_a_problem_until_it_can(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, add: Add
) -> None:
    add("torch.exp")
    qtbot.waitUntil(lambda: [severity for severity, _ in rows(panel)] == ["warning"])
    session.graph_store.undo_stack.undo()
    qtbot.waitUntil(lambda: not panel.model.entries)


def test_the_inspector_offers_the_same_fixes(qtbot: QtBot, session: Session, dark: Theme, product: ItemId) -> None:
    inspector = InspectorPanel(session, dark)
    qtbot.addWidget(inspector)
    inspector.resize(320, 600)
    inspector.show()
    session.attention.select((product,))
    qtbot.waitUntil(lambda: bool(inspector.details.trouble.fixes.buttons))
    button, count = inspector.details.trouble.fixes.buttons[0], session.graph_store.undo_stack.count()
    QTest.mouseClick(button, LEFT)
    assert session.graph_store.undo_stack.count() == count + 1


def test_in_a_low_and_wide_dock_words_and_fixes_stand_beside_the_list_in_sight(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, product: ItemId
) -> None:
    panel.resize(750, 115)
    qtbot.waitUntil(lambda: panel.view.compact and panel.details is not None)
    details = panel.details
    assert details is not None and panel.view.details is None
    qtbot.waitUntil(lambda: details.isVisible() and details.fixes.buttons[0].isVisible())
    assert details.title.text() == "Inner sizes differ."
    for part in (details.title, details.explanation, details.fixes.buttons[0]):
        assert part.visibleRegion().boundingRect().size() == part.size(), "whole, without scrolling"
    count = session.graph_store.undo_stack.count()
    QTest.mouseClick(details.fixes.buttons[0], LEFT)
    assert session.graph_store.undo_stack.count() == count + 1


def test_until_one_is_selected_the_titles_have_the_whole_width_of_a_low_dock(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, add: Add
) -> None:
    session.results.tables.add_warning(
        Warned(node=add("torch.ones"), line=1, category="UserWarning", message="careful")
    )
    panel.resize(750, 115)
    qtbot.waitUntil(lambda: panel.view.compact and bool(rows(panel)) and panel.view.width() == panel.width())
    assert not panel.beside.isVisible()
    click(panel, 0)
    qtbot.waitUntil(lambda: panel.beside.isVisible() and panel.view.width() < panel.width() // 2)
    assert panel.details is not None and panel.details.title.text() == "UserWarning: careful"


def test_a_dock_that_grows_unfolds_the_details_below_their_row(
    qtbot: QtBot, panel: ProblemsPanel, product: ItemId
) -> None:
    panel.resize(750, 115)
    qtbot.waitUntil(lambda: panel.view.compact and panel.details is not None)
    panel.resize(750, 400)
    qtbot.waitUntil(lambda: panel.view.details is not None)
    assert not panel.beside.isVisible() and panel.details is panel.view.details


def test_the_words_of_an_empty_list_wrap(qtbot: QtBot, panel: ProblemsPanel) -> None:
    panel.resize(330, 300)
    words = panel.view._empty
    qtbot.waitUntil(lambda: words.width() < 330)
    assert words.height() >= 2 * words.fontMetrics().lineSpacing()


def test_a_long_title_in_a_low_dock_takes_the_lines_it_needs(
    qtbot: QtBot, session: Session, panel: ProblemsPanel, add: Add
) -> None:
    message = "the sizes of input and target differ, " * 6 + "a" * 120
    session.results.tables.add_warning(Warned(node=add("torch.ones"), line=1, category="UserWarning", message=message))
    panel.resize(750, 160)
    qtbot.waitUntil(lambda: panel.view.compact and bool(rows(panel)))
    assert panel.view.sizeHintForRow(0) > LINE_PX
    click(panel, 0)
    qtbot.waitUntil(lambda: panel.beside.isVisible())
    assert panel.details is not None
    title = panel.details.title
    area = title.parentWidget()
    assert area is not None
    qtbot.waitUntil(lambda: area.width() == area.parentWidget().width())  # nothing lies below the scroll bar


def test_a_card_with_many_names_leaves_room_for_what_is_said() -> None:
    names = ", ".join(f"name_{k}" for k in range(30))
    graph = read_script(f"import torch\n{names} = sorted(globals())[:30]\n", keeps_code=True).graph
    (item,) = graph.nodes
    assert len(name_of(graph, item)) <= LONGEST_NAME
    assert name_of(graph, item).endswith("…")
