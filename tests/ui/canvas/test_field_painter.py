"""Fields of literals give the room they do not need to the words beside them, and keep their text off their rims."""

import pytest
from PySide6.QtWidgets import QApplication

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format
from gradstudio.scene.camera import LEAST_READABLE
from gradstudio.scene.card.card_layout import PADDING, InputRow
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.paint.card.field_painter import EDGE, field_rect
from gradstudio.ui.canvas.paint.card.text_fitting import fit_wording
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle


@pytest.fixture
def style(qapp: QApplication) -> CanvasStyle:
    return CanvasStyle(themes.theme("dark"))


def row_of(style: CanvasStyle, operator: str, path: str, literal: str) -> InputRow:
    graph = Graph()
    edits, item = recipes.add_operator(graph, operator, 0, 0)
    apply_all(graph, edits)
    graph.nodes[item].literals[path] = literal
    layout = Scene(graph, NoResults(), Shown(), style.meter).stack.cards[item].layout
    return next(row for row in layout.inputs if row.path == path)


@pytest.mark.parametrize("zoom", [1.0, 0.8, 0.7, LEAST_READABLE])
def test_a_label_is_whole_where_the_field_has_room_to_spare(style: CanvasStyle, zoom: float) -> None:
    near = style.at(zoom)
    row = row_of(style, "torch.randn", "requires_grad", "True")
    label_end = row.x + PADDING + near.meter.width(row.label, "label") + 4
    rect = field_rect(near, row, label_end, 1000.0)
    assert rect is not None and row.field is not None
    assert rect.left() >= row.field.x and rect.right() == row.field.right
    assert rect.left() >= label_end - 0.01
    assert rect.width() >= 26  # the switch, which says it without the word as well


@pytest.mark.parametrize("zoom", [0.8, 0.7, LEAST_READABLE])
def test_the_name_of_a_value_that_is_cut_all_the_same_is_whole(style: CanvasStyle, zoom: float) -> None:
    near = style.at(zoom)
    row = row_of(style, "torch.tensor", "data", "[[1.0, -2.0, 0.5], [0.0, 3.0, 1.0], [0.25, 0.125, 0.0625]]")
    label_end = row.x + PADDING + near.meter.width(row.label, "label") + 4
    rect = field_rect(near, row, label_end, 1000.0)
    assert rect is not None and row.field is not None
    assert rect.left() >= label_end - 0.01 and rect.width() >= row.field.width / 2


def test_a_field_makes_room_for_the_shape_behind_it_but_not_at_the_cost_of_its_text(style: CanvasStyle) -> None:
    near = style.at(0.7)
    short, long = row_of(style, "operator.mul", "a", "0.4"), row_of(style, "operator.mul", "a", "0.123456789012345")
    assert short.field is not None and long.field is not None
    behind = short.field.right - 6
    rect, full = field_rect(near, short, 0.0, behind), field_rect(near, long, 0.0, behind)
    assert rect is not None and rect.right() == pytest.approx(behind)
    assert full is not None and full.right() == long.field.right
    assert EDGE * 0.6 >= 3  # view pixels beside the text at the least zoom with rows


def test_a_range_that_has_no_room_has_fewer_digits_and_is_never_cut(style: CanvasStyle) -> None:
    summary = Summary(dtype="float32", shape=(4, 8), minimum=-0.8461, maximum=0.7412)
    texts = value_format.extents(summary)
    width = {text: style.meter.width(text, "mono") for text in texts}
    assert texts[-1] == "≈-0.85…0.74" and list(width.values()) == sorted(width.values(), reverse=True)
    for text in texts:
        assert fit_wording(style, texts, width[text])[0] == text
