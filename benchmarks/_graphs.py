"""Graphs to measure on."""

import random

from gradstudio.graph.edits import AddNode, AddWire, SetPlaces, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Place, Wire

REACH = 20


def random_dag(count: int, seed: int = 7) -> Graph:
    """A graph of additions: each node has two inputs from the twenty before it, in a grid of 25 rows."""
    generator = random.Random(seed)
    graph = Graph()
    edits: list[object] = []
    for k in range(count):
        item = ItemId(f"n{k}")
        operator = "torch.randn" if k < 2 else "operator.add"
        literals = {"size": "(2, 3)"} if k < 2 else {}
        edits.append(AddNode(Node(id=item, operator=operator, names=(f"v{k}",), literals=literals), ROOT, k))
        edits.append(SetPlaces({item: Place(260.0 * (k // 25), 190.0 * (k % 25))}))
        if k >= 2:
            for port in ("a", "b"):
                source = ItemId(f"n{generator.randrange(max(0, k - REACH), k)}")
                edits.append(AddWire(Wire(source, 0, item, port)))
    apply_all(graph, tuple(edits))  # type: ignore[arg-type]
    return graph
