"""Working without a mouse: walking, wiring, the menu, going round the window; all in the whole window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from gradstudio.graph.model import ItemId, Wire
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.popups.filter_list import FilterList
from tests.ui.test_keys_of_panels import focus, press

Key, Keys = Qt.Key, Qt.KeyboardModifier
ALT, CONTROL, SHIFT = Keys.AltModifier, Keys.ControlModifier, Keys.ShiftModifier
TEXT = """import torch
x = torch.tensor([1.0, 2.0])
w = torch.ones(2)
y = x * w
z = y.sum()
"""


class Keyboard:
    """A window with a program and the canvas in front of somebody's keyboard."""

    def __init__(self, window: MainWindow, text: str = TEXT) -> None:
        self.window, self.canvas, self.attention = window, window.canvas, window.session.attention
        graph = read_script(text).graph
        graph.places = layout_missing(graph)
        window.session.restore(graph, None)
        focus(window, self.canvas)

    def node(self, name: str) -> ItemId:
        nodes = self.window.session.shown_store.graph.nodes
        return next(item for item, node in nodes.items() if name in node.names)

    def go(self, name: str) -> None:
        self.attention.select((self.node(name),))

    @property
    def chooser(self) -> FilterList:
        assert self.canvas.keyboard_navigation.chooser is not None
        return self.canvas.keyboard_navigation.chooser

    @property
    def rows(self) -> list[str]:
        return [str(self.chooser.list.index_of(row).data()) for row in range(len(self.chooser.rows))]

    @property
    def said(self) -> str:
        return self.window.status.message.full


@pytest.fixture
def keyboard(window: MainWindow) -> Keyboard:
    return Keyboard(window)


@pytest.mark.feature(46)
def test_alt_and_arrows_walk_along_wires_and_back_the_way_they_came(keyboard: Keyboard) -> None:
    keyboard.go("z")
    press(Key.Key_Left, ALT)
    assert keyboard.attention.current == keyboard.node("y")
    press(Key.Key_Left, ALT)
    assert keyboard.attention.current == keyboard.node("x")
    assert keyboard.said == "x, 1 of 2"
    press(Key.Key_Left, ALT)
    assert keyboard.said == "Nothing feeds x."
    press(Key.Key_Right, ALT)
    press(Key.Key_Right, ALT)
    assert keyboard.attention.current == keyboard.node("z")
    keyboard.go("w")
    press(Key.Key_Right, ALT)
    press(Key.Key_Left, ALT)
    assert keyboard.attention.current == keyboard.node("w")


@pytest.mark.feature(46)
def test_ctrl_and_arrows_walk_in_program_order_with_a_ring_around_the_card(keyboard: Keyboard) -> None:
    canvas = keyboard.canvas
    press(Key.Key_Down, CONTROL)
    assert keyboard.attention.current == keyboard.node("x")
    press(Key.Key_Down, CONTROL)
    assert keyboard.said == "w, statement 2 of 4"
    ringed = canvas.viewport().grab().toImage()
    canvas.keyboard_navigation.by_keys = False
    assert canvas.viewport().grab().toImage() != ringed
    press(Key.Key_Up, CONTROL)
    press(Key.Key_Up, CONTROL)
    assert keyboard.said == "x is the first statement."


@pytest.mark.feature(46)
def test_w_wires_by_typing_a_target(keyboard: Keyboard) -> None:
    graph = keyboard.window.session.graph_store.graph
    keyboard.go("x")
    press(Key.Key_W)
    assert keyboard.rows[0].startswith(("z.", "y."))
    assert any(row.endswith("instead of w") for row in keyboard.rows)
    QTest.keyClicks(keyboard.chooser.field, "z.self")
    assert keyboard.rows == ["z.self   instead of y"]
    press(Key.Key_Return)
    assert graph.wire_into(keyboard.node("z"), "self") == Wire(keyboard.node("x"), 0, keyboard.node("z"), "self")
    assert QApplication.focusWidget() is keyboard.canvas
    assert keyboard.said == "Wired x to z.self."
    assert keyboard.canvas.keyboard_navigation.chooser is None


@pytest.mark.feature(46)
def test_what_may_not_be_wired_is_listed_with_its_reason(keyboard: Keyboard) -> None:
    graph = keyboard.window.session.graph_store.graph
    before = dict(graph.wires)
    keyboard.go("z")
    press(Key.Key_W)
    QTest.keyClicks(keyboard.chooser.field, "y.a")
    assert keyboard.rows[0].startswith("✕ y.a   This would close a loop")
    press(Key.Key_Return)
    assert "close a loop" in keyboard.said
    assert graph.wires == before
    press(Key.Key_Escape)
    assert keyboard.canvas.keyboard_navigation.chooser is None
    assert QApplication.focusWidget() is keyboard.canvas


@pytest.mark.feature(46)
def test_shift_w_wires_into_an_input(keyboard: Keyboard) -> None:
    keyboard.go("y")
    press(Key.Key_W, SHIFT)
    assert [row.split()[0] for row in keyboard.rows] == ["a", "b"]
    press(Key.Key_Down)
    press(Key.Key_Return)
    assert keyboard.rows[0] == "w   wired already"
    QTest.keyClicks(keyboard.chooser.field, "x")
    press(Key.Key_Return)
    wire = keyboard.window.session.graph_store.graph.wire_into(keyboard.node("y"), "b")
    assert wire is not None
    assert wire.source == keyboard.node("x")


def test_w_needs_a_card_that_gives_something(keyboard: Keyboard) -> None:
    press(Key.Key_W)
    assert "Go to a card first" in keyboard.said
    assert keyboard.canvas.keyboard_navigation.chooser is None


@pytest.mark.feature(46)
@pytest.mark.qt_log_ignore("does not support", extend=True)  # popups, offscreen
def test_the_menu_key_opens_the_menu_of_the_current_card(keyboard: Keyboard) -> None:
    keyboard.go("y")
    press(Key.Key_Menu)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert menu.activeAction() is not None
    texts = [action.text().partition("\t")[0] for action in menu.actions()]
    menu.close()
    assert "Rename…" in texts


@pytest.mark.feature(46)
def test_ctrl_f6_goes_round_the_parts_of_the_window(keyboard: Keyboard) -> None:
    window, seen = keyboard.window, ["Canvas"]
    for _ in range(12):
        press(Key.Key_F6, CONTROL)
        seen.append(keyboard.said)
        if seen[-1] == "Canvas":
            break
    assert seen[0] == seen[-1] == "Canvas"
    assert {"Library", "Code", "Inspector"} <= set(seen)
    assert "Outline" not in seen
    assert QApplication.focusWidget() is window.canvas
    press(Key.Key_F6, CONTROL | SHIFT)
    assert keyboard.said == seen[-2]
