"""From columns and their order to pixels: nothing overlaps, wires are as straight as that allows.

Within a column the best heights for given wishes are an isotonic regression, solved exactly by
pooling adjacent violators.
"""

from collections.abc import Sequence

from gradstudio.layout.model import Columns, Segment

GAP_X = 70.0
GAP_Y = 40.0
GAP_BEND = 18.0
ROUNDS = 4
Point = tuple[float, float]


def place_columns(columns: Columns) -> list[Point]:
    """Top left corner of every box (bends left out), pixels; the drawing begins at (0, 0)."""
    heights = _heights(columns)
    left = _column_starts(columns)
    points = [(left[columns.layer[number]], heights[number]) for number in range(columns.real)]
    top = min((y for _, y in points), default=0.0)
    return [(x, round(y - top, 1)) for x, y in points]


def _column_starts(columns: Columns) -> list[float]:
    starts, x = [], 0.0
    for layer in columns.layers:
        starts.append(x)
        x += max((columns.boxes[number].width for number in layer), default=0.0) + GAP_X
    return starts


def _heights(columns: Columns) -> list[float]:
    y = [0.0] * len(columns.boxes)
    for layer in columns.layers:
        for number, offset in zip(layer, _separations(columns, layer), strict=True):
            y[number] = offset
    forward, back = range(len(columns.layers)), range(len(columns.layers) - 1, -1, -1)
    for _ in range(ROUNDS):
        for column in forward:
            _settle(columns, y, column, (columns.left,))
        for column in back:
            _settle(columns, y, column, (columns.right,))
    for span in (forward, back, forward, back):
        for column in span:
            _settle(columns, y, column, (columns.left, columns.right))
    return y


def _settle(columns: Columns, y: list[float], column: int, sides: Sequence[list[list[Segment]]]) -> None:
    """Move a column's boxes to where their wires on the given sides want them."""
    layer = columns.layers[column]
    wishes, weights = [], []
    for number in layer:
        wish, weight = _wish(columns, y, number, [one for side in sides for one in side[number]])
        wishes.append(wish)
        weights.append(weight)
    offsets = _separations(columns, layer)
    best = isotonic([wish - offset for wish, offset in zip(wishes, offsets, strict=True)], weights)
    for number, base, offset in zip(layer, best, offsets, strict=True):
        y[number] = base + offset


def _wish(columns: Columns, y: list[float], number: int, segments: list[Segment]) -> tuple[float, float]:
    """Where the box would have its wires straight, and how much that counts."""
    total = weights = 0.0
    for one in segments:
        bends = (one.source >= columns.real) + (one.target >= columns.real)
        weight = (1.0, 2.0, 8.0)[bends]
        if one.source == number:
            total += weight * (y[one.target] + one.end - one.start)
        else:
            total += weight * (y[one.source] + one.start - one.end)
        weights += weight
    return (total / weights, weights) if weights else (y[number], 0.05)


def _separations(columns: Columns, layer: list[int]) -> list[float]:
    """The least distance of each box of a column from the first, top to top."""
    offsets, offset = [], 0.0
    for index, number in enumerate(layer):
        offsets.append(offset)
        follower = layer[index + 1] if index + 1 < len(layer) else number
        bend = number >= columns.real or follower >= columns.real
        offset += columns.boxes[number].height + (GAP_BEND if bend else GAP_Y)
    return offsets


def isotonic(wishes: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The never falling numbers nearest to the wishes, by weighted least squares."""
    pools: list[tuple[float, float, int]] = []
    for wish, weight in zip(wishes, weights, strict=True):
        mean, total, count = wish, weight, 1
        while pools and pools[-1][0] > mean:
            other, other_total, other_count = pools.pop()
            mean = (mean * total + other * other_total) / (total + other_total)
            total, count = total + other_total, count + other_count
        pools.append((mean, total, count))
    return [mean for mean, _, count in pools for _ in range(count)]
