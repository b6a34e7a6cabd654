"""Literals, names and notes edited where they stand."""

import msgspec
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from gradstudio.graph import recipes
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import ReplaceBlock, ReplaceNode, SetTail
from gradstudio.graph.model import DOCUMENT_DEVICE, BodyId, Graph, ItemId
from gradstudio.ui.canvas.edit.in_place_editors import LineEdit, NoteEdit
from gradstudio.ui.canvas.menus.context_menu import context_menu
from gradstudio.ui.canvas.paint.card.plate_ground import head_height
from gradstudio.ui.canvas.popups.choice_list import ChoiceList
from tests.ui.canvas.conftest import CONTROL, Hand

Key = Qt.Key


def open_line(hand: Hand, item: ItemId, path: str) -> LineEdit:
    hand.click(hand.field(item, path))
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, LineEdit)
    return editor


def retype(editor: LineEdit, text: str) -> None:
    editor.selectAll()
    QTest.keyClicks(editor, text)


def literal(hand: Hand, item: ItemId, path: str) -> str:
    return hand.graph.nodes[item].literals.get(path, "")


@pytest.mark.feature(44, 30)
def test_a_click_on_a_field_edits_it_and_enter_keeps(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    editor = open_line(hand, x, "data")
    assert editor.text() == "[1.0, 2.0, 3.0]"
    retype(editor, "[[1, 2], [3, 4]]")
    hand.key(Key.Key_Return, to=editor)
    assert literal(hand, x, "data") == "[[1, 2], [3, 4]]"
    assert hand.canvas.in_place.editor is None
    assert hand.undo_texts[-1] == "Set data"


def test_a_wrong_entry_is_refused_in_words_and_the_old_value_stands(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    editor = open_line(hand, x, "data")
    retype(editor, "open('f')")
    hand.key(Key.Key_Return, to=editor)
    assert hand.canvas.in_place.editor is editor
    assert hand.canvas.bubble.isVisible()
    assert hand.canvas.bubble.text()
    assert literal(hand, x, "data") == "[1.0, 2.0, 3.0]"
    hand.key(Key.Key_Escape, to=editor)
    assert hand.canvas.in_place.editor is None
    assert not hand.canvas.bubble.isVisible()
    assert literal(hand, x, "data") == "[1.0, 2.0, 3.0]"


def test_escape_forgets_what_was_typed(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    count = len(hand.undo_texts)
    editor = open_line(hand, x, "data")
    retype(editor, "7")
    hand.key(Key.Key_Escape, to=editor)
    assert literal(hand, x, "data") == "[1.0, 2.0, 3.0]"
    assert len(hand.undo_texts) == count


def test_tab_keeps_and_goes_on_to_the_next_field(hand: Hand) -> None:
    x = hand.add("torch.full", 200, 100)
    editor = open_line(hand, x, "size")
    retype(editor, "(4, 4)")
    hand.key(Key.Key_Tab, to=editor)
    assert literal(hand, x, "size") == "(4, 4)"
    following = hand.canvas.in_place.editor
    assert isinstance(following, LineEdit)
    assert following is not editor
    retype(following, "0.5")
    hand.key(Key.Key_Return, to=following)
    assert literal(hand, x, "fill_value") == "0.5"


def test_undo_while_a_field_is_open_takes_back_what_was_typed_in_it(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    texts = hand.undo_texts
    retype(open_line(hand, x, "data"), "7")
    hand.canvas.store.undo()
    assert hand.canvas.in_place.editor is None
    assert literal(hand, x, "data") == "[1.0, 2.0, 3.0]"
    assert hand.undo_texts == texts
    hand.canvas.store.redo()
    assert literal(hand, x, "data") == "7"


def test_undo_while_a_name_is_open_leaves_a_history_that_goes_back_and_forth(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    store = hand.session.graph_store
    hand.canvas.attention.select([x])
    hand.canvas.selection_commands.duplicate_selection()
    hand.canvas.group_commands.make_group()
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, LineEdit)
    retype(editor, "other")
    while store.undo_stack.canUndo():
        store.undo()
    assert not hand.graph.nodes
    while store.undo_stack.canRedo():
        store.redo()
    assert "other" in hand.graph.definitions


def test_an_edit_by_menu_comes_after_what_is_typed(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    y = hand.add("torch.tensor", 500, 100)
    retype(open_line(hand, x, "data"), "7")
    hand.canvas.store.submit(recipes.delete(hand.graph, (x, y)), "Delete")
    assert hand.undo_texts[-2:] == ["Set data", "Delete"]
    hand.canvas.store.undo()
    assert literal(hand, x, "data") == "7"
    hand.canvas.store.undo()
    assert literal(hand, x, "data") == "[1.0, 2.0, 3.0]"


def test_an_edit_that_does_not_fit_what_was_typed_is_refused_in_words(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    stale = recipes.delete(hand.graph, (x,))
    refused: list[object] = []
    hand.canvas.store.refused.connect(refused.append)
    hand.canvas.store.changing.connect(
        lambda: hand.canvas.store.submit(recipes.delete(hand.graph, (x,)), "Delete") if x in hand.graph else None
    )
    hand.canvas.store.submit(stale, "Delete again")
    assert hand.undo_texts[-1] == "Delete"
    assert len(refused) == 1


def test_another_document_in_place_of_this_one_ends_what_is_typed(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    retype(open_line(hand, x, "data"), "7")
    hand.session.graph_store.load(Graph())
    assert hand.canvas.in_place.editor is None
    assert hand.undo_texts == []
    hand.drop("torch.ones", (300, 100))
    assert len(hand.graph.nodes) == 1


def test_nothing_is_pushed_within_an_undo(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    store = hand.session.graph_store
    edits = recipes.delete(hand.graph, (x,))
    said: list[str] = []

    def push(_edits: object) -> None:
        try:
            store.submit(recipes.rename(store.graph, x, ("other",)) if x in store.graph else (), "Rename")
        except AssertionError as error:
            said.append(str(error))

    store.submit(edits, "Delete")
    store.edited.connect(push)
    store.undo()
    assert len(said) == 1
    assert hand.undo_texts == ["Add"]


def test_an_emptied_optional_field_means_torchs_default(hand: Hand) -> None:
    x = hand.add("torch.sum", 200, 100, dim="1")
    editor = open_line(hand, x, "dim")
    editor.clear()
    hand.key(Key.Key_Return, to=editor)
    assert "dim" not in hand.graph.nodes[x].literals


def test_typing_the_same_again_is_no_undo_entry(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    count = len(hand.undo_texts)
    editor = open_line(hand, x, "data")
    retype(editor, "[1.0, 2.0, 3.0]")
    hand.key(Key.Key_Return, to=editor)
    assert len(hand.undo_texts) == count


def test_a_click_turns_a_boolean_and_the_default_stays_unsaid(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.click(hand.field(x, "requires_grad"))
    assert literal(hand, x, "requires_grad") == "True"
    assert hand.undo_texts[-1] == "Set requires_grad"
    hand.click(hand.field(x, "requires_grad"))
    assert "requires_grad" not in hand.graph.nodes[x].literals
    assert hand.canvas.in_place.editor is None


def test_with_the_keys_a_boolean_is_chosen_from_a_list(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.canvas.in_place.edit_field(x, "requires_grad")
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, ChoiceList)
    assert editor.values() == ["", "True"]
    assert editor.field.isHidden()
    hand.key(Key.Key_Down, to=editor.key_widget)
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert literal(hand, x, "requires_grad") == "True"
    assert hand.canvas.in_place.editor is None


def test_escape_leaves_a_list_without_a_choice(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.canvas.in_place.edit_field(x, "requires_grad")
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, ChoiceList)
    hand.key(Key.Key_Escape, to=editor.key_widget)
    assert hand.canvas.in_place.editor is None
    assert literal(hand, x, "requires_grad") == ""


def open_list(hand: Hand, item: ItemId, path: str) -> ChoiceList:
    hand.canvas.in_place.edit_field(item, path)
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, ChoiceList)
    return editor


def test_typing_narrows_a_list_and_other_words_for_a_dtype_are_known(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.canvas.field_commands.toggle_folded(x)
    editor = open_list(hand, x, "dtype")
    QTest.keyClicks(editor.field, "f64")
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert literal(hand, x, "dtype") == "torch.float64"
    editor = open_list(hand, x, "dtype")
    QTest.keyClicks(editor.field, "float8_e5m2")
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert literal(hand, x, "dtype") == "torch.float8_e5m2"
    editor = open_list(hand, x, "dtype")
    QTest.keyClicks(editor.field, "flaot")
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert hand.canvas.in_place.editor is editor
    assert "Did you mean torch.float" in hand.canvas.bubble.text()
    hand.key(Key.Key_Escape, to=editor.key_widget)


def test_a_card_that_is_unfolded_pushes_what_stands_below_it_aside(hand: Hand) -> None:
    conv = hand.add("torch.nn.functional.conv2d", 200, 100)
    placement = hand.canvas.scene.placement
    above = placement.room(conv)
    assert above is not None
    below = hand.add("torch.relu", 200, round(above.y + above.height) + 20)
    before, count = placement.room(below), len(hand.undo_texts)
    hand.canvas.field_commands.toggle_folded(conv)
    grown, moved = placement.room(conv), placement.room(below)
    assert before is not None and grown is not None and moved is not None
    assert (grown.x, grown.y) == (above.x, above.y) and grown.height > above.height
    assert moved.y >= grown.y + grown.height > before.y
    assert len(hand.undo_texts) == count + 1
    hand.session.graph_store.undo()
    assert placement.room(below) == before
    hand.canvas.field_commands.toggle_folded(conv)
    assert len(hand.undo_texts) == count, "a card that shrinks moves nothing"


def test_a_list_that_takes_other_values_too_takes_a_typed_number(hand: Hand) -> None:
    conv = hand.add("torch.nn.functional.conv2d", 200, 100)
    hand.canvas.field_commands.toggle_folded(conv)
    editor = open_list(hand, conv, "padding")
    QTest.keyClicks(editor.field, "2")
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert literal(hand, conv, "padding") == "2"
    editor = open_list(hand, conv, "padding")
    QTest.keyClicks(editor.field, "sa")
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert literal(hand, conv, "padding") == '"same"'


def test_a_choice_says_what_it_does_and_a_near_miss_is_offered(hand: Hand) -> None:
    loss = hand.add("torch.nn.functional.mse_loss", 200, 100)
    hand.canvas.field_commands.toggle_folded(loss)
    editor = open_list(hand, loss, "reduction")
    words = [editor.row_data(row, Qt.ItemDataRole.AccessibleTextRole) for row in editor.rows]
    assert "sum, one number: the sum" in words
    QTest.keyClicks(editor.field, "men")
    hand.key(Key.Key_Return, to=editor.key_widget)
    assert 'Did you mean "mean"?' in hand.canvas.bubble.text()
    hand.key(Key.Key_Escape, to=editor.key_widget)


def free_list(hand: Hand) -> ChoiceList:
    conv = hand.add("torch.nn.functional.conv2d", 200, 100)
    hand.canvas.field_commands.toggle_folded(conv)
    return open_list(hand, conv, "padding")


def test_a_key_that_types_nothing_is_nothing_to_a_list(hand: Hand) -> None:
    editor = free_list(hand)
    for key in (Key.Key_Shift, Key.Key_Control, Key.Key_Alt, Key.Key_CapsLock, Key.Key_F13):
        hand.key(key, to=editor.key_widget)
    assert hand.canvas.in_place.editor is editor
    assert editor.field.text() == ""


def test_what_is_typed_into_a_list_arrives_whole_whatever_the_window_has_shortcuts_for(hand: Hand) -> None:
    fired: list[str] = []
    for keys in (",", "(", "N", "Backspace", "Ctrl+A"):
        action = QAction(hand.canvas)
        action.setShortcut(keys)
        action.triggered.connect(lambda _=False, keys=keys: fired.append(keys))
        hand.canvas.addAction(action)
    editor = free_list(hand)
    hand.canvas.activateWindow()
    QTest.qWaitForWindowActive(hand.canvas)
    for letter in "(0, n":
        QTest.keyClick(hand.canvas.windowHandle(), letter)
    QTest.keyClick(hand.canvas.windowHandle(), Key.Key_Backspace)
    QTest.keyClicks(editor.field, "1)")
    assert (editor.field.text(), fired) == ("(0, 1)", [])
    hand.key(Key.Key_A, CONTROL, to=editor.key_widget)
    assert editor.field.selectedText() == "(0, 1)"


def test_a_list_is_as_high_as_the_rows_that_are_left(hand: Hand) -> None:
    editor = free_list(hand)
    high = editor.height()
    QTest.keyClicks(editor.field, "(0, 1)")
    assert not editor.rows
    assert editor.height() < 48 < high
    for _ in range(6):
        hand.key(Key.Key_Backspace, to=editor.key_widget)
    assert editor.height() == high


@pytest.mark.parametrize("zoom", [0.25, 0.33, 0.5, 1.0])
def test_a_line_to_type_into_leaves_the_title_to_be_read(hand: Hand, zoom: float) -> None:
    x = hand.add("torch.full", 200, 100, fill_value="3")
    hand.canvas.navigation.zoom_to(zoom)
    hand.canvas.in_place.edit_field(x, "size")
    editor, box = hand.canvas.in_place.editor, hand.canvas.scene.placement.box(x)
    assert isinstance(editor, LineEdit) and box is not None
    card = hand.canvas.camera.box_to_view(box)
    rect = QRectF(card.x, card.y, card.width, card.height)
    assert editor.y() >= card.y + head_height(rect, hand.canvas.camera.zoom)


def test_arrows_step_a_number(hand: Hand) -> None:
    x = hand.add("torch.full", 200, 100, fill_value="3")
    hand.canvas.in_place.edit_field(x, "fill_value")
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, LineEdit)
    hand.key(Key.Key_Up, to=editor)
    hand.key(Key.Key_Up, to=editor)
    hand.key(Key.Key_Down, to=editor)
    assert editor.text() == "4"
    retype(editor, "1e-3")
    hand.key(Key.Key_Up, to=editor)
    assert editor.text() == "1.1e-3"
    retype(editor, "0.5")
    hand.key(Key.Key_Down, to=editor)
    assert editor.text() == "0.49"
    hand.key(Key.Key_Return, to=editor)
    assert literal(hand, x, "fill_value") == "0.49"


def test_a_name_that_is_typed_becomes_a_wire_and_the_literal_is_back_without_it(hand: Hand) -> None:
    n = hand.add("python.literal", 0, 100, value="3")
    hand.session.graph_store.attempt(recipes.rename, "Rename", n, ("n",))
    x = hand.add("torch.full", 300, 100, fill_value="0.5")
    editor = open_line(hand, x, "fill_value")
    retype(editor, "n")
    hand.key(Key.Key_Return, to=editor)
    wire = hand.graph.wires[x, "fill_value"]
    assert wire.source == n
    hand.session.graph_store.attempt(recipes.disconnect, "Cut", wire)
    assert literal(hand, x, "fill_value") == "0.5"


def test_an_index_with_names_is_typed_as_in_python(hand: Hand) -> None:
    x = hand.add("torch.ones", 0, 100)
    mask = hand.add("operator.gt", 200, 300, b="0")
    hand.session.graph_store.attempt(recipes.rename, "Rename", mask, ("mask",))
    part = hand.add("operator.getitem", 500, 100)
    hand.wire(x, part, "a")
    editor = open_line(hand, part, "index")
    retype(editor, ":, maks")
    hand.key(Key.Key_Return, to=editor)
    assert hand.canvas.in_place.editor is editor
    assert "mask" in hand.canvas.bubble.text()
    retype(editor, ":, mask")
    hand.key(Key.Key_Return, to=editor)
    assert hand.graph.wires[part, "index.1"].source == mask
    assert literal(hand, part, "index.0") == ":"


def test_dtypes_and_devices_are_lists(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.canvas.field_commands.toggle_folded(x)
    hand.canvas.in_place.edit_field(x, "dtype")
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, ChoiceList)
    assert "torch.float64" in editor.values()
    hand.canvas.in_place.edit_field(x, "device")
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, ChoiceList)
    assert editor.values()[editor.list.current_row] == DOCUMENT_DEVICE
    assert '"cpu"' in editor.values()


def test_the_more_row_unfolds_and_folds(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    layout, box = hand.canvas.scene.placement.layout(x), hand.canvas.scene.placement.box(x)
    assert layout is not None
    assert layout.more is not None
    assert box is not None
    hand.click((box.x + layout.more.x + 5, box.y + layout.more.y + 8))
    unfolded = hand.canvas.scene.placement.layout(x)
    assert unfolded is not None
    assert unfolded.input("dtype") is not None
    assert unfolded.more is not None
    hand.click((box.x + unfolded.more.x + 5, box.y + unfolded.more.y + 8))
    again = hand.canvas.scene.placement.layout(x)
    assert again is not None
    assert again.input("dtype") is None


def test_f2_renames_in_place(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.click(hand.header(x))
    hand.key(Key.Key_F2)
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, LineEdit)
    retype(editor, "weights")
    hand.key(Key.Key_Return, to=editor)
    assert hand.graph.nodes[x].names == ("weights",)


def test_a_name_python_does_not_take_is_refused(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    hand.double_click(hand.header(x))
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, LineEdit)
    before = hand.graph.nodes[x].names
    retype(editor, "class")
    hand.key(Key.Key_Return, to=editor)
    assert hand.graph.nodes[x].names == before
    assert "Python" in hand.canvas.bubble.text()


def test_a_note_that_is_too_long_is_refused_in_words_and_can_be_made_shorter(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 200)
    hand.canvas.note_commands.edit_note(x)
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, NoteEdit)
    editor.setPlainText(f"{'x' * 79}\n" * 2_500 + "x")
    hand.key(Key.Key_Return, CONTROL, to=editor)
    assert hand.graph.nodes[x].note == ""
    assert "at most 200,000 characters" in hand.canvas.bubble.text()
    editor.setPlainText("short")
    hand.key(Key.Key_Return, CONTROL, to=editor)
    assert hand.graph.nodes[x].note == "short"


@pytest.mark.feature(39)
def test_a_note_is_written_and_edited_by_double_click(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 200)
    hand.canvas.note_commands.edit_note(x)
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, NoteEdit)
    QTest.keyClicks(editor, "look here")
    hand.key(Key.Key_Return, CONTROL, to=editor)
    assert hand.graph.nodes[x].note == "look here"
    box = hand.canvas.scene.placement.notes[x].box
    hand.double_click(box.center)
    assert isinstance(hand.canvas.in_place.editor, NoteEdit)
    hand.key(Key.Key_Escape, to=hand.canvas.in_place.editor)
    assert hand.graph.nodes[x].note == "look here"


def test_a_comment_beside_the_statement_is_part_of_its_note_and_stays_beside(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 200)
    hand.canvas.store.submit((ReplaceNode(msgspec.structs.replace(hand.graph.nodes[x], beside="(B, T)")),), "Edit code")
    assert hand.canvas.scene.placement.notes[x].text == "(B, T)"
    hand.canvas.note_commands.edit_note(x)
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, NoteEdit)
    assert editor.toPlainText() == "(B, T)"
    editor.setPlainText("why\n(B, T)")
    hand.key(Key.Key_Return, CONTROL, to=editor)
    assert (hand.graph.nodes[x].note, hand.graph.nodes[x].beside) == ("why", "(B, T)")
    assert hand.canvas.scene.placement.notes[x].text == "why\n(B, T)"
    hand.canvas.note_commands.set_note(x, "")
    assert (hand.graph.nodes[x].note, hand.graph.nodes[x].beside) == ("", "")
    assert x not in hand.canvas.scene.placement.notes
    hand.canvas.store.undo_stack.undo()
    assert hand.graph.nodes[x].beside == "(B, T)"


def test_the_note_of_a_block_is_shown_before_the_comment_at_its_end_and_neither_is_written_over(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 200)
    hand.canvas.store.attempt(recipes.wrap, "Wrap", [x], "no_grad")
    block = next(iter(hand.graph.blocks))
    hand.canvas.store.submit((SetTail(BodyId(block), "\nbelow"),), "Edit code")
    assert hand.canvas.scene.placement.notes[block].text == "below"
    hand.canvas.note_commands.set_note(block, "at the end")
    assert (hand.graph.blocks[block].note, hand.graph.tails[BodyId(block)]) == ("", "\nat the end")
    hand.canvas.store.submit(
        (ReplaceBlock(msgspec.structs.replace(hand.graph.blocks[block], beside="quiet")),), "Edit code"
    )
    assert hand.canvas.scene.placement.notes[block].text == "quiet"
    hand.canvas.note_commands.set_note(block, "very quiet")
    assert (hand.graph.blocks[block].beside, hand.graph.tails[BodyId(block)]) == ("very quiet", "\nat the end")


@pytest.mark.feature(39)
def test_a_note_is_dragged_by_itself(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 200)
    hand.canvas.note_commands.set_note(x, "look here")
    box = hand.canvas.scene.placement.notes[x].box
    hand.drag(box.center, (box.center[0] + 160, box.center[1] + 80))
    assert hand.graph.places[f"note:{x}"].x == box.x + 160
    assert (hand.graph.places[x].x, hand.graph.places[x].y) == (200, 200)
    assert hand.undo_texts[-1] == "Move note"
    hand.canvas.selection.clear()
    hand.canvas.selection.select_all()
    box, accent = hand.canvas.scene.placement.notes[x].box, hand.canvas.canvas_style.color("accent").rgb()
    edge, image = hand.view(box.x, box.y + box.height / 2), hand.shot()
    assert accent in {image.pixelColor(edge.x() + k, edge.y()).rgb() for k in range(-6, 3)}


def test_another_edit_closes_the_editor(hand: Hand) -> None:
    x = hand.add("torch.tensor", 200, 100)
    open_line(hand, x, "data")
    hand.session.graph_store.undo_stack.undo()
    assert hand.canvas.in_place.editor is None


def chosen(hand: Hand, at: tuple[float, float], words: str) -> None:
    """Take an entry of the context menu of what lies there."""
    canvas = hand.canvas
    menu = context_menu(canvas, canvas.input_dispatcher.hit(canvas.input_dispatcher.at(hand.view(*at))), *at)
    menus = [menu, *menu.findChildren(QMenu)]
    found = [action for each in menus for action in each.actions() if action.text() == words]
    assert len(found) == 1, [action.text() for each in menus for action in each.actions()]
    found[0].trigger()
    menu.deleteLater()


def test_the_menu_of_a_field_resets_it_and_sets_none(hand: Hand) -> None:
    x = hand.add("torch.sum", 200, 100, dim="1")
    chosen(hand, hand.field(x, "dim"), "Reset to default (None)")
    assert "dim" not in hand.graph.nodes[x].literals
    y = hand.add("torch.ones", 600, 100, size="(2, 3)")
    chosen(hand, hand.field(y, "size"), "A port for each of them")
    assert literal(hand, y, "size.1") == "3"
    chosen(hand, hand.field(y, "size.0"), "Remove this element")
    assert literal(hand, y, "size.0") == "3"
    chosen(hand, hand.field(y, "size.0"), "One port for the whole list")
    assert literal(hand, y, "size") == "(3,)"


def test_an_operator_is_written_another_way_by_its_menu(hand: Hand) -> None:
    x = hand.add("torch.ones", 0, 100)
    y = hand.add("operator.mul", 400, 100, b="0.5")
    hand.wire(x, y, "a")
    chosen(hand, hand.header(y), "x.mul(…)")
    assert hand.graph.nodes[y].operator == "torch.Tensor.mul"
    assert literal(hand, y, "other") == "0.5"
    assert hand.graph.wires[y, "self"].source == x


def test_enter_opens_the_fields_of_the_card_that_was_added(hand: Hand) -> None:
    x = hand.add("torch.full", 200, 100)
    hand.session.attention.select((x,))
    hand.key(Key.Key_Return)
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, LineEdit)
    layout = hand.canvas.scene.placement.layout(x)
    assert layout is not None
    assert editor.accessibleName() == layout.fields()[0].label
    retype(editor, "(2, 3)")
    hand.key(Key.Key_Tab, to=editor)
    second = hand.canvas.in_place.editor
    assert isinstance(second, LineEdit)
    assert second.accessibleName() == layout.fields()[1].label
    assert literal(hand, x, "size") == "(2, 3)"


def test_enter_opens_the_field_that_is_needed_first(hand: Hand) -> None:
    part = hand.add("torch.full", 200, 100, size="(2, 3)")
    assert hand.session.graph_store.attempt(recipes.set_literal, "Set", part, "fill_value", "")
    hand.session.attention.select((part,))
    hand.key(Key.Key_Return)
    assert hand.canvas.in_place.editor is not None
    assert hand.canvas.in_place.editor.accessibleName() == "fill_value"


def test_tab_goes_through_the_fields_of_a_module_card(hand: Hand) -> None:
    call = hand.add("torch.nn.Linear", 200, 100)
    hand.session.attention.select((call,))
    hand.key(Key.Key_Return)
    for width in ("5", "7"):
        editor = hand.canvas.in_place.editor
        assert isinstance(editor, LineEdit)
        retype(editor, width)
        hand.key(Key.Key_Tab, to=editor)
    module = card_groups(hand.graph).modules[call]
    assert [literal(hand, module, name) for name in ("in_features", "out_features")] == ["5", "7"]
