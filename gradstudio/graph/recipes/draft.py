"""A draft: a copy of the graph on which a gesture is tried, edit by edit, before anyone sees it."""

import os
from collections.abc import Sequence

import msgspec

from gradstudio.graph import order
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import (
    AddBlock,
    AddNode,
    Edit,
    Edits,
    MoveItem,
    RemoveBlock,
    RemoveNode,
    RemoveWire,
    ReplaceBlock,
    ReplaceNode,
    SetPlaces,
    apply,
)
from gradstudio.graph.graph_index import copy_with_index, index_of
from gradstudio.graph.model import Block, BodyId, Graph, ItemId, Node, Place, Wire
from gradstudio.graph.ports.muted_wires import without_sources
from gradstudio.graph.ports.wire_dots import End, Point, end_of, points_of, wire_of, with_points
from gradstudio.graph.text import name_bindings
from gradstudio.graph.text.late_names import late_name_edits

SPLIT_PX = 260.0
"""How far left of its call the card of a module stands that shared its card so far."""
ABOVE_PX = 120.0
"""How far above its module's card stands what switched it there so far."""


class Draft:
    """Collects the edits of one gesture.

    Attributes:
        graph: the copy, as it is after the edits so far; read it, do not edit it.
    """

    def __init__(self, graph: Graph) -> None:
        """Begin with what the graph is now."""
        self.graph = copy_with_index(graph)
        self._before = card_groups(graph)
        self._edits: list[Edit] = []
        self._was = graph
        self._led: set[End] = set()

    def lead(self, end: End, points: Sequence[Point]) -> None:
        """Give the wire into a port these dots, whatever became of it."""
        self._led.add(end)
        if places := with_points(self.graph, end, points):
            self.do(SetPlaces(places))

    def do(self, *edits: Edit) -> None:
        """Apply edits to the draft and keep them."""
        for edit in edits:
            apply(self.graph, edit)
            self._edits.append(edit)

    def finish(self, keep: frozenset[ItemId] = frozenset()) -> Edits:
        """Put the order and the names right, and return everything that was done.

        Args:
            keep: items whose names must stay if either of two could be renamed.

        Raises:
            Refused: no order satisfies the wires, or code reads a name that cannot be another in it.
        """
        self._forget_muted()
        self._settle_dots()
        if self._reorders() or not index_of(self.graph).is_forward:
            self.do(*order.order_edits(self.graph, order.effect_needs(self._was)))
        self.do(*name_bindings.binding_edits(self.graph, keep))
        self.do(*late_name_edits(self._was, self.graph))
        self._split_cards()
        return tuple(self._edits)

    def _reorders(self) -> bool:
        """Whether what was there before may stand in another order now; else it sees all effects as it did."""
        return any(
            isinstance(edit, MoveItem)
            or (isinstance(edit, AddNode) and edit.node.id in self._was)
            or (isinstance(edit, AddBlock) and edit.block.id in self._was)
            for edit in self._edits
        )

    def _forget_muted(self) -> None:
        """A muted wire goes with what it began at."""
        if any(isinstance(edit, RemoveNode | RemoveBlock) for edit in self._edits):
            muting = index_of(self.graph).muting
            for item in [item for item in self.graph.nodes if item in muting] if muting else ():
                self.put(without_sources(self.graph.nodes[item], self.graph))

    def _settle_dots(self) -> None:
        """Dots go where their wire went, and away with it."""
        keys = index_of(self.graph).dots
        dotted = {named[0] for key in keys if (named := end_of(key)) is not None} - self._led
        for end in dotted:
            before = wire_of(self._was, end)
            after = wire_of(self.graph, end)
            if before is None or before == after:
                continue
            points = points_of(self.graph, end)
            new = self._moved_to(before)
            self.do(SetPlaces(with_points(self.graph, end, ())))
            if new is not None:
                self.do(SetPlaces(with_points(self.graph, new, points)))

    def _moved_to(self, wire: Wire) -> End | None:
        """Where a wire ends that is no longer where it was: in another port of its target, or at another item."""
        ends = [(w.target, w.port) for w in self.graph.wires_from(wire.source) if w.output == wire.output]
        fresh = [end for end in ends if wire_of(self._was, end) != self.graph.wires[end]]
        return next((end for end in fresh if end[0] == wire.target), next(iter(fresh), None))

    def _split_cards(self) -> None:
        """A module whose card is its own now stands beside the call it was drawn with; one that joins, under it."""
        graph = self.graph
        now = card_groups(graph) if any(not isinstance(edit, ReplaceNode | SetPlaces) for edit in self._edits) else None
        if now is None or (now.calls, now.switches) == (self._before.calls, self._before.switches):
            return
        places: dict[str, Place | None] = {}
        for module, call in self._before.calls.items():
            place = graph.places.get(call)
            is_split = module in graph.nodes and module not in now.calls
            if is_split and place is not None and place == graph.places.get(module):
                places[module] = msgspec.structs.replace(place, x=place.x - SPLIT_PX)
        for module, call in now.calls.items():
            place = graph.places.get(call)
            if self._before.calls.get(module) != call and place is not None and module in graph.places:
                places[module] = place
        for switch in self._before.switches.keys() - now.switches.keys():
            place = graph.places.get(switch)
            if switch in graph.nodes and place is not None:
                places[switch] = msgspec.structs.replace(place, y=place.y - ABOVE_PX)
        if places:
            self.do(SetPlaces(places))

    def new_id(self, prefix: str = "n") -> ItemId:
        """An id that nothing in the graph has."""
        while True:
            item = ItemId(prefix + os.urandom(4).hex())
            if item not in self.graph:
                return item

    def taken_names(self) -> set[str]:
        """Every name bound in the draft, those of definitions among them."""
        return {*index_of(self.graph).binders, *self.graph.definitions}

    def put(self, record: Node | Block) -> None:
        """Replace a node or block by a record of the same id, if it is another one now."""
        if isinstance(record, Node):
            if self.graph.nodes[record.id] != record:
                self.do(ReplaceNode(record))
        elif self.graph.blocks[record.id] != record:
            self.do(ReplaceBlock(record))

    def owner(self, item: ItemId) -> Node | Block:
        """The node or block of that id."""
        return self.graph.nodes.get(item) or self.graph.blocks[item]

    def cut(self, wires: tuple[Wire, ...]) -> None:
        """Remove those of the wires that are still there."""
        self.do(*(RemoveWire(wire) for wire in wires if self.graph.wires.get((wire.target, wire.port)) == wire))

    def end_of(self, body: BodyId) -> int:
        """Index behind the last statement of a body."""
        return len(self.graph.bodies[body])
