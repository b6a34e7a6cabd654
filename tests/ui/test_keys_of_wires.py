"""Keys about wires, in the whole window with the focus on the canvas."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.ui.main_window import MainWindow
from tests.ui.conftest import Add
from tests.ui.test_keys_of_panels import focus, press

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def chain(window: MainWindow, add: Add) -> list[ItemId]:
    """Four nodes in a row, and one that stands alone; the canvas has the focus."""
    store = window.session.graph_store
    items = [add("torch.randn"), *(add("torch.relu") for _ in range(3)), add("torch.randn")]
    for source, target in itertools.pairwise(items[:4]):
        assert store.attempt(recipes.connect, "Wire", source, 0, target, "input")
    store.submit((SetPlaces({item: Place(260.0 * k, 0.0) for k, item in enumerate(items)}),), "Move")
    window.canvas.fit_all()
    focus(window, window.canvas)
    return items


def shot(window: MainWindow) -> QImage:
    return window.canvas.viewport().grab().toImage()


def pixel(window: MainWindow, item: ItemId) -> QColor:
    """In the header of a card."""
    box = window.canvas.board.box(item)
    assert box is not None
    x, y = window.canvas.camera.to_view(box.right - 14, box.y + 12)
    return shot(window).pixelColor(round(x), round(y))


@pytest.mark.feature(24)
def test_l_selects_what_feeds_and_shift_l_what_follows(window: MainWindow, add: Add) -> None:
    items = chain(window, add)
    window.session.attention.select([items[1]])
    press(Key.Key_L)
    assert window.session.attention.selection == set(items[:2])
    window.session.attention.select([items[1]])
    press(Key.Key_L, SHIFT)
    assert window.session.attention.selection == set(items[1:4])


@pytest.mark.feature(24)
def test_t_lights_what_feeds_and_follows_the_selection_and_fades_the_rest(window: MainWindow, add: Add) -> None:
    items = chain(window, add)
    window.session.attention.select([items[1]])
    before = [pixel(window, item) for item in items]
    press(Key.Key_T)
    traced = [pixel(window, item) for item in items]
    assert traced[:4] == before[:4]
    assert traced[4] != before[4]
    assert window.actions["view.trace"].isChecked()
    press(Key.Key_T)
    assert [pixel(window, item) for item in items] == before


@pytest.mark.feature(24)
def test_a_trace_follows_the_selection_and_without_one_nothing_is_faded(window: MainWindow, add: Add) -> None:
    items = chain(window, add)
    window.session.attention.select([items[4]])
    press(Key.Key_T)
    assert window.canvas.traced() is not None
    faded = pixel(window, items[0])
    window.session.attention.select([items[0]])
    assert pixel(window, items[0]) != faded
    QTest.keyClick(window.canvas, Key.Key_Escape)
    assert window.canvas.traced() is None


@pytest.mark.feature(22)
def test_alt_s_lets_two_inputs_change_places(window: MainWindow, add: Add) -> None:
    x, y = add("torch.randn"), add("operator.sub", b="2")
    store = window.session.graph_store
    assert store.attempt(recipes.connect, "Wire", x, 0, y, "a")
    focus(window, window.canvas)
    window.session.attention.select([y])
    press(Key.Key_S, ALT)
    wire = store.graph.wire_into(y, "b")
    assert wire is not None
    assert wire.source == x
    assert store.graph.nodes[y].literals == {"a": "2"}
    assert store.undo_stack.text(store.undo_stack.index() - 1) == "Swap inputs"
    window.session.attention.select([x])
    assert not window.actions["graph.swap_inputs"].isEnabled()
    assert QApplication.focusWidget() is not None
