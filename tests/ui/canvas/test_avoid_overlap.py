"""What is added at the cursor covers nothing; what is brought into line stays seen; a copy of a pinned card is free."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradstudio.graph.model import BodyId, ItemId
from tests.ui.canvas.conftest import CONTROL, Hand

Key = Qt.Key


def covered(hand: Hand) -> list[tuple[ItemId, ItemId]]:
    """Pairs of cards of which one lies over the other."""
    scene = hand.canvas.scene
    boxes = {item: box for item in scene.stack.ids if (box := scene.placement.box(item)) is not None}
    return [(a, b) for a, b in itertools.combinations(boxes, 2) if boxes[a].meets(boxes[b])]


def search(hand: Hand, words: str) -> ItemId:
    """Take the first row with the keys; what was added."""
    popup, before = hand.canvas.searching.popup, set(hand.graph.nodes)
    assert popup is not None
    QTest.keyClicks(popup.field, words)
    hand.key(Key.Key_Return, to=popup.field)
    (item,) = set(hand.graph.nodes) - before
    return item


@pytest.mark.feature(1)
def test_what_the_search_adds_over_a_card_steps_aside_in_one_entry(hand: Hand) -> None:
    hand.add("torch.randn", 200, 100)
    entries = len(hand.undo_texts)
    hand.canvas.searching.open(240, 130)
    item = search(hand, "torch.tanh")
    assert not covered(hand)
    place = hand.graph.places[item]
    assert abs(place.x - 240) < 300 and abs(place.y - 130) < 300
    assert hand.undo_texts[entries:] == ["Add tanh"]


@pytest.mark.feature(1)
def test_what_the_search_adds_on_free_ground_stands_at_the_cursor(hand: Hand) -> None:
    hand.add("torch.randn", 40, 40)
    hand.canvas.searching.open(600, 300)
    place = hand.graph.places[search(hand, "torch.tanh")]
    assert (place.x, place.y) == (600, 300)


@pytest.mark.feature(1)
def test_what_the_search_adds_in_a_frame_steps_aside_within_it(hand: Hand) -> None:
    x = hand.add("torch.randn", 200, 200)
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.selection_commands.wrap_selection("no_grad")
    (frame,) = hand.graph.blocks
    hand.double_click(
        (hand.canvas.scene.placement.frames[frame].box.x + 8, hand.canvas.scene.placement.frames[frame].box.bottom - 6)
    )
    item = search(hand, "torch.tanh")
    assert hand.graph.parents[item] == BodyId(frame)
    assert not covered(hand)


@pytest.mark.feature(1)
def test_what_a_hand_puts_down_stays_exactly_there(hand: Hand) -> None:
    hand.add("torch.randn", 200, 100)
    hand.drop("torch.tanh", (300, 120))
    item = next(item for item, node in hand.graph.nodes.items() if node.operator == "torch.tanh")
    assert covered(hand), item


@pytest.mark.feature(7)
@pytest.mark.parametrize("by", ["library", "drag"])
def test_what_comes_into_a_block_covers_nothing_there_in_one_entry(hand: Hand, by: str) -> None:
    inside, beside = hand.add("torch.randn", 200, 200), hand.add("torch.ones", 480, 220)
    other = hand.add("torch.zeros", 40, 500)
    hand.canvas.selection.select(frozenset({inside}))
    hand.canvas.selection_commands.wrap_selection("no_grad")
    (frame,) = hand.graph.blocks
    entries, before = len(hand.undo_texts), dict(hand.graph.places)
    over = hand.header(inside)
    if by == "library":
        hand.drop("torch.tanh", over)
    else:
        hand.drag(hand.header(other), (over[0], over[1] + 60))
    assert len(hand.graph.bodies[BodyId(frame)]) == 2
    assert not covered(hand)
    box = hand.canvas.scene.placement.box(beside)
    assert box is not None and not box.meets(hand.canvas.scene.placement.frames[frame].box)
    assert len(hand.undo_texts) == entries + 1
    hand.session.graph_store.undo_stack.undo()
    assert {key: hand.graph.places[key] for key in before} == before


@pytest.mark.feature(29)
def test_what_is_pasted_over_its_original_steps_aside(hand: Hand) -> None:
    x = hand.add("torch.randn", 400, 250)
    hand.click(hand.header(x))
    hand.key(Key.Key_C, CONTROL)
    hand.canvas.clipboard_commands.paste(410, 260)
    assert len(hand.graph.nodes) == 2
    assert not covered(hand)
    assert hand.undo_texts[-1] == "Paste item"


@pytest.mark.parametrize("keys", [(Key.Key_D,), (Key.Key_C, Key.Key_V)])
def test_a_copy_of_a_pinned_card_is_free(hand: Hand, keys: tuple[Qt.Key, ...]) -> None:
    x = hand.add("torch.randn", 100, 100)
    hand.click(hand.header(x))
    hand.canvas.card_arrangement.toggle_pinned()
    for key in keys:
        hand.key(key, CONTROL)
    (copy,) = set(hand.graph.nodes) - {x}
    assert hand.graph.places[x].pinned and not hand.graph.places[copy].pinned
    before = hand.graph.places[copy].x
    box = hand.canvas.scene.placement.box(copy)
    assert box is not None
    hand.drag((box.right - 20, box.y + 12), (box.right + 300, box.y + 12))
    assert hand.graph.places[copy].x > before + 200


@pytest.mark.feature(33)
@pytest.mark.parametrize(("side", "axis"), [("left", 1), ("middle", 0), ("center", 1), ("bottom", 0)])
def test_what_is_brought_into_line_keeps_its_order_and_covers_nothing(hand: Hand, side: str, axis: int) -> None:
    items = [hand.add("torch.randn", *at) for at in ((60, 60), (120, 60), (400, 90))]
    hand.canvas.selection.select(frozenset(items))
    entries = len(hand.undo_texts)
    hand.canvas.card_arrangement.align_selection(side)  # type: ignore[arg-type]  # one of the sides
    assert not covered(hand)
    along = [(hand.graph.places[item].x, hand.graph.places[item].y)[axis] for item in items]
    assert along == sorted(along)
    assert len(hand.undo_texts) == entries + 1


BLOCK = """
import torch
x = torch.randn(4, 3)
W = torch.randn(3, 5, requires_grad=True)
b = torch.zeros(5, requires_grad=True)
h = x @ W + b
a = torch.tanh(h)
with torch.no_grad():
    m = a.mean()
    d = a - m
loss = (a**2).sum()
"""


@pytest.mark.feature(33)
@pytest.mark.parametrize("side", ["top", "left"])
def test_what_is_not_selected_makes_room_also_where_the_frame_grows(hand: Hand, side: str) -> None:
    QGuiApplication.clipboard().setText(BLOCK)
    hand.canvas.clipboard_commands.paste(0, 0)
    named = {node.names[0]: item for item, node in hand.graph.nodes.items() if node.names}
    (power,) = (item for item, node in hand.graph.nodes.items() if node.operator == "operator.pow")
    hand.canvas.selection.select(frozenset({named["a"], power, named["m"]}))
    assert not covered(hand)
    entries = len(hand.undo_texts)
    hand.canvas.card_arrangement.align_selection(side)  # type: ignore[arg-type]  # one of the sides
    assert not covered(hand)
    scene = hand.canvas.scene
    (frame,) = scene.placement.frames
    outside = {named["a"], power, named["x"], named["loss"]}
    assert not [
        item for item in outside if (box := scene.placement.box(item)) and box.meets(scene.placement.frames[frame].box)
    ]
    assert (
        len(
            {
                round(getattr(hand.graph.places[item], "y" if side == "top" else "x"), 6)
                for item in (named["a"], power, named["m"])
            }
        )
        == 1
    )
    assert len(hand.undo_texts) == entries + 1


@pytest.mark.feature(33)
def test_a_pinned_card_stays_where_others_are_brought_into_line_with_it(hand: Hand) -> None:
    one, other = hand.add("torch.randn", 60, 60), hand.add("torch.randn", 300, 80)
    hand.canvas.selection.select(frozenset({one}))
    hand.canvas.card_arrangement.toggle_pinned()
    hand.canvas.selection.select(frozenset({one, other}))
    hand.canvas.card_arrangement.align_selection("left")
    assert (hand.graph.places[one].x, hand.graph.places[one].y) == (60, 60)
    assert hand.graph.places[other].x == 60
    assert not covered(hand)
