"""Keys about where cards stand and how they are worn, in the whole window with the focus on the canvas."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.ui.app.window.main_window import MainWindow
from tests.ui.conftest import Add
from tests.ui.test_keys_of_panels import focus, press

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def cards(window: MainWindow, add: Add) -> list[ItemId]:
    """Three cards, none in line with another, selected; the canvas has the focus."""
    items = [add("torch.randn") for _ in range(3)]
    corners = ((0.0, 0.0), (300.0, 200.0), (640.0, 96.0))
    window.session.graph_store.submit(
        (SetPlaces({item: Place(*at) for item, at in zip(items, corners, strict=True)}),), "Move"
    )
    window.canvas.navigation.fit_all()
    focus(window, window.canvas)
    window.session.attention.select(items)
    return items


def corners(window: MainWindow, items: list[ItemId]) -> list[tuple[float, float]]:
    places = window.session.graph_store.graph.places
    return [(places[item].x, places[item].y) for item in items]


def worn(window: MainWindow, item: ItemId) -> Place:
    return window.session.graph_store.graph.places[item]


@pytest.mark.feature(33)
def test_control_alt_and_arrows_bring_edges_into_line(window: MainWindow, cards: list[ItemId]) -> None:
    boxes = [window.canvas.scene.placement.box(item) for item in cards]
    right = max(box.right for box in boxes if box is not None)
    press(Key.Key_Left, CONTROL | ALT)
    assert [x for x, _ in corners(window, cards)] == [0, 0, 0]
    window.session.graph_store.undo_stack.undo()
    press(Key.Key_Right, CONTROL | ALT)
    assert [x for x, _ in corners(window, cards)] == [right - box.width for box in boxes if box is not None]
    press(Key.Key_Up, CONTROL | ALT)
    assert [y for _, y in corners(window, cards)] == [0, 0, 0]
    window.session.graph_store.undo_stack.undo()
    press(Key.Key_Down, CONTROL | ALT)
    assert len({y for _, y in corners(window, cards)}) == 1


@pytest.mark.feature(33)
def test_gaps_are_made_equal_and_frames_take_part(window: MainWindow, cards: list[ItemId]) -> None:
    store = window.session.graph_store
    assert store.attempt(recipes.wrap, "Wrap", [cards[1]], "no_grad")
    (block,) = store.graph.blocks
    window.session.attention.select([cards[0], block, cards[2]])
    window.actions["edit.distribute_across"].trigger()
    a, b, c = (window.canvas.scene.placement.box(item) for item in (cards[0], block, cards[2]))
    assert a is not None
    assert b is not None
    assert c is not None
    assert b.x - a.right == pytest.approx(c.x - b.right)
    assert store.undo_stack.undoText() == "Distribute across"


@pytest.mark.feature(33)
def test_one_card_alone_is_not_aligned_and_it_is_said(window: MainWindow, cards: list[ItemId]) -> None:
    window.session.attention.select(cards[:1])
    press(Key.Key_Left, CONTROL | ALT)
    assert "two or more" in window.status.message.full


@pytest.mark.feature(34)
def test_shift_tab_and_the_word_in_the_status_bar_switch_the_snap(window: MainWindow, cards: list[ItemId]) -> None:
    press(Key.Key_Backtab, SHIFT)
    assert not window.canvas.drag_options.snap_to_grid
    assert not window.settings.preferences.snap_to_grid
    assert not window.actions["edit.snap"].isChecked()
    word = next(one for one in window.status.findChildren(QToolButton) if one.text() == "Snap")
    assert not word.isChecked()
    QTest.mouseClick(word, Qt.MouseButton.LeftButton)
    assert window.canvas.drag_options.snap_to_grid
    assert word.isChecked()


@pytest.mark.feature(41, 42, 43)
def test_letters_collapse_hide_pin_mute_and_bypass(window: MainWindow, cards: list[ItemId]) -> None:
    store, item = window.session.graph_store, cards[0]
    window.session.attention.select([item])
    press(Key.Key_H)
    assert worn(window, item).collapsed
    press(Key.Key_H, CONTROL)
    assert worn(window, item).tucked
    press(Key.Key_P)
    assert worn(window, item).pinned
    assert window.actions["edit.pinned"].isChecked()
    press(Key.Key_M)
    assert store.graph.nodes[item].muted
    press(Key.Key_M)
    assert not store.graph.nodes[item].muted
    relu_edits, relu = recipes.add_operator(store.graph, "torch.relu", 900, 0)
    store.submit(relu_edits, "Add")
    assert store.attempt(recipes.connect, "Wire", item, 0, relu, "input")
    window.session.attention.select([relu])
    press(Key.Key_M, SHIFT)
    assert store.graph.nodes[relu].bypassed
    press(Key.Key_M, SHIFT)
    assert not store.graph.nodes[relu].bypassed


@pytest.mark.feature(12)
def test_control_delete_reconnects(window: MainWindow, cards: list[ItemId]) -> None:
    store = window.session.graph_store
    relu_edits, relu = recipes.add_operator(store.graph, "torch.relu", 900, 0)
    store.submit(relu_edits, "Add")
    exp_edits, exp = recipes.add_operator(store.graph, "torch.exp", 1200, 0)
    store.submit(exp_edits, "Add")
    assert store.attempt(recipes.connect, "Wire", cards[0], 0, relu, "input")
    assert store.attempt(recipes.connect, "Wire", relu, 0, exp, "input")
    window.session.attention.select([relu])
    press(Key.Key_Delete, CONTROL)
    wire = store.graph.wire_into(exp, "input")
    assert wire is not None
    assert wire.source == cards[0]


@pytest.mark.feature(36, 43)
def test_tidy_leaves_what_is_pinned(window: MainWindow, cards: list[ItemId]) -> None:
    window.session.attention.select(cards[1:2])
    press(Key.Key_P)
    window.session.attention.select([])
    press(Key.Key_L, CONTROL)
    after = corners(window, cards)
    assert after[1] == (300, 200)
    assert after[0] != (0, 0) or after[2] != (640, 96)
