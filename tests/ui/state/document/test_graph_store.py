"""The history: one gesture, one entry; nothing that was refused is on the stack."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.edits import RemoveNode
from gradstudio.graph.errors import EditError
from gradstudio.graph.model import ItemId
from gradstudio.ui.state.document.graph_store import GraphStore


def add(store: GraphStore, key: str = "torch.randn") -> ItemId:
    edits, item = recipes.add_operator(store.graph, key, 0, 0)
    store.submit(edits, f"Add {key}")
    return item


def test_undo_and_redo_bring_the_node_back(qtbot: QtBot) -> None:
    store = GraphStore()
    item = add(store)
    store.undo_stack.undo()
    assert item not in store.graph
    store.undo_stack.redo()
    assert item in store.graph


def test_edits_are_announced_also_by_undo(qtbot: QtBot) -> None:
    store = GraphStore()
    heard: list[object] = []
    store.edited.connect(heard.append)
    add(store)
    store.undo_stack.undo()
    assert len(heard) == 2


def test_moves_of_one_drag_are_one_entry(qtbot: QtBot) -> None:
    store = GraphStore()
    item = add(store)
    for x in range(5):
        store.submit(recipes.move(store.graph, {item: (float(x), 0.0)}), "Move", merge_key="drag-1")
    store.submit(recipes.move(store.graph, {item: (99.0, 0.0)}), "Move", merge_key="drag-2")
    assert store.undo_stack.count() == 3
    store.undo_stack.undo()
    store.undo_stack.undo()
    assert store.graph.places[item].x == 0.0


def test_a_refusal_is_announced_and_leaves_no_entry(qtbot: QtBot) -> None:
    store = GraphStore()
    item = add(store)
    with qtbot.waitSignal(store.refused) as refusal:
        assert not store.attempt(recipes.rename, "Rename", item, ("for",))
    assert "Python" in refusal.args[0]
    assert store.undo_stack.count() == 1


def test_an_edit_that_does_not_fit_changes_nothing(qtbot: QtBot) -> None:
    store = GraphStore()
    item = add(store)
    with pytest.raises(EditError):
        store.submit((*recipes.move(store.graph, {item: (5.0, 5.0)}), RemoveNode(ItemId("nobody"))), "Break")
    assert store.graph.places[item].x == 0.0
    assert store.undo_stack.count() == 1


def test_saving_marks_clean_and_editing_marks_changed(qtbot: QtBot) -> None:
    store = GraphStore()
    add(store)
    assert not store.is_clean
    store.set_clean()
    assert store.is_clean
    store.undo_stack.undo()
    assert not store.is_clean


def test_an_edit_is_applied_once_and_redone_as_often_as_asked(qtbot: QtBot) -> None:
    store = GraphStore()
    revision = store.graph.revision
    edits, item = recipes.add_operator(store.graph, "torch.randn", 0, 0)
    heard: list[tuple[object, bool]] = []
    store.edited.connect(lambda told: heard.append((told, item in store.graph)))
    store.submit(edits, "Add")
    assert store.graph.revision == revision + len(edits)
    for _ in range(2):
        store.undo()
        store.redo()
    assert [there for _, there in heard] == [True, False, True, False, True]
    assert heard[0][0] == heard[2][0] == heard[4][0] == edits


def test_edits_that_do_not_fit_leave_everything_as_it_was(qtbot: QtBot) -> None:
    store = GraphStore()
    item = add(store)
    edits, other = recipes.add_operator(store.graph, "torch.randn", 0, 0)
    nodes, places = dict(store.graph.nodes), dict(store.graph.places)
    heard: list[object] = []
    store.edited.connect(heard.append)
    with pytest.raises(EditError):
        store.submit((*edits, RemoveNode(other), RemoveNode(other)), "Twice")
    assert (store.graph.nodes, store.graph.places) == (nodes, places)
    assert store.undo_stack.count() == 1
    assert not heard
    assert list(store.graph.order()) == [item]
