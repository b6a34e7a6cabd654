"""Ids of the canvas and of a run, without a canvas and without a run."""

from gradstudio.graph.groups.call_ids import INPUTS
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.document.group_scope import Scope
from gradstudio.ui.state.results.canvas_ids import CanvasIds

SQUARED = """
import torch


def square(x):
    y = x * x
    return y


a = torch.tensor(3.0)
b = square(a)
"""


def node(graph: Graph, name: str) -> ItemId:
    return next(item for item, node in graph.nodes.items() if name in node.names)


def test_in_the_program_an_id_is_its_own_and_a_call_stands_for_its_inside() -> None:
    ids = CanvasIds()
    assert ids.full(ItemId("a")) == ids.shown(ItemId("a")) == "a"
    assert ids.shown(ItemId("b/y")) == ids.standing_for(ItemId("b/y")) == "b"
    assert ids.here(ItemId("b/y")) is None
    assert ids.with_shown([ItemId("a"), ItemId("b/y")]) == {"a", "b", "b/y"}


def test_inside_a_call_its_nodes_are_those_of_that_call() -> None:
    store = GraphStore(read_script(SQUARED).graph)
    scope = Scope(store, store)
    ids = CanvasIds(scope)
    call, inner = node(store.graph, "b"), node(store.graph.definitions["square"].graph, "y")
    assert scope.enter(call)
    full = ItemId(f"{call}/{inner}")
    assert (ids.full(inner), ids.shown(full), ids.here(full)) == (full, inner, inner)
    assert ids.full(ids.shown(ItemId(f"{call}/{INPUTS}"))) == f"{call}/{INPUTS}"
    assert ids.standing_for(node(store.graph, "a")) == "", "what is around the call is not on the canvas"
    scope.leave(0)
    assert ids.full(inner) == inner
