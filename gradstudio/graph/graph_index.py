"""The index of a graph: what recipes and views ask of all its items, kept up to date from the edits alone.

`index_of` is the one door; who asks reads and does not keep what it reads.
"""

from collections.abc import Iterable
from typing import Final

from gradstudio.graph.edits import AddWire, Edits, MoveItem, RemoveWire, SetPlaces, edits_since, touched_items
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import Block, ChartKind, Graph, ItemId, Node, Wire

DOT: Final = "dot:"
"""How the key of a dot on a wire begins (`graph.ports.wire_dots`)."""
FEW: Final = 50
"""So many new wires are looked at one by one; more of them with all others."""


class GraphIndex:
    """What is found of a graph without walking it.

    Attributes:
        binders: the items whose results or loop variables bear a name, once for each of them.
        by_operator: the nodes of each operator.
        loops: the `for` blocks.
        shared: names with more than one binder.
        unnamed: nodes one of whose results is "_".
        noted: items with a comment above or beside them.
        nested: nodes that are written as parts of others.
        muting: nodes with muted wires into them.
        dots: keys of the places of dots on wires.
        charts: charts of the cards that show one, by the keys of their places.
        is_forward: whether every wire goes forward in the order; what loops carry back is none of that.
    """

    def __init__(self, graph: Graph) -> None:
        """Look at every item once."""
        self.revision = graph.revision
        self.binders: dict[str, tuple[ItemId, ...]] = {}
        self.shared: set[str] = set()
        self.by_operator: dict[str, dict[ItemId, None]] = {}
        self.loops: set[ItemId] = set()
        self.unnamed: set[ItemId] = set()
        self.noted: set[ItemId] = set()
        self.nested: set[ItemId] = set()
        self.muting: set[ItemId] = set()
        self.dots: dict[str, None] = {key: None for key in graph.places if key.startswith(DOT)}
        self.charts: dict[str, ChartKind] = {key: place.chart for key, place in graph.places.items() if place.chart}
        self._owners: dict[ItemId, Node | Block] = {}
        self.is_forward = goes_forward(graph)
        owners: list[Node | Block] = [*graph.nodes.values(), *graph.blocks.values()]
        for owner in owners:
            self._add(owner)

    def copy(self) -> "GraphIndex":
        """The same of a copy of the graph."""
        twin = object.__new__(GraphIndex)
        twin.__dict__ = {name: value.copy() if hasattr(value, "copy") else value for name, value in vars(self).items()}
        twin.by_operator = {key: nodes.copy() for key, nodes in self.by_operator.items()}
        return twin

    def follow(self, graph: Graph, edits: Edits) -> None:
        """Look at what edits touched, which are applied."""
        for item in touched_items(edits):
            owner = graph.nodes.get(item) or graph.blocks.get(item)
            before = self._owners.get(item)
            if owner is not before:
                if before is not None:
                    self._remove(before)
                if owner is not None:
                    self._add(owner)
        for edit in edits:
            if isinstance(edit, SetPlaces):
                self._follow_places(graph, edit)
        self.is_forward = self._stays_forward(graph, edits)
        self.revision = graph.revision

    def _follow_places(self, graph: Graph, edit: SetPlaces) -> None:
        for key in edit.places:
            self.charts.pop(key, None)
            place = graph.places.get(key)
            if place is not None and place.chart:
                self.charts[key] = place.chart
            if key.startswith(DOT):
                self.dots.pop(key, None)
                if key in graph.places:
                    self.dots[key] = None

    def _stays_forward(self, graph: Graph, edits: Edits) -> bool:
        moved = {edit.item for edit in edits if isinstance(edit, MoveItem)}
        came = {edit.wire: None for edit in edits if isinstance(edit, AddWire)}
        went = any(isinstance(edit, RemoveWire) for edit in edits)
        if not self.is_forward:
            return goes_forward(graph) if moved or came or went else False
        if not moved.isdisjoint(graph.blocks) or len(moved) + len(came) > FEW:
            return goes_forward(graph)
        wires = dict.fromkeys(wire for wire in came if graph.wires.get((wire.target, wire.port)) == wire)
        for item in moved:
            wires.update(dict.fromkeys((*graph.wires_from(item), *graph.wires_to(item))))
        return all(is_wire_forward(graph, wire) for wire in wires)

    def _add(self, owner: Node | Block) -> None:
        item = owner.id
        self._owners[item] = owner
        for name in _bound(owner):
            binders = self.binders[name] = (*self.binders.get(name, ()), item)
            if len(binders) > 1:
                self.shared.add(name)
        if owner.note or owner.beside:
            self.noted.add(item)
        if isinstance(owner, Block):
            if owner.kind == "for":
                self.loops.add(item)
            return
        self.by_operator.setdefault(owner.operator, {})[item] = None
        if "_" in owner.names:
            self.unnamed.add(item)
        if owner.nested:
            self.nested.add(item)
        if owner.muted_wires:
            self.muting.add(item)

    def _remove(self, owner: Node | Block) -> None:
        item = owner.id
        del self._owners[item]
        for name in _bound(owner):
            binders = tuple(other for other in self.binders.get(name, ()) if other != item)
            if binders:
                self.binders[name] = binders
            else:
                self.binders.pop(name, None)
            if len(binders) < 2:
                self.shared.discard(name)
        self.noted.discard(item)
        self.loops.discard(item)
        if isinstance(owner, Node):
            alike = self.by_operator[owner.operator]
            del alike[item]
            if not alike:
                del self.by_operator[owner.operator]
            for found in (self.unnamed, self.nested, self.muting):
                found.discard(item)


def _bound(owner: Node | Block) -> tuple[str, ...]:
    names = owner.names if isinstance(owner, Node) else (owner.variable, *owner.carried)
    if "" not in names and "_" not in names:
        return names
    return tuple(name for name in names if name and name != "_")


def goes_forward(graph: Graph) -> bool:
    """Whether every wire goes forward in the present order; what loops carry back is none of that."""
    place = graph.numbers()
    behind, find = len(place), place.get
    for wire in graph.wires.values():  # ends that are no items are the edges of a definition
        if find(wire.source, -1) >= find(wire.target, behind) and not wire.port.startswith("next."):
            return False
    return True


def is_wire_forward(graph: Graph, wire: Wire) -> bool:
    """The same of one wire."""
    place = graph.numbers()
    return wire.port.startswith("next.") or place.get(wire.source, -1) < place.get(wire.target, len(place))


_indices: MemoTable[GraphIndex] = MemoTable()


def graphs_of(graph: Graph) -> tuple[Graph, ...]:
    """The graph of a document, and that of each of its definitions."""
    return graph, *(one.graph for one in graph.definitions.values())


def index_of(graph: Graph) -> GraphIndex:
    """The index of the graph as it is now."""
    known = _indices.get(graph)
    if known is not None and known.revision != graph.revision:
        edits = edits_since(graph, known.revision)
        if edits is None:
            known = None
        else:
            known.follow(graph, edits)
    if known is None:
        known = _indices[graph] = GraphIndex(graph)
    return known


def copy_with_index(graph: Graph) -> Graph:
    """A copy of the graph that knows what is known of it, to be changed by edits alone."""
    twin = graph.copy()
    _indices[twin] = index_of(graph).copy()
    twin.memos |= {table: memo for table, memo in graph.memos.items() if getattr(table, "is_copied", False)}
    return twin


def nodes_of(graph: Graph, operators: Iterable[str]) -> list[Node]:
    """The nodes of some operators."""
    by_operator = index_of(graph).by_operator
    return [graph.nodes[item] for key in operators for item in by_operator.get(key, ())]
