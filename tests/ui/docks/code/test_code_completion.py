"""Words that could follow what is being typed in the Code dock."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.program.reading.reader import read_script
from gradstudio.ui.docks.code.completion_words import completion_words
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.state.session import Session

Key = Qt.Key


def words(before: str) -> list[str]:
    return [word.word for word in completion_words(before, ["loss", "learning_rate", "_"])[1]]


@pytest.mark.parametrize(
    ("before", "word"),
    [
        ("y = torch.matm", "matmul"),
        ("y = F.re", "relu"),
        ("y = torch.nn.functional.mse", "mse_loss"),
        ("fc = nn.Lin", "Linear"),
        ("fc = torch.n", "nn"),
        ("loss.back", "backward"),
        ("fc(x).", "sum"),
        ("x[0].", "grad"),
        ("lo", "loss"),
        ("lear", "learning_rate"),
        ("wi", "with"),
        ("y = torch.MATM", "matmul"),
    ],
)
def test_words_that_begin_so_are_offered(before: str, word: str) -> None:
    assert word in words(before)


@pytest.mark.parametrize("before", ["x = 3.", "# torch.", "print('torch.", "l", "y = torch.matmul", "12", "..", ""])
def test_nothing_is_offered_where_no_word_is_begun(before: str) -> None:
    assert words(before) == []


@pytest.fixture
def code(qtbot: QtBot, session: Session, focused_panel: CodePanel) -> CodePanel:
    session.graph_store.load(read_script("import torch\n\nscale = torch.ones(2)\n").graph)
    qtbot.waitUntil(lambda: "scale" in focused_panel.editor.text)
    focused_panel.editor.go_to(3, 100)
    QTest.keyClick(focused_panel.editor, Key.Key_Return)
    return focused_panel


def test_tab_takes_the_word_and_the_keys_stay_in_the_text(qtbot: QtBot, code: CodePanel) -> None:
    QTest.keyClicks(code.editor, "y = torch.si")
    assert code.completion.isVisible() and code.editor.hasFocus()
    assert code.completion.current == "sigmoid"
    assert code.completion.signature.text().startswith("torch.sigmoid(")
    QTest.keyClick(code.editor, Key.Key_Down)
    second = code.completion.current
    QTest.keyClick(code.editor, Key.Key_Tab)
    assert code.editor.text.endswith(f"\ny = torch.{second}") and not code.completion.isVisible()


def test_enter_begins_a_line_and_takes_no_word_that_nobody_chose(qtbot: QtBot, code: CodePanel) -> None:
    for typed in ("y = scale.gra", "y = scale.grad", "y = torch.sigmoi", "sc"):
        QTest.keyClicks(code.editor, typed)
        assert code.completion.isVisible(), typed
        QTest.keyClick(code.editor, Key.Key_Return)
        assert code.editor.text.endswith(f"\n{typed}\n") and not code.completion.isVisible()
    QTest.keyClicks(code.editor, "z")
    QTest.keyClick(code.editor, Key.Key_Backspace)
    assert code.editor.text.endswith("\nsc\n")


def test_enter_takes_a_word_that_was_chosen_or_asked_for(qtbot: QtBot, code: CodePanel) -> None:
    QTest.keyClicks(code.editor, "y = torch.si")
    QTest.keyClick(code.editor, Key.Key_Down)
    second = code.completion.current
    QTest.keyClick(code.editor, Key.Key_Return)
    assert code.editor.text.endswith(f"\ny = torch.{second}") and not code.completion.isVisible()
    QTest.keyClick(code.editor, Key.Key_Return)
    QTest.keyClicks(code.editor, "sc")
    QTest.keyClick(code.editor, Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(code.editor, "al")
    QTest.keyClick(code.editor, Key.Key_Return)
    assert code.editor.text.endswith("\nscale")


def test_esc_closes_the_list_and_keeps_the_text(qtbot: QtBot, code: CodePanel) -> None:
    QTest.keyClicks(code.editor, "sca")
    QTest.keyClick(code.editor, Key.Key_Escape)
    assert not code.completion.isVisible() and code.editor.text.endswith("\nsca")


def test_a_cursor_that_leaves_the_word_closes_the_list(qtbot: QtBot, code: CodePanel) -> None:
    QTest.keyClicks(code.editor, "sca")
    QTest.keyClick(code.editor, Key.Key_Home)
    assert not code.completion.isVisible()
    QTest.keyClick(code.editor, Key.Key_End)
    QTest.keyClick(code.editor, Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert code.completion.isVisible()
    QTest.keyClick(code.editor, Key.Key_Backspace)
    assert code.completion.isVisible() and code.completion.current == "scale"
    QTest.keyClicks(code.editor, " ")
    assert not code.completion.isVisible()
