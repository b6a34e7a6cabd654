"""The order within columns: few crossings, ports in their order.

Barycentres in sweeps to and fro from several first orders, the best kept, then swaps of
neighbours (Sugiyama, Tagawa, Toda 1981; Gansner et al. 1993).
"""

from bisect import bisect_right, insort

from gradstudio.layout.layered.model import Columns, Segment

WORK = 60_000
"""Boxes and segments looked at for one first order; larger drawings get fewer sweeps."""
LARGE = 7_000
"""From this size on one first order has to do."""
PATIENCE = 4
Layers = list[list[int]]


def order_columns(columns: Columns) -> None:
    """Put the boxes of each column into an order with few crossings."""
    size = len(columns.boxes) + sum(map(len, columns.right))
    sweeps = max(4, min(24, WORK // max(size, 1)))
    best = columns.layers
    fewest = crossings(columns, columns.layers)
    firsts = [_from_the_end(columns), _from_the_start(columns), [list(layer) for layer in columns.layers]]
    for first in firsts if size < LARGE else firsts[:1]:
        layers, count = _sweep(columns, first, sweeps)
        if _swap(columns, layers, max(2, sweeps // 3)):
            count = crossings(columns, layers)
        if count < fewest:
            best = layers
            fewest = count
        if fewest == 0:
            break
    columns.layers = best


def crossings(columns: Columns, layers: Layers) -> int:
    """How many pairs of segments cross."""
    total = 0
    for column, layer in enumerate(layers[:-1]):
        place = {number: index for index, number in enumerate(layers[column + 1])}
        ends: list[tuple[float, float]] = []
        for number in layer:
            for segment in sorted(columns.right[number], key=lambda one: (one.start, place[one.target], one.end)):
                end = (place[segment.target], segment.end)
                total += len(ends) - bisect_right(ends, end)
                insort(ends, end)
    return total


def _sweep(columns: Columns, layers: Layers, sweeps: int) -> tuple[Layers, int]:
    best = [list(layer) for layer in layers]
    fewest = crossings(columns, layers)
    tired = 0
    for turn in range(sweeps):
        forward = turn % 2 == 0
        span = range(1, len(layers)) if forward else range(len(layers) - 2, -1, -1)
        for column in span:
            neighbour = layers[column - 1 if forward else column + 1]
            layers[column] = _sorted_layer(columns, layers[column], neighbour, forward)
        count = crossings(columns, layers)
        if count < fewest:
            best = [list(layer) for layer in layers]
            fewest = count
            tired = 0
        else:
            tired += 1
        if fewest == 0 or tired >= PATIENCE:
            break
    return best, fewest


def _sorted_layer(columns: Columns, layer: list[int], neighbour: list[int], forward: bool) -> list[int]:
    """The column by the mean place of its neighbours' ports; what has none there stays where it is."""
    place = {number: index for index, number in enumerate(neighbour)}
    keys: dict[int, float] = {}
    for number in layer:
        segments = columns.left[number] if forward else columns.right[number]
        if segments:
            keys[number] = sum(_port_place(columns, place, one, forward) for one in segments) / len(segments)
    moving = iter(sorted(keys, key=keys.__getitem__))
    return [next(moving) if number in keys else number for number in layer]


def _port_place(columns: Columns, place: dict[int, int], segment: Segment, forward: bool) -> float:
    number, offset = (segment.source, segment.start) if forward else (segment.target, segment.end)
    return place[number] + offset / (columns.boxes[number].height + 1.0)


def _swap(columns: Columns, layers: Layers, rounds: int) -> bool:
    """Swap neighbours in a column while that takes crossings away; whether any was."""
    changed_ever = False
    for _ in range(rounds):
        changed = False
        for column in range(len(layers)):
            changed |= _swap_layer(columns, layers, column)
        changed_ever |= changed
        if not changed:
            break
    return changed_ever


def _swap_layer(columns: Columns, layers: Layers, column: int) -> bool:
    layer = layers[column]
    changed = False
    before = {n: i for i, n in enumerate(layers[column - 1])} if column else {}
    after = {n: i for i, n in enumerate(layers[column + 1])} if column + 1 < len(layers) else {}
    lefts = {n: sorted((before[one.source], one.start) for one in columns.left[n]) for n in layer}
    rights = {n: sorted((after[one.target], one.end) for one in columns.right[n]) for n in layer}
    for index in range(len(layer) - 1):
        upper = layer[index]
        lower = layer[index + 1]
        now = _inversions(lefts[upper], lefts[lower]) + _inversions(rights[upper], rights[lower])
        swapped = _inversions(lefts[lower], lefts[upper]) + _inversions(rights[lower], rights[upper])
        if swapped < now:
            layer[index], layer[index + 1] = lower, upper
            changed = True
    return changed


def _inversions(upper: list[tuple[int, float]], lower: list[tuple[int, float]]) -> int:
    """Crossings of the segments of two boxes when `upper` stands above `lower`; both are sorted."""
    if not upper or not lower or upper[-1] <= lower[0]:
        return 0
    return sum(len(upper) - bisect_right(upper, end) for end in lower)


def _from_the_end(columns: Columns) -> Layers:
    """Columns in the order in which a walk from the last results back through their inputs meets them."""
    ends = [number for number in range(len(columns.boxes)) if not columns.right[number]]
    return _walk(columns, ends, backward=True)


def _from_the_start(columns: Columns) -> Layers:
    """Columns in the order in which a walk from the first boxes on through their users meets them."""
    starts = [number for number in range(len(columns.boxes)) if not columns.left[number]]
    return _walk(columns, starts, backward=False)


def _walk(columns: Columns, starts: list[int], *, backward: bool) -> Layers:
    layers: Layers = [[] for _ in columns.layers]
    seen: set[int] = set()
    stack = sorted(starts, reverse=True)
    while stack:
        number = stack.pop()
        if number in seen:
            continue
        seen.add(number)
        layers[columns.layer[number]].append(number)
        if backward:
            inputs = sorted(columns.left[number], key=lambda one: one.end, reverse=True)
            stack.extend(one.source for one in inputs)
        else:
            users = sorted(columns.right[number], key=lambda one: (one.start, one.target), reverse=True)
            stack.extend(one.target for one in users)
    return layers
