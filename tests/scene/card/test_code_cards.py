"""A card of code shows its lines, and has no field for them."""

import pytest

from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.text.code_records import CODE, SHOWN_LINES
from gradstudio.layout.card_sizes import card_size
from gradstudio.scene.card.card_layout import BODY_EDGE, CODE_ROW, HEADER, MAXIMUM_WIDTH, card_layout

ITEM = ItemId("1")


def graph_of(code: str) -> Graph:
    graph = Graph()
    graph.nodes[ITEM] = Node(id=ITEM, operator=CODE, names=(), literals={"code": repr(code)})
    return graph


def measure(text: str, _role: str) -> float:
    return 7.0 * len(text)


@pytest.mark.parametrize("count", [1, 2, SHOWN_LINES, SHOWN_LINES + 1, 40])
def test_it_shows_its_first_lines_and_how_many_more_there_are(count: int) -> None:
    lines = [f"f({number})" for number in range(count)]
    layout = card_layout(graph_of("\n".join(lines)), ITEM, measure)
    shown = list(layout.code)
    assert shown[:SHOWN_LINES] == lines[:SHOWN_LINES]
    if count > SHOWN_LINES + 1:
        assert shown[SHOWN_LINES:] == [f"… {count - SHOWN_LINES} more"]
    else:
        assert shown == lines
    assert layout.input("code") is None
    assert layout.width == MAXIMUM_WIDTH
    assert layout.height >= HEADER + 2 * BODY_EDGE + CODE_ROW * len(shown)


def test_the_layout_of_a_document_has_room_for_its_lines() -> None:
    few, many = graph_of("f()"), graph_of("f()\n" * 6 + "f()")
    assert card_size(many, ITEM)[1] - card_size(few, ITEM)[1] == 6 * CODE_ROW
    assert card_size(few, ITEM)[0] == MAXIMUM_WIDTH


def test_a_code_that_is_no_text_is_an_empty_line() -> None:
    graph = Graph()
    graph.nodes[ITEM] = Node(id=ITEM, operator=CODE, names=(), literals={"code": "7"})
    assert card_layout(graph, ITEM, measure).code == ("",)
