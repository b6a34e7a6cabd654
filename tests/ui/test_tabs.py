"""Several documents in tabs, by mouse and keys: opened, gone through, reordered, closed, brought back."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QTabBar, QToolButton
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.document.file import load, save
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.events import Memory
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.settings import Settings
from tests.ui.app.window.test_main_window import press, when_asked, when_asked_for_a_file
from tests.ui.gestures import counting

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
Button = QMessageBox.StandardButton


def key(window: MainWindow, which: Qt.Key, modifiers: Qt.KeyboardModifier = CTRL) -> None:
    """Press a key where the focus is."""
    QTest.keyClick(QApplication.focusWidget() or window.canvas, which, modifiers)


def tab_place(window: MainWindow, number: int) -> QPoint:
    return window.strip.bar.tabRect(number).center()


def click_tab(window: MainWindow, number: int, button: Qt.MouseButton = Qt.MouseButton.LeftButton) -> None:
    QTest.mouseClick(window.strip.bar, button, Qt.KeyboardModifier.NoModifier, tab_place(window, number))


def titles(window: MainWindow) -> list[str]:
    return [window.strip.bar.tabText(number) for number in range(window.strip.bar.count())]


def add_node(window: MainWindow, operator: str = "torch.randn") -> None:
    store = window.session.graph_store
    edits, _ = recipes.add_operator(store.graph, operator, 0, 0)
    store.submit(edits, f"Add {operator}")


def operators(window: MainWindow) -> list[str]:
    return [str(node.operator) for node in window.session.graph_store.graph.nodes.values()]


@pytest.fixture
def ready(qtbot: QtBot, window: MainWindow) -> MainWindow:
    window.frame.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is window.canvas)
    return window


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three documents of one node each."""
    made = []
    for name, operator in (("one", "torch.ones"), ("two", "torch.zeros"), ("three", "torch.eye")):
        graph = Graph()
        edits, _ = recipes.add_operator(graph, operator, 0, 0)
        apply_all(graph, edits)
        made.append(tmp_path / f"{name}.gsg")
        save(graph, made[-1])
    return made


@pytest.mark.feature(56)
def test_with_ctrl_n_there_are_two_documents_and_keys_go_from_one_to_the_other(ready: MainWindow) -> None:
    assert ready.strip.isHidden()
    add_node(ready, "torch.ones")
    key(ready, Qt.Key.Key_N)
    assert not ready.strip.isHidden() and titles(ready) == ["Untitled  ●", "Untitled 2"]
    assert operators(ready) == []
    add_node(ready, "torch.zeros")
    key(ready, Qt.Key.Key_Tab)
    assert operators(ready) == ["torch.ones"]
    assert ready.frame.windowTitle().startswith("Untitled[*]")
    key(ready, Qt.Key.Key_PageDown)
    assert operators(ready) == ["torch.zeros"]
    key(ready, Qt.Key.Key_PageUp)
    assert operators(ready) == ["torch.ones"]


@pytest.mark.feature(56)
def test_undo_and_every_panel_belong_to_the_document_in_front(ready: MainWindow) -> None:
    add_node(ready, "torch.ones")
    assert ready.actions["edit.undo"].isEnabled()
    key(ready, Qt.Key.Key_N)
    assert not ready.actions["edit.undo"].isEnabled()
    for dock in ("inspector", "code", "log", "problems", "memory", "breakpoints", "documentation"):
        ready.frame.docks.bring_forward(dock)
        assert ready.frame.docks[dock].widget().front is ready.room.panels[dock]
    add_node(ready, "torch.zeros")
    click_tab(ready, 0)
    key(ready, Qt.Key.Key_Z)
    assert operators(ready) == []
    click_tab(ready, 1)
    assert operators(ready) == ["torch.zeros"]


@pytest.mark.feature(56)
def test_a_file_that_is_open_is_not_opened_twice(ready: MainWindow, files: list[Path]) -> None:
    for path in files[:2]:
        assert ready.file.open_path(path)
    assert titles(ready) == ["one.gsg", "two.gsg"]  # the first, untouched document gave way
    assert ready.file.open_path(files[0])
    assert ready.session.path == files[0] and len(titles(ready)) == 2
    assert ready.strip.bar.tabToolTip(1) == str(files[1])


@pytest.mark.feature(56)
def test_a_tab_is_dragged_to_another_place_and_moved_with_commands(ready: MainWindow, files: list[Path]) -> None:
    for path in files:
        ready.file.open_path(path)
    bar, left = ready.strip.bar, Qt.MouseButton.LeftButton
    start, end = tab_place(ready, 0), tab_place(ready, 2)
    QTest.mousePress(bar, left, Qt.KeyboardModifier.NoModifier, start)
    for step in range(1, 11):
        QTest.mouseMove(bar, start + (end - start) * step / 10 + QPoint(step, 0))
    QTest.mouseRelease(bar, left, Qt.KeyboardModifier.NoModifier, end + QPoint(10, 0))
    assert titles(ready) == ["two.gsg", "three.gsg", "one.gsg"]
    assert [tab.session.title for tab in ready.documents.tabs] == titles(ready)
    assert ready.session.path == files[0]
    ready.actions["view.tab_left"].trigger()
    assert titles(ready) == ["two.gsg", "one.gsg", "three.gsg"]


@pytest.mark.feature(56)
def test_ctrl_w_closes_and_ctrl_shift_t_brings_back_what_was_not_saved(qtbot: QtBot, ready: MainWindow) -> None:
    key(ready, Qt.Key.Key_N)
    add_node(ready, "torch.eye")
    words = when_asked(qtbot, press(Button.Discard))
    key(ready, Qt.Key.Key_W)
    assert "Untitled 2" in words[0] and operators(ready) == [] and ready.strip.isHidden()
    ready.frame.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is ready.canvas)
    key(ready, Qt.Key.Key_T, CTRL | SHIFT)
    assert operators(ready) == ["torch.eye"] and not ready.session.graph_store.is_clean
    assert len(ready.documents.tabs) == 2


@pytest.mark.feature(56)
def test_the_middle_button_and_the_cross_close_a_tab_and_the_last_leaves_an_empty_document(
    ready: MainWindow, files: list[Path]
) -> None:
    for path in files:
        ready.file.open_path(path)
    click_tab(ready, 1, Qt.MouseButton.MiddleButton)
    assert titles(ready) == ["one.gsg", "three.gsg"]
    cross = ready.strip.bar.tabButton(0, QTabBar.ButtonPosition.RightSide)
    QTest.mouseClick(cross, Qt.MouseButton.LeftButton)
    assert titles(ready) == ["three.gsg"] and ready.session.path == files[2]
    key(ready, Qt.Key.Key_W)
    assert ready.session.path is None and len(ready.documents.tabs) == 1
    for path in (files[2], files[0], files[1]):
        key(ready, Qt.Key.Key_T, CTRL | SHIFT)
        assert ready.session.path == path


@pytest.mark.feature(56)
def test_the_menu_of_a_tab_copies_its_path_and_closes_the_others(ready: MainWindow, files: list[Path]) -> None:
    for path in files:
        ready.file.open_path(path)
    menu = ready.strip.menu_of(ready.documents.tabs[1])
    entries = {action.text(): action for action in menu.actions()}
    entries["Copy path"].trigger()
    assert QApplication.clipboard().text() == str(files[1])
    entries["Close others"].trigger()
    assert ready.session.path == files[1] and len(ready.documents.tabs) == 1


@pytest.mark.feature(56)
def test_the_plus_beside_the_tabs_opens_one_more(ready: MainWindow) -> None:
    key(ready, Qt.Key.Key_N)
    QTest.mouseClick(ready.strip.plus, Qt.MouseButton.LeftButton)
    assert len(titles(ready)) == 3 and ready.documents.place == 2


@pytest.mark.feature(56)
def test_closing_the_window_asks_once_about_all_that_is_not_saved(
    qtbot: QtBot, ready: MainWindow, files: list[Path], tmp_path: Path
) -> None:
    for path in files[:2]:
        ready.file.open_path(path)
        add_node(ready, "torch.arange")
    words = when_asked(qtbot, press(Button.Cancel))
    assert not ready.frame.close()
    assert "2 documents" in words[0] and "one.gsg" in words[0] and "two.gsg" in words[0]
    when_asked(qtbot, press(Button.SaveAll))
    assert ready.frame.close()
    assert [len(load(path).nodes) for path in files[:2]] == [2, 2]


@pytest.mark.feature(56)
def test_cancel_in_one_file_dialog_keeps_the_window_open(qtbot: QtBot, ready: MainWindow, tmp_path: Path) -> None:
    add_node(ready)
    key(ready, Qt.Key.Key_N)
    add_node(ready)
    when_asked(qtbot, press(Button.Discard))
    assert ready.frame.close()
    assert not any(tmp_path.glob("*.gsg"))


@pytest.mark.feature(77)
def test_every_file_that_is_dropped_on_the_window_is_a_tab(qtbot: QtBot, ready: MainWindow, files: list[Path]) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in files])
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(5, 5), action, mime, button, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(ready.frame, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(5, 5), action, mime, button, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(ready.frame, drop)
    qtbot.waitUntil(lambda: titles(ready) == ["one.gsg", "two.gsg", "three.gsg"])
    mime.setUrls([QUrl.fromLocalFile(str(files[0].with_suffix(".txt")))])
    other = QDragEnterEvent(QPoint(5, 5), action, mime, button, Qt.KeyboardModifier.NoModifier)
    other.ignore()
    QApplication.sendEvent(ready.frame, other)
    assert not other.isAccepted()


@pytest.mark.feature(74)
def test_a_recent_file_opens_in_a_tab_of_its_own(ready: MainWindow, files: list[Path], settings: Settings) -> None:
    add_node(ready)
    assert ready.file.open_path(files[0])
    ready.file.open_path(files[1])
    ready.documents.close()
    menu = next(action.menu() for action in ready.frame.menus["File"].actions() if action.text() == "Open recent")
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if "two.gsg" in action.text()).trigger()
    assert ready.session.path == files[1] and titles(ready)[0] == "Untitled  ●"


def test_titles_of_many_tabs_can_be_read_and_the_row_scrolls(ready: MainWindow) -> None:
    ready.frame.resize(1280, 800)
    for _ in range(13):
        key(ready, Qt.Key.Key_N)
        add_node(ready)
    QApplication.processEvents()
    bar = ready.strip.bar
    letters = bar.fontMetrics().averageCharWidth() * 8
    for number in range(bar.count()):
        room = bar.tabRect(number).width() - 32 - 22
        assert room >= min(letters, bar.fontMetrics().horizontalAdvance(bar.tabText(number))), number
    assert any(
        button.isVisible()
        for button in bar.findChildren(QToolButton)
        if button.parent() is bar and button.arrowType() != Qt.ArrowType.NoArrow
    )
    assert bar.width() <= ready.strip.width()


def test_a_hidden_document_has_no_room_until_it_is_shown(ready: MainWindow, files: list[Path]) -> None:
    ready.file.open_path(files[0])
    assert ready.documents.open(files[1], show=False) is None
    assert len(ready.rooms) == 1 and len(titles(ready)) == 2
    click_tab(ready, 1)
    assert len(ready.rooms) == 2 and operators(ready) == ["torch.zeros"]


def test_save_as_names_the_tab(ready: MainWindow, tmp_path: Path) -> None:
    key(ready, Qt.Key.Key_N)
    add_node(ready)
    when_asked_for_a_file(tmp_path / "mine")
    key(ready, Qt.Key.Key_S)
    assert titles(ready)[1] == "mine.gsg"


def test_a_theme_is_taken_up_by_all_that_are_open(ready: MainWindow) -> None:
    key(ready, Qt.Key.Key_N)
    ready.actions["view.theme_light"].trigger()
    assert ready.canvas.canvas_style.theme.name == "light"
    click_tab(ready, 0)
    assert {room.canvas.canvas_style.theme.name for room in ready.rooms} == {"light"}
    key(ready, Qt.Key.Key_N)
    assert ready.canvas.canvas_style.theme.name == "light"


def test_memory_of_another_tabs_run_is_not_shown_as_ones_own(window: MainWindow) -> None:
    first = window.documents.current
    first.session.run.state_changed.emit(RunState(busy=True, verb="run"))
    window.actions["file.new"].trigger()
    memory = window.documents.current.session.memory
    memory.add(Memory(1.0, "cpu", {"tensors": 4096, "process": 10**8}))
    assert memory.names == ("process",)
    window.documents.current.session.run.state_changed.emit(RunState(busy=True, verb="run"))
    assert memory.names == ("tensors", "process")
    assert not first.session.memory.of_others


def test_what_is_left_of_another_tabs_run_is_not_drawn_before_ones_own_begins(window: MainWindow) -> None:
    client = window.session.engine.client
    client.exchange.runner = window.session.engine
    client.received.emit(Memory(1.0, "cpu", {"tensors": 1, "process": 7}, "Run"))
    window.actions["file.new"].trigger()
    own = window.session
    client.exchange.holder = client.exchange.runner = own.engine  # loaded and asked to run, which has not begun
    own.run.state_changed.emit(RunState(busy=True, verb="run"))
    client.received.emit(Memory(2.0, "cpu", {"tensors": 2**27, "process": 8}))
    client.received.emit(Memory(3.0, "cpu", {"tensors": 5, "process": 8}, "Run"))
    bytes_shown = own.memory.series("tensors")
    assert own.memory.marks == [(1.0, "Run 1")]
    assert bytes_shown[~np.isnan(bytes_shown)].tolist() == [5.0]


def test_a_sample_of_memory_is_heard_where_it_is_seen_and_by_what_runs_alone(window: MainWindow) -> None:
    heard = list[int]()
    for _ in range(3):
        window.actions["file.new"].trigger()
    tabs = window.documents.tabs
    for number, tab in enumerate(tabs):
        tab.session.engine.received.connect(lambda _, number=number: heard.append(number))
    client = window.session.engine.client
    client.received.emit(Memory(1.0, "cpu", {"process": 10**8}))
    assert heard == [len(tabs) - 1]
    heard.clear()
    client.exchange.runner = tabs[1].session.engine
    client.received.emit(Memory(1.1, "cpu", {"process": 10**8}))
    assert heard == [1, len(tabs) - 1]


def test_an_edit_lays_out_the_tabs_once_however_many_there_are(window: MainWindow) -> None:
    for _ in range(11):
        window.actions["file.new"].trigger()
        add_node(window)
    window.actions["file.new"].trigger()
    with counting() as calls:
        add_node(window)
    assert calls.by_function["/ui/app/window/tab_strip.py", "minimumTabSizeHint"] <= 3 * len(window.documents.tabs)
    with counting() as calls:
        window.documents.step(1)
    assert calls.by_function["/ui/app/window/tab_strip.py", "minimumTabSizeHint"] <= 3 * len(window.documents.tabs)


def test_what_was_refused_is_not_said_over_a_run(window: MainWindow) -> None:
    add_node(window)
    window.canvas.refuse("A tensor does not fit here.")
    assert window.canvas.bubble.isVisibleTo(window.canvas)
    window.session.run.state_changed.emit(RunState(busy=True, verb="run"))
    assert not window.canvas.bubble.isVisibleTo(window.canvas)


def test_new_at_the_welcome_page_takes_the_empty_document_below_it(window: MainWindow) -> None:
    window.learning.greeting.show()
    window.actions["file.new"].trigger()
    assert len(window.documents.tabs) == 1 and not window.learning.greeting.is_shown
    assert window.session.title == "Untitled"
    window.actions["file.new"].trigger()
    assert [tab.session.title for tab in window.documents.tabs] == ["Untitled", "Untitled 2"]


def test_an_example_takes_an_empty_tab_and_no_other(ready: MainWindow) -> None:
    first, second = sorted(paths.examples().glob("*.gsg"))[:2]
    ready.file.open_example(first)
    assert len(ready.documents.tabs) == 1
    graph = ready.session.graph_store.graph
    ready.file.open_example(second)
    assert len(ready.documents.tabs) == 2 and ready.documents.tabs[0].session.graph_store.graph is graph
