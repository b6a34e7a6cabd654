"""Wires by hand: the knife, all wires of a port at once, what is said before a drop, what hovering shows."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.ui.canvas.menus.context_menu import context_menu
from tests.ui.canvas.conftest import CONTROL, SHIFT, Hand, entries
from tests.ui.canvas.test_painting import has

Key = Qt.Key
RIGHT = Qt.MouseButton.RightButton
ALT = Qt.KeyboardModifier.AltModifier


def fan(hand: Hand) -> tuple[ItemId, list[ItemId]]:
    """One output with three wires to the right."""
    x = hand.add("torch.randn", 40, 240)
    readers = [hand.add("torch.relu", 600, 80 + 200 * k) for k in range(3)]
    for reader in readers:
        hand.wire(x, reader, "input")
    hand.session.attention.select(())
    return x, readers


def middle(hand: Hand, item: ItemId, path: str = "input") -> tuple[float, float]:
    """The middle of the wire into an input."""
    scene = hand.canvas.scene
    wire = hand.graph.wire_into(item, path)
    assert wire is not None
    x, y = scene.routes.paths[scene.wiring.index[wire]][10:12].mean(0).tolist()
    return x, y


# ------------------------------------------------------------------ the knife


@pytest.mark.feature(15)
def test_the_knife_lights_what_it_crosses_and_cuts_it_on_release_as_one_entry(hand: Hand) -> None:
    _, readers = fan(hand)
    count = len(hand.undo_texts)
    x = (hand.output(next(iter(hand.graph.nodes)))[0] + 600) / 2
    hand.press((x, 60), RIGHT, CONTROL)
    plain = hand.shot()
    hand.move((x, 330), RIGHT, CONTROL)
    assert has(hand.shot(), hand.canvas.canvas_style.color("danger"), 200)
    assert not has(plain, hand.canvas.canvas_style.color("danger"), 200)
    assert len(hand.graph.wires) == 3
    hand.release((x, 330), RIGHT, CONTROL)
    assert [reader for reader in readers if hand.graph.wire_into(reader, "input")] == readers[2:]
    assert hand.undo_texts[count:] == ["Remove 2 wires"]
    hand.session.graph_store.undo_stack.undo()
    assert len(hand.graph.wires) == 3


@pytest.mark.feature(15)
def test_escape_puts_the_knife_away(hand: Hand) -> None:
    fan(hand)
    count = len(hand.undo_texts)
    hand.press((400, 20), RIGHT, CONTROL)
    hand.move((400, 680), RIGHT, CONTROL)
    hand.key(Key.Key_Escape)
    hand.release((400, 680), RIGHT, CONTROL)
    assert len(hand.graph.wires) == 3
    assert len(hand.undo_texts) == count


def test_a_knife_through_nothing_cuts_nothing(hand: Hand) -> None:
    fan(hand)
    count = len(hand.undo_texts)
    hand.drag((20, 20), (20, 60), RIGHT, CONTROL)
    assert len(hand.undo_texts) == count


def test_the_right_button_with_a_key_asks_for_no_menu(hand: Hand) -> None:
    fan(hand)
    point = hand.view(400, 500)
    for keys in (CONTROL, Qt.KeyboardModifier.AltModifier):
        reason = QContextMenuEvent.Reason.Mouse
        event = QContextMenuEvent(reason, point, hand.canvas.viewport().mapToGlobal(point), keys)
        QApplication.sendEvent(hand.canvas.viewport(), event)
        assert QApplication.activePopupWidget() is None
        assert not hand.canvas.findChildren(QMenu)


# ------------------------------------------------------------------ muted wires


@pytest.mark.feature(25)
def test_a_line_with_control_and_alt_mutes_wires_and_the_next_one_takes_them_back(hand: Hand) -> None:
    x, readers = fan(hand)
    count, start, end = len(hand.undo_texts), (400, 60), (400, 330)
    hand.drag(start, end, RIGHT, CONTROL | ALT)
    assert [reader for reader in readers if hand.graph.wire_into(reader, "input")] == readers[2:]
    assert len(hand.canvas.scene.wiring.muted) == 2
    assert hand.undo_texts[count:] == ["Mute 2 wires"]
    hand.drag(start, end, RIGHT, CONTROL | ALT)
    assert len(hand.graph.wires_from(x)) == 3
    assert hand.undo_texts[count + 1 :] == ["Unmute 2 wires"]
    hand.session.graph_store.undo_stack.undo()
    assert len(hand.canvas.scene.wiring.muted) == 2


@pytest.mark.feature(25)
def test_a_muted_wire_stays_drawn_dashed_and_grey(hand: Hand) -> None:
    _, readers = fan(hand)
    grey = hand.canvas.canvas_style.color("text_dim")
    at = [hand.view(*middle(hand, reader)) for reader in readers[:2]]
    box = (at[0].x() - 30, at[0].y() - 30, 60, 60)
    assert not has(hand.shot().copy(*box), grey, 20)
    hand.drag((400, 60), (400, 330), RIGHT, CONTROL | ALT)
    hand.canvas.selection.clear()
    hand.move((300, 650), Qt.MouseButton.NoButton)
    assert has(hand.shot().copy(*box), grey, 20)
    wire = next(wire for wire in hand.canvas.scene.wiring.muted if wire.target == readers[0])
    path = hand.canvas.scene.routes.paths[hand.canvas.scene.wiring.index[wire]]
    shot = hand.shot()
    on_path = [
        shot.pixelColor(hand.view(x, y))
        for x, y in zip(
            np.interp(np.linspace(3, 18, 80), np.arange(22), path[:, 0]),
            np.interp(np.linspace(3, 18, 80), np.arange(22), path[:, 1]),
            strict=True,
        )
    ]
    grey_ones = sum(abs(color.lightness() - grey.lightness()) < 40 for color in on_path)
    assert 20 < grey_ones < 70


@pytest.mark.feature(25)
def test_a_wire_is_muted_and_unmuted_in_its_menu(hand: Hand) -> None:
    _, readers = fan(hand)
    for words, wired in (("Mute wire", False), ("Unmute wire", True)):
        scene = hand.canvas.scene
        wire = next(wire for wire in scene.wiring.wires if wire.target == readers[0])
        x, y = scene.routes.paths[scene.wiring.index[wire]][10:12].mean(0).tolist()
        choose(hand, (x, y), words)
        assert (hand.graph.wire_into(readers[0], "input") is not None) is wired


def test_a_muted_wire_is_clicked_and_deleted(hand: Hand) -> None:
    _, readers = fan(hand)
    hand.click(middle(hand, readers[0]))
    wire = hand.graph.wire_into(readers[0], "input")
    assert wire is not None
    hand.canvas.wire_commands.toggle_wires_muted()
    assert hand.canvas.scene.wiring.muted == {wire}
    hand.click((hand.canvas.scene.routes.paths[hand.canvas.scene.wiring.index[wire]][10:12].mean(0)).tolist())
    assert hand.canvas.lit.selected_wires == {wire}
    hand.key(Key.Key_Delete)
    assert not hand.canvas.scene.wiring.muted
    assert not hand.graph.nodes[readers[0]].muted_wires


def choose(hand: Hand, at: tuple[float, float], words: str) -> None:
    """The right button, and an entry of the menu that comes."""
    menu = context_menu(
        hand.canvas, hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(*at))), *at
    )
    next(action for action in entries(menu) if action.text().split("\t")[0] == words).trigger()


# ------------------------------------------------------------------ all wires of a port


@pytest.mark.feature(22)
def test_shift_and_a_drag_from_an_output_moves_all_its_wires(hand: Hand) -> None:
    x, readers = fan(hand)
    y = hand.add("torch.randn", 40, 500)
    count = len(hand.undo_texts)
    hand.press(hand.output(x), keys=SHIFT)
    hand.move((300, 400), keys=SHIFT)
    assert "3 wires" in hand.canvas.bubble.text()
    hand.move(hand.output(y), keys=SHIFT)
    hand.release(hand.output(y), keys=SHIFT)
    assert [wire.target for wire in hand.graph.wires_from(y)] == readers
    assert not hand.graph.wires_from(x)
    assert hand.undo_texts[count:] == ["Move 3 wires"]


@pytest.mark.feature(22)
def test_what_may_not_move_stays_and_it_is_said_why(hand: Hand) -> None:
    x, readers = fan(hand)
    after = hand.add("torch.exp", 800, 500)
    hand.wire(readers[0], after, "input")
    hand.press(hand.output(x), keys=SHIFT)
    hand.move((500, 500), keys=SHIFT)
    hand.move(hand.output(after), keys=SHIFT)
    assert "1 wire of 3 must stay" in hand.canvas.bubble.text()
    hand.release(hand.output(after), keys=SHIFT)
    assert "loop" in hand.canvas.bubble.text()
    assert {wire.target for wire in hand.graph.wires_from(after)} == set(readers[1:])
    assert [wire.target for wire in hand.graph.wires_from(x)] == readers[:1]


def test_where_none_may_move_nothing_happens_and_it_is_said_why(hand: Hand) -> None:
    x, _ = fan(hand)
    text = hand.add("python.literal", 40, 520, value="'a'")
    count = len(hand.undo_texts)
    hand.drag(hand.output(x), hand.output(text), keys=SHIFT)
    assert len(hand.graph.wires_from(x)) == 3
    assert len(hand.undo_texts) == count
    assert hand.canvas.bubble.isVisible()


def test_wires_let_go_over_the_ground_stay(hand: Hand) -> None:
    x, _ = fan(hand)
    count = len(hand.undo_texts)
    hand.drag(hand.output(x), (400, 600), keys=SHIFT)
    assert len(hand.graph.wires_from(x)) == 3
    assert len(hand.undo_texts) == count
    assert not hand.canvas.bubble.isVisible()


@pytest.mark.feature(22)
def test_shift_and_a_drag_from_an_input_moves_its_wire(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    hand.wire(x, y, "input")
    hand.drag(hand.input(y, "input"), hand.input(y, "other"), keys=SHIFT)
    assert [port for _, port in hand.graph.wires] == ["other"]


# ------------------------------------------------------------------ before the drop, and when hovered


@pytest.mark.feature(18)
def test_targets_that_fit_are_lit_while_a_wire_is_drawn_and_the_rest_is_dimmed(hand: Hand) -> None:
    other, x = hand.add("torch.relu", 40, 400), hand.add("torch.exp", 300, 100)
    y = hand.add("torch.relu", 640, 80)
    hand.wire(other, x, "input")
    hand.session.attention.select(())
    plain = hand.shot()
    hand.press(hand.output(x))
    hand.move((560, 350))
    drawn = hand.shot()
    at, faded = hand.view(*hand.input(y, "input")), hand.view(*hand.header(other))
    ring = [drawn.pixelColor(at + QPoint(dx, 0)) for dx in range(-9, 10)]
    assert any(color == hand.canvas.canvas_style.color("accent") for color in ring)
    assert drawn.pixelColor(faded + QPoint(60, 0)) != plain.pixelColor(faded + QPoint(60, 0))
    hand.key(Key.Key_Escape)


@pytest.mark.feature(19)
def test_the_reason_stands_beside_the_pointer_before_the_drop(hand: Hand) -> None:
    text, y = hand.add("python.literal", 40, 100, value="'a'"), hand.add("torch.relu", 500, 200)
    hand.press(hand.output(text))
    hand.move((300, 200))
    hand.move(hand.input(y, "input"))
    assert "tensor" in hand.canvas.bubble.text()
    pointer, said = hand.view(*hand.input(y, "input")), hand.canvas.bubble.geometry()
    assert abs(said.center().y() - pointer.y()) < 80
    hand.release(hand.input(y, "input"))
    assert not hand.graph.wires


@pytest.mark.feature(17)
def test_ports_and_wires_have_the_colour_and_the_shape_of_their_type(hand: Hand) -> None:
    x = hand.add("torch.nn.Linear", 100, 100)
    module = next(item for item, node in hand.graph.nodes.items() if node.operator == "torch.nn.Linear")
    number = hand.add("python.literal", 100, 400, value="2")
    hand.session.attention.select(())
    shot, style = hand.shot(), hand.canvas.canvas_style
    assert x != module
    shapes = []
    for item in (module, number):
        known = hand.canvas.scene.looks.look_of(item, 0)
        at = hand.view(*hand.output(item))
        patch = shot.copy(at.x() - 8, at.y() - 8, 17, 17)
        assert has(patch, style.family(known.family, known.dtype), 5)
        shapes.append(patch)
    assert style.family(hand.canvas.scene.looks.look_of(module, 0).family, "") != style.family(
        hand.canvas.scene.looks.look_of(number, 0).family, ""
    )
    assert shapes[0] != shapes[1]


@pytest.mark.feature(24)
def test_hovering_a_wire_shows_where_it_begins_and_ends(hand: Hand) -> None:
    x, readers = fan(hand)
    plain = hand.shot()
    hand.move(middle(hand, readers[0]), Qt.MouseButton.NoButton)
    lit = hand.shot()
    accent = hand.canvas.canvas_style.color("accent")
    for end in (hand.output(x), hand.input(readers[0], "input")):
        at = hand.view(*end)
        around = QPoint(at.x() - 12, at.y() - 12)
        assert has(lit.copy(around.x(), around.y(), 25, 25), accent, 8)
        assert not has(plain.copy(around.x(), around.y(), 25, 25), accent, 8)


# ------------------------------------------------------------------ geometry


def test_only_what_the_line_crosses_counts() -> None:
    from gradstudio.scene.arrays import path_bounds, wires_across

    t = np.linspace(0, 1, 22)
    paths = np.stack([np.stack([100 * t, np.full(22, y)], 1) for y in (0.0, 50.0, 100.0)])
    bounds = path_bounds(paths)
    assert wires_across(paths, bounds, (50, -10), (50, 60)) == [0, 1]
    assert wires_across(paths, bounds, (150, -10), (150, 160)) == []
    assert wires_across(paths, bounds, (50, 10), (50, 40)) == []
    assert wires_across(paths, bounds, (-10, -10), (110, 110)) == [0, 1, 2]


def test_swapping_moves_wires_and_literals(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("operator.sub", 500, 200)
    hand.wire(x, y, "a")
    assert hand.session.graph_store.attempt(recipes.set_literal, "Set", y, "b", "2")
    assert hand.session.graph_store.attempt(recipes.swap_inputs, "Swap", y)
    wire = hand.graph.wire_into(y, "b")
    assert wire is not None
    assert wire.source == x
    assert hand.graph.nodes[y].literals == {"a": "2"}
