"""Numbers from the clipboard and from files become tensors."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication

from gradstudio.graph.model import Node
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.ui.canvas.paint.card.card_painter import paint_card
from gradstudio.ui.canvas.paint.card.card_state import CardState
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import CONTROL, NO_KEY, Hand
from tests.ui.canvas.test_painted_numbers import texts_of

MATRIX = "[[1.0, 2.0], [3.0, 4.0]]"


def pasted(hand: Hand, text: str) -> Node:
    QGuiApplication.clipboard().setText(text)
    hand.key(Qt.Key.Key_V, CONTROL)
    (node,) = hand.graph.nodes.values()
    return node


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("[[1. 2.]\n [3. 4.]]", MATRIX),
        ("array([[1, 2]])", "[[1, 2]]"),
        ("tensor([[1., 2.], [3., 4.]], device='cuda:0', requires_grad=True)", MATRIX),
        ("1\t2\n3\t4\n", "[[1, 2], [3, 4]]"),
        ("1.5,2\r\n3,4", "[[1.5, 2], [3, 4]]"),
        ("width,height\n1,2\n3,4", "[[1, 2], [3, 4]]"),
        ("1 2 3", "[1, 2, 3]"),
    ],
)
def test_numbers_on_the_clipboard_become_a_tensor(hand: Hand, text: str, data: str) -> None:
    node = pasted(hand, text)
    assert (node.operator, node.literals["data"]) == ("torch.tensor", data)
    assert hand.undo_texts == ["Paste numbers"]


def test_more_than_a_literal_holds_is_stored(hand: Hand) -> None:
    numbers = np.arange(20_000).reshape(100, 200) / 2
    node = pasted(hand, "\n".join(",".join(map(str, row)) for row in numbers.tolist()))
    (tensor,) = hand.graph.tensors.values()
    assert node.operator == "python.stored" and (tensor.dtype, tensor.shape) == ("float32", (100, 200))
    assert tensor.data.endswith(numbers.astype(np.float32).tobytes())
    hand.session.graph_store.undo_stack.undo()
    assert not hand.graph.tensors


def test_before_a_run_a_stored_tensor_says_its_dtype_once(hand: Hand, dark: Theme) -> None:
    node = pasted(hand, "\n".join(",".join(map(str, row)) for row in np.ones((100, 200)).tolist()))
    scene, style = hand.canvas.scene, CanvasStyle(dark)
    expected = ResultSections(hints={0: "[100, 200]"}, guessed=frozenset({0}), expected="float32")
    layout = scene.stack.cards[node.id].layout
    texts = texts_of(lambda painter: paint_card(painter, style, layout, expected, CardState()))
    assert [text for text in texts if "float32" in text] == ["float32 [100, 200]"]


@pytest.mark.parametrize("text", ["hello, world", "5", "x = 3"])
def test_other_texts_are_no_numbers(hand: Hand, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    hand.key(Qt.Key.Key_V, CONTROL)
    assert not any(node.operator == "torch.tensor" for node in hand.graph.nodes.values())


def test_rows_of_different_lengths_are_refused_in_words(hand: Hand) -> None:
    QGuiApplication.clipboard().setText("[[1, 2], [3]]")
    hand.key(Qt.Key.Key_V, CONTROL)
    assert not hand.graph.nodes and "length" in hand.canvas.bubble.text()


def dropped(hand: Hand, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    point, copy, left = hand.view(300, 200), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(point, copy, data, left, NO_KEY)
    QApplication.sendEvent(hand.canvas.viewport(), enter)
    assert enter.isAccepted()
    QApplication.sendEvent(hand.canvas.viewport(), QDropEvent(QPointF(point), copy, data, left, NO_KEY))


def test_a_table_and_an_array_that_are_dropped_become_tensors_with_their_names(hand: Hand, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("x,y\n1,2\n3,4\n")
    np.save(tmp_path / "grid.npy", np.ones((2, 3), dtype=np.int16))
    dropped(hand, tmp_path / "points.csv")
    dropped(hand, tmp_path / "grid.npy")
    found = {node.names[0]: node.operator for node in hand.graph.nodes.values()}
    assert found == {"points": "torch.tensor", "grid": "python.stored"}
    (tensor,) = hand.graph.tensors.values()
    assert (tensor.dtype, tensor.shape) == ("int16", (2, 3))


def test_a_pickle_is_never_read(hand: Hand, tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    dropped(hand, tmp_path / "objects.npy")
    assert not hand.graph.nodes and "objects.npy" in hand.canvas.bubble.text()
