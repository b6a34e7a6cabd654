"""Bookmarks 1 to 9 and the view of a file, by hand."""

from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import load_with_view, loads_with_view
from gradstudio.scene.camera import Camera
from gradstudio.ui.app.window.main_window import MainWindow
from tests.ui.canvas.conftest import Hand
from tests.ui.conftest import Add


def look(window: MainWindow, zoom: float, x: float, y: float) -> None:
    window.canvas.navigation.set_camera(Camera(zoom, x, y))


def press(window: MainWindow, keys: str) -> None:
    """The one command that has these keys."""
    rows = [row for row in window.actions.rows if keys in getattr(row, "shortcuts", ())]
    assert len(rows) == 1
    action = window.actions[rows[0].id]  # type: ignore[union-attr]
    assert action.shortcut() == QKeySequence(keys)
    action.trigger()


def entries(window: MainWindow) -> list[str]:
    window.frame.menus["View"].aboutToShow.emit()
    menu = next(action.menu() for action in window.frame.menus["View"].actions() if action.text() == "Bookmarks")
    assert isinstance(menu, QMenu)
    return [action.text() for action in menu.actions()]


@pytest.mark.feature(51)
def test_a_digit_with_control_remembers_and_the_digit_comes_back(qtbot: QtBot, window: MainWindow, add: Add) -> None:
    first, _second = add("torch.randn"), add("torch.relu")
    look(window, 0.75, 100.0, 40.0)
    window.canvas.selection.select(frozenset({first}))
    seen = window.canvas.navigation.view_state()
    press(window, "Ctrl+3")
    window.canvas.selection.clear()
    look(window, 2.0, -900.0, 300.0)
    press(window, "3")
    assert window.canvas.navigation.travel.is_moving  # it glides
    qtbot.waitUntil(lambda: not window.canvas.navigation.travel.is_moving)
    assert window.canvas.navigation.view_state() == pytest.approx(seen, abs=1)
    assert window.session.attention.selection == {first}
    assert not any("ookmark" in text for text in _undo_texts(window))
    assert len(entries(window)) == 9 and entries(window)[0] == "Go to 1: Not set"
    assert "75 %" in entries(window)[2] and "Not set" not in entries(window)[2]


@pytest.mark.feature(51)
def test_one_that_is_not_set_says_how_to_set_it(qtbot: QtBot, window: MainWindow) -> None:
    before = window.canvas.camera
    with qtbot.waitSignal(window.canvas.said) as said:
        press(window, "7")
    assert "Ctrl+7" in str(said.args[0]) and window.canvas.camera == before


@pytest.mark.feature(51, 55)
def test_view_and_bookmarks_are_kept_in_the_file_and_taken_up_again(
    qtbot: QtBot, window: MainWindow, add: Add, tmp_path: Path
) -> None:
    item = add("torch.randn")
    window.canvas.selection.select(frozenset({item}))
    look(window, 1.25, 10.0, 20.0)
    press(window, "Ctrl+9")
    look(window, 0.5, -300.0, -200.0)
    seen = window.canvas.navigation.view_state()
    path = tmp_path / "marked.gsg"
    assert window.file.save_to(path)
    _, view = load_with_view(path)
    assert (view.zoom, view.x, view.y) == pytest.approx(seen)
    assert view.bookmarks["9"].items == (item,) and view.bookmarks["9"].zoom == 1.25
    look(window, 2.0, 900.0, 900.0)
    window.canvas.bookmarks.clear()
    window.session.open(path)
    assert window.canvas.navigation.view_state() == pytest.approx(seen, abs=0.01)
    press(window, "9")
    qtbot.waitUntil(lambda: window.canvas.navigation.zoom == 1.25)
    assert window.session.attention.selection == {item}


@pytest.mark.feature(51)
def test_bookmarks_stand_in_the_minimap(qtbot: QtBot, hand: Hand) -> None:
    for x in (0, 500, 1000, 1500, 2000, 3000):
        hand.add("torch.randn", x, 0)
    minimap = hand.canvas.minimap
    qtbot.waitUntil(minimap.isVisible)
    before = minimap.grab().toImage()
    hand.canvas.bookmark_commands.set_bookmark("4")
    hand.canvas.bookmark_commands.set_bookmark("1")
    assert [mark.digit for mark in minimap.marks()] == ["1", "4"]
    assert minimap.grab().toImage() != before


@pytest.mark.feature(51)
def test_a_place_nobody_can_look_at_is_refused_and_items_that_are_gone_are_dropped() -> None:
    head = '{"format": "gradstudio-graph", "version": 1, "view": {"bookmarks": '
    _, view = loads_with_view(head + '{"2": {"zoom": 1, "x": 5, "y": 6, "items": ["gone"]}}}}')
    assert (view.bookmarks["2"].x, view.bookmarks["2"].items) == (5, ("gone",))
    for wrong in ('{"0": {"zoom": 1, "x": 0, "y": 0}}', '{"1": {"zoom": 0, "x": 0, "y": 0}}'):
        with pytest.raises(UnreadableFile):
            loads_with_view(head + wrong + "}}")


def test_forgetting_all_of_them_is_one_command(window: MainWindow) -> None:
    assert not window.actions["view.clear_bookmarks"].isEnabled()
    press(window, "Ctrl+2")
    window.actions["view.clear_bookmarks"].trigger()
    assert not window.canvas.bookmarks.entries


@pytest.mark.feature(51)
def test_a_bookmark_is_unsaved_until_the_file_holds_it_and_outlives_a_crash(
    qtbot: QtBot, window: MainWindow, add: Add, tmp_path: Path
) -> None:
    add("torch.randn")
    path, store = tmp_path / "marked.gsg", window.session.graph_store
    assert window.file.save_to(path) and store.is_clean
    look(window, 1.25, 10.0, 20.0)
    assert store.is_clean, "to look elsewhere changes nothing"
    press(window, "Ctrl+4")
    assert not store.is_clean and window.frame.isWindowModified()
    folder = window.settings.state_folder / "recovery"
    qtbot.waitUntil(lambda: bool(list(folder.glob("*.recovery"))))
    text = next(folder.glob("*.recovery")).read_text("utf-8")
    _, view = loads_with_view(text.partition("\n")[2])
    assert view.bookmarks["4"].zoom == 1.25
    window.session.restore(store.graph, path, "", view)
    assert window.canvas.bookmarks.entries == view.bookmarks and not store.is_clean
    assert window.file.save_to(path) and store.is_clean
    window.session.open(path)
    assert window.canvas.bookmarks.entries.keys() == {"4"} and store.is_clean
    window.actions["view.clear_bookmarks"].trigger()
    assert not store.is_clean
    assert window.file.save_to(path)


def _undo_texts(window: MainWindow) -> list[str]:
    stack = window.session.graph_store.undo_stack
    return [stack.text(k) for k in range(stack.count())]
