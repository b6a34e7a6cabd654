"""Graph ▸ Analyse, by its menu, its keys and its rows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from gradstudio.advice.diagnosis.graph_answers import EMPTY, NO_LEAF, NO_PAIR, NOT_TIMED
from gradstudio.graph.model import ItemId
from gradstudio.graph.structure.graph_export import FORMATS
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.actions.analyse_commands import EDITED
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.analyse_dialog import AnalyseDialog
from gradstudio.ui.theme import theme
from tests.graph.structure.programs import node

BEGINS = {"dot": "digraph ", "graphml": "<graphml "}
TEXT = """import torch
x = torch.ones(8, requires_grad=True)
w = torch.ones(8, requires_grad=True)
a = x * w
b = a + 1
y = b.sum()
y.backward()
"""


@pytest.fixture
def drawn(window: MainWindow) -> Iterator[MainWindow]:
    window.session.restore(read_script(TEXT).graph, None)
    yield window
    window.session.graph_store.set_clean()


def item(window: MainWindow, name: str) -> ItemId:
    return node(window.session.graph_store.graph, name)


def select(window: MainWindow, *names: str) -> None:
    window.session.attention.select([item(window, name) for name in names])


def asked(window: MainWindow, action: str) -> AnalyseDialog:
    window.actions[action].trigger()
    dialog = window.room.analyse.dialog
    assert dialog is not None and dialog.isVisible()
    return dialog


def texts(dialog: AnalyseDialog) -> list[str]:
    return [dialog.list.item(row).text() for row in range(dialog.list.count())]


def row(dialog: AnalyseDialog, begin: str) -> QModelIndex:
    return dialog.list.model().index(next(k for k, text in enumerate(texts(dialog)) if text.startswith(begin)), 0)


def click(dialog: AnalyseDialog, begin: str) -> None:
    index = row(dialog, begin)
    dialog.list.scrollTo(index)
    QTest.mouseClick(
        dialog.list.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        dialog.list.visualRect(index).center(),
    )


def selected(window: MainWindow) -> set[str]:
    graph = window.session.shown_store.graph
    return {", ".join(graph.nodes[one].names) for one in window.session.attention.selection}


def shown_words(dialog: AnalyseDialog) -> list[str]:
    return [label.text() for label in dialog.findChildren(QLabel) if label.isVisible()]


def test_the_key_shows_every_answer_and_leaves_the_selection_alone(drawn: MainWindow, qtbot: QtBot) -> None:
    select(drawn, "a")
    QTest.keyClick(drawn.canvas, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = drawn.room.analyse.dialog
    assert dialog is not None and dialog.isVisible()
    told = texts(dialog)
    assert "x: through a, and before it b." in told and "6 nodes: x, w, a, b, y, backward" in told
    assert NOT_TIMED in told and NO_PAIR in told
    assert selected(drawn) == {"a"}


def test_a_click_and_the_arrow_keys_select_the_nodes_of_a_row(drawn: MainWindow) -> None:
    dialog = asked(drawn, "graph.analyse")
    click(dialog, "w: through")
    assert selected(drawn) == {"w", "a", "b"}
    QTest.keyClick(dialog.list, Qt.Key.Key_Up)
    assert selected(drawn) == {"x", "a", "b"}
    drawn.session.attention.select(())
    click(dialog, "x: through")
    assert selected(drawn) == {"x", "a", "b"}


def test_enter_on_a_row_gives_the_keys_to_the_canvas(drawn: MainWindow, qtbot: QtBot) -> None:
    dialog = asked(drawn, "graph.analyse")
    click(dialog, "w: through")
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is drawn.canvas)
    assert selected(drawn) == {"w", "a", "b"}


def test_what_lies_between_is_asked_of_two_nodes(drawn: MainWindow) -> None:
    assert not drawn.actions["graph.between"].isEnabled()
    assert "Select two nodes" in drawn.actions.row("graph.between").why()
    select(drawn, "y", "x")
    assert drawn.actions["graph.between"].isEnabled()
    dialog = asked(drawn, "graph.between")
    assert texts(dialog)[:2] == ["Between x and y", "2 nodes: a, b"]
    assert selected(drawn) == {"x", "a", "b", "y"}
    QTest.mouseClick(dialog.again, Qt.MouseButton.LeftButton)
    assert texts(dialog)[0] == "Between x and y"


def test_a_leaf_that_is_selected_stands_first_and_its_gates_are_selected(drawn: MainWindow) -> None:
    select(drawn, "w")
    dialog = asked(drawn, "graph.gates")
    assert dialog.list.currentItem().text() == "w: through a, and before it b."
    assert selected(drawn) == {"w", "a", "b"}


def test_nothing_to_ask_about_is_said(window: MainWindow) -> None:
    for action in ("graph.analyse", *(f"graph.export_{one.name}" for one in FORMATS)):
        assert not window.actions[action].isEnabled()
        assert window.actions.row(action).why() == "There is nothing on the canvas yet."


def test_after_an_edit_the_answers_say_that_they_are_old_until_they_are_asked_again(drawn: MainWindow) -> None:
    dialog = asked(drawn, "graph.analyse")
    assert EDITED not in shown_words(dialog)
    drawn.canvas.selection.select_all()
    drawn.canvas.selection_commands.delete_selection()
    assert EDITED in shown_words(dialog)
    click(dialog, "w: through")  # its nodes are gone
    assert selected(drawn) == set()
    QTest.mouseClick(dialog.again, Qt.MouseButton.LeftButton)
    assert EMPTY in texts(dialog) and EDITED not in shown_words(dialog)


def test_a_program_without_a_leaf_says_what_makes_one(window: MainWindow, add) -> None:
    add("torch.randn")
    assert NO_LEAF in texts(asked(window, "graph.analyse"))


def test_copy_takes_all_answers(drawn: MainWindow) -> None:
    dialog = asked(drawn, "graph.analyse")
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert "  - x: through a, and before it b.\n" in QGuiApplication.clipboard().text()


def test_the_answers_are_seen_with_their_document_only(drawn: MainWindow) -> None:
    dialog, room = asked(drawn, "graph.analyse"), drawn.room
    drawn.file.new()
    assert drawn.room is not room and not dialog.isVisible()
    drawn.documents.step(-1)
    assert drawn.room is room and dialog.isVisible()


def test_another_theme_colours_the_rows(drawn: MainWindow) -> None:
    dialog = asked(drawn, "graph.analyse")
    drawn.room.set_theme(theme("light"))
    colours = {dialog.list.item(k).foreground().color().name() for k in range(dialog.list.count())}
    assert colours == {theme("light").color(role).name() for role in ("text", "text_dim")}


@pytest.mark.parametrize("name", [one.name for one in FORMATS])
def test_the_graph_is_exported_where_a_person_says(drawn: MainWindow, tmp_path: Path, name: str) -> None:
    def save() -> None:
        dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, QFileDialog) and one.isVisible())
        dialog.selectFile(str(tmp_path / "mine"))
        dialog.accept()

    QTimer.singleShot(0, save)
    drawn.actions[f"graph.export_{name}"].trigger()
    assert (tmp_path / f"mine.{name}").read_text().startswith(BEGINS[name])


def test_a_layer_is_asked_by_its_card_and_what_is_no_leaf_is_said_to_be_none(window: MainWindow) -> None:
    text = "import torch\nimport torch.nn as nn\nx = torch.ones(1, 2)\nfc = nn.Linear(2, 2)\nh = fc(x)\ny = h.sum()\n"
    window.session.restore(read_script(text).graph, None)
    select(window, "h")  # the call shares the card of the layer
    assert asked(window, "graph.gates").list.currentItem().text() == "fc: through h."
    select(window, "y")
    assert asked(window, "graph.gates").list.currentItem().text().startswith("y is no leaf")
    window.session.graph_store.set_clean()
