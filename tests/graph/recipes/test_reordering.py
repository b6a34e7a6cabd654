"""A statement is put at another place of the order, as far as the wires allow."""

import pytest

from gradstudio.graph.edits import MoveItem, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.recipes.reordering import put_at
from gradstudio.graph.text.item_titles import title
from gradstudio.program.reading.reader import read_script

FOUR = "import torch\n\na = torch.ones(3)\nb = torch.zeros(3)\nc = a + 1\nd = torch.eye(3)\n"
BLOCKS = """import torch

a = torch.ones(3)
b = a * 2
with torch.no_grad():
    c = b + 1
    with torch.enable_grad():
        d = a + 3
e = c * 2
f = torch.zeros(1)
"""


def graph_of(text: str = FOUR) -> Graph:
    return read_script(text).graph


def bound(graph: Graph, name: str) -> ItemId:
    return next(node.id for node in graph.nodes.values() if name in node.names)


def block(graph: Graph, kind: str) -> ItemId:
    return next(one.id for one in graph.blocks.values() if one.kind == kind)


def titles(graph: Graph, body: BodyId = ROOT) -> list[str]:
    return [title(graph, item) for item in graph.bodies[body]]


@pytest.mark.parametrize(
    ("name", "index", "order"),
    [("d", 0, "dabc"), ("a", 2, "bacd"), ("b", 4, "acdb"), ("c", 1, "acbd"), ("b", 0, "bacd")],
)
def test_a_statement_goes_to_before_another(name: str, index: int, order: str) -> None:
    graph = graph_of()
    edits = put_at(graph, bound(graph, name), ROOT, index)
    assert len(edits) == 1
    inverse = apply_all(graph, edits)
    assert "".join(titles(graph)) == order
    apply_all(graph, inverse)
    assert "".join(titles(graph)) == "abcd"


@pytest.mark.parametrize("index", [1, 2])
def test_before_or_behind_itself_is_where_it_is(index: int) -> None:
    graph = graph_of()
    assert put_at(graph, bound(graph, "b"), ROOT, index) == ()


@pytest.mark.parametrize(("name", "index"), [("c", 0), ("a", 3), ("a", 4)])
def test_a_value_is_not_read_before_it_is_there(name: str, index: int) -> None:
    graph = graph_of()
    with pytest.raises(Refused, match="'c' needs the value of 'a', so it stays behind it"):
        put_at(graph, bound(graph, name), ROOT, index)


def test_what_a_block_needs_and_makes_holds_the_block_back() -> None:
    graph = graph_of(BLOCKS)
    whole = block(graph, "no_grad")
    with pytest.raises(Refused, match="needs the value of 'b'"):
        put_at(graph, whole, ROOT, 1)
    with pytest.raises(Refused, match="'e' needs the value of"):
        put_at(graph, whole, ROOT, 4)
    assert put_at(graph, bound(graph, "f"), ROOT, 2) == (MoveItem(bound(graph, "f"), ROOT, 2),)


def test_a_statement_goes_into_a_block_and_out_of_it() -> None:
    graph = graph_of(BLOCKS)
    whole, moved = BodyId(block(graph, "no_grad")), bound(graph, "f")
    apply_all(graph, put_at(graph, moved, whole, 0))
    assert graph.parents[moved] == whole
    assert titles(graph, whole)[:2] == ["f", "c"]
    apply_all(graph, put_at(graph, moved, ROOT, 0))
    assert titles(graph)[:2] == ["f", "a"]
    apply_all(graph, put_at(graph, moved, whole, 0))
    apply_all(graph, put_at(graph, moved, ROOT, len(graph.bodies[ROOT])))
    assert titles(graph)[-1] == "f"


def test_a_block_does_not_go_into_itself_or_what_it_holds() -> None:
    graph = graph_of(BLOCKS)
    outer, inner = block(graph, "no_grad"), block(graph, "enable_grad")
    for body in (outer, inner):
        with pytest.raises(Refused, match="cannot stand inside itself"):
            put_at(graph, outer, BodyId(body), 0)


def test_a_block_inside_another_comes_out() -> None:
    graph = graph_of(BLOCKS)
    inner = block(graph, "enable_grad")
    apply_all(graph, put_at(graph, inner, ROOT, len(graph.bodies[ROOT])))
    assert graph.parents[inner] == ROOT
    assert [title(graph, item) for item in graph.bodies[BodyId(inner)]] == ["d"]


def test_what_a_loop_hides_does_not_leave_it() -> None:
    graph = graph_of("import torch\n\nx = torch.ones(3)\nfor t in range(3):\n    y = x * t\n")
    with pytest.raises(Refused):
        put_at(graph, bound(graph, "y"), ROOT, 2)
    assert graph.parents[bound(graph, "y")] != ROOT
