"""Graphs to measure on."""

import random

from gradstudio.graph.edits import AddNode, AddWire, Edit, Edits, SetPlaces, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Place, Wire

REACH = 20


def random_dag(count: int, seed: int = 7) -> Graph:
    """A graph of additions: each node has two inputs from the twenty before it, in a grid of 25 rows."""
    graph = Graph()
    apply_all(graph, dag_edits(count, seed))
    return graph


def dag_edits(count: int, seed: int = 7) -> Edits:
    """The edits that draw `random_dag`."""
    generator = random.Random(seed)
    edits: list[Edit] = []
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
    return tuple(edits)


class Drawing:
    """A graph that is drawn node by node, in a grid.

    Attributes:
        graph: what was drawn, once `done` was called.
    """

    def __init__(self, rows: int = 25) -> None:
        """Nothing yet; so many nodes above one another."""
        self._edits: list[object] = []
        self._count, self._rows = 0, rows
        self._items: set[str] = set()

    def add(self, operator: str, **arguments: str) -> ItemId:
        """A node; an argument is the id of another node, or a literal. ``inputs_0`` stands for ``inputs.0``."""
        item, number = ItemId(f"n{self._count}"), self._count
        given = {name.replace("_0", ".0"): value for name, value in arguments.items()}
        literals = {name: value for name, value in given.items() if value not in self._items}
        lengths = {name.partition(".")[0]: 1 for name in given if name.endswith(".0")}
        self._edits.append(
            AddNode(
                Node(id=item, operator=operator, names=(f"v{number}",), literals=literals, lengths=lengths),
                ROOT,
                number,
            )
        )
        self._edits.append(SetPlaces({item: Place(260.0 * (number // self._rows), 190.0 * (number % self._rows))}))
        wired = {name: value for name, value in given.items() if value in self._items}
        self._edits += [AddWire(Wire(ItemId(value), 0, item, name)) for name, value in wired.items()]
        self._count += 1
        self._items.add(item)
        return item

    def __len__(self) -> int:
        """Nodes so far."""
        return self._count

    def done(self) -> Graph:
        """The graph."""
        graph = Graph()
        apply_all(graph, tuple(self._edits))  # type: ignore[arg-type]
        return graph


def long_chain(count: int = 1000) -> tuple[Graph, dict[str, ItemId]]:
    """One operator behind the other, on drawn numbers; and nodes whose literal changes all shapes behind them."""
    drawing, edited = Drawing(), {}
    h = edited["beginning"] = drawing.add("torch.randn", size="(64, 512)")
    steps = (("torch.tanh", {}), ("operator.mul", {"b": "1.01"}), ("torch.relu", {}), ("operator.add", {"b": "0.1"}))
    while len(drawing) < count - 1:
        if len(drawing) == count // 2:
            h = edited["middle"] = drawing.add("torch.narrow", input=h, dim="1", start="0", length="500")
            continue
        operator, literals = steps[len(drawing) % 4]
        h = drawing.add(operator, **{"a" if literals else "input": h}, **literals)
    edited["end"] = drawing.add("torch.tile", input=h, dims="(1, 1)")
    return drawing.done(), edited


def transformer(count: int = 1000) -> tuple[Graph, dict[str, ItemId]]:
    """Layers of attention and two linear modules each, as a person would draw them; and nodes to edit."""
    drawing, edited = Drawing(), {}
    h = edited["beginning"] = drawing.add("torch.randn", size="(8, 128, 256)")
    while len(drawing) < count:
        if "middle" not in edited and len(drawing) >= count // 2:
            h = edited["middle"] = drawing.add("torch.narrow", input=h, dim="1", start="0", length="100")
        h = _layer(drawing, h)
    edited["end"] = drawing.add("torch.tile", input=h, dims="(1, 1, 1)")
    return drawing.done(), edited


def _layer(drawing: Drawing, x: ItemId) -> ItemId:
    def module(operator: str, h: ItemId, **literals: str) -> ItemId:
        made = drawing.add(operator, **literals)
        return drawing.add("python.call", module=made, inputs_0=h)

    normed = module("torch.nn.LayerNorm", x, normalized_shape="256")
    heads = []
    for _ in range(3):
        projected = module("torch.nn.Linear", normed, in_features="256", out_features="256")
        split = drawing.add("torch.unflatten", input=projected, dim="-1", sizes="(4, 64)")
        heads.append(drawing.add("torch.transpose", input=split, dim0="1", dim1="2"))
    turned = drawing.add("torch.transpose", input=heads[1], dim0="-2", dim1="-1")
    scores = drawing.add("operator.mul", a=drawing.add("operator.matmul", a=heads[0], b=turned), b="0.125")
    seen = drawing.add("operator.matmul", a=drawing.add("torch.softmax", input=scores, dim="-1"), b=heads[2])
    joined = drawing.add(
        "torch.flatten", input=drawing.add("torch.transpose", input=seen, dim0="1", dim1="2"), start_dim="2"
    )
    x = drawing.add("operator.add", a=x, b=module("torch.nn.Linear", joined, in_features="256", out_features="256"))
    wide = module("torch.nn.Linear", x, in_features="256", out_features="1024")
    narrow = module(
        "torch.nn.Linear", drawing.add("torch.nn.functional.gelu", input=wide), in_features="1024", out_features="256"
    )
    return drawing.add("operator.add", a=x, b=narrow)
