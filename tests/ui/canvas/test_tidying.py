"""Tidy: the selection or everything, in one step that can be undone; cards glide, and nobody has to wait for them."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.document.python.python_document import read_python
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.ui.actions.tidy_layout import tidy
from gradstudio.ui.canvas.view import CanvasView
from tests.ui.canvas.conftest import Hand

Places = dict[str, tuple[float, float]]


@pytest.fixture
def canvas(hand: Hand) -> CanvasView:
    return hand.canvas


@pytest.fixture
def heap(hand: Hand) -> list[ItemId]:
    """``x; exp(x); sum`` on one heap, and a card that stands far away."""
    items = [hand.add("torch.randn", 0, 0), hand.add("torch.exp", 10, 10), hand.add("torch.sum", 20, 20)]
    hand.wire(items[0], items[1], "input")
    hand.wire(items[1], items[2], "input")
    return [*items, hand.add("torch.ones", 2000, 1500)]


def places(hand: Hand) -> Places:
    return {key: (place.x, place.y) for key, place in hand.graph.places.items()}


def seen(canvas: CanvasView, item: ItemId) -> tuple[float, float]:
    box = canvas.scene.placement.box(item)
    assert box is not None
    return box.x, box.y


@pytest.mark.feature(36)
def test_a_selection_is_laid_out_where_it_stands(canvas: CanvasView, hand: Hand, heap: list[ItemId]) -> None:
    canvas.selection.select(frozenset(heap[:3]))
    before, camera = places(hand), canvas.camera
    tidy(canvas)
    after = places(hand)
    assert after[heap[0]] == before[heap[0]]
    assert after[heap[0]][0] < after[heap[1]][0] < after[heap[2]][0]
    assert after[heap[3]] == before[heap[3]]
    assert canvas.camera == camera
    assert hand.undo_texts[-1] == "Tidy selection"
    hand.session.graph_store.undo_stack.undo()
    assert places(hand) == before


def test_one_selected_card_stands_for_no_selection(canvas: CanvasView, hand: Hand, heap: list[ItemId]) -> None:
    canvas.selection.select(frozenset(heap[:1]))
    tidy(canvas)
    assert hand.undo_texts[-1] == "Tidy"
    assert places(hand)[heap[3]][0] < 2000


def test_what_is_tidy_makes_no_undo_entry(canvas: CanvasView, hand: Hand, heap: list[ItemId]) -> None:
    tidy(canvas)
    count = len(hand.undo_texts)
    tidy(canvas)
    assert len(hand.undo_texts) == count


def test_cards_glide_to_their_places(canvas: CanvasView, hand: Hand, heap: list[ItemId], qtbot: QtBot) -> None:
    canvas.selection.select(frozenset(heap[:3]))
    count = len(hand.undo_texts)
    tidy(canvas)
    assert canvas.gliding.is_moving
    assert seen(canvas, heap[2]) == (20, 20)
    qtbot.waitUntil(lambda: not canvas.gliding.is_moving)
    assert seen(canvas, heap[2]) == places(hand)[heap[2]]
    assert len(hand.undo_texts) == count + 1


def test_a_click_finds_the_cards_at_rest(canvas: CanvasView, hand: Hand, heap: list[ItemId]) -> None:
    canvas.selection.select(frozenset(heap[:3]))
    tidy(canvas)
    x, y = places(hand)[heap[2]]
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.view(x + 40, y + 12))
    assert not canvas.gliding.is_moving
    assert hand.session.attention.selection == frozenset({heap[2]})


def test_an_edit_ends_the_glide(canvas: CanvasView, hand: Hand, heap: list[ItemId]) -> None:
    tidy(canvas)
    hand.session.graph_store.undo_stack.undo()
    assert not canvas.gliding.is_moving
    assert seen(canvas, heap[2]) == (20, 20)


LOADED = """
x = torch.randn(3, requires_grad=True)
for i in range(3):
    y = (x * i).sum()
    y.backward()
print(x.grad)
"""


def test_a_program_that_was_just_opened_stays_where_it_is(canvas: CanvasView, hand: Hand) -> None:
    hand.session.graph_store.load(read_python(LOADED, pasted=True).graph)
    opened = places(hand)
    assert len(opened) > 5
    tidy(canvas)
    assert places(hand) == opened
    assert hand.undo_texts == []
    canvas.selection.select(frozenset())
    item = next(iter(hand.graph.nodes))
    hand.session.graph_store.submit((SetPlaces({item: Place(-500.0, 900.0)}),), "Move")
    tidy(canvas)
    assert hand.undo_texts[-1] == "Tidy"
