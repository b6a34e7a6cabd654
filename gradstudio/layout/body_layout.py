"""Places within bodies, from the innermost outwards: each block is a box in its parent. No Qt here."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.layout import block_frames
from gradstudio.layout import card_sizes as estimate
from gradstudio.layout.body_wires import BodyWires, wires_by_body
from gradstudio.layout.card_boxes import without_joined
from gradstudio.layout.card_sizes import Size
from gradstudio.layout.effect_order import effect_pairs, loop_pairs
from gradstudio.layout.layered.arrangement import arrange_boxes
from gradstudio.layout.layered.model import Box, Edge
from gradstudio.layout.layered.packing import BLOCK_WIDTH, LEAST_WIDTH
from gradstudio.layout.number_nodes import number_items
from gradstudio.layout.placement.occupancy import Rect

NOTE_GAP = 16.0
PORTAL = Box(0.0, 0.0)
Point = tuple[float, float]


class Part:
    """One run of the layout, over all of a program or over some items of its bodies.

    Attributes:
        graph: the program as boxes: a module and the call on its card are one. `whole`: as it is.
        inner: places within a body, relative to its corner.
        extent: size of each item with its note, or of a block's frame.
        edges: room of each block's frame around what it holds.
        drop: how far below the top of its box an item's own card begins (its note is above).
    """

    def __init__(self, graph: Graph, sizes: Mapping[ItemId, Size]) -> None:
        """Nothing is placed yet; `sizes` of cards, what is missing is estimated."""
        self.whole = graph
        self.sizes = sizes
        self.graph = graph = without_joined(graph)
        self.inner: dict[BodyId, dict[ItemId, Point]] = {}
        self.extent: dict[ItemId, Size] = {}
        self.drop: dict[ItemId, float] = {}
        self._ports: dict[ItemId, tuple[dict[str, float], dict[int, float]]] = {}
        self.edges = {item: block_frames.frame_edges(graph, item) for item in graph.blocks}

    @cached_property
    def wires(self) -> dict[BodyId, BodyWires]:
        """The wires within each body, and across its border."""
        return wires_by_body(self.graph)

    @cached_property
    def light(self) -> set[ItemId]:
        """What needs nothing but numbers."""
        return number_items(self.graph)

    def arrange(self, body: BodyId, only: Collection[ItemId] | None = None) -> None:
        """Place the items of a body, or only some of them; those of its blocks first."""
        chosen = None if only is None else frozenset(only)
        order = [item for item in self.graph.bodies[body] if chosen is None or item in chosen]
        for item in order:
            if item in self.graph.blocks:
                self.arrange(BodyId(item))
            self._measure(item)
        if only is not None and len(order) == 1:
            self.inner[body] = {order[0]: (0.0, 0.0)}
            return
        wires = self.wires.get(body, BodyWires()) if only is None else self._between(body, order)
        entries = list(wires.entering)
        exits = list(wires.leaving)
        number = {item: len(entries) + index for index, item in enumerate(order)}
        behind = len(entries) + len(order)
        boxes = [PORTAL] * len(entries) + [Box(*self.extent[item]) for item in order] + [PORTAL] * len(exits)
        pairs = effect_pairs(self.graph, order)
        pairs += loop_pairs(self.graph, order, [ends[1:] for ends in self.within(body)])
        pairs += self._detours(body, order) if only is not None else []
        edges = self._edges(body, wires, number)
        if body == ROOT and not entries and not exits and self._are_cells(order):
            from gradstudio.layout.layered.reading_order import arrange_in_order

            self.inner[body] = _at_zero(order, arrange_in_order(boxes, edges, pairs))
            return
        points = arrange_boxes(
            boxes,
            edges,
            [(one + len(entries), other + len(entries)) for one, other in pairs],
            frozenset(range(len(entries))),
            frozenset(range(behind, len(boxes))),
            frozenset(number[item] for item in order if item in self.light),
            LEAST_WIDTH if body == ROOT else BLOCK_WIDTH,
        )
        self.inner[body] = _at_zero(order, points[len(entries) : behind])

    def _are_cells(self, order: Sequence[ItemId]) -> bool:
        """Whether frames are all there is, as of a notebook: they are read in their order."""
        blocks = self.graph.blocks
        return all(item in blocks and blocks[item].kind == "group" for item in order)

    def covers(self, body: BodyId) -> list[Rect]:
        """What the arranged items of a body cover, their notes included, relative to its corner."""
        found = []
        for item, (x, y) in self.inner[body].items():
            width, height = self.extent[item]
            found.append((x, y, x + width, y + height))
        return found

    def within(self, body: BodyId) -> list[tuple[Wire, ItemId, ItemId]]:
        """The wires between two items of a body, with these."""
        wires = self.wires.get(body)
        return wires.within if wires is not None else []

    def level(self, body: BodyId, wire: Wire, item: ItemId) -> float:
        """Where a wire leaves or arrives, below the top of the box in `body` that holds its end."""
        inputs, outputs = self._ports_of(item)
        offset = inputs.get(wire.port, 0.0) if item == wire.target else outputs.get(wire.output, 0.0)
        offset += self.drop.get(item, 0.0)
        while self.graph.parents[item] != body:
            parent = self.graph.parents[item]
            offset += self.inner.get(parent, {}).get(item, (0.0, 0.0))[1]
            item = ItemId(parent)
            offset += self.edges[item][1]
            offset += self.drop.get(item, 0.0)
        return offset

    def _ports_of(self, item: ItemId) -> tuple[dict[str, float], dict[int, float]]:
        """How far below the top of its card or frame each port stands."""
        if item not in self._ports:
            offsets = block_frames.frame_ports if item in self.graph.blocks else estimate.port_offsets
            self._ports[item] = offsets(self.graph, item)
        return self._ports[item]

    def absolute(self, body: BodyId, x: float, y: float) -> dict[str, tuple[float, float]]:
        """Places of all that is inside a body whose corner is at (x, y)."""
        places: dict[str, tuple[float, float]] = {}
        for item, (left, top) in self.inner[body].items():
            corner = (x + left, y + top + self.drop[item])
            if self.drop[item]:
                places[f"note:{item}"] = (x + left, y + top)
            places[item] = corner
            if item in self.graph.blocks:
                edges = self.edges[item]
                places |= self.absolute(BodyId(item), corner[0] + edges[0], corner[1] + edges[1])
        return places

    def _between(self, body: BodyId, order: Sequence[ItemId]) -> BodyWires:
        """The wires between the chosen items of a body."""
        chosen = set(order)
        found = BodyWires()
        found.within = [wire for wire in self.within(body) if wire[1] in chosen and wire[2] in chosen]
        return found

    def _detours(self, body: BodyId, order: Sequence[ItemId]) -> list[tuple[int, int]]:
        """Pairs of chosen items that are joined by what was not chosen."""
        number = {item: k for k, item in enumerate(order)}
        reach: dict[ItemId, set[int]] = {}
        users: dict[ItemId, list[ItemId]] = {}
        for _, source, target in self.within(body):
            users.setdefault(source, []).append(target)
        found = set()
        for item in reversed(self.graph.bodies[body]):
            ends = {number[user] for user in users.get(item, ()) if user in number}
            ahead = ends.union(*(reach.get(user, ()) for user in users.get(item, ()) if user not in number))
            reach[item] = ahead
            if item in number:
                found |= {(number[item], end) for end in ahead - ends if end > number[item]}
        return sorted(found)

    def _measure(self, item: ItemId) -> None:
        width, height = self._block_size(item) if item in self.graph.blocks else self._card_size(item)
        note_width, note_height = estimate.note_size(self.graph, item)
        self.drop[item] = note_height + NOTE_GAP if note_height else 0.0
        width = max(width, note_width)
        self.extent[item] = (width, height + self.drop[item])

    def _card_size(self, item: ItemId) -> Size:
        return self.sizes.get(item) or estimate.card_size(self.whole, item)

    def _block_size(self, block: ItemId) -> Size:
        inside = self.inner[BodyId(block)]
        if not inside:
            return block_frames.EMPTY
        right = max(x + self.extent[item][0] for item, (x, _) in inside.items())
        bottom = max(y + self.extent[item][1] for item, (_, y) in inside.items())
        edges = self.edges[block]
        return max(edges[0] + right + edges[2], block_frames.frame_width(self.graph, block)), edges[1] + bottom + edges[
            3
        ]

    def _edges(self, body: BodyId, wires: BodyWires, number: dict[ItemId, int]) -> list[Edge]:
        """The wires of a body; those that cross its border begin or end at a portal, a box without size."""
        edges = [
            Edge(
                number[source], number[target], self.level(body, wire, wire.source), self.level(body, wire, wire.target)
            )
            for wire, source, target in wires.within
            if number[source] < number[target]  # a module's leaf may feed the call that shares its card
        ]
        for portal, crossing in enumerate(wires.entering.values()):
            edges += [Edge(portal, number[item], 0.0, self.level(body, wire, wire.target)) for wire, item in crossing]
        for portal, crossing in enumerate(wires.leaving.values(), len(wires.entering) + len(number)):
            edges += [Edge(number[item], portal, self.level(body, wire, wire.source), 0.0) for wire, item in crossing]
        return edges


def _at_zero(order: Sequence[ItemId], points: Sequence[Point]) -> dict[ItemId, Point]:
    """The corners of items, from the common corner of all."""
    left, top = min((x for x, _ in points), default=0.0), min((y for _, y in points), default=0.0)
    return {item: (x - left, y - top) for item, (x, y) in zip(order, points, strict=True)}
