"""Text that cannot be read is neither run nor saved, and that is said; a text is saved under its own name."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import Graph
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.app.window.main_window import MainWindow

WRONG = "y = nothing + 1"


@pytest.fixture
def typing(qtbot: QtBot, window: MainWindow) -> MainWindow:
    window.session.graph_store.load(read_script("import torch\n\nx = torch.ones(2)\n").graph)
    qtbot.waitUntil(lambda: "ones" in window.code.editor.text)
    window.code.editor.setFocus()
    begin(window)
    return window


def begin(window: MainWindow) -> None:
    window.code.editor.go_to(99, 0)
    QTest.keyClick(window.code.editor, Qt.Key.Key_Return)
    QTest.keyClicks(window.code.editor, WRONG)


def run(window: MainWindow) -> None:
    """A run from its beginning to its end, as the engine would tell of it."""
    state = window.session.run.state
    for busy in (True, False):
        window.session.run.state_changed.emit(msgspec.structs.replace(state, busy=busy))


def test_a_run_without_what_was_typed_says_so(qtbot: QtBot, typing: MainWindow) -> None:
    with qtbot.waitSignal(typing.session.engine.received) as logged:
        run(typing)
    words = typing.status.message.text()
    assert "Line 4 is not applied: " in logged.args[0].text and "nothing" in logged.args[0].text
    assert logged.args[0].text.endswith("; the program without it was run.") and words.startswith("Line 4 is not")


def test_a_run_with_all_that_was_typed_says_nothing(typing: MainWindow) -> None:
    QTest.keyClick(typing.code.editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    told = []
    typing.session.engine.received.connect(told.append)
    run(typing)
    assert not told and "not applied" not in typing.status.message.text()


def test_an_empty_document_with_an_error_says_why_nothing_runs(qtbot: QtBot, typing: MainWindow) -> None:
    typing.session.graph_store.load(Graph())
    qtbot.waitUntil(lambda: "ones" not in typing.code.editor.text)
    begin(typing)
    typing.session.run.run()
    assert "is not applied: " in typing.status.message.text()


def test_a_run_takes_what_waits_to_be_read(typing: MainWindow) -> None:
    for _ in WRONG:
        QTest.keyClick(typing.code.editor, Qt.Key.Key_Backspace)
    QTest.keyClicks(typing.code.editor, "y = x + 1")
    typing.session.run.status.preparing.emit()
    assert len(typing.session.graph_store.graph.nodes) == 2


def test_saving_without_what_was_typed_says_so(typing: MainWindow, tmp_path: Path) -> None:
    assert typing.file.save_to(tmp_path / "a.gsg")
    words = typing.status.message.text()
    assert words.startswith("Saved to ")
    assert not typing.code.live.is_applied and WRONG in typing.code.editor.text
    assert "Line 4 is not applied" in typing.file.left_out()


def test_a_text_that_was_opened_is_saved_under_its_own_name(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "tut1.py"
    path.write_text("import torch\n\nx = torch.ones(2)\n")
    assert window.file.open_path(path)
    assert window.file._proposed(".gsg") == tmp_path / "tut1.gsg"
    assert window.file._proposed(".py").name == "untitled.py"
    window.session.new()
    assert window.file._proposed(".gsg").name == "untitled.gsg"
