"""Keys and the Library about adding, in the whole window."""

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.settings import Settings
from tests.ui.conftest import Add
from tests.ui.test_keys_of_panels import focus, press

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.mark.feature(1)
@pytest.mark.parametrize(("key", "keys"), [(Key.Key_A, SHIFT), (Key.Key_Space, CONTROL)])
def test_the_search_opens_by_its_shortcuts(window: MainWindow, key: Qt.Key, keys: Qt.KeyboardModifier) -> None:
    focus(window, window.canvas)
    press(key, keys)
    assert window.canvas.searching.popup is not None
    window.canvas.searching.close()


@pytest.mark.feature(8)
def test_search_and_preview_stay_in_a_window_whose_canvas_is_small(window: MainWindow) -> None:
    focus(window, window.canvas)
    press(Key.Key_Tab)
    popup = window.canvas.searching.popup
    assert popup is not None
    popup.field.setText("conv2d")
    room = window.frame.rect()
    assert room.contains(popup.geometry())
    assert popup.preview.isVisible() and room.contains(popup.preview.geometry())
    assert not popup.preview.geometry().intersects(popup.geometry())
    window.canvas.searching.close()


@pytest.mark.feature(13)
def test_ctrl_r_replaces_the_selected_operator(window: MainWindow, add: Add) -> None:
    item = add("torch.relu")
    focus(window, window.canvas)
    window.session.attention.select([item])
    press(Key.Key_R, CONTROL)
    popup = window.canvas.searching.popup
    assert popup is not None
    QTest.keyClicks(popup.field, "tanh")
    QTest.keyClick(popup.field, Key.Key_Return)
    assert window.session.graph_store.graph.nodes[item].operator == "torch.tanh"


@pytest.mark.feature(45)
def test_ctrl_alt_r_resets_what_is_selected(window: MainWindow, add: Add) -> None:
    item = add("torch.randn", size="(9, 9)")
    focus(window, window.canvas)
    window.session.attention.select([item])
    press(Key.Key_R, CONTROL | ALT)
    assert not recipes.changed_arguments(window.session.graph_store.graph, item)


@pytest.mark.feature(9)
def test_a_double_click_in_the_library_hangs_the_operator_at_the_cursor(window: MainWindow) -> None:
    window.library.field.setText("relu")
    tree = window.library.tree
    place = tree.visualRect(tree.currentIndex()).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    store, view = window.session.graph_store, window.canvas.viewport()
    assert not store.graph.nodes and window.canvas.ghost.key
    at = QPointF(view.rect().center())
    none = Qt.MouseButton.NoButton
    move = QMouseEvent(QEvent.Type.MouseMove, at, view.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view, move)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert len(store.graph.nodes) == 1 and not window.canvas.ghost.key


@pytest.mark.feature(9)
def test_whoever_wants_no_ghosts_says_so_once(window: MainWindow, settings: Settings) -> None:
    window.actions["graph.ghost"].trigger()
    assert not window.shelf.carries and not Settings(settings.folder).preferences.ghost_placing
    window.actions["graph.ghost"].trigger()


@pytest.mark.feature(4)
def test_habits_are_kept_for_the_next_time(window: MainWindow, add: Add, settings: Settings, qtbot: QtBot) -> None:
    x, y = add("torch.randn"), add("torch.erf")
    assert window.session.graph_store.attempt(recipes.connect, "Wire", x, 0, y, "input")
    qtbot.waitUntil(lambda: ("torch.randn", "torch.erf", 1.0) in Settings(settings.folder).preferences.habits)


def test_the_help_of_the_library_shows_the_card(window: MainWindow) -> None:
    tree = window.library.tree
    assert "data:image/png" in tree.picture("torch.relu") and tree.picture("python.for")
    said = tree.picture("torch.relu")
    assert said == tree.picture("torch.relu") != tree.picture("torch.nn.Linear")
