"""Columns: every box right of what it takes from, and what takes from nothing close to its user.

Longest path (Sugiyama, Tagawa, Toda 1981), then boxes with more users than
sources move right, and so does what is made for one user only, or from numbers only.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from gradstudio.layout.layered.model import Box, Columns, Edge, Segment

PULLS = 3
MOST_BENDS = 6_000
"""Wires beyond them, the longest, have no say in the order of boxes."""


def assign_layers(
    count: int,
    edges: Sequence[Edge],
    after: Sequence[tuple[int, int]] = (),
    first: AbstractSet[int] = frozenset(),
    last: AbstractSet[int] = frozenset(),
    light: AbstractSet[int] = frozenset(),
) -> list[int]:
    """The column of each of `count` boxes.

    Args:
        count: number of boxes.
        edges: wires; each goes from a smaller to a larger number.
        after: pairs that also stand left to right, though no wire joins them.
        first: boxes without sources that stay in the first column.
        last: boxes without users that stand right of all others.
        light: boxes that stand left of their first user, whatever they take.
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
    free = _free(count, successors, [*((edge.source, edge.target) for edge in edges), *after])
    for _ in range(PULLS):
        for number in reversed(range(count)):
            pulled = len(successors[number]) > sources[number] or (
                successors[number] and (free[number] or number in light)
            )
            if pulled and number not in first:
                layer[number] = min(layer[target] for target in successors[number]) - 1
    start = min(layer, default=0)
    end = max((layer[number] for number in range(count) if number not in last), default=0)
    return [(end + 1 if number in last else layer[number]) - start for number in range(count)]


def _free(count: int, successors: list[list[int]], pairs: Sequence[tuple[int, int]]) -> list[bool]:
    """Which boxes take only from boxes that nothing else uses, back to those that take from nothing."""
    free = [True] * count
    for source, target in sorted(pairs, key=lambda pair: pair[1]):
        free[target] = free[target] and free[source] and len(successors[source]) == 1
    return free


def make_columns(
    boxes: list[Box], edges: Sequence[Edge], layer: list[int], moved: AbstractSet[int] = frozenset()
) -> Columns:
    """Boxes in their columns; edges that pass columns get bends, the shortest first while there are few enough.

    Those that lead to boxes that were `moved` have no say in any order.
    """
    columns = Columns(boxes, layer)
    columns.edges = list(edges)
    left = MOST_BENDS
    for edge in sorted(edges, key=lambda one: layer[one.target] - layer[one.source]):
        if edge.target in moved and edge.source not in moved:
            continue
        left -= layer[edge.target] - layer[edge.source] - 1
        if left < 0:
            break
        source = edge.source
        start = edge.start
        for column in range(layer[edge.source] + 1, layer[edge.target]):
            bend = columns.add_bend(edge, column)
            columns.join(Segment(source, bend, start, 0.0))
            source = bend
            start = 0.0
        columns.join(Segment(source, edge.target, start, edge.end))
    return columns
