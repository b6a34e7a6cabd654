"""The whole way by keys alone, from an empty document to a saved file: no mouse, no call that changes the graph."""

from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from gradstudio.document.file import load
from gradstudio.graph.model import ItemId, Wire
from gradstudio.ui.widgets import screen_reader
from tests.ui.desk import Desk, Key, Keys

ALT, CONTROL, SHIFT = Keys.AltModifier, Keys.ControlModifier, Keys.ShiftModifier


class Listener:
    """A screen reader: takes the place of Qt's way to one and keeps what is announced."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def isActive(self) -> bool:
        return True

    def updateAccessibility(self, event: QAccessibleEvent) -> None:
        self.heard.append(event.message())  # type: ignore[attr-defined]  # of announcements, and nothing else comes


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Listener:
    made = Listener()
    monkeypatch.setattr(screen_reader, "QAccessible", made)
    return made


def search(desk: Desk, operator: str) -> None:
    """Shift+A, the operator's name, Enter: unwired; the keys are the canvas's again."""
    desk.press(Key.Key_A, SHIFT)
    desk.type(operator)
    assert desk.graph.nodes[desk.current].operator == operator
    assert has_the_keys(desk)


def type_into_the_file_dialog(desk: Desk, path: Path) -> list[QFileDialog]:
    """Once the dialog that the next key opens has the keys: the path, and Enter."""
    met: list[QFileDialog] = []
    timer = QTimer(desk.window.frame)

    def look() -> None:
        dialog, field = QApplication.activeModalWidget(), QApplication.focusWidget()
        if isinstance(dialog, QFileDialog) and isinstance(field, QLineEdit) and dialog.isAncestorOf(field):
            timer.stop()
            met.append(dialog)
            QTest.keyClick(field, Key.Key_A, CONTROL)
            desk.type(str(path))

    timer.timeout.connect(look)
    timer.start(10)
    return met


def has_the_keys(desk: Desk) -> bool:
    return QApplication.focusWidget() is desk.window.canvas


def build(desk: Desk) -> tuple[ItemId, ItemId, ItemId]:
    """A tensor with numbers of its own, and two operators beside it."""
    search(desk, "torch.tensor")
    x = desk.current
    desk.press(Key.Key_Return)
    desk.type("[1.0, -2.0]")
    assert desk.graph.nodes[x].literals["data"] == "[1.0, -2.0]"
    assert has_the_keys(desk)
    search(desk, "torch.relu")
    y = desk.current
    search(desk, "torch.sum")
    assert not desk.graph.wires and len({x, y, desk.current}) == 3
    return x, y, desk.current


def wire_and_walk(desk: Desk, listener: Listener, x: ItemId, y: ItemId, total: ItemId) -> None:
    """From either end of a wire, and along both."""
    desk.press(Key.Key_Up, CONTROL)
    assert desk.current == y and "statement 2 of 3" in desk.said
    desk.press(Key.Key_W, SHIFT)
    desk.type("x")
    assert desk.graph.wire_into(y, "input") == Wire(x, 0, y, "input")
    assert desk.said == listener.heard[-1] == "Wired x to relu.input."
    desk.press(Key.Key_W)
    desk.type("total.input")
    assert desk.graph.wire_into(total, "input") == Wire(y, 0, total, "input")
    assert has_the_keys(desk)
    desk.press(Key.Key_Left, ALT)
    assert desk.current == x and desk.said == listener.heard[-1] == "x"
    desk.press(Key.Key_Right, ALT)
    desk.press(Key.Key_Right, ALT)
    assert desk.current == total and listener.heard[-2:] == ["relu", "total"]


def run_and_hear(desk: Desk, listener: Listener) -> None:
    """What came of it is announced, and is the value of the card that the keys mean."""
    desk.press(Key.Key_F5)
    desk.until(lambda: desk.value("total") == 1.0)
    desk.rest()
    assert desk.value("relu") == [1.0, 0.0]
    desk.until(lambda: listener.heard[-1].startswith("Run done"))
    assert listener.heard[-1].endswith(": total = 1")
    spoken = QAccessible.queryAccessibleInterface(desk.window.canvas).focusChild()
    assert spoken.text(QAccessible.Text.Value) == "1"
    assert has_the_keys(desk)


def group_and_look_inside(desk: Desk) -> None:
    desk.press(Key.Key_A, CONTROL)
    desk.press(Key.Key_G, CONTROL)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    desk.press(Key.Key_A, CONTROL)
    desk.type("positive_part")
    assert list(desk.graph.definitions) == ["positive_part"]
    call = desk.current
    assert desk.graph.nodes[call].operator == "group:positive_part"
    desk.press(Key.Key_I, CONTROL)
    assert desk.session.scope.path == (call,)
    inside = {node.operator for node in desk.window.canvas.scene.graph.nodes.values()}
    assert inside >= {"torch.relu", "torch.sum"}
    desk.press(Key.Key_U, CONTROL)
    assert desk.session.scope.path == () and desk.current == call


@pytest.mark.feature(46)
@pytest.mark.qt_log_ignore("does not support", extend=True)  # the dialog's list of files, offscreen
def test_from_a_new_document_to_a_saved_one_with_keys_alone(
    desk: Desk, qtbot: QtBot, listener: Listener, tmp_path: Path
) -> None:
    desk.sit_down(qtbot)
    first = desk.session
    desk.until(lambda: has_the_keys(desk))
    desk.press(Key.Key_N, CONTROL)
    assert desk.session is not first and not desk.graph.nodes
    assert has_the_keys(desk)
    wire_and_walk(desk, listener, *build(desk))
    run_and_hear(desk, listener)
    group_and_look_inside(desk)
    path = tmp_path / "by_keys.gsg"
    met = type_into_the_file_dialog(desk, path)
    desk.press(Key.Key_S, CONTROL)
    assert met and desk.session.path == path and str(path) in desk.said
    assert list(load(path).definitions) == ["positive_part"]
    desk.until(lambda: has_the_keys(desk))
