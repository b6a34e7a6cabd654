"""Keys in the Code dock: none is lost, whatever is printed or read between two of them."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.nodes import set_literal
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.state.session import Session
from tests.ui.docks.code.conftest import TEXT, applied, go_behind, press, write

Key, Control, Shift = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def test_a_line_that_comes_above_takes_no_line_away_that_was_just_begun(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, "loss = torch.nn.functional.mse_loss(y, x)")
    press(code, Key.Key_Return)
    applied(qtbot, code)
    edits, _ = recipes.add_operator(session.graph_store.graph, "torch.rand", 0, -900)
    session.graph_store.submit(edits, "Add rand")
    qtbot.waitUntil(lambda: "torch.rand(" in session.run.program.code)
    write(code, "loss.backward()")
    assert code.editor.text.endswith("mse_loss(y, x)\nx2 = torch.rand(2, 3)\nloss.backward()")
    applied(qtbot, code)
    assert session.run.program.code.rstrip().endswith("\nloss.backward()")


def test_f2_on_a_line_without_a_statement_renames_nothing(qtbot: QtBot, code: CodePanel) -> None:
    def is_kept() -> bool:
        event = QKeyEvent(QEvent.Type.ShortcutOverride, Key.Key_F2, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        code.editor.event(event)
        return event.isAccepted()

    go_behind(code, "z = y * 2")
    assert not is_kept(), "the command renames the node of the line"
    go_behind(code, "import torch")
    assert is_kept()


def test_ctrl_shift_k_deletes_lines(qtbot: QtBot, code: CodePanel) -> None:
    go_behind(code, "y = x")
    press(code, Key.Key_K, Control | Shift)
    assert code.editor.text == TEXT.strip().replace("y = x + 1\n", "") and code.editor.line == 4
    press(code, Key.Key_K, Control | Shift)
    assert code.editor.text.endswith("x = torch.ones(2, 3)")
    press(code, Key.Key_Z, Control)
    press(code, Key.Key_Z, Control)
    assert code.editor.text == TEXT.strip()


LINES = ("w = torch.zeros(2, requires_grad=True)", "for i in range(4):", "p = torch.sigmoid(w)")
MORE_LINES = ("loss = F.mse_loss(p, w)", "loss.backward()", "with torch.no_grad():", "w -= w.grad")


@pytest.mark.parametrize("every", [1, 3, 7])
def test_no_key_is_lost_when_the_text_is_read_between_keys(
    qtbot: QtBot, code: CodePanel, session: Session, every: int
) -> None:
    session.graph_store.load(Graph())
    qtbot.waitUntil(lambda: "manual_seed" in code.editor.text)
    code.editor.moveCursor(QTextCursor.MoveOperation.End)
    count = 0
    for line in (*LINES, *MORE_LINES):
        for key in (*line, Key.Key_Return):
            QTest.keyClick(code.editor, key)
            count += 1
            if not count % every:
                code.live.apply()
                QApplication.processEvents()
    applied(qtbot, code)
    shown = [line.strip() for line in code.editor.lines]
    assert [line for line in shown if line in (*LINES, *MORE_LINES)] == [*LINES, *MORE_LINES]
    assert shown[-1] == "" and "import torch.nn.functional as F" not in shown
    code.editor.clearFocus()
    assert "import torch.nn.functional as F" in code.editor.lines


CLASS = """import torch
import torch.nn as nn
class Net(nn.Module):
def __init__(self):
super().__init__()
self.fc = nn.Linear(4, 2)

def forward(self, x):
return torch.relu(self.fc(x))
"""


def test_a_class_that_is_typed_with_pauses_stands_as_it_was_typed(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    """Imports, blank lines and the caret; all but imports is printed as the program has it when the dock is left."""
    press(code, Key.Key_A, Control)
    for line in CLASS.split("\n")[:-1]:
        if not line:
            press(code, Key.Key_Backspace)
            continue
        write(code, line)
        press(code, Key.Key_Return)
        before, at = code.editor.text, code.editor.textCursor().position()
        code.live.apply()  # a pause
        QApplication.processEvents()
        assert code.editor.text == before and code.editor.textCursor().position() == at
    press(code, Key.Key_Backspace)
    press(code, Key.Key_Backspace)
    write(code, "y = Net()(torch.ones(3, 4)).sum()")
    before = code.editor.text
    code.live.apply()
    assert code.live.is_applied, code.live.error
    assert code.editor.text == before
    assert "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__" in before
    assert before.endswith("relu(self.fc(x))\ny = Net()(torch.ones(3, 4)).sum()")
    edits, _ = recipes.add_operator(session.graph_store.graph, "torch.rand", 0, 900)
    session.graph_store.submit(edits, "Add rand")
    qtbot.waitUntil(lambda: "torch.rand(" in code.editor.text)
    code.editor.clearFocus()
    printed = session.run.program.code.rstrip("\n")
    assert code.editor.text == printed.replace("from torch import nn", "import torch.nn as nn")  # imports stay


def test_what_the_canvas_changes_comes_beside_what_was_typed(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, "w=z+1")
    applied(qtbot, code)
    at = code.editor.textCursor().position()
    node = next(item for item, one in session.graph_store.graph.nodes.items() if one.names == ("x",))
    session.graph_store.submit(set_literal(session.graph_store.graph, node, "size", "(4, 3)"), "Set size")
    qtbot.waitUntil(lambda: "4, 3" in code.editor.text)
    assert code.editor.text.endswith("z = y * 2\nw=z+1") and code.editor.textCursor().position() == at


def test_a_long_reason_takes_two_lines_below_the_text(qtbot: QtBot, code: CodePanel) -> None:
    code.resize(420, 400)
    go_behind(code, "z = y * 2")
    low = code.strip.height()
    write(code, " + nothing_of_this_kind(x, y)")
    qtbot.waitUntil(lambda: code.live.shows_error)
    shown = code.strip.words.text()
    assert shown.count("\n") == 1 and code.strip.height() > low
    assert code.strip.words.whole.startswith(shown.split("\n")[0])
    press(code, Key.Key_Z, Control)
    assert code.strip.height() == low


def test_comments_alone_need_no_bar_below_the_text(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    bar = code.editor.horizontalScrollBar()
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, f"# {'a long remark ' * 12}")
    applied(qtbot, code)
    assert not bar.isVisible()
    press(code, Key.Key_Return)
    write(code, f"w = {' + '.join(['x'] * 60)}")
    applied(qtbot, code)
    qtbot.waitUntil(bar.isVisible)
