"""An error in undrawn Python in the window: its card rings and says the line, the Code dock marks that line."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk
from tests.ui.trusted import open_trusted, run_to_the_end

TEXT = """import torch
import json

def load(*texts):
    data = json.loads(*texts)
    return torch.tensor(data["b"])

x = torch.ones(3)
t = load('{"a": 1}')
"""


def test_its_card_tells_the_line_that_the_dock_marks(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    open_trusted(desk, qtbot, tmp_path, TEXT)
    run_to_the_end(desk)
    desk.until(lambda: desk.session.results.failures)
    card = desk.node("load")
    (failure,) = desk.session.results.failures
    assert failure.failed.node == card
    assert failure.what == "line 6: KeyError: 'b'"
    told = "line 6: The dict has no entry 'b'"
    desk.until(lambda: told in desk.said and desk.session.problems.of(card))
    (problem,) = [one for one in desk.session.problems.of(card) if one.kind == "failure"]
    assert problem.title == f"{told}." and problem.words == failure.what
    code = desk.window.code
    code.marks.mark()
    marked = code.editor.lines[code.marks.failing_line(failure) - 1]
    assert code.marks.failing_line(failure) == 6
    assert marked == '    return torch.tensor(data["b"])'
    failing = code.marks.theme.syntax.failing
    grounds = {
        mark.cursor.block().text(): mark.format.background().color().name() for mark in code.editor.extraSelections()
    }
    assert grounds[marked] == failing.lower()
