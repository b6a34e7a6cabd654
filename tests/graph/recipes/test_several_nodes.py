"""One argument of several nodes, changed at once."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId


def drawn(*keys: str) -> tuple[Graph, list[ItemId]]:
    graph, items = Graph(), list[ItemId]()
    for key in keys:
        edits, item = recipes.add_operator(graph, key, 0, 0)
        apply_all(graph, edits)
        items.append(item)
    return graph, items


def test_all_take_the_literal_and_one_undo_takes_it_from_all() -> None:
    graph, items = drawn("torch.randn", "torch.randn", "torch.zeros")
    before = {item: graph.nodes[item].literals["size"] for item in items}
    undo = apply_all(graph, recipes.set_literals(graph, items, "size", "(4, 5)"))
    assert {graph.nodes[item].literals["size"] for item in items} == {"(4, 5)"}
    apply_all(graph, undo)
    assert {item: graph.nodes[item].literals["size"] for item in items} == before


def test_what_one_refuses_none_takes() -> None:
    graph, items = drawn("torch.randn", "torch.zeros")
    with pytest.raises(Refused):
        recipes.set_literals(graph, items, "size", "no size")
    assert graph.nodes[items[0]].literals["size"] != "no size"


def test_common_are_the_arguments_that_all_have() -> None:
    graph, items = drawn("torch.randn", "torch.full")
    common = recipes.common_arguments(graph, items)
    assert {"size", "requires_grad"} <= common and "fill_value" not in common
    assert recipes.common_arguments(graph, ()) == frozenset()
