"""Boxes and edges → places: each connected part by itself in columns, the parts as words on a page."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from gradstudio.layout.layered.column_order import order_columns
from gradstudio.layout.layered.components import connected_components
from gradstudio.layout.layered.coordinates import Point, place_columns
from gradstudio.layout.layered.fan_out import spread_fan_out
from gradstudio.layout.layered.layer_assignment import assign_layers, make_columns
from gradstudio.layout.layered.model import Box, Edge
from gradstudio.layout.layered.packing import LEAST_WIDTH, pack

NO_NUMBERS: AbstractSet[int] = frozenset()


def arrange_boxes(
    boxes: Sequence[Box],
    edges: Sequence[Edge],
    after: Sequence[tuple[int, int]] = (),
    first: AbstractSet[int] = NO_NUMBERS,
    last: AbstractSet[int] = NO_NUMBERS,
    light: AbstractSet[int] = NO_NUMBERS,
    least: float = LEAST_WIDTH,
) -> list[Point]:
    """Top left corners of the boxes, pixels; nothing overlaps, every edge goes from left to right.

    Args:
        boxes: in program order.
        edges: wires between them.
        after, first, last, light: as of `layer_assignment.assign_layers`.
        least: as of `packing.pack`.
    """
    parts = connected_components(len(boxes), [*((edge.source, edge.target) for edge in edges), *after])
    parts.sort(key=lambda members: min((number for number in members if number not in first), default=members[0]))
    home = {number: (part, index) for part, members in enumerate(parts) for index, number in enumerate(members)}
    inner_edges: list[list[Edge]] = [[] for _ in parts]
    inner_after: list[list[tuple[int, int]]] = [[] for _ in parts]
    for edge in edges:
        part, source = home[edge.source]
        inner_edges[part].append(Edge(source, home[edge.target][1], edge.start, edge.end))
    for one, other in after:
        inner_after[home[one][0]].append((home[one][1], home[other][1]))
    placed = []
    for part, members in enumerate(parts):
        ends = [{home[number][1] for number in members if number in group} for group in (first, last, light)]
        layer = assign_layers(len(members), inner_edges[part], inner_after[part], *ends)
        pairs = [*((edge.source, edge.target) for edge in inner_edges[part]), *inner_after[part]]
        layer, moved = spread_fan_out([boxes[number] for number in members], pairs, layer, *ends[:2])
        columns = make_columns([boxes[number] for number in members], inner_edges[part], layer, moved)
        order_columns(columns)
        placed.append(place_columns(columns))
    return _shelves(boxes, parts, placed, least)


def _shelves(boxes: Sequence[Box], parts: list[list[int]], placed: list[list[Point]], least: float) -> list[Point]:
    """The parts beside and below one another."""
    extents = list[Point]()
    for members, points in zip(parts, placed, strict=True):
        right = max(x + boxes[number].width for number, (x, _) in zip(members, points, strict=True))
        bottom = max(y + boxes[number].height for number, (_, y) in zip(members, points, strict=True))
        extents.append((right, bottom))
    result: list[Point] = [(0.0, 0.0)] * len(boxes)
    for members, points, (x, y) in zip(parts, placed, pack(extents, least), strict=True):
        for number, (left, top) in zip(members, points, strict=True):
            result[number] = (x + left, y + top)
    return result
