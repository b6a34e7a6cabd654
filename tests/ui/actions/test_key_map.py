"""Keys are found, changed, taken from others and given back, on the page of the preferences, by mouse and keys."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.preferences.key_page import KeyPage
from gradstudio.ui.dialogs.preferences.preferences_dialog import PreferencesDialog
from gradstudio.ui.state.settings import Settings
from tests.ui.conftest import Add

Key, Modifier = Qt.Key, Qt.KeyboardModifier
CONTROL = Modifier.ControlModifier
Open = Callable[[], PreferencesDialog]


@pytest.fixture
def preferences(window: MainWindow) -> Iterator[Open]:
    """Opens the preferences with Ctrl+,."""

    def press() -> PreferencesDialog:
        window.frame.activateWindow()
        QTest.qWaitForWindowActive(window.frame)
        window.canvas.setFocus()
        QTest.keyClick(window.canvas, Key.Key_Comma, CONTROL)
        assert window.shell.dialog is not None
        return window.shell.dialog

    yield press
    if window.shell.dialog is not None:
        window.shell.dialog.close()


@pytest.fixture
def page(preferences: Open) -> KeyPage:
    dialog = preferences()
    dialog.show_page("Keys")
    assert dialog.keys.isVisible()
    return dialog.keys


def click(button: QWidget) -> None:
    assert button.isVisible() and button.isEnabled()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def find(page: KeyPage, typed: str) -> None:
    page.search.clear()
    QTest.keyClicks(page.search, typed)


def keys_of(window: MainWindow, command: str) -> list[str]:
    return [keys.toString() for keys in window.actions[command].shortcuts()]


@pytest.mark.feature(47)
def test_every_command_and_the_canvas_own_keys_are_listed_with_their_keys(window: MainWindow, page: KeyPage) -> None:
    listed = page.commands()
    assert {"graph.tidy", "help.palette", "view.fit", "canvas.search", "canvas.edit", "canvas.cancel"} <= set(listed)
    find(page, "tidy")
    line = page.current()
    assert line is not None and (line.id, line.shown) == ("graph.tidy", "Ctrl+L")


@pytest.mark.feature(47)
def test_new_keys_are_pressed_and_hold_at_once_and_the_next_time(
    window: MainWindow, page: KeyPage, settings: Settings, add: Add
) -> None:
    find(page, "select all")
    click(page.change)
    QTest.keyClick(page.capture, Key.Key_J, CONTROL | Modifier.AltModifier)
    assert keys_of(window, "edit.select_all") == ["Ctrl+Alt+J"]
    assert settings.preferences.keys == {"edit.select_all": ("Ctrl+Alt+J",)}
    assert Settings(settings.folder).preferences.keys == settings.preferences.keys
    assert "Ctrl+Alt+J" in window.actions["edit.select_all"].toolTip()
    assert window.shell.dialog is not None
    window.shell.dialog.close()
    add("torch.randn")
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Key.Key_A, CONTROL)
    assert not window.session.attention.selection
    QTest.keyClick(window.canvas, Key.Key_J, CONTROL | Modifier.AltModifier)
    assert len(window.session.attention.selection) == 1


@pytest.mark.feature(47)
def test_a_conflict_is_said_in_words_and_settled(window: MainWindow, page: KeyPage) -> None:
    find(page, "tidy")
    QTest.keyClick(page.list, Key.Key_Return)
    QTest.keyClick(page.capture, Key.Key_D, CONTROL)
    assert page.words.text() == "Ctrl+D does Edit › Duplicate now. Take it for Tidy?"
    click(page.keep)
    assert keys_of(window, "graph.tidy") == ["Ctrl+L"] and keys_of(window, "edit.duplicate") == ["Ctrl+D"]
    QTest.keyClick(page.list, Key.Key_Return)
    QTest.keyClick(page.capture, Key.Key_D, CONTROL)
    QTest.keyClick(page.take, Key.Key_Space)
    assert keys_of(window, "graph.tidy") == ["Ctrl+D"] and keys_of(window, "edit.duplicate") == []


def test_keys_that_always_mean_the_same_are_refused(window: MainWindow, page: KeyPage) -> None:
    find(page, "tidy")
    click(page.change)
    QTest.keyClick(page.capture, Key.Key_Space)
    assert "stays as it is" in page.words.text()
    QTest.keyClick(page.capture, Key.Key_Escape)
    assert keys_of(window, "graph.tidy") == ["Ctrl+L"]
    find(page, "cancel a gesture")
    assert not page.change.isEnabled()


@pytest.mark.feature(47)
def test_one_is_reset_or_all_are(window: MainWindow, page: KeyPage, settings: Settings) -> None:
    for command, key in (("tidy", Key.Key_F13), ("duplicate", Key.Key_F14)):
        find(page, command)
        click(page.add)
        QTest.keyClick(page.capture, key, Modifier.ShiftModifier)
    assert keys_of(window, "graph.tidy") == ["Ctrl+L", "Shift+F13"]
    find(page, "tidy")
    click(page.reset)
    assert keys_of(window, "graph.tidy") == ["Ctrl+L"]
    assert set(settings.preferences.keys) == {"edit.duplicate"}
    find(page, "duplicate")
    click(page.remove)
    assert keys_of(window, "edit.duplicate") == []
    click(page.reset_all)
    assert keys_of(window, "edit.duplicate") == ["Ctrl+D"] and not settings.preferences.keys


@pytest.mark.feature(47)
def test_pressing_keys_finds_the_command_that_has_them(page: KeyPage) -> None:
    QTest.mouseClick(page.by_keys, Qt.MouseButton.LeftButton)
    QTest.keyClick(page.by_keys, Key.Key_Z, CONTROL)
    assert page.commands() == ("edit.undo",)
    QTest.keyClick(page.by_keys, Key.Key_F4, CONTROL | Modifier.AltModifier)
    assert page.commands() == () and "does nothing yet" in page.words.text()
    QTest.keyClick(page.by_keys, Key.Key_Escape)
    assert len(page.commands()) > 50


def test_the_canvas_own_keys_can_be_chosen(window: MainWindow, page: KeyPage) -> None:
    find(page, "add behind the selected card")
    click(page.change)
    QTest.keyClick(page.capture, Key.Key_Q)
    assert window.shell.dialog is not None
    window.shell.dialog.close()
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Key.Key_Tab)
    assert window.canvas.searching.popup is None
    QTest.keyClick(window.canvas, Key.Key_Q)
    assert window.canvas.searching.popup is not None


def test_a_letter_chosen_for_a_command_is_typed_in_a_panel(window: MainWindow, page: KeyPage, add: Add) -> None:
    add("torch.randn")
    find(page, "select all")
    click(page.change)
    QTest.keyClick(page.capture, Key.Key_Z)
    assert window.shell.dialog is not None
    window.shell.dialog.close()
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    window.library.tree.setFocus()
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, Key.Key_Z)
    assert not window.session.attention.selection


def test_the_sheet_and_the_palette_show_the_chosen_keys(window: MainWindow, settings: Settings) -> None:
    settings.change(keys={"graph.tidy": ("Ctrl+Alt+Y",), "nobody.knows": ("F2",)})
    sheet = {command: keys for _menu, command, keys in window.actions.shortcut_sheet()}
    assert sheet["Tidy"] == "Ctrl+Alt+Y"
    assert keys_of(window, "graph.rename") == ["F2"]


def test_the_buttons_do_not_take_enter_from_the_fields(page: KeyPage) -> None:
    assert not any(button.autoDefault() for button in page.findChildren(QPushButton))


@pytest.mark.feature(47)
def test_return_on_take_them_takes_the_keys_and_leaves_the_preferences_open(
    window: MainWindow, preferences: Open, page: KeyPage
) -> None:
    find(page, "tidy")
    click(page.change)
    QTest.keyClick(page.capture, Key.Key_S, CONTROL)
    focused = QApplication.focusWidget()
    assert focused is page.take
    QTest.keyClick(focused, Key.Key_Return)
    assert page.isVisible(), "Return closed the preferences"
    assert keys_of(window, "graph.tidy") == ["Ctrl+S"] and keys_of(window, "file.save") == []
    dialog = page.window()
    assert not any(button.autoDefault() or button.isDefault() for button in dialog.findChildren(QPushButton))
    QTest.keyClick(page.search, Key.Key_Return)
    assert page.isVisible()
