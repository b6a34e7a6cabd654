"""Columns: every box right of what it takes from, and what takes from nothing close to its user.

Longest path (Sugiyama, Tagawa, Toda 1981), then boxes with more users than sources move right.
"""

from collections.abc import Sequence

from gradstudio.layout.model import Box, Columns, Edge, Segment

PULLS = 3


def assign_layers(count: int, edges: Sequence[Edge], after: Sequence[tuple[int, int]] = ()) -> list[int]:
    """The column of each of `count` boxes.

    Args:
        count: number of boxes.
        edges: wires; each goes from a smaller to a larger number.
        after: pairs that also stand left to right, though no wire joins them.
    """
    successors: list[list[int]] = [[] for _ in range(count)]
    sources = [0] * count
    for source, target in [*((edge.source, edge.target) for edge in edges), *after]:
        successors[source].append(target)
        sources[target] += 1
    layer = [0] * count
    for number in range(count):
        for target in successors[number]:
            layer[target] = max(layer[target], layer[number] + 1)
    for _ in range(PULLS):
        for number in reversed(range(count)):
            if len(successors[number]) > sources[number]:
                layer[number] = min(layer[target] for target in successors[number]) - 1
    first = min(layer, default=0)
    return [column - first for column in layer]


def make_columns(boxes: list[Box], edges: Sequence[Edge], layer: list[int]) -> Columns:
    """Boxes in their columns; edges that pass columns get bends, shared by those of one output."""
    columns = Columns(boxes, layer)
    bends: dict[tuple[int, float, int], int] = {}
    for edge in edges:
        source, start = edge.source, edge.start
        for column in range(layer[edge.source] + 1, layer[edge.target]):
            key = (edge.source, edge.start, column)
            if key not in bends:
                bends[key] = columns.add_bend(column)
                columns.join(Segment(source, bends[key], start, 0.0))
            source, start = bends[key], 0.0
        columns.join(Segment(source, edge.target, start, edge.end))
    return columns
