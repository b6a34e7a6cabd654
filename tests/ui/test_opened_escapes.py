"""A document that is opened in the window is looked through for shapes at once: what tries to get out is refused."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gradstudio.document.clipboard import to_text
from gradstudio.document.errors import DocumentError
from gradstudio.document.file import loads
from gradstudio.graph.recipes import fragments
from gradstudio.graph.text.code_records import is_code
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from tests.escapes import ESCAPES, as_document
from tests.ui.desk import Desk

MARK = "CANARY"
LAST = "\nlast = torch.ones(3, 4)\n"
"""Behind each escape stands what has a shape: once that is known, all before it has been looked at."""


@pytest.mark.parametrize("name", ESCAPES)
def test_opening_executes_nothing(desk: Desk, qtbot: QtBot, name: str, tmp_path: Path) -> None:
    desk.sit_down(qtbot)
    mark = tmp_path / MARK
    text = as_document(ESCAPES[name].replace(MARK, str(mark)) + LAST)
    try:
        graph = loads(text.replace(f"'{MARK}'", repr(str(mark))))
    except DocumentError:
        return
    graph.places = layout_missing(graph)
    desk.session.restore(graph, None)
    desk.window.canvas.navigation.open_view()
    desk.until(lambda: desk.session.results.inference(desk.node("last")))
    known = desk.session.results.inference(desk.node("last"))
    assert known is not None and known.shape == (3, 4)
    assert not mark.exists()


def test_code_that_is_pasted_or_opened_runs_by_no_gesture(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    mark = tmp_path / MARK
    text = f"import torch\nx = torch.ones(3, 4)\nopen({str(mark)!r}, 'w').write('!')\nlast = x * 2\n"
    graph = read_script(text, keeps_code=True).graph
    copied = to_text(fragments.copy_items(graph, [*graph.nodes]), ())
    desk.sit_down(qtbot)
    desk.open("import torch\nhere = torch.ones(2)\n")
    QGuiApplication.clipboard().setText(copied)
    desk.window.canvas.clipboard_commands.paste(400.0, 400.0)
    desk.until(lambda: desk.session.results.inference(desk.node("last")))
    desk.session.run.run()
    desk.until(lambda: desk.said)
    desk.rest()
    assert not mark.exists()
    assert any(is_code(node) for node in desk.graph.nodes.values())
