"""The command palette, by keys and mouse."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.document.file import save
from gradstudio.graph.model import Graph
from gradstudio.ui.actions.action_set import ActionRow, MenuRow
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.command_list import why_not
from gradstudio.ui.dialogs.command_palette import Palette
from tests.ui.conftest import Add

Key, Modifier = Qt.Key, Qt.KeyboardModifier


def opened(window: MainWindow) -> Palette:
    """Press Ctrl+Shift+P where the focus is."""
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Key.Key_P, Modifier.ControlModifier | Modifier.ShiftModifier)
    palette = window.shell.opened
    assert palette is not None and palette.isVisible()
    return palette


def typed(palette: Palette, text: str) -> list[str]:
    QTest.keyClicks(palette.field, text)
    return [entry.text for entry in palette.entries()]


@pytest.mark.feature(47)
def test_every_command_is_there_those_of_changing_menus_too(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "mine.gsg"
    save(Graph(), path)
    window.settings.add_recent(path)
    palette = opened(window)
    entries = palette.entries()
    rows = [row for row in window.actions.rows if isinstance(row, ActionRow)]
    assert {row.id for row in rows} <= {entry.id for entry in entries}
    paths = {(entry.path, entry.text) for entry in entries}
    assert ("File › Open recent", "mine.gsg") in paths
    assert ("View › Theme", "Theme: Dark") in paths
    assert any(path == "View › Panels" and text == "Inspector" for path, text in paths)
    made = [row for row in window.actions.rows if isinstance(row, MenuRow) and row.text != "Own themes"]
    assert all(any(entry.path.endswith(row.text) for entry in entries) for row in made)
    assert not any("yet" in entry.text for entry in entries), "what says that a menu is empty is no command"
    run = next(entry for entry in entries if entry.id == "run.run")
    assert (run.path, run.keys) == ("Run", "F5")
    palette.close_now()


@pytest.mark.feature(47)
def test_a_few_letters_and_enter_do_a_command_and_the_focus_comes_back(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    window.canvas.setFocus()
    palette = opened(window)
    assert typed(palette, "selal")[0] == "Select all"
    QTest.keyClick(palette.field, Key.Key_Return)
    assert len(window.session.attention.selection) == 1
    assert window.frame.focusWidget() is window.canvas
    assert window.shell.opened is None


@pytest.mark.feature(47)
def test_a_panel_behind_another_comes_to_the_front_and_goes_when_it_is_chosen_again(window: MainWindow) -> None:
    dock = window.frame.docks["breakpoints"]
    window.frame.docks.bring_forward("code")
    QApplication.processEvents()
    for is_seen in (True, False, True):
        palette = opened(window)
        assert typed(palette, "Breakpoints")[0] == "Breakpoints"
        QTest.keyClick(palette.field, Key.Key_Return)
        QApplication.processEvents()
        assert (not dock.isHidden(), not dock.visibleRegion().isEmpty()) == (is_seen, is_seen)


@pytest.mark.feature(47)
def test_escape_does_nothing_and_gives_the_focus_back(window: MainWindow) -> None:
    window.library.field.setFocus()
    palette = opened(window)
    typed(palette, "tidy")
    QTest.keyClick(palette.field, Key.Key_Escape)
    assert window.frame.focusWidget() is window.library.field
    assert window.shell.opened is None


def test_what_cannot_be_done_says_why_and_is_not_done(window: MainWindow) -> None:
    palette = opened(window)
    assert typed(palette, "undo")[0] == "Undo"
    assert palette.words.text() == "There is nothing to undo."
    QTest.keyClick(palette.field, Key.Key_Return)
    assert palette.isVisible()
    palette.field.clear()
    assert typed(palette, "run")[0] == "Run"
    assert "nothing to run yet" in palette.words.text()
    palette.close_now()


def test_what_was_used_last_comes_first_and_is_remembered(window: MainWindow) -> None:
    for text in ("zoom out", "zoom in"):
        palette = opened(window)
        typed(palette, text)
        QTest.keyClick(palette.field, Key.Key_Return)
    palette = opened(window)
    assert [entry.id for entry in palette.entries()[:2]] == ["view.zoom_in", "view.zoom_out"]
    assert window.settings.preferences.recent_commands == ("view.zoom_in", "view.zoom_out")
    palette.close_now()


def test_arrows_walk_and_a_click_does_the_command(window: MainWindow) -> None:
    palette = opened(window)
    typed(palette, "zoom")
    first, second = palette.entries()[:2]
    QTest.keyClick(palette.field, Key.Key_Down)
    assert palette.list.current_row == 1 and first != second
    QTest.keyClick(palette.field, Key.Key_Up)
    QTest.keyClick(palette.field, Key.Key_Up)
    assert palette.list.current_row == len(palette.rows) - 1
    palette.field.clear()
    before = window.canvas.navigation.zoom
    assert typed(palette, "zoom in")[0] == "Zoom in"
    place = palette.list.visualRect(palette.list.index_of(0)).center()
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, Modifier.NoModifier, place)
    assert window.canvas.navigation.zoom > before


def test_no_key_typed_there_is_a_shortcut(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    palette = opened(window)
    QTest.keyClick(palette.field, Key.Key_Delete)
    QTest.keyClick(palette.field, Key.Key_D, Modifier.ControlModifier)
    QTest.keyClick(palette.field, Key.Key_T)
    assert len(window.session.graph_store.graph.nodes) == 1
    assert palette.field.text() == "t"
    palette.close_now()


def test_an_example_is_opened_from_the_palette(window: MainWindow) -> None:
    palette = opened(window)
    assert typed(palette, "examples attention")
    QTest.keyClick(palette.field, Key.Key_Return)
    assert len(window.session.graph_store.graph.nodes) > 3


def test_why_something_is_off_is_said(window: MainWindow) -> None:
    rows = {row.id: row for row in window.actions.rows if isinstance(row, ActionRow)}
    for key in ("edit.copy", "edit.redo", "graph.tidy", "run.run", "run.stop", "run.play", "graph.rename"):
        assert not window.actions[key].isEnabled()
        assert why_not(rows[key]) != "Not possible right now.", key


def test_leaving_the_field_closes_it(window: MainWindow) -> None:
    palette = opened(window)
    panel: QWidget = window.library.field
    panel.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not palette.isVisible()
    assert window.frame.focusWidget() is panel


@pytest.mark.feature(47)
def test_nothing_typed_shows_what_is_useful_first_and_files_last(window: MainWindow) -> None:
    palette = opened(window)
    first = [entry.id for entry in palette.entries()[:5]]
    assert first == ["run.run", "run.step", "graph.add", "file.save", "edit.find"]
    assert palette.entries()[-1].path in ("File › Examples", "File › Open recent")
    palette.close_now()
