"""The person's hand: real presses, moves, releases and keys on the viewport; the graph answers."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ROOT, ItemId
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import CONTROL, SHIFT, Hand

Key = Qt.Key


def place(hand: Hand, item: ItemId) -> tuple[float, float]:
    found = hand.graph.places[item]
    return found.x, found.y


# ------------------------------------------------------------------ adding


@pytest.mark.feature(7)
def test_an_operator_dropped_from_the_library_becomes_a_node_there(hand: Hand) -> None:
    hand.drop("torch.randn", (300, 200))
    (item,) = hand.graph.nodes
    x, y = place(hand, item)
    assert abs(x - 240) <= 4
    assert abs(y - 185) <= 4
    assert hand.session.attention.selection == {item}
    assert hand.undo_texts == ["Add randn"]


def test_what_is_no_operator_is_not_taken(hand: Hand) -> None:
    hand.drop("os.system", (300, 200))
    assert not hand.graph.nodes


def test_an_operator_dropped_on_a_wire_stands_in_it(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.sum", 700, 100)
    hand.wire(x, y, "input")
    start, end = hand.output(x), hand.input(y, "input")
    hand.drop("torch.relu", ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    (relu,) = set(hand.graph.nodes) - {x, y}
    into = hand.graph.wire_into(y, "input")
    assert into is not None
    assert into.source == relu


@pytest.mark.feature(1)
def test_a_double_click_on_the_ground_searches_and_enter_adds(hand: Hand) -> None:
    hand.double_click((400, 300))
    popup = hand.canvas.searching.popup
    assert popup is not None
    for letter in "matmul":
        hand.key(getattr(Key, f"Key_{letter.upper()}"), to=popup.field)
    assert popup.operators()[0] == "torch.matmul"
    hand.key(Key.Key_Return, to=popup.field)
    (item,) = hand.graph.nodes
    assert hand.graph.nodes[item].operator == "torch.matmul"
    assert place(hand, item) == pytest.approx((400, 300), abs=1)
    assert hand.canvas.searching.popup is None


def test_escape_leaves_the_search_without_a_node(hand: Hand) -> None:
    hand.key(Key.Key_Tab)
    popup = hand.canvas.searching.popup
    assert popup is not None
    hand.key(Key.Key_Escape, to=popup.field)
    assert hand.canvas.searching.popup is None
    assert not hand.graph.nodes


# ------------------------------------------------------------------ wires


def test_a_wire_is_drawn_from_output_to_input(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    hand.drag(hand.output(x), hand.input(y, "input"))
    wire = hand.graph.wire_into(y, "input")
    assert wire is not None
    assert wire.source == x
    assert hand.undo_texts[-1] == "Wire"


def test_a_wire_is_drawn_from_input_to_output(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    hand.drag(hand.input(y, "input"), hand.output(x))
    assert hand.graph.wire_into(y, "input") is not None


def test_a_wire_dropped_on_a_card_takes_its_first_free_port(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    hand.drag(hand.output(x), hand.header(y))
    hand.drag(hand.output(x), hand.header(y))
    assert {port for _, port in hand.graph.wires} == {"input", "other"}


def test_an_illegal_wire_says_why_beside_the_pointer_and_is_not_drawn(hand: Hand) -> None:
    x, y = hand.add("torch.nn.Linear", 40, 100), hand.add("torch.relu", 300, 400)
    module = next(item for item, node in hand.graph.nodes.items() if node.operator == "torch.nn.Linear")
    assert x != module
    hand.press(hand.output(module))
    hand.move(hand.input(y, "input"))
    hand.move(hand.input(y, "input"))
    assert hand.canvas.bubble.isVisible()
    assert "module" in hand.canvas.bubble.text().lower()
    hand.release(hand.input(y, "input"))
    assert hand.graph.wire_into(y, "input") is None


def test_words_over_a_card_do_not_keep_the_hand_off_it(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    hand.session.attention.select(())
    hand.canvas.bubble.say("words", hand.view(*hand.header(item)))
    at = hand.canvas.bubble.geometry().center()
    assert hand.canvas.viewport().childAt(at) is None


def test_words_of_a_refusal_go_with_the_next_edit(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    hand.canvas.refuse("This cannot be.")
    assert hand.canvas.bubble.isVisible()
    hand.wire(x, y, "input")
    assert not hand.canvas.bubble.isVisible()


@pytest.mark.feature(21)
def test_a_loop_is_refused_by_name(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    a, b = hand.add("torch.relu", 300, 100), hand.add("torch.exp", 560, 300)
    hand.wire(x, a, "input")
    hand.session.graph_store.attempt(recipes.disconnect_all, "x", tuple(hand.graph.wires.values()))
    hand.wire(a, b, "input")
    hand.drag(hand.output(b), hand.input(a, "input"))
    assert hand.graph.wire_into(a, "input") is None
    assert "loop" in hand.canvas.bubble.text()


def test_escape_cancels_a_wire(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    count = len(hand.undo_texts)
    hand.press(hand.output(x))
    hand.move(hand.input(y, "input"))
    hand.key(Key.Key_Escape)
    hand.release(hand.input(y, "input"))
    assert not hand.graph.wires
    assert len(hand.undo_texts) == count


def test_a_wire_taken_off_its_input_moves_to_another(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    hand.wire(x, y, "input")
    count = len(hand.undo_texts)
    hand.drag(hand.input(y, "input"), hand.input(y, "other"))
    assert hand.graph.wire_into(y, "input") is None
    assert hand.graph.wire_into(y, "other") is not None
    assert len(hand.undo_texts) == count + 1


def test_a_wire_taken_off_its_input_and_let_go_is_removed(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    hand.wire(x, y, "input")
    hand.drag(hand.input(y, "input"), (420, 500))
    assert not hand.graph.wires
    assert hand.canvas.searching.popup is None


def test_a_wire_let_go_on_the_ground_offers_what_takes_it_and_wires_the_choice(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    count = len(hand.undo_texts)
    hand.drag(hand.output(x), (500, 300))
    popup = hand.canvas.searching.popup
    assert popup is not None
    popup.field.setText("relu")
    assert "torch.relu" in popup.operators()
    popup.field.setText("randn")
    assert "torch.randn" not in popup.operators()
    popup.field.setText("relu")
    hand.key(Key.Key_Return, to=popup.field)
    (wire,) = hand.graph.wires.values()
    assert wire.source == x
    assert len(hand.undo_texts) == count + 1


def test_delete_removes_the_wire_that_was_clicked(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 700, 100)
    hand.wire(x, y, "input")
    start, end = hand.output(x), hand.input(y, "input")
    hand.click(((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    hand.key(Key.Key_Delete)
    assert not hand.graph.wires
    assert set(hand.graph.nodes) == {x, y}


# ------------------------------------------------------------------ moving and selecting


@pytest.mark.feature(30, 34)
def test_a_drag_moves_the_selection_as_one_undo_entry_on_the_grid(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 96), hand.add("torch.relu", 400, 96)
    hand.session.attention.select((x, y))
    count = len(hand.undo_texts)
    hand.drag(hand.header(x), (hand.header(x)[0] + 83, hand.header(x)[1] + 42))
    assert place(hand, x) == (120, 136)
    assert place(hand, y) == (480, 136)
    assert len(hand.undo_texts) == count + 1
    hand.session.graph_store.undo_stack.undo()
    assert place(hand, x) == (40, 96)
    box = hand.canvas.scene.placement.box(x)
    assert box is not None
    assert (box.x, box.y) == (40, 96)


def test_a_press_without_a_drag_moves_nothing(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    count = len(hand.undo_texts)
    hand.click(hand.header(x))
    assert len(hand.undo_texts) == count
    assert hand.session.attention.selection == {x}


def test_escape_in_a_drag_puts_everything_back(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.press(hand.header(x))
    hand.move((500, 400))
    box = hand.canvas.scene.placement.box(x)
    assert box is not None
    assert box.x > 200
    hand.key(Key.Key_Escape)
    hand.release((500, 400))
    box = hand.canvas.scene.placement.box(x)
    assert box is not None
    assert (box.x, box.y) == (40, 100)
    assert place(hand, x) == (40, 100)


def test_wires_follow_a_drag(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 100)
    hand.wire(x, y, "input")
    hand.press(hand.header(x))
    hand.move((300, 500))
    assert tuple(hand.canvas.scene.routes.paths[0, 0]) == pytest.approx(hand.output(x))
    hand.release((300, 500))
    assert tuple(hand.canvas.scene.routes.paths[0, 0]) == pytest.approx(hand.output(x))


@pytest.mark.feature(27)
def test_the_rubber_band_selects_adds_and_takes_away(hand: Hand) -> None:
    x, y = hand.add("torch.relu", 40, 100), hand.add("torch.relu", 500, 100)
    hand.drag((10, 60), (100, 150))
    assert hand.session.attention.selection == {x}
    hand.drag((480, 60), (600, 150), keys=SHIFT)
    assert hand.session.attention.selection == {x, y}
    hand.drag((10, 60), (100, 150), keys=CONTROL)
    assert hand.session.attention.selection == {y}
    hand.click((300, 600))
    assert not hand.session.attention.selection


@pytest.mark.feature(27)
def test_selection_is_live_during_the_band_and_escape_brings_the_old_one_back(hand: Hand) -> None:
    x, y = hand.add("torch.relu", 40, 100), hand.add("torch.relu", 500, 100)
    hand.session.attention.select((y,))
    hand.press((10, 60))
    hand.move((100, 150))
    assert hand.session.attention.selection == {x}
    hand.key(Key.Key_Escape)
    assert hand.session.attention.selection == {y}


def test_control_click_toggles_and_shift_click_adds(hand: Hand) -> None:
    x, y = hand.add("torch.relu", 40, 100), hand.add("torch.relu", 500, 100)
    hand.click(hand.header(x))
    hand.click(hand.header(y), SHIFT)
    assert hand.session.attention.selection == {x, y}
    hand.click(hand.header(x), CONTROL)
    assert hand.session.attention.selection == {y}


@pytest.mark.feature(31)
def test_selecting_is_no_undo_entry(hand: Hand) -> None:
    x = hand.add("torch.relu", 40, 100)
    count = len(hand.undo_texts)
    hand.click(hand.header(x))
    hand.key(Key.Key_A, CONTROL)
    assert len(hand.undo_texts) == count


def test_a_selection_made_elsewhere_is_lit_here(hand: Hand) -> None:
    x = hand.add("torch.relu", 300, 200)
    hand.session.attention.select(())
    before = hand.shot()
    hand.session.attention.select((x,))
    assert hand.canvas.lit.selection == {x}
    assert hand.shot() != before


@pytest.mark.feature(30, 37)
def test_arrow_keys_nudge_the_selection_into_one_entry(hand: Hand) -> None:
    x = hand.add("torch.relu", 40, 96)
    hand.session.attention.select((x,))
    count = len(hand.undo_texts)
    for _ in range(3):
        hand.key(Key.Key_Right)
    hand.key(Key.Key_Down)
    assert place(hand, x) == (64, 104)
    assert len(hand.undo_texts) == count + 1


# ------------------------------------------------------------------ keys on the selection


def test_delete_removes_what_is_selected_with_its_wires(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 100)
    hand.wire(x, y, "input")
    hand.click(hand.header(x))
    hand.key(Key.Key_Delete)
    assert set(hand.graph.nodes) == {y}
    assert not hand.graph.wires
    hand.session.graph_store.undo_stack.undo()
    assert hand.graph.wire_into(y, "input") is not None


def test_duplicate_makes_a_selected_copy_with_a_name_of_its_own(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.click(hand.header(x))
    hand.key(Key.Key_D, CONTROL)
    (twin,) = set(hand.graph.nodes) - {x}
    assert hand.graph.nodes[twin].names != hand.graph.nodes[x].names
    assert hand.session.attention.selection == {twin}


def test_copies_lie_below_what_was_copied_or_beside_it_and_cover_nothing(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.click(hand.header(x))
    for _ in range(4):
        hand.key(Key.Key_D, CONTROL)
    scene = hand.canvas.scene
    boxes = [scene.placement.box(item) for item in hand.graph.nodes]
    met = [(one, other) for one, other in itertools.combinations(boxes, 2) if one and other and one.meets(other)]
    assert len(boxes) == 5 and not met
    first, second = boxes[:2]
    assert first is not None and second is not None and second.x == first.x and second.y > first.bottom
    hand.click(hand.header(x))
    hand.key(Key.Key_D, CONTROL)
    (again,) = hand.session.attention.selection
    box = scene.placement.box(again)
    assert box is not None and not any(box.meets(other) for other in boxes if other)
    assert hand.canvas.navigation.is_seen(again)


@pytest.mark.feature(28)
def test_copy_and_paste_travel_as_text(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 100)
    hand.wire(x, y, "input")
    hand.key(Key.Key_A, CONTROL)
    hand.key(Key.Key_C, CONTROL)
    assert "torch.relu" in QGuiApplication.clipboard().text()
    hand.key(Key.Key_V, CONTROL)
    assert len(hand.graph.nodes) == 4
    assert len(hand.graph.wires) == 2
    assert len(hand.session.attention.selection) == 2


@pytest.mark.feature(28)
def test_pasted_python_is_wired_to_the_names_of_the_canvas_in_one_step(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    name = hand.graph.nodes[x].names[0]
    QGuiApplication.clipboard().setText(f">>> y = {name} * 2\n>>> y.sum()\ntensor(1.)\n")
    hand.key(Key.Key_V, CONTROL)
    assert {node.operator for node in hand.graph.nodes.values()} == {"torch.randn", "operator.mul", "torch.Tensor.sum"}
    assert [wire.target for wire in hand.graph.wires_from(x)] == [
        item for item, node in hand.graph.nodes.items() if node.operator == "operator.mul"
    ]
    assert [text.partition(" ")[0] for text in hand.undo_texts] == ["Add", "Paste"]


def test_cut_takes_away_and_paste_brings_back(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.click(hand.header(x))
    hand.key(Key.Key_X, CONTROL)
    assert not hand.graph.nodes
    hand.key(Key.Key_V, CONTROL)
    assert [node.operator for node in hand.graph.nodes.values()] == ["torch.randn"]


def test_pasting_what_is_no_fragment_is_refused_in_words(hand: Hand) -> None:
    QGuiApplication.clipboard().setText("5")
    hand.key(Key.Key_V, CONTROL)
    assert not hand.graph.nodes
    assert hand.canvas.bubble.text()


# ------------------------------------------------------------------ blocks


@pytest.mark.feature(38)
def test_nodes_are_dragged_into_a_block_and_out_again(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 100, 150), hand.add("torch.randn", 500, 450)
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [x], "no_grad")
    (block,) = hand.graph.blocks
    count = len(hand.undo_texts)
    hand.drag(hand.header(y), (180, 200))
    assert hand.graph.parents[y] == block
    assert len(hand.undo_texts) == count + 1
    hand.drag(hand.header(y), (700, 600))
    assert hand.graph.parents[y] == ROOT


@pytest.mark.parametrize("how", ["drag", "delete"])
def test_an_emptied_block_stays_where_it_was_in_the_same_undo_entry(hand: Hand, how: str) -> None:
    x = hand.add("torch.randn", 304, 352)
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [x], "no_grad")
    (block,) = hand.graph.blocks
    before, count = hand.canvas.scene.placement.frames[block].box, len(hand.undo_texts)
    if how == "drag":
        hand.drag(hand.header(x), (800, 120))
        assert hand.graph.parents[x] == ROOT
    else:
        hand.canvas.selection.select(frozenset({x}))
        hand.canvas.selection_commands.delete_selection()
    after = hand.canvas.scene.placement.frames[block].box
    assert (after.x, after.y) == pytest.approx((before.x, before.y), abs=1)
    assert len(hand.undo_texts) == count + 1
    hand.session.graph_store.undo_stack.undo()
    assert hand.canvas.scene.placement.frames[block].box == before


def test_a_drag_within_a_block_stays_in_it(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 100, 150), hand.add("torch.randn", 400, 150)
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [x, y], "no_grad")
    (block,) = hand.graph.blocks
    at = hand.header(x)
    hand.drag(at, (at[0] + 30, at[1] + 20))
    assert hand.graph.parents[x] == block


def chain_into_a_block(hand: Hand) -> tuple[ItemId, ItemId]:
    """Four nodes wired in a row, the last in a block: the second node, and the block."""
    x, a, b, c = (
        hand.add("torch.randn", 20, 100),
        hand.add("torch.relu", 260, 100),
        hand.add("torch.exp", 500, 400),
        hand.add("torch.sin", 740, 100),
    )
    for source, target in ((x, a), (a, b), (b, c)):
        hand.wire(source, target, "input")
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [c], "no_grad")
    (block,) = hand.graph.blocks
    return a, block


def test_a_block_that_would_have_to_be_torn_is_refused_and_nothing_moves(hand: Hand) -> None:
    a, block = chain_into_a_block(hand)
    before = place(hand, a)
    frame = hand.canvas.scene.placement.frames[block].box
    hand.drag(hand.header(a), (frame.x + 40, frame.y + 60))
    assert hand.graph.parents[a] == ROOT
    assert place(hand, a) == before
    assert hand.canvas.bubble.isVisible()


@pytest.mark.feature(38)
def test_a_block_is_dragged_by_its_title_with_all_it_holds(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 104, 152), hand.add("torch.randn", 400, 152)
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [x, y], "no_grad")
    (block,) = hand.graph.blocks
    frame = hand.canvas.scene.placement.frames[block].box
    hand.drag((frame.x + 60, frame.y + 10), (frame.x + 60, frame.y + 210))
    assert place(hand, x) == (104, 352)
    assert place(hand, y) == (400, 352)
    assert hand.canvas.scene.placement.frames[block].box.y == frame.y + 200


def test_wires_into_a_dragged_block_follow_it(hand: Hand) -> None:
    x, n = hand.add("torch.randn", 304, 304), hand.add("python.literal", 40, 40)
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [x], "autocast")
    (block,) = hand.graph.blocks
    row = hand.canvas.scene.placement.frames[block].layout.inputs[0].path
    hand.session.graph_store.attempt(recipes.set_literal, "Set", n, "value", '"cpu"')
    hand.wire(n, block, row)
    frame = hand.canvas.scene.placement.frames[block].box
    hand.press((frame.x + 60, frame.y + 10))
    hand.move((frame.x + 160, frame.y + 90))
    (path,) = hand.canvas.scene.routes.paths
    assert tuple(path[-1]) == pytest.approx(hand.input(block, row))
    assert hand.input(block, row)[1] > frame.y + 80
    hand.release((frame.x + 160, frame.y + 90))


# ------------------------------------------------------------------ looking around


def test_the_wheel_zooms_at_the_cursor_within_limits(hand: Hand) -> None:
    hand.add("torch.relu", 300, 200)
    at = (300.0, 200.0)
    before = hand.view(*at)
    hand.wheel(at, 2)
    assert hand.canvas.navigation.zoom == pytest.approx(1.44)
    after = hand.view(*at)
    assert abs(after.x() - before.x()) <= 1
    assert abs(after.y() - before.y()) <= 1
    hand.wheel(at, -200)
    assert hand.canvas.navigation.zoom == pytest.approx(0.05)


def test_the_middle_button_pushes_the_scene(hand: Hand) -> None:
    hand.press((300, 300), Qt.MouseButton.MiddleButton)
    start = hand.view(0, 0)
    hand.move((360, 330), Qt.MouseButton.MiddleButton)
    hand.release((300, 300), Qt.MouseButton.MiddleButton)
    moved = hand.view(0, 0)
    assert (moved.x() - start.x(), moved.y() - start.y()) == (60, 30)


def test_space_and_drag_pushes_the_scene_too(hand: Hand) -> None:
    x = hand.add("torch.relu", 300, 200)
    from PySide6.QtTest import QTest

    QTest.keyPress(hand.canvas, Key.Key_Space)
    hand.press(hand.header(x))
    hand.move((500, 300))
    hand.release((500, 300))
    QTest.keyRelease(hand.canvas, Key.Key_Space)
    assert hand.canvas.camera.x != 0
    assert place(hand, x) == (300, 200)


def test_home_shows_everything(hand: Hand) -> None:
    hand.add("torch.relu", 3000, 200)
    hand.add("torch.relu", -900, 4000)
    hand.key(Key.Key_Home)
    assert len(hand.canvas.navigation.visible_items()) == 2


def test_revealing_brings_a_node_into_view(hand: Hand) -> None:
    x = hand.add("torch.relu", 9000, 9000)
    assert x not in hand.canvas.navigation.visible_items()
    hand.session.attention.reveal(x)
    assert x in hand.canvas.navigation.visible_items()


def test_the_view_is_taken_up_as_it_was_left(hand: Hand) -> None:
    hand.add("torch.relu", 300, 200)
    hand.canvas.navigation.restore_view(0.75, 400, 250)
    assert hand.canvas.navigation.view_state() == pytest.approx((0.75, 400, 250), abs=1.5)


def test_a_restored_view_keeps_its_middle_at_every_size_until_the_person_looks_elsewhere(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    canvas = CanvasView(session, Overlays(), dark)
    qtbot.addWidget(canvas)
    canvas.navigation.restore_view(0.75, 400, 250)
    for size in ((900, 700), (760, 470), (1111, 333)):
        canvas.resize(*size)
        canvas.show()
        canvas.viewport().grab()
        assert canvas.navigation.view_state() == pytest.approx((0.75, 400, 250), abs=1)
    canvas.navigation.zoom_in()
    assert canvas.navigation.kept is None


# ------------------------------------------------------------------ the view stays, cards keep their form


def test_drops_on_an_empty_canvas_do_not_move_the_view(hand: Hand) -> None:
    hand.canvas.navigation.fit_pending = True
    hand.shot()
    before = hand.canvas.camera
    for x in (300, 640):
        hand.drop("torch.randn", (x, 200))
        hand.shot()
        hand.canvas.resize(hand.canvas.width() + 2, hand.canvas.height())
        hand.canvas.resize(hand.canvas.width() - 2, hand.canvas.height())
        hand.shot()
    assert hand.canvas.camera == before
    assert [place(hand, item) for item in hand.graph.nodes] == [(240, 184), (576, 184)]


def test_operators_without_a_place_of_their_own_cover_nothing(hand: Hand) -> None:
    for key in ("torch.randn", "torch.nn.Linear", "torch.relu", "torch.nn.functional.mse_loss", "torch.tensor"):
        hand.canvas.operator_commands.add_operator(key)
    scene = hand.canvas.scene
    boxes = [box for item in scene.stack.ids if (box := scene.placement.box(item)) is not None]
    assert len(boxes) == 5
    assert not [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.meets(b)]


def test_a_clicked_card_lies_on_top_and_is_hit_there(hand: Hand) -> None:
    below, above = hand.add("torch.randn", 200, 100), hand.add("torch.randn", 300, 130)
    shared = (330, 170)
    hand.click(hand.header(above))
    assert hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*shared))).item == above
    hand.click((220, 112))
    assert hand.session.attention.selection == {below}
    assert hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*shared))).item == below
    assert hand.canvas.scene.stack.ids[-1] == below
    assert list(hand.graph.order()) == [below, above]


def test_a_port_under_another_card_is_not_hit(hand: Hand) -> None:
    below, above = hand.add("torch.randn", 200, 100), hand.add("torch.relu", 380, 90)
    hand.click(hand.header(above))
    hit = hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*hand.output(below))))
    assert hit.item == above


@pytest.mark.parametrize("key", ["operator.add", "torch.matmul", "torch.nn.functional.mse_loss", "torch.Tensor.sum"])
def test_ports_and_cards_stay_where_they_are_when_wires_come_and_go(hand: Hand, key: str) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add(key, 500, 100)
    layout = hand.canvas.scene.placement.layout(y)
    assert layout is not None
    path = layout.inputs[0].path
    before = [(row.path, row.x, row.y) for row in layout.inputs], layout.width, layout.height, hand.output(y)
    for start, end in ((hand.output(x), hand.input(y, path)), (hand.input(y, path), (400, 600))):
        hand.drag(start, end)
        layout = hand.canvas.scene.placement.layout(y)
        assert layout is not None
        assert (
            [(row.path, row.x, row.y) for row in layout.inputs],
            layout.width,
            layout.height,
            hand.output(y),
        ) == before


def test_a_long_literal_or_name_does_not_widen_a_card(hand: Hand) -> None:
    item = hand.add("torch.tensor", 40, 100)
    box = hand.canvas.scene.placement.box(item)
    assert hand.session.graph_store.attempt(recipes.set_literal, "Set", item, "data", str([1.25] * 30))
    assert hand.session.graph_store.attempt(recipes.rename, "Rename", item, ("a_very_long_name_for_one_tensor",))
    assert hand.canvas.scene.placement.box(item) == box


def test_a_block_that_would_refuse_a_drop_is_not_lit_and_says_why_while_dragging(hand: Hand) -> None:
    a, block = chain_into_a_block(hand)
    frame = hand.canvas.scene.placement.frames[block].box
    hand.press(hand.header(a))
    hand.move((frame.x + 40, frame.y + 60))
    assert hand.canvas.lit.drop_frame is None
    assert hand.canvas.bubble.isVisible()
    hand.move((300, 600))
    assert not hand.canvas.bubble.isVisible()
    hand.key(Key.Key_Escape)


@pytest.mark.feature(11)
def test_an_operator_dropped_on_a_short_wire_makes_room_in_one_undo_entry(hand: Hand) -> None:
    x, y, far = hand.add("torch.randn", 40, 96), hand.add("torch.sum", 320, 96), hand.add("torch.relu", 600, 400)
    hand.wire(x, y, "input")
    count = len(hand.undo_texts)
    start, end = hand.output(x), hand.input(y, "input")
    hand.drop("torch.relu", ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    (relu,) = set(hand.graph.nodes) - {x, y, far}
    hand.canvas.gliding.finish()
    scene = hand.canvas.scene
    boxes = [scene.placement.box(item) for item in (x, relu, y)]
    for left, right in itertools.pairwise(boxes):
        assert left is not None
        assert right is not None
        assert left.right + 40 <= right.x
    assert place(hand, far) == (600, 400)  # it is not in the way
    assert len(hand.undo_texts) == count + 1
    hand.session.graph_store.undo_stack.undo()
    assert place(hand, y) == (320, 96)


def test_the_end_of_a_wire_offers_what_one_usually_wants_first(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.drag(hand.output(x), (500, 300))
    popup = hand.canvas.searching.popup
    assert popup is not None
    first = popup.operators()[:12]
    assert {"operator.add", "operator.matmul", "torch.Tensor.sum", "torch.relu"} <= set(first)
    assert not any(key.endswith("_like") for key in first)
    hand.key(Key.Key_Escape, to=popup.field)


@pytest.mark.parametrize(("path", "word"), [("dtype", "torch.float64"), ("device", "device")])
def test_dtype_and_device_are_chosen_from_a_list_on_the_card(hand: Hand, path: str, word: str) -> None:
    from gradstudio.ui.canvas.popups.choice_list import ChoiceList

    item = hand.add("torch.tensor", 200, 100)
    hand.canvas.field_commands.toggle_folded(item)
    hand.click(hand.field(item, path))
    editor = hand.canvas.in_place.editor
    assert isinstance(editor, ChoiceList)
    assert word in editor.values()
    hand.key(Key.Key_Escape, to=editor.key_widget)
