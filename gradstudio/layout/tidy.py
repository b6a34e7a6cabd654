"""Tidy: places for every item of a program, left to right; blocks stay together as frames. No Qt here."""

import math
from collections.abc import Mapping

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place, Wire
from gradstudio.layout import sizes as estimate
from gradstudio.layout.coordinates import GAP_X, GAP_Y, Point, place_columns
from gradstudio.layout.layers import assign_layers, make_columns
from gradstudio.layout.model import Box, Edge
from gradstudio.layout.ordering import order_columns
from gradstudio.layout.sequence import effect_pairs
from gradstudio.layout.sizes import Size

SHELF_WIDTH = 1600.0
NOTE_GAP = 16.0


def layout(graph: Graph, sizes: Mapping[ItemId, Size] | None = None) -> dict[str, tuple[float, float]]:
    """Top left corners, pixels, by item and by ``note:<item>``; nothing overlaps, no wire runs back.

    Args:
        graph: the program.
        sizes: of cards, as the canvas draws them; what is missing is estimated.
    """
    tidy = _Tidy(graph, sizes or {})
    tidy.arrange(ROOT)
    return tidy.absolute(ROOT, 0.0, 0.0)


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
        inner: places within a body, relative to its corner.
        extent: size of each item with its note, or of a block's frame.
        drop: how far below the top of its box an item's own card begins (its note is above).
    """

    def __init__(self, graph: Graph, sizes: Mapping[ItemId, Size]) -> None:
        self.graph, self.sizes = graph, sizes
        self.inner: dict[BodyId, dict[ItemId, Point]] = {}
        self.extent: dict[ItemId, Size] = {}
        self.drop: dict[ItemId, float] = {}
        self.ports = {item: estimate.port_offsets(graph, item) for item in (*graph.nodes, *graph.blocks)}
        self.wires = _wires_by_body(graph)

    def arrange(self, body: BodyId) -> None:
        """Place the items of a body, those of its blocks first."""
        order = self.graph.bodies[body]
        for item in order:
            if item in self.graph.blocks:
                self.arrange(BodyId(item))
            self._measure(item)
        boxes = [Box(*self.extent[item]) for item in order]
        points = arrange_boxes(boxes, self._edges(body, order), effect_pairs(self.graph, order))
        self.inner[body] = dict(zip(order, points, strict=True))

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
        return self.sizes.get(item) or estimate.card_size(self.graph, item)

    def _block_size(self, block: ItemId) -> Size:
        inside = self.inner[BodyId(block)]
        if not inside:
            return estimate.EMPTY_BLOCK
        right = max(x + self.extent[item][0] for item, (x, _) in inside.items())
        bottom = max(y + self.extent[item][1] for item, (_, y) in inside.items())
        return right + 2 * estimate.BLOCK_SIDE, bottom + estimate.BLOCK_TOP + estimate.BLOCK_BOTTOM

    def _edges(self, body: BodyId, order: tuple[ItemId, ...]) -> list[Edge]:
        number = {item: index for index, item in enumerate(order)}
        return [
            Edge(number[source], number[target], self._end(body, wire, wire.source), self._end(body, wire, wire.target))
            for wire, source, target in self.wires.get(body, ())
        ]

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


def _wires_by_body(graph: Graph) -> dict[BodyId, list[tuple[Wire, ItemId, ItemId]]]:
    """Each wire under the innermost body around both ends, with the items of that body it joins."""
    chains = {item: _chain(graph, item) for item in (*graph.nodes, *graph.blocks)}
    found: dict[BodyId, list[tuple[Wire, ItemId, ItemId]]] = {}
    for wire in sorted(graph.wires.values()):
        source, target = chains.get(wire.source), chains.get(wire.target)
        if source is None or target is None:
            continue
        for one, other in zip(source, target, strict=False):
            if one != other:
                found.setdefault(graph.parents[one], []).append((wire, one, other))
                break
    return found


def _chain(graph: Graph, item: ItemId) -> list[ItemId]:
    """The item and the blocks around it, outermost first."""
    around = [ItemId(body) for body in graph.ancestors(item) if body != ROOT]
    return [*reversed(around), item]


def arrange_boxes(boxes: list[Box], edges: list[Edge], after: list[tuple[int, int]]) -> list[Point]:
    """Top left corners: each connected part laid out by itself, the parts on shelves."""
    parts = _parts(len(boxes), [*((edge.source, edge.target) for edge in edges), *after])
    numbers = {number: (part, index) for part, members in enumerate(parts) for index, number in enumerate(members)}
    part_edges: list[list[Edge]] = [[] for _ in parts]
    part_after: list[list[tuple[int, int]]] = [[] for _ in parts]
    for edge in edges:
        part, source = numbers[edge.source]
        part_edges[part].append(Edge(source, numbers[edge.target][1], edge.start, edge.end))
    for first, second in after:
        part_after[numbers[first][0]].append((numbers[first][1], numbers[second][1]))
    placed = []
    for members, inner, pairs in zip(parts, part_edges, part_after, strict=True):
        placed.append(_arrange_part([boxes[number] for number in members], inner, pairs))
    return _shelves(boxes, parts, placed)


def _arrange_part(boxes: list[Box], edges: list[Edge], after: list[tuple[int, int]]) -> list[Point]:
    columns = make_columns(boxes, edges, assign_layers(len(boxes), edges, after))
    order_columns(columns)
    return place_columns(columns)


def _parts(count: int, pairs: list[tuple[int, int]]) -> list[list[int]]:
    """The connected parts, each in program order, ordered by their first box."""
    leader = list(range(count))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for one, other in pairs:
        first, second = sorted((find(one), find(other)))
        leader[second] = first
    parts: dict[int, list[int]] = {}
    for number in range(count):
        parts.setdefault(find(number), []).append(number)
    return list(parts.values())


def _shelves(boxes: list[Box], parts: list[list[int]], placed: list[list[Point]]) -> list[Point]:
    """Put the parts side by side, and a new shelf below where a shelf is full."""
    extents = [
        (
            max(x + boxes[number].width for number, (x, _) in zip(members, points, strict=True)),
            max(y + boxes[number].height for number, (_, y) in zip(members, points, strict=True)),
        )
        for members, points in zip(parts, placed, strict=True)
    ]
    area = sum(width * height for width, height in extents)
    limit = max([SHELF_WIDTH, 1.6 * math.sqrt(area), *(width for width, _ in extents)])
    result: list[Point] = [(0.0, 0.0)] * len(boxes)
    x = y = shelf = 0.0
    for members, points, (width, height) in zip(parts, placed, extents, strict=True):
        if x and x + width > limit:
            x, y, shelf = 0.0, y + shelf + 2 * GAP_Y, 0.0
        for number, (left, top) in zip(members, points, strict=True):
            result[number] = (x + left, y + top)
        x, shelf = x + width + GAP_X, max(shelf, height)
    return result
