"""Cards of code by hand: added, found in the Code dock by a double click or a key, written there, pasted."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.graph.edits import RemoveWire, ReplaceNode
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.ui.canvas.menus.context_menu import context_menu
from tests.ui.desk import Desk, Key, Keys

TEXT = """import torch
import json

x = torch.ones(2)


def load(text):
    data = json.loads(text)
    yield data
"""


def opened(desk: Desk, qtbot: QtBot, folder: Path, text: str = TEXT) -> None:
    desk.sit_down(qtbot)
    path = folder / "program.py"
    path.write_text(text)
    desk.session.open(path)
    desk.window.canvas.navigation.open_view()


def at_title(desk: Desk, item: ItemId) -> QPointF:
    box = desk.window.canvas.scene.placement.box(item)
    assert box is not None
    return QPointF(*desk.window.canvas.camera.to_view(box.x + 40, box.y + 10))


def at_body(desk: Desk, item: ItemId) -> QPointF:
    """A place on the lines of a card."""
    box = desk.window.canvas.scene.placement.box(item)
    layout = desk.window.canvas.scene.placement.layout(item)
    assert box is not None and layout is not None
    return QPointF(*desk.window.canvas.camera.to_view(box.x + 40, box.y + layout.height - 12))


def selected_line(desk: Desk) -> str:
    return desk.window.code.editor.textCursor().block().text()


@pytest.mark.parametrize("way", ["double click", "double click on the title", "Enter"])
def test_a_card_leads_to_its_lines_and_what_is_written_there_changes_it(
    desk: Desk, qtbot: QtBot, tmp_path: Path, way: str
) -> None:
    opened(desk, qtbot, tmp_path)
    card = desk.node("load")
    if way == "Enter":
        desk.session.attention.select((card,))
        desk.key(Key.Key_Return)
    else:
        at = (at_title if "title" in way else at_body)(desk, card).toPoint()
        viewport, left = desk.window.canvas.viewport(), Qt.MouseButton.LeftButton
        QTest.mouseClick(viewport, left, Keys.NoModifier, at)
        QTest.mouseDClick(viewport, left, Keys.NoModifier, at)
    desk.until(desk.window.code.editor.hasFocus)
    assert selected_line(desk) == "def load(text):"
    steps = desk.session.graph_store.undo_stack.count()
    desk.press(Key.Key_Down)
    desk.press(Key.Key_End)
    QTest.keyClicks(desk.window.code.editor, "  # read")
    desk.until(lambda: "# read" in code_of(desk.graph.nodes[card]))
    assert code_of(desk.graph.nodes[card]) == TEXT.partition("\n\n\n")[2].rstrip().replace(
        "s(text)\n", "s(text)  # read\n"
    )
    assert desk.session.graph_store.undo_stack.count() == steps + 1
    desk.session.graph_store.undo_stack.undo()
    assert "# read" not in code_of(desk.graph.nodes[card])


def test_a_new_card_is_written_at_once_in_place_of_nothing(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path)
    desk.window.canvas.operator_commands.add_operator("python.code", 900.0, 700.0)
    editor = desk.window.code.editor
    desk.until(lambda: editor.hasFocus() and editor.textCursor().selectedText() == "pass")
    QTest.keyClicks(editor, "import os as tenth")
    desk.until(lambda: any("tenth" in node.names for node in desk.graph.nodes.values()))
    code = desk.graph.nodes[desk.node("tenth")]
    assert is_code(code)
    assert code_of(code) == "import os as tenth"


def test_python_that_is_not_drawn_is_pasted_as_a_card_that_reads_the_canvas(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(desk, qtbot, tmp_path)
    QGuiApplication.clipboard().setText("while x.sum() < 10:\n    x = x * 2\nprint({**{'x': x}})\n")
    desk.window.canvas.clipboard_commands.paste(900.0, 700.0)
    (card,) = [node for node in desk.graph.nodes.values() if is_code(node) and "while" in code_of(node)]
    wire = desk.graph.wire_into(card.id, "in.x")
    assert wire is not None
    assert wire.source == desk.node("x")
    assert desk.session.run.program.codes[-1].text.startswith("while")


def test_the_inspector_and_the_outline_show_its_lines(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path)
    card = desk.node("load")
    desk.session.attention.select((card,))
    lines = desk.window.inspector.details.code.lines
    desk.until(lambda: lines.toPlainText() == code_of(desk.graph.nodes[card]))
    desk.session.attention.reveal(card, 2)
    desk.until(lambda: [mark.cursor.blockNumber() for mark in lines.extraSelections()] == [1])
    desk.session.attention.select((card,))
    desk.until(lambda: not lines.extraSelections())
    ports = desk.window.inspector.details.arguments._ports(card)
    assert [port.path for port in ports if port.path == "code"] == []
    desk.window.frame.docks.bring_forward("outline")
    model = desk.window.outline.tree.model()
    words = {
        str(model.index(row, column).data()) for row in range(model.rowCount()) for column in range(model.columnCount())
    }
    assert "def load(text):" in words


TWO = """import torch

x = torch.ones(2)
import json
# read
d = dict((k, x) for k in "ab")   # odd

y = x + 1
"""


def menu_of(desk: Desk, item: ItemId) -> dict[str, QAction]:
    """The rows of a card's context menu, by their words; the card is the selected one."""
    canvas = desk.window.canvas
    desk.session.attention.select((item,))
    place = canvas.input_dispatcher.at(at_body(desk, item).toPoint())
    menu = context_menu(canvas, canvas.input_dispatcher.hit(place), place.x, place.y)
    return {row.text().split("\t")[0]: row for row in menu.actions()}


def test_the_cards_of_a_split_one_are_seen(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    lines = "".join(f"d{k} = dict((k, x) for k in 'ab')\n" for k in range(12))
    opened(desk, qtbot, tmp_path, f"import torch\n\nx = torch.ones(2)\n{lines}")
    canvas = desk.window.canvas
    menu_of(desk, desk.node("d0"))["Split"].trigger()
    cards = [item for item, node in desk.graph.nodes.items() if is_code(node)]
    assert len(cards) == 12

    def are_seen() -> bool:
        boxes = [canvas.scene.placement.box(item) for item in cards]
        corners = [
            QPointF(*canvas.camera.to_view(x, y))
            for box in boxes
            if box is not None
            for x, y in ((box.x, box.y), (box.right, box.bottom))
        ]
        return all(canvas.viewport().rect().contains(corner.toPoint()) for corner in corners)

    desk.until(are_seen)


def test_what_code_binds_is_renamed_in_its_text_alone(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path, TWO)
    assert "Rename…" not in menu_of(desk, desk.node("d"))
    assert not desk.window.actions["graph.rename"].isEnabled()
    assert "Rename…" in menu_of(desk, desk.node("x"))


def test_a_card_is_split_and_merged_again_by_its_menu_each_in_one_step(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(desk, qtbot, tmp_path, TWO)
    stack = desk.session.graph_store.undo_stack
    card = desk.node("d")
    assert "Merge with next" not in menu_of(desk, card)
    whole, steps = code_of(desk.graph.nodes[card]), stack.count()
    menu_of(desk, card)["Split"].trigger()
    assert stack.count() == steps + 1
    assert code_of(desk.graph.nodes[card]) == "import json"
    other = desk.node("d")
    assert code_of(desk.graph.nodes[other]) == '# read\nd = dict((k, x) for k in "ab")   # odd'
    assert desk.session.attention.selection == {card, other}
    one, two = (desk.window.canvas.scene.placement.box(item) for item in (card, other))
    assert one is not None
    assert two is not None
    assert one.bottom <= two.y or two.bottom <= one.y or one.right <= two.x or two.right <= one.x
    assert [code.text for code in desk.session.run.program.codes] == [
        code_of(desk.graph.nodes[item]) for item in (card, other)
    ]
    assert "Split" not in menu_of(desk, card)
    menu_of(desk, card)["Merge with next"].trigger()
    assert stack.count() == steps + 2
    assert code_of(desk.graph.nodes[card]) == whole
    stack.undo()
    stack.undo()
    assert code_of(desk.graph.nodes[card]) == whole
    assert len([node for node in desk.graph.nodes.values() if is_code(node)]) == 1


def test_code_is_wrapped_in_a_loop_by_its_menu_and_counts_on_in_it(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path, "import torch\n\nn = 0\ntry:\n    n += 1\nfinally:\n    pass\nx = torch.ones(n)\n")
    card = next(item for item, node in desk.graph.nodes.items() if is_code(node))
    rows = {row.text().split("\t")[0]: row for row in menu_of(desk, card)["Wrap in"].menu().actions()}
    assert {"no_grad", "enable_grad", "inference_mode", "autocast", "for", "while", "try"} <= set(rows)
    steps = desk.session.graph_store.undo_stack.count()
    rows["for"].trigger()
    assert desk.session.graph_store.undo_stack.count() == steps + 1
    (loop,) = desk.graph.blocks.values()
    assert loop.carried == ("n",) and desk.session.attention.selection == {loop.id}
    assert not desk.session.run.program.incomplete


def test_what_cannot_be_split_is_not_offered_in_the_palette(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path, TWO)
    actions = desk.window.actions
    desk.session.attention.select((desk.node("x"),))
    assert not actions["graph.split_code"].isEnabled()
    desk.session.attention.select((desk.node("d"),))
    assert actions["graph.split_code"].isEnabled()
    assert not actions["graph.merge_code"].isEnabled()
    actions["graph.split_code"].trigger()
    desk.session.attention.select((next(item for item, node in desk.graph.nodes.items() if node.names == ("json",)),))
    assert actions["graph.merge_code"].isEnabled()


def test_what_can_be_drawn_of_a_card_is_drawn_by_its_menu(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path, TWO)
    stack, card = desk.session.graph_store.undo_stack, desk.node("d")
    assert "Draw" not in menu_of(desk, card)
    code = "import json\nw = torch.zeros(3)"
    node = msgspec.structs.replace(desk.graph.nodes[card], literals={"code": repr(code)}, names=("json", "w"))
    wires = (RemoveWire(wire) for wire in desk.graph.wires_to(card))
    desk.session.graph_store.submit((*wires, ReplaceNode(node)), "Kept by an older version")
    steps = stack.count()
    menu_of(desk, card)["Draw"].trigger()
    assert stack.count() == steps + 1
    assert desk.graph.nodes[desk.node("w")].operator == "torch.zeros"
    assert [code_of(node) for node in desk.graph.nodes.values() if is_code(node)] == ["import json"]
    assert not desk.window.actions["graph.draw_code"].isEnabled()
    stack.undo()
    assert desk.graph.nodes[card] == node


def test_a_card_is_made_by_the_palette_and_by_the_library(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    opened(desk, qtbot, tmp_path)
    before = set(desk.graph.nodes)
    assert desk.window.actions["graph.add_code"].text() == "Add Python"
    desk.window.actions["graph.add_code"].trigger()
    (made,) = set(desk.graph.nodes) - before
    assert is_code(desk.graph.nodes[made])
    desk.until(lambda: desk.window.code.editor.hasFocus())
    library = desk.window.library.model
    assert library.find(("Common", "python.code")).isValid()
