"""Keys belong to what has the focus: in a panel they never edit the canvas."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.ui.app.window.main_window import MainWindow
from tests.ui.conftest import Add

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
PARTS: dict[str, Callable[[MainWindow], QWidget]] = {
    "library": lambda window: window.library.tree,
    "documentation": lambda window: window.documentation.browser,
    "log": lambda window: window.log.view,
    "problems": lambda window: window.problems,
    "memory": lambda window: window.memory,
    "inspector": lambda window: window.inspector,
    "timeline": lambda window: window.timeline,
}


def press(key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """A key goes to what has the focus."""
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, key, keys)


def focus(window: MainWindow, widget: QWidget) -> None:
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.setFocus()
    assert QApplication.focusWidget() is not None


@pytest.mark.parametrize("part", PARTS)
def test_keys_in_a_panel_leave_the_canvas_alone(window: MainWindow, add: Add, part: str) -> None:
    item, graph = add("torch.randn"), window.session.graph_store.graph
    window.session.attention.select([item])
    if part in ("documentation", "log", "problems", "inspector"):
        window.frame.docks.bring_forward(part)
    widget = PARTS[part](window)
    focus(window, widget)
    QApplication.clipboard().setText("mine")
    for key in (Key.Key_Delete, Key.Key_Backspace):
        press(key)
    for key in (Key.Key_A, Key.Key_C, Key.Key_X, Key.Key_D, Key.Key_V):
        press(key, CONTROL)
    assert set(graph.nodes) == {item}
    assert "torch.randn" not in QApplication.clipboard().text()
    assert window.session.attention.selection == {item}


def test_on_the_canvas_they_edit_it(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    focus(window, window.canvas)
    press(Key.Key_A, CONTROL)
    assert window.session.attention.selection
    press(Key.Key_Delete)
    assert not window.session.graph_store.graph.nodes


def test_what_is_typed_in_the_list_of_the_library_goes_to_its_search(window: MainWindow, add: Add) -> None:
    item, library = add("torch.randn"), window.library
    focus(window, library.field)
    QTest.keyClicks(library.field, "conv2d")
    star = library.tree.star_rect(library.model.index(0, 0)).center()
    QTest.mouseClick(library.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, star)
    library.tree.setFocus()
    press(Key.Key_A, CONTROL)
    press(Key.Key_Backspace)
    assert library.field.text() == "" and set(window.session.graph_store.graph.nodes) == {item}
    library.tree.setFocus()
    for letter in (Key.Key_F, Key.Key_F, Key.Key_T):
        press(letter)
    assert library.field.text() == "fft" and library.field.hasFocus()
    library.tree.setFocus()
    press(Key.Key_Backspace)
    assert library.field.text() == "ff"


def test_a_favourite_is_made_by_key_wherever_one_looks_at_an_operator(window: MainWindow, add: Add) -> None:
    focus(window, window.library.field)
    QTest.keyClicks(window.library.field, "kron")
    press(Key.Key_B, CONTROL)
    assert window.shelf.favourites == ("torch.kron",)
    item = add("torch.sin")
    focus(window, window.canvas)
    window.session.attention.select([item])
    press(Key.Key_B, CONTROL)
    assert window.shelf.favourites == ("torch.kron", "torch.sin")
    press(Key.Key_B, CONTROL)
    assert window.shelf.favourites == ("torch.kron",)
    sheet = {command: keys for _menu, command, keys in window.actions.shortcut_sheet()}
    assert sheet["Favourite"] == "Ctrl+B"
