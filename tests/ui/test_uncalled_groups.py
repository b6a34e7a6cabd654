"""What nothing drawn calls: a file of definitions opens inside the last, and a bar leads to the others."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gradstudio.graph.text.code_records import is_code
from gradstudio.ui.canvas.breadcrumbs import MOST_BESIDE
from tests.ui.desk import Desk, Key, Keys
from tests.ui.gestures import come_to_rest

MODELS = """import inspect

import torch
from torch import nn


def half(x):
    return x / 2


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return half(self.fc(x))


class Second(nn.Module):
    def forward(self, x):
        y = x + 1
        return y
"""


def opened(desk: Desk, qtbot: QtBot, folder: Path, text: str) -> None:
    desk.sit_down(qtbot)
    path = folder / "models.py"
    path.write_text(text)
    desk.session.open(path)
    desk.window.canvas.navigation.open_view()


def titles(desk: Desk) -> tuple[list[str], list[str]]:
    bar = desk.window.canvas.breadcrumbs
    return [one.text() for one in bar.buttons], [one.text() for one in bar.beside] if bar.isVisible() else []


def press(desk: Desk, title: str) -> None:
    bar = desk.window.canvas.breadcrumbs
    button = next(one for one in (*bar.buttons, *bar.beside) if one.text() == title)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_model_whose_methods_are_drawn_for_themselves_opens_inside_the_model(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    method = """
    @torch.no_grad()
    def generate(self, x, *, steps=3):
        for _ in range(steps):
            x = torch.cat((x, self(x)), dim=1)
        return x
"""
    opened(desk, qtbot, tmp_path, MODELS + method)
    assert titles(desk) == (["Program", "Second"], ["First", "generate()"])


def test_a_file_of_definitions_opens_inside_the_last_and_leads_to_the_others(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(desk, qtbot, tmp_path, MODELS)
    assert titles(desk) == (["Program", "Second"], ["First"])  # `half` is called by the first
    assert any(node.names == ("y",) for node in desk.session.shown_store.graph.nodes.values())
    press(desk, "First")
    assert titles(desk) == (["Program", "First"], ["Second"])
    press(desk, "Program")
    assert titles(desk) == (["Program"], ["First", "Second"])
    assert all(map(is_code, desk.session.shown_store.graph.nodes.values()))


def test_what_is_done_inside_is_in_the_text_and_undone(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path, MODELS)
    shown = desk.session.shown_store.graph
    plus = next(item for item, node in shown.nodes.items() if node.names == ("y",))
    desk.session.attention.select((plus,))
    desk.window.canvas.setFocus()
    desk.key(Key.Key_Delete)
    desk.until(lambda: "y = x + 1" not in desk.window.code.editor.toPlainText())
    desk.key(Key.Key_Z, Keys.ControlModifier)
    desk.until(lambda: "y = x + 1" in desk.window.code.editor.toPlainText())
    assert titles(desk)[0] == ["Program", "Second"]


def test_what_is_called_has_no_place_in_the_bar(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path, f"{MODELS}\n\nnet = Second()\ny = net(torch.ones(2))\n")
    assert titles(desk) == (["Program"], ["First"])
    opened(desk, qtbot, tmp_path, "import torch\nx = torch.ones(2)\n")
    assert not desk.window.canvas.breadcrumbs.isVisible()


def test_many_definitions_are_in_a_list(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    count = MOST_BESIDE + 3
    text = "import torch\nx = torch.ones(2)\n" + "".join(
        f"\n\ndef f{k}(x):\n    return x + {k}\n" for k in range(count)
    )
    opened(desk, qtbot, tmp_path, text)
    assert titles(desk)[1] == [*(f"f{k}" for k in range(MOST_BESIDE)), "3 more"]
    menu = desk.window.canvas.breadcrumbs.beside[-1].menu()
    menu.actions()[-1].trigger()
    assert titles(desk)[0] == ["Program", f"f{count - 1}"]


def test_names_above_the_canvas_are_whole_and_those_without_room_are_in_the_list(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    names = [f"generate_the_next_token_with_attention_{k}" for k in range(MOST_BESIDE + 1)]
    text = "import torch\n\n" + "".join(f"\ndef {name}(x):\n    return x * 2\n\n" for name in names)
    opened(desk, qtbot, tmp_path, text)
    bar = desk.window.canvas.breadcrumbs
    shown = {}
    bar.refresh()
    gone = set(bar.findChildren(QToolButton)) - {*bar.buttons, *bar.beside}
    said = Qt.WidgetAttribute.WA_WState_ExplicitShowHide
    assert gone and all(one.isHidden() and one.testAttribute(said) for one in gone), "while they wait for their end"
    for by in range(3):  # as an edge is dragged: what has room is the same
        before = list(bar.beside)
        desk.window.frame.resize(1280 + 2 * by, 800)
        come_to_rest(desk)
        assert by == 0 or [one is other for one, other in zip(before, bar.beside, strict=True)] == [True] * len(before)
    for width in (1280, 1900):
        desk.window.frame.resize(width, 800)
        come_to_rest(desk)
        desk.until(lambda: bar.isVisible() and bar.width() == desk.window.canvas.width())
        buttons = [*bar.buttons, *bar.beside]
        desk.until(lambda buttons=buttons: all(one.width() >= one.sizeHint().width() for one in buttons))
        assert buttons[-1].geometry().right() <= bar.width()
        *_, more = bar.beside
        assert more.text() == f"{len(bar._defined) - len(bar.beside) + 1} more"
        shown[width] = len(bar.beside)
    assert shown[1280] < shown[1900]
    desk.window.frame.resize(1280, 800)
