"""Esc in a dock leads back to now, and from there to the canvas; what an editor needs it for, it keeps."""

from collections.abc import Iterator

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.ui.docks.dock_registry import DOCKS
from tests.ui.desk import Desk, Key

PROGRAM = """
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()
y.backward()
"""


@pytest.fixture
def past(desk: Desk, qtbot: QtBot) -> Iterator[Desk]:
    """A run that is looked back at."""
    desk.sit_down(qtbot)
    desk.open(PROGRAM)
    desk.rest()
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    desk.session.attention.look_at(0)
    yield desk
    for dock in desk.window.frame.docks:
        dock.setFloating(False)
    desk.session.attention.look_at_now()


def has_keys(desk: Desk, panel: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is panel or panel.isAncestorOf(focused))


def go_into(desk: Desk, key: str) -> None:
    desk.window.frame.docks.bring_forward(key)
    panel = desk.window.library.field if key == "library" else desk.window.room.panels[key]
    panel.setFocus()


@pytest.mark.qt_log_ignore("This plugin does not support (raise|propagateSizeHints)", extend=True)
@pytest.mark.parametrize("floating", [False, True], ids=["docked", "floating"])
@pytest.mark.parametrize("key", [row.id for row in DOCKS])
def test_esc_leads_back_to_now_and_then_to_the_canvas(past: Desk, key: str, floating: bool) -> None:
    past.window.frame.docks.offer_lesson(True)
    dock = past.window.frame.docks[key]
    dock.setFloating(floating)
    go_into(past, key)
    if floating:
        dock.activateWindow()
        past.until(dock.isActiveWindow)
    past.until(lambda: has_keys(past, dock))
    past.press(Key.Key_Escape)
    assert past.session.attention.moment is None
    assert has_keys(past, dock), "one Esc does one thing"
    past.press(Key.Key_Escape)
    past.until(past.window.canvas.hasFocus)


def test_esc_clears_the_words_of_a_search_first(past: Desk) -> None:
    go_into(past, "library")
    field = past.window.library.field
    QTest.keyClicks(field, "relu")
    past.press(Key.Key_Escape)
    assert field.text() == "" and past.session.attention.moment is not None
    past.press(Key.Key_Escape)
    assert past.session.attention.moment is None


def test_esc_does_not_leave_what_is_typed_in_the_code_dock_and_not_applied(past: Desk) -> None:
    editor = past.window.code.editor
    editor.setFocus()
    editor.moveCursor(editor.textCursor().MoveOperation.End)
    past.press(Key.Key_Return)
    QTest.keyClicks(editor, "z = (")
    past.until(lambda: past.window.code.live.state == "refused")
    past.press(Key.Key_Escape)
    assert editor.hasFocus() and past.session.attention.moment is not None
