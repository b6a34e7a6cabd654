"""Tidy: places for every item of a program, left to right; blocks stay together as frames. No Qt here."""

from collections.abc import Mapping

from gradstudio.graph.joining import joined
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place, Wire
from gradstudio.layout import sizes as estimate
from gradstudio.layout.crossings import BodyWires, wires_by_body
from gradstudio.layout.joining import without_joined
from gradstudio.layout.model import Box, Edge
from gradstudio.layout.parts import arrange_boxes
from gradstudio.layout.sequence import effect_pairs
from gradstudio.layout.sizes import Size

NOTE_GAP = 16.0
PORTAL = Box(0.0, 0.0)
Point = tuple[float, float]


def layout(graph: Graph, sizes: Mapping[ItemId, Size] | None = None) -> dict[str, tuple[float, float]]:
    """Top left corners, pixels, by item and by ``note:<item>``; nothing overlaps, no wire runs back.

    Args:
        graph: the program.
        sizes: of cards, as the canvas draws them; what is missing is estimated.
    """
    tidy = _Tidy(graph, sizes or {})
    tidy.arrange(ROOT)
    places = tidy.absolute(ROOT, 0.0, 0.0)
    return places | {item: places[home] for item, home in joined(graph).insides().items()}


def layout_missing(graph: Graph) -> dict[str, Place]:
    """The graph's places, and below them new ones for the nodes that have none."""
    missing = [node for node in graph.nodes if node not in graph.places]
    if not missing:
        return graph.places
    fresh = layout(graph)
    kept = [place for key, place in graph.places.items() if key in graph]
    below = max((place.y for place in kept), default=0.0) + (300.0 if kept else 0.0)
    left = min((place.x for place in kept), default=0.0)
    places = dict(graph.places)
    for key, (x, y) in fresh.items():
        if key not in places:
            places[key] = Place(x + left, y + below)
    return places


class _Tidy:
    """One run of the layout: bodies from the innermost outwards, each block a box in its parent.

    Attributes:
        graph: the program as boxes: a module and the call on its card are one. `whole`: as it is.
        inner: places within a body, relative to its corner.
        extent: size of each item with its note, or of a block's frame.
        drop: how far below the top of its box an item's own card begins (its note is above).
    """

    def __init__(self, graph: Graph, sizes: Mapping[ItemId, Size]) -> None:
        self.whole, self.sizes = graph, sizes
        self.graph = graph = without_joined(graph)
        self.inner: dict[BodyId, dict[ItemId, Point]] = {}
        self.extent: dict[ItemId, Size] = {}
        self.drop: dict[ItemId, float] = {}
        self.ports = {item: estimate.port_offsets(graph, item) for item in (*graph.nodes, *graph.blocks)}
        self.wires = wires_by_body(graph)

    def arrange(self, body: BodyId) -> None:
        """Place the items of a body, those of its blocks first."""
        order = self.graph.bodies[body]
        for item in order:
            if item in self.graph.blocks:
                self.arrange(BodyId(item))
            self._measure(item)
        wires = self.wires.get(body, BodyWires())
        entries, exits = list(wires.entering), list(wires.leaving)
        number = {item: len(entries) + index for index, item in enumerate(order)}
        behind = len(entries) + len(order)
        boxes = [PORTAL] * len(entries) + [Box(*self.extent[item]) for item in order] + [PORTAL] * len(exits)
        points = arrange_boxes(
            boxes,
            self._edges(body, wires, number),
            [(one + len(entries), other + len(entries)) for one, other in effect_pairs(self.graph, order)],
            frozenset(range(len(entries))),
            frozenset(range(behind, len(boxes))),
        )
        points = points[len(entries) : behind]
        left, top = min((x for x, _ in points), default=0.0), min((y for _, y in points), default=0.0)
        self.inner[body] = {item: (x - left, y - top) for item, (x, y) in zip(order, points, strict=True)}

    def absolute(self, body: BodyId, x: float, y: float) -> dict[str, tuple[float, float]]:
        """Places of all that is inside a body whose corner is at (x, y)."""
        places: dict[str, tuple[float, float]] = {}
        for item, (left, top) in self.inner[body].items():
            corner = (x + left, y + top + self.drop[item])
            if self.drop[item]:
                places[f"note:{item}"] = (x + left, y + top)
            places[item] = corner
            if item in self.graph.blocks:
                inside = (corner[0] + estimate.BLOCK_SIDE, corner[1] + estimate.BLOCK_TOP)
                places |= self.absolute(BodyId(item), *inside)
        return places

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
            return estimate.EMPTY_BLOCK
        right = max(x + self.extent[item][0] for item, (x, _) in inside.items())
        bottom = max(y + self.extent[item][1] for item, (_, y) in inside.items())
        return right + 2 * estimate.BLOCK_SIDE, bottom + estimate.BLOCK_TOP + estimate.BLOCK_BOTTOM

    def _edges(self, body: BodyId, wires: BodyWires, number: dict[ItemId, int]) -> list[Edge]:
        """The wires of a body; those that cross its border begin or end at a portal, a box without size."""
        edges = [
            Edge(number[source], number[target], self._end(body, wire, wire.source), self._end(body, wire, wire.target))
            for wire, source, target in wires.within
            if number[source] < number[target]  # a module's leaf may feed the call that shares its card
        ]
        for portal, crossing in enumerate(wires.entering.values()):
            edges += [Edge(portal, number[item], 0.0, self._end(body, wire, wire.target)) for wire, item in crossing]
        for portal, crossing in enumerate(wires.leaving.values(), len(wires.entering) + len(number)):
            edges += [Edge(number[item], portal, self._end(body, wire, wire.source), 0.0) for wire, item in crossing]
        return edges

    def _end(self, body: BodyId, wire: Wire, item: ItemId) -> float:
        """Where a wire leaves or arrives, below the top of the box in `body` that holds its end."""
        inputs, outputs = self.ports[item]
        offset = inputs.get(wire.port, 0.0) if item == wire.target else outputs.get(wire.output, 0.0)
        offset += self.drop[item]
        while self.graph.parents[item] != body:
            parent = self.graph.parents[item]
            offset += self.inner[parent][item][1] + estimate.BLOCK_TOP
            item = ItemId(parent)
            offset += self.drop[item]
        return offset
