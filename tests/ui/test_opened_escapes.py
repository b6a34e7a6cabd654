"""A document that is opened in the window is looked through for shapes at once: what tries to get out is refused."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.document.errors import DocumentError
from gradstudio.document.file import loads
from gradstudio.layout.tidy import layout_missing
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
