"""The Code dock, and a person's keys in it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.program.reading.reader import read_script
from gradstudio.ui.docks.code import code_sync
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

TEXT = """import torch

x = torch.ones(2, 3)
y = x + 1
z = y * 2
"""


@pytest.fixture(autouse=True)
def _a_short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason is told soon behind the pause that found it: nobody reads meanwhile."""
    monkeypatch.setattr(code_sync, "PATIENCE_MS", 100)


@pytest.fixture
def focused_panel(qtbot: QtBot, session: Session, dark: Theme) -> CodePanel:
    """The dock of an empty program, its editor with the keys."""
    made = CodePanel(session, dark)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    made.activateWindow()
    made.editor.setFocus()
    qtbot.waitUntil(made.editor.hasFocus)
    return made


@pytest.fixture
def code(qtbot: QtBot, session: Session, focused_panel: CodePanel) -> CodePanel:
    """It shows `TEXT`."""
    session.graph_store.load(read_script(TEXT).graph)
    qtbot.waitUntil(lambda: focused_panel.editor.text == TEXT.strip())
    return focused_panel


def go_behind(code: CodePanel, words: str) -> None:
    found = code.editor.document().find(words)
    assert not found.isNull(), words
    cursor = code.editor.textCursor()
    cursor.setPosition(found.selectionEnd())
    code.editor.setTextCursor(cursor)


def press(code: CodePanel, key: Qt.Key, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(code.editor, key, keys)


def write(code: CodePanel, words: str) -> None:
    QTest.keyClicks(code.editor, words)


def applied(qtbot: QtBot, code: CodePanel) -> None:
    qtbot.waitUntil(lambda: code.live.is_applied)
