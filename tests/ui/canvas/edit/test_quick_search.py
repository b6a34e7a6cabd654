"""The quick search on the canvas: what it shows before and after typing."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.operators.catalogue.loader import load
from gradstudio.ui.canvas.popups.search_popup import SearchPopup, in_two_lines
from gradstudio.ui.theme import Theme, mono_font
from tests.ui.canvas.conftest import Hand

Key = Qt.Key


def opened(hand: Hand) -> SearchPopup:
    hand.double_click((400, 300))
    popup = hand.canvas.searching.popup
    assert popup is not None
    return popup


def test_before_anything_is_typed_recent_ones_and_favourites_come_first(hand: Hand) -> None:
    shelf = hand.canvas.shelf
    shelf.restore(("torch.kron", "no.such"), ("torch.erf", "torch.sin"))
    assert opened(hand).operators()[:4] == ("torch.erf", "torch.sin", "torch.kron", "torch.tensor")


def test_what_is_added_by_any_way_is_recent_then(hand: Hand) -> None:
    popup = opened(hand)
    popup.field.setText("tanh")
    hand.key(Key.Key_Return, to=popup.field)
    hand.drop("torch.exp", (600, 500))
    x = hand.add("torch.randn", 40, 100)
    hand.drag(hand.output(x), (700, 100))
    popup = hand.canvas.searching.popup
    assert popup is not None
    popup.field.setText("sum")
    chosen = popup.operators()[0]
    hand.key(Key.Key_Return, to=popup.field)
    assert hand.canvas.shelf.recent == (chosen, "torch.exp", "torch.tanh")


def test_the_current_row_tells_its_signature(hand: Hand) -> None:
    popup = opened(hand)
    popup.field.setText("matmul")
    assert popup.signature.text().replace("\u200b", "") == "torch.matmul(input, other)"
    hand.key(Key.Key_Down, to=popup.field)
    assert popup.signature.text().replace("\u200b", "") != "torch.matmul(input, other)"


def test_what_nothing_fits_offers_the_nearest_and_enter_does_not_take_it_unasked(hand: Hand) -> None:
    popup = opened(hand)
    popup.field.setText("zoftmqxx")
    assert popup.hint.isVisible() and "Did you mean" in popup.hint.text()
    assert popup.operators()[0] == "torch.softmax"
    hand.key(Key.Key_Return, to=popup.field)
    assert not hand.graph.nodes
    hand.key(Key.Key_Down, to=popup.field)
    hand.key(Key.Key_Return, to=popup.field)
    assert [node.operator for node in hand.graph.nodes.values()] == ["torch.softmax"]


def test_nothing_at_all_says_so(hand: Hand) -> None:
    popup = opened(hand)
    popup.field.setText("qzxqzx")
    assert popup.operators() == () and "qzxqzx" in popup.hint.text()
    hand.key(Key.Key_Down, to=popup.field)
    hand.key(Key.Key_Return, to=popup.field)
    assert not hand.graph.nodes


@pytest.mark.parametrize("typed", ["", "matmul", "zoftmqxx", "qzxqzx", "softplus"])
def test_it_is_as_high_as_what_it_shows(hand: Hand, typed: str) -> None:
    popup = opened(hand)
    popup.field.setText(typed)
    shown = [widget for widget in (popup.field, popup.hint, popup.list, popup.signature) if widget.isVisible()]
    assert popup.height() == 2 * 8 + sum(widget.height() for widget in shown) + 6 * (len(shown) - 1)
    assert popup.list.isVisible() == bool(popup.operators())


def test_it_tells_how_many_operators_there_are(hand: Hand) -> None:
    assert f"{len(load()):,}" in opened(hand).field.placeholderText()


def test_a_block_is_found_and_dropped_empty_at_the_cursor(hand: Hand) -> None:
    popup = opened(hand)
    popup.field.setText("for loop")
    assert popup.operators()[0] == "python.for" and popup.signature.text() != "for"
    hand.key(Key.Key_Return, to=popup.field)
    (block,) = hand.graph.blocks.values()
    assert (block.kind, block.variable, block.literals) == ("for", "i", {"range.0": "3"})
    assert hand.session.attention.selection == {block.id}
    assert hand.canvas.shelf.recent == ("python.for",)
    frame = hand.canvas.scene.placement.frames[block.id].box
    x = hand.add("torch.randn", 700, 500)
    hand.drag(hand.header(x), (frame.x + frame.width / 2, frame.bottom - 12))
    assert hand.graph.parents[x] == block.id


def test_a_block_is_put_around_what_is_selected(hand: Hand) -> None:
    x = hand.add("torch.randn", 100, 100)
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.operator_commands.add_operator("torch.no_grad")
    (block,) = hand.graph.blocks
    assert hand.graph.parents[x] == block and hand.undo_texts[-1] == "Wrap in no_grad"


def test_a_block_that_is_dragged_in_is_empty_whatever_is_selected(hand: Hand) -> None:
    x = hand.add("torch.randn", 100, 100)
    hand.canvas.selection.select(frozenset({x}))
    hand.drop("torch.no_grad", (500, 500))
    (block,) = hand.graph.blocks
    assert hand.graph.bodies[block] == () and hand.graph.parents[x] == ""  # type: ignore[index]  # a body's id


@pytest.mark.parametrize("text", ["torch.relu(input)", "torch.nn.functional.batch_norm(input, " + "running_mean, " * 9])
def test_a_signature_stands_in_two_lines_that_fit(qapp: QApplication, text: str) -> None:
    metrics = QFontMetrics(mono_font(11))
    lines = in_two_lines(text, metrics, 380).split("\n")
    assert len(lines) <= 2
    assert all(metrics.horizontalAdvance(line) <= 380 for line in lines)
    assert text.startswith(lines[0])
    assert lines[-1].endswith("…") == (len(text) > 60)


def test_a_key_shows_the_row_that_is_lit_once(qtbot: QtBot, dark: Theme) -> None:
    asked: list[str] = []

    def says(key: str) -> str:
        asked.append(key)
        return ""

    room = QWidget()
    qtbot.addWidget(room)
    popup = SearchPopup(room, dark, says=says)
    popup.open_at(QPoint(10, 10))
    for typed in ("matmul", "zoftmqxx", "relu"):
        asked.clear()
        popup.field.setText(typed)
        lit = popup.documented_operator()
        assert asked == ([lit] if lit else [])
        assert popup.preview.key == lit
    asked.clear()
    QTest.keyClick(popup.field, Key.Key_Down)
    assert asked == [popup.documented_operator()] == [popup.preview.key]
    popup.leave()


def test_behind_a_tensor_stands_first_what_takes_it(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100, size="(2, 8)")
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.searching.open_behind()
    popup = hand.canvas.searching.popup
    assert popup is not None
    popup.field.setText("lin")
    assert popup.operators()[0] == "torch.nn.Linear"
    popup.field.setText("cross")
    assert popup.operators()[0] == "torch.nn.functional.cross_entropy"
