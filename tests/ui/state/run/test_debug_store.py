"""Breakpoints: kept with the document, met by a run, and away while their node is."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.debugging import Breakpoint, Condition, Hit
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.run import debug_store
from gradstudio.ui.state.run.debug_store import DebugStore


@pytest.fixture
def graph_store(qtbot: QtBot) -> GraphStore:
    return GraphStore()


@pytest.fixture
def store(graph_store: GraphStore) -> DebugStore:
    return DebugStore(graph_store)


def add(graph_store: GraphStore, key: str = "torch.randn") -> ItemId:
    edits, item = recipes.add_operator(graph_store.graph, key, 0, 0)
    graph_store.submit(edits, "Add")
    return item


def test_toggling_sets_a_plain_pause_before_the_node_and_takes_it_away(
    store: DebugStore, graph_store: GraphStore
) -> None:
    item = add(graph_store)
    store.toggle(item)
    (made,) = store.at(item)
    assert (made.place, made.phase, made.condition, made.stops) == ("before", "forward", Condition(), True)
    store.toggle(item)
    assert store.breakpoints == ()


def test_toggling_leaves_a_conditional_breakpoint_alone(store: DebugStore, graph_store: GraphStore) -> None:
    item = add(graph_store)
    store.add(Breakpoint(id="mine", node=item, condition=Condition(kind="above", number=2.0)))
    store.toggle(item)
    assert len(store.at(item)) == 2
    store.toggle(item)
    assert [each.id for each in store.at(item)] == ["mine"]


def test_a_run_is_told_only_what_is_switched_on(store: DebugStore, graph_store: GraphStore) -> None:
    item = add(graph_store)
    store.toggle(item)
    (made,) = store.breakpoints
    store.set_enabled(made.id, False)
    assert (store.active, store.breakpoints, store.enabled(made.id)) == ((), (made,), False)
    store.set_enabled(made.id, True)
    assert store.active == (made,)


def test_a_breakpoint_is_away_while_its_node_is_and_undo_brings_it_back(
    store: DebugStore, graph_store: GraphStore
) -> None:
    item = add(graph_store)
    store.toggle(item)
    graph_store.undo_stack.undo()
    assert (store.breakpoints, store.active) == ((), ())
    graph_store.undo_stack.redo()
    assert [each.node for each in store.active] == [item]


def test_a_wires_breakpoint_is_away_while_the_wire_is(store: DebugStore, graph_store: GraphStore) -> None:
    source, target = add(graph_store), add(graph_store, "torch.sin")
    assert graph_store.attempt(recipes.connect, "Wire", source, 0, target, "input")
    store.add(Breakpoint(id="w", node=source, place="after", output=0, target=target, port="input"))
    assert [each.id for each in store.on_wire(source, 0, target, "input")] == ["w"]
    graph_store.undo_stack.undo()
    assert store.breakpoints == ()
    graph_store.undo_stack.redo()
    assert [each.id for each in store.breakpoints] == ["w"]


def test_hits_are_counted_until_the_run_begins_from_nothing(store: DebugStore, graph_store: GraphStore) -> None:
    item = add(graph_store)
    store.toggle(item)
    (made,) = store.breakpoints
    for step in (3, 5):
        store.add_hit(Hit(breakpoint=made.id, node=item, step=step))
    store.begin(fresh=False)
    last = store.last(made.id)
    assert last is not None
    assert (store.hits(made.id), last.step) == (2, 5)
    store.begin(fresh=True)
    assert (store.hits(made.id), store.last(made.id)) == (0, None)


def test_all_hits_are_counted_though_not_all_are_kept(
    store: DebugStore, graph_store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debug_store, "KEPT", 3)
    item = add(graph_store)
    store.toggle(item)
    (made,) = store.breakpoints
    for step in range(10):
        store.add_hit(Hit(breakpoint=made.id, node=item, step=step))
    assert store.hits(made.id) == 10
    assert [hit.step for hit in store.all_hits()] == [7, 8, 9]


def test_another_condition_begins_to_count_anew(store: DebugStore, graph_store: GraphStore) -> None:
    item = add(graph_store)
    store.toggle(item)
    (made,) = store.breakpoints
    store.add_hit(Hit(breakpoint=made.id, node=item))
    store.replace(Breakpoint(id=made.id, node=item, condition=Condition(kind="not_finite")))
    assert (store.hits(made.id), store.breakpoints[0].condition.kind) == (0, "not_finite")


def test_break_on_nan_watches_every_node_both_ways(store: DebugStore) -> None:
    store.break_on_not_finite(True)
    assert [(each.node, each.phase) for each in store.active] == [("", "forward"), ("", "backward")]
    assert store.breaks_on_not_finite
    store.set_enabled(store.breakpoints[0].id, False)
    assert not store.breaks_on_not_finite
    store.break_on_not_finite(True)
    assert len(store.active) == 2
    store.break_on_not_finite(False)
    assert store.breakpoints == ()


def test_another_document_has_none(store: DebugStore, graph_store: GraphStore) -> None:
    store.toggle(add(graph_store))
    graph_store.load(Graph())
    assert store.breakpoints == ()


def test_a_hit_of_a_breakpoint_that_was_taken_away_counts_nothing(store: DebugStore, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(store.changed):
        store.add_hit(Hit(breakpoint="gone", node=ItemId("n1")))
    assert store.all_hits() == ()
