"""Boxes that are read in their order, as the cells of a notebook: down a column, then on in the next."""

import math
from collections.abc import Sequence

from gradstudio.layout.layered.column_order import order_columns
from gradstudio.layout.layered.coordinates import GAP_X, GAP_Y, Point, place_columns
from gradstudio.layout.layered.layer_assignment import make_columns
from gradstudio.layout.layered.model import Box, Columns, Edge
from gradstudio.layout.layered.packing import ASPECT


def arrange_in_order(boxes: Sequence[Box], edges: Sequence[Edge], after: Sequence[tuple[int, int]]) -> list[Point]:
    """Top left corners, pixels; none stands left of an earlier one, or above one in its column; no wire runs back.

    Args:
        boxes: in their order.
        edges: wires between them.
        after: pairs that also stand left to right, though no wire joins them.
    """
    pairs = [*((edge.source, edge.target) for edge in edges), *after]
    columns = make_columns(list(boxes), edges, _assign_columns(boxes, pairs))
    order_columns(columns)
    for layer in columns.layers:
        _sort_boxes(columns, layer)
    return place_columns(columns)


def _assign_columns(boxes: Sequence[Box], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The column of each: that of the one before, unless it is full or what the box takes from stands there."""
    users: list[list[int]] = [[] for _ in boxes]
    for source, target in pairs:
        users[source].append(target)
    area = sum((box.width + GAP_X) * (box.height + GAP_Y) for box in boxes)
    full = math.sqrt(area / ASPECT)
    least = [0] * len(boxes)
    layer: list[int] = []
    filled = 0.0
    for number, box in enumerate(boxes):
        before = layer[-1] if layer else 0
        column = max(before, least[number])
        if column == before and filled and filled + box.height > full:
            column += 1
        filled = box.height + GAP_Y + (filled if column == before else 0.0)
        layer.append(column)
        for target in users[number]:
            least[target] = max(least[target], column + 1)
    return layer


def _sort_boxes(columns: Columns, layer: list[int]) -> None:
    """Put the boxes of a column into their order; what passes between them stays where it does."""
    boxes = iter(sorted(number for number in layer if number < columns.real))
    layer[:] = [next(boxes) if number < columns.real else number for number in layer]
