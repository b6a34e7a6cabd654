"""Edits: applying one and then its inverse leaves the graph as it was."""

import contextlib

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from gradstudio.graph import edits as e
from gradstudio.graph.errors import EditError
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, Header, ItemId, Node, Place, Wire


def state(graph: Graph) -> tuple[object, ...]:
    return (
        graph.header,
        dict(graph.nodes),
        dict(graph.blocks),
        dict(graph.bodies),
        dict(graph.parents),
        dict(graph.wires),
        dict(graph.places),
        dict(graph.tails),
        {k: set(v) for k, v in graph.outgoing.items()},
        {k: set(v) for k, v in graph.incoming.items()},
    )


def node(k: int) -> Node:
    return Node(id=ItemId(f"n{k}"), operator="torch.relu", names=(f"y{k}",))


ids = st.integers(0, 5).map(lambda k: ItemId(f"n{k}"))
bodies = st.sampled_from([ROOT, BodyId("b0"), BodyId("b1")])
any_edit = st.one_of(
    st.builds(e.AddNode, st.integers(0, 5).map(node), bodies, st.integers(0, 4)),
    st.builds(e.RemoveNode, ids),
    st.builds(e.ReplaceNode, st.integers(0, 5).map(lambda k: Node(id=ItemId(f"n{k}"), operator="torch.exp"))),
    st.builds(
        e.AddBlock,
        st.integers(0, 1).map(lambda k: Block(id=ItemId(f"b{k}"), kind="no_grad")),
        bodies,
        st.integers(0, 3),
    ),
    st.builds(e.RemoveBlock, st.sampled_from([ItemId("b0"), ItemId("b1")])),
    st.builds(e.AddWire, st.builds(Wire, ids, st.just(0), ids, st.sampled_from(["input", "other"]))),
    st.builds(e.RemoveWire, st.builds(Wire, ids, st.just(0), ids, st.sampled_from(["input", "other"]))),
    st.builds(e.MoveItem, st.one_of(ids, st.just(ItemId("b0"))), bodies, st.integers(0, 4)),
    st.builds(e.SetPlaces, st.dictionaries(ids, st.one_of(st.none(), st.just(Place(1.0, 2.0))), max_size=3)),
    st.builds(e.SetHeader, st.builds(Header, st.one_of(st.none(), st.integers(0, 9)))),
    st.builds(e.SetTail, bodies, st.sampled_from(["", "note"])),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(any_edit, max_size=40))
def test_undoing_a_random_history_restores_every_state(history: list[e.Edit]) -> None:
    graph, inverses, states = Graph(), [], []
    for edit in history:
        before = state(graph)
        try:
            inverse = e.apply(graph, edit)
        except EditError:
            assert state(graph) == before, "a refused edit changed the graph"
            continue
        inverses.append(inverse)
        states.append(before)
    final = state(graph)
    redos = []
    for inverse, before in zip(reversed(inverses), reversed(states), strict=True):
        redos.append(e.apply(graph, inverse))
        assert state(graph) == before
    for redo in reversed(redos):
        e.apply(graph, redo)
    assert state(graph) == final


def test_a_failing_edit_takes_back_those_before_it() -> None:
    graph = Graph()
    before = state(graph)
    with pytest.raises(EditError):
        e.apply_all(graph, (e.AddNode(node(0), ROOT, 0), e.RemoveNode(ItemId("nobody"))))
    assert state(graph) == before


def test_an_input_takes_one_wire() -> None:
    graph = Graph()
    e.apply_all(graph, tuple(e.AddNode(node(k), ROOT, k) for k in range(3)))
    e.apply(graph, e.AddWire(Wire(ItemId("n0"), 0, ItemId("n2"), "input")))
    with pytest.raises(EditError, match="has a wire already"):
        e.apply(graph, e.AddWire(Wire(ItemId("n1"), 0, ItemId("n2"), "input")))


def test_a_block_cannot_stand_inside_itself() -> None:
    graph = Graph()
    outer, inner = Block(id=ItemId("b0"), kind="no_grad"), Block(id=ItemId("b1"), kind="group")
    e.apply_all(graph, (e.AddBlock(outer, ROOT, 0), e.AddBlock(inner, BodyId("b0"), 0)))
    with pytest.raises(EditError, match="inside itself"):
        e.apply(graph, e.MoveItem(ItemId("b0"), BodyId("b1"), 0))


def test_copies_are_independent() -> None:
    graph = Graph()
    e.apply(graph, e.AddNode(node(0), ROOT, 0))
    twin = graph.copy()
    e.apply(twin, e.RemoveNode(ItemId("n0")))
    assert ItemId("n0") in graph and ItemId("n0") not in twin


@settings(max_examples=200, deadline=None)
@given(st.lists(any_edit, max_size=30), st.lists(st.tuples(st.booleans(), any_edit), max_size=30))
def test_a_copy_and_its_original_go_their_own_ways(before: list[e.Edit], after: list[tuple[bool, e.Edit]]) -> None:
    graph, alone, other = Graph(), Graph(), Graph()
    for edit in before:
        for each in (graph, alone, other):
            with contextlib.suppress(EditError):
                e.apply(each, edit)
    twin = graph.copy()
    for is_twins, edit in after:
        for each in (twin, other) if is_twins else (graph, alone):
            with contextlib.suppress(EditError):
                e.apply(each, edit)
    assert state(graph) == state(alone)
    assert state(twin) == state(other)


def walked(graph: Graph, body: BodyId = ROOT) -> list[ItemId]:
    """Items in program order, asked of the bodies themselves."""
    inside = ([item, *(walked(graph, BodyId(item)) if item in graph.blocks else ())] for item in graph.bodies[body])
    return [item for part in inside for item in part]


@settings(max_examples=200, deadline=None)
@given(st.lists(any_edit, max_size=40))
def test_the_order_is_that_of_the_bodies_after_every_edit(history: list[e.Edit]) -> None:
    graph = Graph()
    for edit in history:
        with contextlib.suppress(EditError):
            e.apply(graph, edit)
        assert list(graph.order()) == walked(graph)
