"""An error in undrawn Python in the window: its card rings and says the line, the Code dock marks that line."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk, Key

TEXT = """import torch
import json

def load(text):
    data = json.loads(text)

    return torch.tensor(data["b"])

x = torch.ones(3)
t = load('{"a": 1}')
"""


def open_trusted(desk: Desk, qtbot: QtBot, folder: Path, text: str) -> None:
    """A file with code that its person has said yes to."""
    desk.sit_down(qtbot)
    path = folder / "program.py"
    path.write_text(text)
    desk.session.open(path)
    desk.session.run.code_question.ask = lambda _parts: True


def run(desk: Desk) -> None:
    desk.until(lambda: desk.window.actions["run.run"].isEnabled())
    desk.key(Key.Key_F5)
    desk.until(lambda: not desk.session.run.state.busy and bool(desk.session.run.state.outcome))


def test_its_card_tells_the_line_of_the_file_and_the_dock_marks_it(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    open_trusted(desk, qtbot, tmp_path, TEXT)
    run(desk)
    card = desk.node("load")
    (failure,) = desk.session.results.failures
    assert failure.failed.node == card
    assert failure.what == "line 7: KeyError: 'b'"
    assert "line 7: KeyError: 'b'" in desk.said
    (problem,) = [one for one in desk.session.problems.of(card) if one.kind == "failure"]
    assert problem.title == "line 7: KeyError: 'b'"
    code = desk.window.code
    marked = code.editor.lines[code.marks.failing_line(failure) - 1]
    assert marked == '    return torch.tensor(data["b"])'
    failing = code.marks.theme.syntax.failing
    grounds = {
        mark.cursor.block().text(): mark.format.background().color().name() for mark in code.editor.extraSelections()
    }
    assert grounds[marked] == failing.lower()
