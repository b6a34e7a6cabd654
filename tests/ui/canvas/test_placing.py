"""What is put onto the canvas: ghosts, drops into wires, room for them, replacing, defaults."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.ui.canvas.gestures.operator_drop import MIME
from gradstudio.ui.canvas.menus.context_menu import context_menu
from gradstudio.ui.canvas.popups.search_popup import SearchPopup
from tests.ui.canvas.conftest import NO_KEY, Hand, entries

Key = Qt.Key
Button = Qt.MouseButton


def place(hand: Hand, item: ItemId) -> tuple[float, float]:
    found = hand.graph.places[item]
    return found.x, found.y


def popup_of(hand: Hand) -> SearchPopup:
    popup = hand.canvas.searching.popup
    assert popup is not None
    return popup


def chosen_by_mouse(hand: Hand, at: tuple[float, float], text: str) -> None:
    """The search is opened at a point, and its first row clicked."""
    hand.double_click(at)
    hand.release(at)
    popup = popup_of(hand)
    popup.field.setText(text)
    rect = popup.list.visualRect(popup.list.index_of(0))
    QTest.mouseClick(popup.list.viewport(), Button.LeftButton, pos=rect.center())


def middle(hand: Hand, x: ItemId, y: ItemId, port: str = "input") -> tuple[float, float]:
    start, end = hand.output(x), hand.input(y, port)
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2


def chain(hand: Hand, gap: float = 260.0) -> tuple[ItemId, ItemId]:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.sum", 40 + gap, 100)
    hand.wire(x, y, "input")
    return x, y


# ------------------------------------------------------------------ the ghost


@pytest.mark.feature(9)
def test_what_is_chosen_with_the_mouse_hangs_at_the_cursor_until_a_click(hand: Hand) -> None:
    before = hand.shot()
    chosen_by_mouse(hand, (300, 200), "torch.relu")
    assert not hand.graph.nodes
    hand.move((600, 450), Button.NoButton)
    assert hand.shot() != before
    hand.click((600, 450))
    (item,) = hand.graph.nodes
    assert hand.graph.nodes[item].operator == "torch.relu"
    assert place(hand, item) == pytest.approx((540, 435), abs=5)
    assert hand.undo_texts == ["Add relu"] and not hand.canvas.ghost.key


@pytest.mark.feature(9)
def test_escape_and_the_right_button_let_the_ghost_go(hand: Hand) -> None:
    before, said = hand.shot(), list[object]()
    hand.canvas.said.connect(said.append)
    chosen_by_mouse(hand, (300, 200), "relu")
    assert "Esc" in str(said[-1])
    hand.key(Key.Key_Escape)
    assert said[-1] == "", "what was said of it goes with it"
    hand.move((600, 450), Button.NoButton)
    assert not hand.canvas.ghost.key and hand.shot() == before
    chosen_by_mouse(hand, (300, 200), "relu")
    hand.press((600, 450), Button.RightButton)
    hand.release((600, 450), Button.RightButton)
    hand.click((600, 450))
    assert not hand.graph.nodes


@pytest.mark.feature(9)
def test_enter_places_the_ghost_and_the_wheel_zooms_meanwhile(hand: Hand) -> None:
    chosen_by_mouse(hand, (300, 200), "relu")
    zoom = hand.canvas.camera.zoom
    hand.wheel((400, 300), 1)
    assert hand.canvas.camera.zoom > zoom and hand.canvas.ghost.key
    hand.move((400, 300), Button.NoButton)
    hand.key(Key.Key_Return)
    assert [node.operator for node in hand.graph.nodes.values()] == ["torch.nn.functional.relu"] or len(
        hand.graph.nodes
    )


@pytest.mark.feature(9)
def test_over_a_wire_the_ghost_lights_it_and_goes_into_it_over_a_frame_into_the_block(hand: Hand) -> None:
    x, y = chain(hand, 500)
    at = middle(hand, x, y)
    hand.canvas.ghost.carry("torch.relu", 300, 500)
    hand.move(at, Button.NoButton)
    assert hand.canvas.lit.hovered_wire == hand.graph.wire_into(y, "input")
    hand.click(at)
    (relu,) = set(hand.graph.nodes) - {x, y}
    into = hand.graph.wire_into(y, "input")
    assert into is not None and into.source == relu
    block = hand.canvas.operator_commands.add_block("torch.no_grad", 100, 450, None)
    assert block is not None
    frame = hand.canvas.scene.placement.frames[block].box
    inside = frame.x + frame.width / 2, frame.bottom - 10
    hand.canvas.ghost.carry("torch.relu", 300, 400)
    hand.move(inside, Button.NoButton)
    assert hand.canvas.lit.drop_frame == block
    hand.click(inside)
    assert len(hand.graph.bodies[block]) == 1  # type: ignore[index]  # a body's id


@pytest.mark.feature(9)
def test_by_keys_it_stands_at_once_and_so_it_does_where_nobody_wants_ghosts(hand: Hand) -> None:
    hand.key(Key.Key_Tab)
    popup_of(hand).field.setText("relu")
    hand.key(Key.Key_Return, to=popup_of(hand).field)
    assert len(hand.graph.nodes) == 1
    hand.canvas.shelf.carries = False
    chosen_by_mouse(hand, (500, 400), "relu")
    assert len(hand.graph.nodes) == 2 and not hand.canvas.ghost.key


# ------------------------------------------------------------------ into a wire, and room


@pytest.mark.feature(10)
def test_dropped_on_a_wire_it_takes_the_ports_that_fit(hand: Hand) -> None:
    x, y = chain(hand, 500)
    hand.drop("torch.nn.functional.dropout", middle(hand, x, y))
    (new,) = set(hand.graph.nodes) - {x, y}
    assert {wire.port for wire in hand.graph.wires_to(new)} == {"input"}
    into = hand.graph.wire_into(y, "input")
    assert into is not None and into.source == new


@pytest.mark.feature(10)
def test_an_operator_that_does_not_fit_on_the_wire_leaves_it_alone(hand: Hand) -> None:
    x, y = chain(hand, 500)
    hand.drop("torch.manual_seed", middle(hand, x, y))
    into = hand.graph.wire_into(y, "input")
    assert into is not None and into.source == x


@pytest.mark.feature(10)
def test_a_card_without_wires_is_dragged_into_a_wire(hand: Hand) -> None:
    x, y = chain(hand, 500)
    relu = hand.add("torch.relu", 300, 450)
    at = middle(hand, x, y)
    hand.press(hand.header(relu))
    hand.move((at[0], at[1] + 60))
    hand.move(at)
    assert hand.canvas.lit.hovered_wire == hand.graph.wire_into(y, "input")
    hand.release(at)
    assert hand.graph.wires_to(relu)[0].source == x
    into = hand.graph.wire_into(y, "input")
    assert into is not None and into.source == relu
    assert hand.undo_texts[-1] == "Insert relu"
    hand.session.graph_store.undo_stack.undo()
    assert not hand.graph.wires_to(relu) and place(hand, relu) == (300, 450)


@pytest.mark.feature(10)
def test_escape_takes_the_dragged_card_back_out_of_the_wire(hand: Hand) -> None:
    x, y = chain(hand, 500)
    relu = hand.add("torch.relu", 300, 450)
    hand.press(hand.header(relu))
    hand.move((400, 300))
    hand.move(middle(hand, x, y))
    hand.key(Key.Key_Escape)
    assert not hand.graph.wires_to(relu) and hand.canvas.lit.hovered_wire is None
    hand.release((0, 0))


@pytest.mark.feature(10)
def test_a_card_that_is_wired_is_not_put_into_other_wires(hand: Hand) -> None:
    x, y = chain(hand, 500)
    a, b = hand.add("torch.randn", 40, 450), hand.add("torch.relu", 400, 450)
    hand.wire(a, b, "input")
    hand.drag(hand.header(b), middle(hand, x, y))
    into = hand.graph.wire_into(y, "input")
    assert into is not None and into.source == x


@pytest.mark.feature(11)
def test_only_what_is_in_the_way_makes_room_and_undo_takes_all_back(hand: Hand) -> None:
    x, y = chain(hand, 260)
    near = hand.add("torch.relu", 480, 100)
    far, below = hand.add("torch.relu", 1800, 100), hand.add("torch.relu", 320, 600)
    before = {item: place(hand, item) for item in (x, y, near, far, below)}
    hand.drop("torch.tanh", middle(hand, x, y))
    hand.canvas.gliding.finish()
    boxes = [hand.canvas.scene.placement.box(item) for item in hand.graph.nodes]
    shown = [box for box in boxes if box is not None]
    assert not any(one.meets(other) for k, one in enumerate(shown) for other in shown[k + 1 :])
    after = {item: place(hand, item) for item in before}
    assert after[y][0] > before[y][0] and after[near][0] > before[near][0]
    assert {item for item in before if after[item] != before[item]} == {y, near}
    hand.session.graph_store.undo_stack.undo()
    assert {item: place(hand, item) for item in before} == before


@pytest.mark.feature(11)
def test_a_frame_in_the_way_moves_with_what_it_holds(hand: Hand) -> None:
    x, y = chain(hand, 260)
    block = hand.canvas.operator_commands.add_block("torch.no_grad", 560, 90, None)
    inner = hand.canvas.operator_commands.add_operator("torch.relu", 580, 140, block)  # type: ignore[arg-type]  # a body's id
    assert block is not None and inner is not None
    before = place(hand, inner)
    hand.drop("torch.tanh", middle(hand, x, y))
    hand.canvas.gliding.finish()
    frame, card = hand.canvas.scene.placement.frames[block].box, hand.canvas.scene.placement.box(y)
    assert card is not None and not frame.meets(card)
    assert place(hand, inner)[0] > before[0] and place(hand, inner)[1] == before[1]


# ------------------------------------------------------------------ replacing


@pytest.mark.feature(13)
def test_another_operator_takes_the_place_with_wires_literals_and_name(hand: Hand) -> None:
    x, total = chain(hand, 400)
    assert hand.session.graph_store.attempt(recipes.set_literal, "Set", total, "dim", "1")
    assert hand.session.graph_store.attempt(recipes.rename, "Rename", total, ("rows",))
    hand.canvas.selection.select(frozenset({total}))
    entries = len(hand.undo_texts)
    hand.canvas.searching.replace_current()
    popup = popup_of(hand)
    assert "torch.sum" not in popup.operators() and "torch.randn" not in popup.operators()
    QTest.keyClicks(popup.field, "torch.mean")
    hand.key(Key.Key_Return, to=popup.field)
    node = hand.graph.nodes[total]
    assert (node.operator, node.names, node.literals["dim"]) == ("torch.mean", ("rows",), "1")
    assert hand.graph.wires_to(total)[0].source == x
    assert hand.undo_texts[entries:] == ["Replace by mean"]


@pytest.mark.feature(13)
def test_what_cannot_stay_is_said(hand: Hand) -> None:
    x, _ = chain(hand, 400)
    product = hand.add("torch.matmul", 600, 400)
    hand.wire(x, product, "input")
    hand.wire(x, product, "other")
    menu = context_menu(
        hand.canvas,
        hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*hand.header(product)))),
        0,
        0,
    )
    next(action for action in entries(menu) if action.text().startswith("Replace")).trigger()
    popup = popup_of(hand)
    QTest.keyClicks(popup.field, "torch.tanh")
    hand.key(Key.Key_Return, to=popup.field)
    assert hand.graph.nodes[product].operator == "torch.tanh"
    assert "other" in hand.canvas.bubble.text() and hand.canvas.bubble.isVisible()


# ------------------------------------------------------------------ defaults


def texts(hand: Hand, at: tuple[float, float]) -> dict[str, object]:
    menu = context_menu(
        hand.canvas, hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*at))), *at
    )
    return {action.text(): action for action in entries(menu)}


@pytest.mark.feature(45)
def test_the_menu_resets_one_value_or_all_only_where_something_differs(hand: Hand) -> None:
    item = hand.add("torch.randn", 100, 100)
    assert not [text for text in texts(hand, hand.field(item, "size")) if text.startswith("Reset")]
    for path, text in (("size", "(7, 7)"), ("requires_grad", "True")):
        assert hand.session.graph_store.attempt(recipes.set_literal, "Set", item, path, text)
    found = [text for text in texts(hand, hand.field(item, "size")) if text.startswith("Reset")]
    assert found == ["Reset to default ((2, 3))", "Reset 2 values to defaults"]
    menu = context_menu(
        hand.canvas,
        hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*hand.field(item, "size")))),
        0,
        0,
    )
    next(action for action in entries(menu) if action.text() == found[0]).trigger()
    assert [path for _, path in recipes.changed_arguments(hand.graph, item)] == ["requires_grad"]
    assert hand.undo_texts[-1] == "Reset to default"


@pytest.mark.feature(45)
def test_the_key_resets_the_field_that_is_edited_else_the_selected_nodes(hand: Hand) -> None:
    item = hand.add("torch.randn", 100, 100)
    for path, text in (("size", "(7, 7)"), ("requires_grad", "True")):
        assert hand.session.graph_store.attempt(recipes.set_literal, "Set", item, path, text)
    hand.click(hand.field(item, "size"))
    editor = hand.canvas.in_place.editor
    assert editor is not None
    QTest.keyClicks(editor, "99")
    hand.canvas.field_commands.reset_to_default()
    assert hand.canvas.in_place.editor is None
    assert [path for _, path in recipes.changed_arguments(hand.graph, item)] == ["requires_grad"]
    hand.canvas.selection.select(frozenset({item}))
    hand.canvas.field_commands.reset_to_default()
    assert recipes.changed_arguments(hand.graph, item) == ()


def test_what_is_dragged_in_is_shown_as_the_card_it_will_be(hand: Hand) -> None:
    before = hand.shot()
    data = QMimeData()
    data.setData(MIME, b"torch.relu")
    view, copy = hand.canvas.viewport(), Qt.DropAction.CopyAction
    QApplication.sendEvent(view, QDragEnterEvent(QPoint(300, 200), copy, data, Qt.MouseButton.LeftButton, NO_KEY))
    QApplication.sendEvent(view, QDragMoveEvent(QPoint(300, 200), copy, data, Qt.MouseButton.LeftButton, NO_KEY))
    ghost = hand.shot()
    assert ghost.pixelColor(400, 200) != before.pixelColor(400, 200), "its header"
    QApplication.sendEvent(view, QDragLeaveEvent())
    assert hand.shot() == before
    QApplication.sendEvent(view, QDragMoveEvent(QPoint(300, 200), copy, data, Qt.MouseButton.LeftButton, NO_KEY))
    hand.drop("torch.relu", (300, 200))
    (item,) = hand.graph.nodes
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    assert box.contains(400, 200), "where it was shown"
