"""Groups by hand: made, stepped into and out of, edited inside, taken apart, with mouse and keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS, INPUTS_CARD, OUTPUTS_CARD, output_names
from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.ui.canvas.menus.card_menu import item_rows
from tests.ui.canvas.conftest import Hand

Key = Qt.Key


@pytest.fixture
def chain(hand: Hand) -> tuple[ItemId, ItemId, ItemId]:
    """``x -> exp -> neg``, apart from each other."""
    x = hand.add("torch.ones", 0, 0)
    y = hand.add("torch.exp", 300, 0)
    z = hand.add("torch.neg", 600, 0)
    hand.wire(x, y, "input")
    hand.wire(y, z, "input")
    return x, y, z


def type_name(hand: Hand, name: str) -> None:
    """Type over the proposal of the line that is open, and press Enter."""
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, name)
    QTest.keyClick(editor, Key.Key_Return)


def make(hand: Hand, items: set[ItemId], name: str) -> ItemId:
    """Make a group of these with the command behind Ctrl+G; its call."""
    hand.canvas.selection.select(frozenset(items))
    hand.canvas.group_commands.make_group()
    type_name(hand, name)
    return next(node.id for node in hand.graph.nodes.values() if node.operator == f"group:{name}")


def body(hand: Hand, item: ItemId) -> tuple[float, float]:
    """A point on a card below its header, where nothing else is."""
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    return box.x + box.width / 2, box.bottom - 8


@pytest.mark.feature(40)
def test_a_selection_becomes_a_group_that_is_stepped_into_and_out_of(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId]
) -> None:
    _, y, z = chain
    call = make(hand, {y, z}, "shrink")
    assert hand.undo_texts[-1] == "Make group shrink"
    assert "def shrink(" in write_script(hand.graph)
    hand.double_click(body(hand, call))
    assert hand.session.scope.names() == ("shrink",)
    assert {INPUTS_CARD, OUTPUTS_CARD, y, z} <= set(hand.canvas.scene.stack.cards)
    hand.canvas.group_commands.step_out()
    assert not hand.session.scope.path and hand.session.attention.current == call


@pytest.mark.feature(54)
def test_breadcrumbs_lead_out_of_nested_groups(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    _, y, z = chain
    outer = make(hand, {y, z}, "outer")
    hand.canvas.group_commands.step_in(outer)
    hand.canvas.selection.select(frozenset({z}))
    hand.canvas.group_commands.make_group()
    type_name(hand, "inner")
    hand.canvas.group_commands.step_in()
    bar = hand.canvas.breadcrumbs
    assert [button.text() for button in bar.buttons] == ["Program", "outer", "inner"]
    assert not bar.isHidden()
    bar.buttons[0].setFocus()
    QTest.keyClick(bar.buttons[0], Key.Key_Space)
    assert not hand.session.scope.path and bar.isHidden()
    assert hand.session.attention.current == outer


def test_the_camera_of_every_scope_is_remembered(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.navigation.restore_view(0.7, 123.0, 45.0)
    before = hand.canvas.navigation.view_state()
    hand.canvas.group_commands.step_in(call)
    hand.canvas.navigation.restore_view(1.3, 0.0, 0.0)
    hand.canvas.group_commands.step_out()
    assert hand.canvas.navigation.view_state() == pytest.approx(before, abs=1.0)


@pytest.mark.feature(40)
def test_what_is_done_inside_is_one_entry_that_is_undone_from_outside(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId]
) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.group_commands.step_in(call)
    count = len(hand.undo_texts)
    inner = hand.canvas.operator_commands.add_operator("torch.abs", 0, 300)
    assert inner is not None and inner not in hand.graph.nodes
    assert len(hand.undo_texts) == count + 1
    hand.canvas.group_commands.step_out()
    hand.session.graph_store.undo_stack.undo()
    hand.canvas.group_commands.step_in(call)
    assert inner not in hand.canvas.scene.stack.cards
    hand.session.graph_store.undo_stack.redo()
    assert inner in hand.canvas.scene.stack.cards


def test_undoing_the_group_itself_steps_out(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.group_commands.step_in(call)
    hand.session.graph_store.undo_stack.undo()
    assert not hand.session.scope.path
    assert set(chain) <= set(hand.canvas.scene.stack.cards)


@pytest.mark.feature(40)
def test_a_wire_dropped_on_the_plus_adds_an_output(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    _, y, z = chain
    call = make(hand, {y, z}, "shrink")
    hand.canvas.group_commands.step_in(call)
    hand.canvas.navigation.fit_all()
    hand.drag(hand.output(y), hand.input(OUTPUTS_CARD, "+"))
    assert len(hand.session.graph_store.graph.definitions["shrink"].outputs) == 2
    assert len(hand.graph.nodes[call].names) == 2


@pytest.mark.feature(40)
def test_an_input_is_renamed_where_it_stands(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.group_commands.step_in(call)
    hand.canvas.navigation.fit_all()
    x, y = hand.output(INPUTS_CARD)
    hand.double_click((x - 60, y))
    type_name(hand, "signal")
    assert hand.graph.definitions["shrink"].inputs == ("signal",)
    assert [wire.port for wire in hand.graph.wires_to(call)] == ["signal"]
    assert "def shrink(signal):" in write_script(hand.graph)


def test_outputs_are_added_moved_and_removed(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.group_commands.step_in(call)
    hand.canvas.group_commands.add_port(OUTPUTS_CARD)
    first, second = output_names(hand.canvas.scene.graph.nodes[OUTPUTS_CARD])
    hand.canvas.group_commands.move_port(OUTPUTS_CARD, 1, -1)
    assert hand.graph.definitions["shrink"].outputs == (second, first)
    hand.canvas.group_commands.remove_port(OUTPUTS_CARD, 0)
    assert hand.graph.definitions["shrink"].outputs == (first,)


@pytest.mark.feature(40)
def test_a_group_is_taken_apart(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    make(hand, set(chain[1:]), "shrink")
    hand.canvas.group_commands.ungroup()
    assert not hand.graph.definitions
    operators = sorted(node.operator for node in hand.graph.nodes.values())
    assert operators == ["torch.exp", "torch.neg", "torch.ones"]


def test_a_copy_of_its_own_is_edited_without_the_others(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.selection_commands.duplicate_selection()
    hand.canvas.group_commands.make_unique()
    assert sorted(hand.graph.definitions) == ["shrink", "shrink2"]
    assert hand.graph.nodes[call].operator == "group:shrink"
    assert not set(hand.graph.definitions["shrink"].graph.nodes) & set(hand.graph.definitions["shrink2"].graph.nodes)


def test_a_group_gets_another_name_everywhere(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "shrink")
    hand.canvas.group_commands.step_in(call)
    hand.canvas.group_commands.step_out()
    hand.canvas.group_commands.rename_group()
    type_name(hand, "squeeze")
    assert hand.graph.nodes[call].operator == "group:squeeze"
    assert list(hand.graph.definitions) == ["squeeze"]


def test_a_name_that_is_taken_is_refused_in_words(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    make(hand, {chain[1]}, "shrink")
    hand.canvas.selection.select(frozenset({chain[2]}))
    hand.canvas.group_commands.make_group()
    type_name(hand, "shrink")
    assert list(hand.graph.definitions) == ["shrink"]
    assert hand.canvas.in_place.editor is not None
    QTest.keyClick(hand.canvas.in_place.editor, Key.Key_Escape)


def test_menus_of_the_cards_inside_offer_what_makes_sense_there(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId]
) -> None:
    call = make(hand, set(chain[1:]), "block")
    hand.canvas.group_commands.step_in(call)
    for card in CARDS:
        texts = [row[0].partition("\t")[0] for row in item_rows(hand.canvas, card) if isinstance(row, tuple)]
        assert texts and all(text.startswith(("Add an", "Name the", "Step out")) for text in texts)


def test_undo_says_the_group_inside_which_it_was_done(hand: Hand, chain: tuple[ItemId, ItemId, ItemId]) -> None:
    call = make(hand, set(chain[1:]), "block")
    hand.canvas.group_commands.step_in(call)
    name = hand.session.scope.name
    hand.canvas.group_commands.add_port(OUTPUTS_CARD)
    assert hand.undo_texts[-1].endswith(f", inside {name}")


@pytest.mark.parametrize("on_header", [True, False])
def test_a_drag_after_a_double_click_on_a_group_moves_nothing(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId], *, on_header: bool
) -> None:
    """The second press held and moved; on the header it renames, on the body it steps in."""
    call = make(hand, set(chain[1:]), "block")
    place, at = hand.session.graph_store.graph.places[call], hand.header(call) if on_header else body(hand, call)
    hand.click(at)
    QTest.mouseDClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.view(*at))
    for step in range(1, 6):
        hand.move((at[0] + 12 * step, at[1] + 9 * step))
    hand.release((at[0] + 60, at[1] + 45))
    assert hand.session.graph_store.graph.places[call] == place
    assert hand.session.scope.path == (() if on_header else (call,))


def test_a_copy_of_a_group_leaves_the_ports_of_the_original_free(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId]
) -> None:
    call = make(hand, set(chain[1:]), "block")
    hand.canvas.selection.select(frozenset({call}))
    before = set(hand.graph.nodes)
    hand.key(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    (copy,) = set(hand.graph.nodes) - before
    one, other = hand.canvas.scene.placement.box(call), hand.canvas.scene.placement.box(copy)
    assert one is not None and other is not None
    assert other.y >= one.bottom or other.x >= one.right


def test_the_edges_of_a_group_are_neither_deleted_nor_muted_copied_or_wrapped(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId]
) -> None:
    _, y, z = chain
    hand.canvas.group_commands.step_in(make(hand, {y, z}, "shrink"))
    canvas, texts = hand.canvas, list(hand.undo_texts)
    for card in (INPUTS_CARD, OUTPUTS_CARD):
        canvas.selection.select(frozenset({card}))
        assert not canvas.selection.has_statements() and not canvas.selection.can_delete()
        for command in (
            canvas.selection_commands.delete_selection,
            canvas.card_arrangement.toggle_muted,
            canvas.card_arrangement.toggle_bypassed,
            canvas.selection_commands.wrap_selection,
            canvas.selection_commands.duplicate_selection,
            canvas.clipboard_commands.cut,
            canvas.card_arrangement.delete_and_reconnect,
        ):
            canvas.bubble.hide()
            command()
            assert "edges of the group" in canvas.bubble.text(), command
    assert hand.undo_texts == texts
    canvas.selection.select_wires(frozenset(canvas.scene.graph.wires_to(z)))
    assert canvas.selection.can_delete()
    canvas.selection.select_all()
    canvas.selection_commands.delete_selection()
    assert set(canvas.scene.graph.nodes) == CARDS
    layout = canvas.scene.placement.layout(INPUTS_CARD)
    assert layout is not None and layout.outputs[-1].label == "+"
    for _ in layout.outputs[1:]:
        canvas.group_commands.remove_port(INPUTS_CARD, 0)
    layout = canvas.scene.placement.layout(INPUTS_CARD)
    assert layout is not None and [row.label for row in layout.outputs] == ["+"]


def test_the_line_for_the_name_says_what_it_is_for_and_that_a_leaf_makes_a_class(
    hand: Hand, chain: tuple[ItemId, ItemId, ItemId]
) -> None:
    x, y, z = chain
    said: list[str] = []
    hand.canvas.said.connect(lambda words: said.append(str(words)))
    hand.canvas.selection.select(frozenset({y, z}))
    hand.canvas.group_commands.make_group()
    assert hand.canvas.bubble.isVisible() and hand.canvas.bubble.text().startswith("Name of the group")
    type_name(hand, "shrink")
    assert not hand.canvas.bubble.isVisible() and not said
    assert hand.canvas.store.attempt(recipes.set_value, "Set", x, "requires_grad", "True")
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.group_commands.make_group()
    assert "becomes a class" in hand.canvas.bubble.text()
    type_name(hand, "outer")
    assert said[-1].startswith("Outer: It becomes a class") and "Outer" in hand.graph.definitions


def test_the_port_behind_a_call_takes_its_colour_when_inference_tells(hand: Hand) -> None:
    x, end = hand.add("torch.ones", 0, 0), hand.add("torch.Tensor.backward", 300, 0)
    hand.wire(x, end, "self")
    scene, results = hand.canvas.scene, hand.session.results
    hand.canvas.grab()
    assert dict(scene.looks.input_looks(end))["self"].known is False
    before = scene.stack.cards[end].revision
    results.tables.set_inference([PortInference(node=x, dtype="float32", shape=(3,))])
    hand.canvas.grab()
    assert scene.stack.cards[end].revision > before  # its picture is made anew, though nothing was told of it itself
    assert dict(scene.looks.input_looks(end))["self"].known


def test_a_group_is_shown_as_a_whole_when_it_is_stepped_into_first(hand: Hand) -> None:
    first = hand.add("torch.ones", 0, 0)
    last = hand.add("torch.exp", 1400, 0)
    hand.wire(first, last, "input")
    call = make(hand, {first, last}, "wide")
    hand.canvas.group_commands.step_in(call)
    assert all(hand.canvas.navigation.is_whole(item) for item in hand.canvas.scene.stack.cards)


def test_an_input_with_a_default_stays_behind_those_without_one(hand: Hand) -> None:
    text = "import torch\n\n\ndef scale(a, b=2.0):\n    return a * b\n\n\nx = torch.ones(2)\ny = scale(x)\n"
    hand.session.graph_store.load(read_script(text).graph)
    call = next(node.id for node in hand.graph.nodes.values() if node.operator == "group:scale")
    commands = hand.canvas.group_commands
    commands.step_in(call)
    commands.add_port(INPUTS_CARD)
    assert hand.canvas.scene.graph.nodes[INPUTS_CARD].names == ("a", "x", "b")
    assert "def scale(a, x, b=2.0):\n    return a * b" in write_script(hand.graph)
    commands.move_port(INPUTS_CARD, 2, -1)
    assert "behind one that has one" in hand.canvas.bubble.text()
    assert hand.canvas.scene.graph.nodes[INPUTS_CARD].names == ("a", "x", "b")
    commands.move_port(INPUTS_CARD, 0, 1)
    assert hand.canvas.scene.graph.nodes[INPUTS_CARD].names == ("x", "a", "b")
    hand.session.graph_store.undo_stack.undo()
    hand.session.graph_store.undo_stack.undo()
    assert hand.canvas.scene.graph.nodes[INPUTS_CARD].names == ("a", "b")
