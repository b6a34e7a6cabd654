"""What code prints and draws appears at its card, in the Inspector and in the log."""

from pathlib import Path

from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.ui.docks.inspector.printout_section import FigureView
from tests.engine.code.stand_in_matplotlib import write_stand_in
from tests.ui.desk import Desk
from tests.ui.trusted import open_trusted, run_to_the_end

FIGURE_COLOUR = "#010203"
"""Of the stand-in's figure on a dark ground."""
TEXT = """import torch
import sys
import logging
import matplotlib.pyplot as plt

x = torch.ones(2)


with open(__file__) as file:
    for number in range(6):
        print("line", number)
    for number in range(3):
        sys.stderr.write(f"\\r{number + 1}/3")
    sys.stderr.write("\\n")
    logging.warning("beware")
    plt.plot([1.0])
plt.show()
"""


def _painted(desk: Desk, card: ItemId) -> int:
    """How many pixels of a card are those of the figure."""
    desk.window.canvas.navigation.bring_into_view(card)
    box = desk.window.canvas.scene.placement.box(card)
    assert box is not None
    corners = [desk.window.canvas.camera.to_view(*at) for at in ((box.x, box.y), (box.right, box.bottom))]
    (left, top), (right, bottom) = corners
    seen = (
        desk.window.canvas.viewport().grab(QRect(int(left), int(top), int(right - left), int(bottom - top))).toImage()
    )
    colours = (seen.pixelColor(x, y).name() for x in range(seen.width()) for y in range(seen.height()))
    return sum(name == FIGURE_COLOUR for name in colours)


def test_lines_bars_and_figures_stand_at_the_card(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    write_stand_in(tmp_path)
    open_trusted(desk, qtbot, tmp_path, TEXT)
    run_to_the_end(desk)
    assert desk.session.run.state.outcome == "done"
    card = desk.node("file")
    printout = desk.session.results.printout(card)
    lines = [f"line {number}" for number in range(6)]
    assert printout.text == (*lines, "3/3", "WARNING:root:beware")
    assert printout.shown()[0] == "… 5 lines above"
    assert [(one.title, one.picture.width) for one in printout.figures] == [("loss", 64)]
    assert _painted(desk, card) > 1000, "the figure itself is seen"
    desk.session.attention.select((card,))
    section = desk.window.inspector.details.printout
    desk.until(lambda: section.lines.toPlainText().endswith("beware"))
    (view,) = section.figures.findChildren(FigureView)
    assert view.figured == printout.figures[0]
    printed = [entry.text for entry in desk.window.log.model.entries if entry.severity == "print"]
    assert printed == list(printout.text), "a bar is one line in the log"


def test_a_run_from_nothing_begins_with_nothing_said(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    open_trusted(desk, qtbot, tmp_path, "import torch\n\nfor name in {'a'}:\n    print(name)\n")
    run_to_the_end(desk)
    run_to_the_end(desk)
    (printout,) = desk.session.results.tables.printouts.values()
    assert printout.text == ("a",)
