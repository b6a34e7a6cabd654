"""The History dock: the steps of a document, gone through by mouse and keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.protocol.messages.events import Row
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.history_panel import HistoryPanel
from tests.ui.conftest import Add


def texts(panel: HistoryPanel) -> list[str]:
    return [panel.list.item(number).text() for number in range(panel.list.count())]


def click(panel: HistoryPanel, number: int) -> None:
    place = panel.list.visualItemRect(panel.list.item(number)).center()
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


def add_three(window: MainWindow) -> None:
    store = window.session.graph_store
    for name in ("ones", "zeros", "eye"):
        edits, _ = recipes.add_operator(store.graph, f"torch.{name}", 0, 0)
        store.submit(edits, f"Add {name}")


@pytest.mark.feature(32)
def test_a_click_in_the_history_goes_back_and_forth(qtbot: QtBot, window: MainWindow) -> None:
    add_three(window)
    window.actions["edit.history"].trigger()
    qtbot.waitUntil(lambda: texts(window.history) == ["New document", "Add ones", "Add zeros", "Add eye"])
    graph = window.session.graph_store.graph
    click(window.history, 1)
    assert len(graph.nodes) == 1
    qtbot.waitUntil(lambda: window.history.list.item(1).font().bold() and window.history.list.item(3).font().italic())
    assert len(texts(window.history)) == 4
    click(window.history, 3)
    assert len(graph.nodes) == 3
    QTest.keyClick(window.history.list, Qt.Key.Key_Home)
    assert not graph.nodes
    QTest.keyClick(window.history.list, Qt.Key.Key_Down)
    assert len(graph.nodes) == 1


@pytest.mark.feature(32)
def test_undo_moves_the_mark_and_another_step_forgets_what_was_taken_back(
    qtbot: QtBot, window: MainWindow, add: Add
) -> None:
    add_three(window)
    window.actions["edit.undo"].trigger()
    qtbot.waitUntil(lambda: window.history.list.currentRow() == 2)
    add("torch.arange")
    qtbot.waitUntil(lambda: texts(window.history) == ["New document", "Add ones", "Add zeros", "Add"])


@pytest.mark.feature(32)
def test_results_stay_when_a_person_goes_back(qtbot: QtBot, window: MainWindow, add: Add) -> None:
    item = add("torch.ones")
    window.session.results.tables.add_rows((Row(step=1, node=item, outputs=()),))
    add_three(window)
    qtbot.waitUntil(lambda: len(texts(window.history)) == 5)
    for row in (1, 4):
        click(window.history, row)
        assert window.session.results.row(item) is not None


@pytest.mark.feature(32)
def test_the_history_is_of_the_document_in_front(qtbot: QtBot, window: MainWindow) -> None:
    add_three(window)
    first = window.history
    window.actions["file.new"].trigger()
    assert texts(window.history) == ["New document"] and window.history is not first
    assert window.frame.docks["history"].widget().front is window.history
    window.actions["view.next_tab"].trigger()
    qtbot.waitUntil(lambda: len(texts(window.history)) == 4)
