"""The context menus: short, by subject, with their keys; and notes that are written where the pointer is."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPlainTextEdit

from gradstudio import ui
from gradstudio.graph.model import BodyId, ItemId
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.charts import ConfusionDrawn
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.menus.context_menu import context_menu
from gradstudio.ui.canvas.popups.search_row_delegate import FIND, spelling_parts
from tests.ui.canvas.conftest import CONTROL, Hand, entries
from tests.ui.conftest import Add
from tests.ui.test_keys_of_panels import focus, press

Key = Qt.Key
MOST = 15


def menu_at(hand: Hand, at: tuple[float, float]) -> QMenu:
    return context_menu(
        hand.canvas, hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*at))), *at
    )


def choose(hand: Hand, at: tuple[float, float], words: str) -> None:
    (action,) = (action for action in entries(menu_at(hand, at)) if action.text().split("\t")[0] == words)
    action.trigger()


def test_a_backward_that_is_added_at_an_output_comes_into_view(hand: Hand) -> None:
    x = hand.add("torch.tensor", 700, 100, requires_grad="True")
    choose(hand, hand.output(x), "Backward from here")
    (backward,) = set(hand.graph.nodes) - {x}
    assert hand.canvas.navigation.is_whole(backward) and hand.canvas.navigation.zoom == 1.0


def note_editor(hand: Hand) -> QPlainTextEdit:
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, QPlainTextEdit)
    return editor


@pytest.mark.feature(46)
@pytest.mark.parametrize("key", ["torch.relu", "torch.nn.Linear", "torch.matmul", "python.for"])
def test_the_menu_of_a_card_is_short_and_the_rest_is_in_submenus_by_subject(hand: Hand, key: str) -> None:
    item = hand.add(key, 200, 200)
    if key == "python.for":
        box = hand.canvas.scene.placement.frames[item].box
        menu = menu_at(hand, (box.x + 40, box.y + 10))
    else:
        hand.click(hand.header(item))
        menu = menu_at(hand, hand.header(item))
    rows = [action for action in menu.actions() if not action.isSeparator()]
    assert len(rows) <= MOST
    below = [action.text() for action in rows if action.menu() is not None]
    assert {"Edit", "Look", "Arrange", "Wires", "Group"} <= set(below)
    texts = [action.text() for action in rows]
    assert {"Duplicate", "Delete", "Mute"} <= set(texts)
    found = [action.text().split("\t")[0] for action in entries(menu) if action.text()]
    assert len(found) == len(set(found))


@pytest.mark.feature(46)
def test_what_is_in_a_submenu_is_done(hand: Hand) -> None:
    a, b = hand.add("torch.randn", 100, 100), hand.add("torch.randn", 400, 300)
    hand.canvas.selection.select(frozenset({a, b}))
    choose(hand, hand.header(b), "Align left edges")
    assert hand.graph.places[a].x == hand.graph.places[b].x
    choose(hand, hand.header(b), "Pin")
    assert hand.graph.places[a].pinned and hand.graph.places[b].pinned


@pytest.mark.feature(46)
def test_the_grounds_menu_finds_tidies_and_searches_the_library(window: MainWindow, add: Add) -> None:
    item = add("torch.randn")
    canvas = window.canvas
    box = canvas.scene.placement.box(item)
    assert box is not None
    canvas.navigation.fit_all()
    at = box.right + 40, box.bottom + 20
    menu = context_menu(
        canvas, canvas.input_dispatcher.hit(canvas.input_dispatcher.at(canvas.viewport().rect().bottomRight())), *at
    )
    rows = {action.text().split("\t")[0]: action for action in menu.actions() if not action.isSeparator()}
    assert len(rows) <= MOST
    assert {"Add a note here", "Find…", "Tidy", "Search the Library"} <= rows.keys()
    asked: list[object] = []
    canvas.command_requested.connect(asked.append)
    rows["Find…"].trigger()
    assert canvas.finding.is_open
    rows["Tidy"].trigger()
    rows["Search the Library"].trigger()
    assert asked == ["graph.tidy", "graph.find"]
    assert [window.actions[str(one)].text() for one in asked] == ["Tidy", "Search the Library"]


@pytest.mark.feature(47)
def test_menus_show_the_keys_that_commands_have_now(window: MainWindow, add: Add) -> None:
    item = add("torch.randn")
    canvas = window.canvas
    canvas.navigation.fit_all()
    box = canvas.scene.placement.box(item)
    assert box is not None

    def texts() -> set[str]:
        at = canvas.input_dispatcher.at(QPoint(*map(round, canvas.camera.to_view(box.x + 40, box.y + 8))))
        return {action.text() for action in entries(context_menu(canvas, canvas.input_dispatcher.hit(at), at.x, at.y))}

    assert {"Duplicate\tCtrl+D", "Delete\tDel", "Mute\tM", "Edit note…\tCtrl+M"} <= texts()
    window.key_map.bind("edit.duplicate", ("Shift+F13",))
    window.key_map.bind("graph.mute", ())
    window.key_map.bind("canvas.search", ("Shift+F14",))
    assert {"Duplicate\tShift+F13", "Delete\tDel", "Mute"} <= texts()
    assert canvas.keys_of("canvas.search") == "Shift+F14"
    assert any(action.text().endswith("\tCtrl+Alt+M") for action in canvas.minimap.make_menu().actions())


def test_every_command_that_a_menu_names_is_one(window: MainWindow) -> None:
    sources = (Path(ui.__file__).parent / "canvas").rglob("*.py")
    named = {name for path in sources for name in re.findall(r'\\t([a-z]+\.[a-z_]+)"', path.read_text("utf-8"))}
    assert len(named) > 40
    commands = {line.id for line in window.key_map.lines()}
    assert named <= commands, named - commands


# ------------------------------------------------------------------ notes


@pytest.mark.feature(60)
def test_a_free_note_is_written_where_the_pointer_is_and_is_the_nearest_cards_comment(hand: Hand) -> None:
    x = hand.add("torch.randn", 100, 300)
    hand.add("torch.ones", 100, 20)
    said: list[object] = []
    hand.canvas.said.connect(said.append)
    choose(hand, (420, 420), "Add a note here")
    editor = note_editor(hand)
    assert (editor.x(), editor.y()) == (420, 420)
    QTest.keyClicks(editor, "# Head")
    hand.key(Key.Key_Return, to=editor)
    QTest.keyClicks(editor, "and **more**")
    hand.key(Key.Key_Return, CONTROL, to=editor)
    note = hand.canvas.scene.placement.notes[x]
    assert (note.box.x, note.box.y) == (420, 420)
    assert any(piece.style == "bold" and piece.text == "more" for piece in note.words.pieces)
    lines = write_script(hand.graph).splitlines()
    at = lines.index("# # Head")
    assert lines[at + 1] == "# and **more**" and "torch.randn" in lines[at + 2]
    assert hand.undo_texts[-1] == "Add note"
    assert "above" in str(said[-1])


@pytest.mark.feature(60)
def test_on_an_empty_canvas_a_note_is_the_programs_last_comment(hand: Hand) -> None:
    choose(hand, (300, 200), "Add a note here")
    QTest.keyClicks(note_editor(hand), "to do")
    hand.key(Key.Key_Return, CONTROL, to=note_editor(hand))
    assert hand.graph.tails[BodyId("")] == "to do"
    box = hand.canvas.scene.placement.notes[ItemId("")].box
    assert (box.x, box.y) == (300, 200)


@pytest.mark.feature(60)
def test_escape_writes_no_note_and_an_empty_one_is_none(hand: Hand) -> None:
    hand.add("torch.randn", 100, 300)
    entries_before = len(hand.undo_texts)
    choose(hand, (420, 420), "Add a note here")
    QTest.keyClicks(note_editor(hand), "no")
    hand.key(Key.Key_Escape, to=note_editor(hand))
    choose(hand, (420, 420), "Add a note here")
    hand.key(Key.Key_Return, CONTROL, to=note_editor(hand))
    assert not hand.canvas.scene.placement.notes and len(hand.undo_texts) == entries_before


@pytest.mark.feature(60)
def test_control_m_edits_in_place_and_control_return_keeps_without_a_run(window: MainWindow, add: Add) -> None:
    item = add("torch.randn")
    runs: list[object] = []
    window.actions["run.run"].triggered.connect(runs.append)
    canvas = window.canvas
    focus(window, canvas)
    window.session.attention.select([item])
    press(Key.Key_M, CONTROL)
    editor = canvas.in_place.editor
    assert isinstance(editor, QPlainTextEdit) and editor.hasFocus()
    QTest.keyClicks(editor, "why")
    press(Key.Key_Return, CONTROL)
    assert window.session.graph_store.graph.nodes[item].note == "why"
    assert canvas.in_place.editor is None and not runs
    window.session.attention.select([])
    focus(window, canvas)
    press(Key.Key_M, CONTROL)
    assert isinstance(canvas.in_place.editor, QPlainTextEdit)
    press(Key.Key_Escape)
    assert canvas.in_place.editor is None


# ------------------------------------------------------------------ the search says which is which


@pytest.mark.feature(2)
def test_rows_of_one_name_say_at_once_which_is_which_and_the_function_comes_first(hand: Hand) -> None:
    hand.canvas.searching.open(300, 200)
    popup = hand.canvas.searching.popup
    assert popup is not None
    QTest.keyClicks(popup.field, "relu")
    rows = [popup.list.index_of(k).data(FIND).operator for k in range(4)]
    assert rows[0].key == "torch.relu"
    shown = ["{}{}{}  {}".format(*(spelling_parts(row)[0], row.title, *spelling_parts(row)[1:])) for row in rows]
    assert shown == ["relu  torch", "relu  nn.functional", "x.relu()  Tensor method", "ReLU  nn module"]


def test_what_is_not_torchs_is_not_said_to_be() -> None:
    assert [spelling_parts(load()[key])[2] for key in ("math.tanh", "torch.tanh")] == ["math", "torch"]


@pytest.mark.feature(13)
def test_replacing_names_what_is_replaced_and_says_what_would_be_lost(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 40), hand.add("torch.matmul", 400, 40)
    hand.wire(x, y, "input")
    hand.wire(x, y, "other")
    hand.click(hand.header(y))
    hand.canvas.searching.replace_current()
    popup = hand.canvas.searching.popup
    assert popup is not None
    name = hand.graph.nodes[y].names[0]
    assert popup.field.placeholderText() == f"Replace matmul ({name}) with…"
    costs = [bool(popup.wanted.costs(key)) for key in popup.wanted.first]
    assert costs == sorted(costs)
    assert popup.wanted.costs("torch.tanh") == "loses the wire into 'other'"
    QTest.keyClicks(popup.field, "tanh")

    hand.key(Key.Key_Escape, to=popup.field)


def test_the_counts_of_a_confusion_matrix_are_copied_as_a_table(hand: Hand) -> None:
    item = hand.add("torch.nn.Linear", 200, 200)
    hand.session.attention.select([item])
    hand.canvas.card_arrangement.toggle_chart("confusion")
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    middle = (box.x + box.width / 2, box.y + 8)
    assert "Copy counts as a table" not in [action.text() for action in entries(menu_at(hand, middle))]
    hand.session.results.tables.charts.add(ConfusionDrawn(node=item, counts=((9, 1), (0, 7))))
    choose(hand, middle, "Copy counts as a table")
    assert QGuiApplication.clipboard().text() == "target \\ said\t0\t1\n0\t9\t1\n1\t0\t7"
