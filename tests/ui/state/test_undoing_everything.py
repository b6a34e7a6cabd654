"""A law of histories: whatever was done, all of it undone and redone gives the same documents, byte by byte."""

import random

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.document.file import dumps
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph
from gradstudio.ui.state.document.graph_store import GraphStore

EDITS = 2000
OPERATORS = ("torch.randn", "operator.add", "torch.relu", "operator.matmul", "torch.Tensor.add_", "torch.nn.Linear")
MOST_NODES = 80


def gesture(graph: Graph, generator: random.Random) -> Edits:
    """What somebody might do next."""
    nodes = list(graph.nodes)
    if len(nodes) < 5:
        return recipes.add_operator(graph, generator.choice(OPERATORS), 40.0, 50.0)[0]
    some = generator.choice(nodes)
    if len(nodes) > MOST_NODES:
        return recipes.delete(graph, generator.sample(nodes, 20))
    match generator.randrange(9):
        case 0 | 1:
            return recipes.add_operator(graph, generator.choice(OPERATORS), generator.random() * 900, 50.0)[0]
        case 2 | 3 | 4:
            return recipes.connect(graph, some, 0, generator.choice(nodes), generator.choice(("a", "b", "input")))
        case 5:
            return recipes.delete(graph, [some])
        case 6:
            return recipes.move(graph, {some: (generator.random() * 900, 10.0)})
        case 7:
            return recipes.rename(graph, some, (f"r{generator.randrange(60)}",))
        case _:
            return recipes.set_literal(graph, some, generator.choice(("b", "size")), str(generator.randrange(9)))


def edit(store: GraphStore, generator: random.Random) -> None:
    """Submit the next gesture that is not refused."""
    while True:
        try:
            edits = gesture(store.graph, generator)
        except Refused:
            continue
        if edits:
            store.submit(edits, "Edit")
            return


@pytest.mark.feature(30)
def test_thousands_of_edits_undone_and_redone_twice_give_the_same_documents(qtbot: QtBot) -> None:
    store, generator = GraphStore(), random.Random(11)
    begun = dumps(store.graph)
    for _ in range(EDITS):
        edit(store, generator)
    stack, ended = store.undo_stack, dumps(store.graph)
    assert stack.count() == EDITS and ended != begun
    for _ in range(2):
        stack.setIndex(0)
        assert dumps(store.graph) == begun
        stack.setIndex(EDITS)
        assert dumps(store.graph) == ended


@pytest.mark.feature(30)
def test_every_step_of_a_history_is_the_document_that_stood_there(qtbot: QtBot) -> None:
    store, generator = GraphStore(), random.Random(5)
    stood = [dumps(store.graph)]
    for _ in range(200):
        edit(store, generator)
        stood.append(dumps(store.graph))
    for index in (*range(199, -1, -1), *range(1, 201)):
        store.undo_stack.setIndex(index)
        assert dumps(store.graph) == stood[index]
