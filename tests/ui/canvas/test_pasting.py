"""Copies travel as text, with or without what flowed into them."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import CONTROL, SHIFT, Hand
from tests.ui.conftest import Add
from tests.ui.test_keys_of_panels import focus, press

Key = Qt.Key


@pytest.fixture
def product(hand: Hand) -> tuple[ItemId, ItemId, ItemId]:
    """``x @ w``"""
    x, w, y = hand.add("torch.randn", 40, 40), hand.add("torch.randn", 40, 340), hand.add("torch.matmul", 400, 200)
    hand.wire(x, y, "input")
    hand.wire(w, y, "other")
    hand.canvas.selection.select(frozenset({y}))
    return x, w, y


def copied(hand: Hand, before: set[ItemId]) -> ItemId:
    (item,) = set(hand.graph.nodes) - before
    return item


@pytest.mark.feature(29)
def test_pasted_without_inputs_says_what_is_open_and_which_key_wires_it(
    hand: Hand, product: tuple[ItemId, ItemId, ItemId]
) -> None:
    said: list[object] = []
    hand.canvas.said.connect(said.append)
    hand.key(Key.Key_C, CONTROL)
    hand.key(Key.Key_V, CONTROL)
    item = copied(hand, set(product))
    assert not hand.graph.wires_to(item)
    assert "2 inputs are open: 'input' of" in str(said[-1])
    assert "Ctrl+Shift+V" in str(said[-1])


@pytest.mark.feature(29)
def test_pasted_with_inputs_reads_what_the_original_reads(hand: Hand, product: tuple[ItemId, ItemId, ItemId]) -> None:
    x, w, _ = product
    said: list[object] = []
    hand.canvas.said.connect(said.append)
    hand.key(Key.Key_C, CONTROL)
    hand.canvas.clipboard_commands.paste_wired()
    item = copied(hand, set(product))
    assert {(wire.source, wire.port) for wire in hand.graph.wires_to(item)} == {(x, "input"), (w, "other")}
    assert said[-1] == "Pasted; 2 inputs are wired as before"
    assert hand.undo_texts[-1] == "Paste item"


@pytest.mark.feature(28, 29)
def test_in_another_window_inputs_are_found_by_name_and_the_rest_is_open(
    hand: Hand, product: tuple[ItemId, ItemId, ItemId], qtbot: QtBot, dark: Theme
) -> None:
    x, w, _ = product
    hand.key(Key.Key_C, CONTROL)
    name = hand.graph.nodes[x].names[0]
    other = Session(EngineClient(spare=False))
    canvas = CanvasView(other, Overlays(), dark)
    qtbot.addWidget(canvas)
    there = Hand(canvas, other)
    source = there.add("torch.ones", 0, 0)
    there.session.graph_store.attempt(_named, "Rename", source, name)
    said: list[object] = []
    canvas.said.connect(said.append)
    canvas.clipboard_commands.paste_wired()
    item = copied(there, {source})
    assert [(wire.source, wire.port) for wire in there.graph.wires_to(item)] == [(source, "input")]
    assert said[-1] == "Pasted; 1 input is wired as before, 1 input is open"
    assert w not in there.graph


def _named(graph: Graph, item: ItemId, name: str) -> Edits:
    return recipes.rename(graph, item, (name,))


@pytest.mark.feature(28)
def test_a_copy_is_plain_text_and_comes_back_from_a_mail(hand: Hand, product: tuple[ItemId, ItemId, ItemId]) -> None:
    hand.key(Key.Key_A, CONTROL)
    hand.key(Key.Key_C, CONTROL)
    text = QGuiApplication.clipboard().text()
    assert text.startswith("{")
    assert "torch.matmul" in text
    QGuiApplication.clipboard().setText(text.replace("\n", "\r\n") + "\r\n")
    hand.key(Key.Key_V, CONTROL)
    assert len(hand.graph.nodes) == 6
    assert len(hand.graph.wires) == 4


@pytest.mark.feature(29)
def test_a_duplicate_reads_what_the_original_reads_with_shift(window: MainWindow, add: Add) -> None:
    store = window.session.graph_store
    x, y = add("torch.randn"), add("torch.relu")
    assert store.attempt(recipes.connect, "Wire", x, 0, y, "input")
    focus(window, window.canvas)
    window.session.attention.select([y])
    press(Key.Key_D, CONTROL)
    (bare,) = set(store.graph.nodes) - {x, y}
    assert not store.graph.wires_to(bare)
    window.session.attention.select([y])
    press(Key.Key_D, CONTROL | SHIFT)
    (wired,) = set(store.graph.nodes) - {x, y, bare}
    assert [wire.source for wire in store.graph.wires_to(wired)] == [x]
    press(Key.Key_C, CONTROL)
    press(Key.Key_V, CONTROL | SHIFT)
    (pasted,) = set(store.graph.nodes) - {x, y, bare, wired}
    assert [wire.source for wire in store.graph.wires_to(pasted)] == [x]
