"""From columns and their order to pixels: nothing overlaps, and wires pass between boxes where they can.

Within a column the best heights for given wishes are an isotonic regression, solved exactly by
pooling adjacent violators. A wire that passes columns is drawn along a lane, so its bends wish to
be level with one another.
"""

from collections.abc import Sequence

from gradstudio.layout.layered.model import Columns, Edge

GAP_X = 70.0
GAP_Y = 40.0
GAP_LANE = 20.0
"""Between a box and a lane: one lane fits between two boxes at no cost."""
GAP_LANES = 7.0
ROUNDS = 4
LANE_WEIGHTS = 0.2, 3.0
"""What the wish of a lane counts while boxes find their places, and at the end."""
CHAIN_WEIGHT = 8.0
"""What the wish of a box in a chain counts against that of one beside it."""
Point = tuple[float, float]


def place_columns(columns: Columns) -> list[Point]:
    """Top left corner of every box (bends left out), pixels; the drawing begins at (0, 0)."""
    left = _column_starts(columns)
    heights = _Heights(columns).settle()
    points = [(left[columns.layer[number]], heights[number]) for number in range(columns.real)]
    top = min((y for _, y in points), default=0.0)
    return [(x, round(y - top, 1)) for x, y in points]


def _column_starts(columns: Columns) -> list[float]:
    """The left edge of each column, and where one more would begin."""
    starts = []
    x = 0.0
    for layer in columns.layers:
        starts.append(x)
        width = max((columns.boxes[number].width for number in layer), default=0.0)
        x += width + (GAP_X if width else 0.0)
    return [*starts, x]


class _Heights:
    """The search for heights.

    Attributes:
        y: top of every box, or where a bend is.
        lanes: by wire that passes columns, the numbers of its bends.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.y = [0.0] * len(columns.boxes)
        self.lanes: dict[Edge, list[int]] = {}
        for number, (edge, _) in enumerate(columns.bends, columns.real):
            self.lanes.setdefault(edge, []).append(number)
        self.before: list[list[Edge]] = [[] for _ in range(columns.real)]
        self.after: list[list[Edge]] = [[] for _ in range(columns.real)]
        for edge in columns.edges:
            self.after[edge.source].append(edge)
            self.before[edge.target].append(edge)

    def settle(self) -> list[float]:
        """The heights after all rounds."""
        columns = range(len(self.columns.layers))
        back = columns[::-1]
        offsets = [self._separations(layer) for layer in self.columns.layers]
        for layer, tops in zip(self.columns.layers, offsets, strict=True):
            for number, offset in zip(layer, tops, strict=True):
                self.y[number] = offset
        for _ in range(ROUNDS):
            for column in columns:
                self._settle(column, offsets[column], LANE_WEIGHTS[0], self.before)
            for column in back:
                self._settle(column, offsets[column], LANE_WEIGHTS[0], self.after)
        for span in (columns, back) * 3:
            for column in span:
                self._settle(column, offsets[column], LANE_WEIGHTS[1], self.before, self.after)
        self._straighten(offsets)
        return self.y

    def _straighten(self, offsets: list[list[float]]) -> None:
        """Chains level, at the height of their first box: rounds only bring it near, which draws a staircase."""
        level = dict[int, float]()
        for number in range(self.columns.real):  # numbers are in program order: a source is before its target
            edge = self._next_in_chain(number)
            if edge is not None:
                level.setdefault(number, self.y[number])
                level[edge.target] = level[number] + edge.start - edge.end
        if not level:
            return
        for layer, tops in zip(self.columns.layers, offsets, strict=True):
            wishes = [level.get(number, self.y[number]) for number in layer]
            weights = [CHAIN_WEIGHT if number in level else 1.0 for number in layer]
            bases = [wish - top for wish, top in zip(wishes, tops, strict=True)]
            for number, base, top in zip(layer, isotonic(bases, weights), tops, strict=True):
                self.y[number] = base + top

    def _next_in_chain(self, number: int) -> Edge | None:
        """The wire to the next column, where it is the only one of both its ends that comes from so near."""
        near = [edge for edge in self.after[number] if self._is_near(edge)]
        if len(near) != 1:
            return None
        return near[0] if sum(map(self._is_near, self.before[near[0].target])) == 1 else None

    def _is_near(self, edge: Edge) -> bool:
        return self.columns.layer[edge.target] - self.columns.layer[edge.source] == 1

    def _settle(self, column: int, offsets: list[float], lane_weight: float, *sides: list[list[Edge]]) -> None:
        """Move a column's boxes to where their wires on the given sides want them."""
        layer = self.columns.layers[column]
        wishes = [
            self._box_wish(number, sides) if number < self.columns.real else (self._bend_wish(number), lane_weight)
            for number in layer
        ]
        bases = [wish - offset for (wish, _), offset in zip(wishes, offsets, strict=True)]
        best = isotonic(bases, [weight for _, weight in wishes])
        for number, base, offset in zip(layer, best, offsets, strict=True):
            self.y[number] = base + offset

    def _box_wish(self, number: int, sides: Sequence[list[list[Edge]]]) -> tuple[float, float]:
        """Where the box would have its wires level, and how much that counts; near ends count more."""
        layer = self.columns.layer
        total = weights = 0.0
        for side in sides:
            for edge in side[number]:
                weight = 1.0 / (layer[edge.target] - layer[edge.source])
                if edge.source == number:
                    total += weight * (self.y[edge.target] + edge.end - edge.start)
                else:
                    total += weight * (self.y[edge.source] + edge.start - edge.end)
                weights += weight
        return (total / weights, weights) if weights else (self.y[number], 0.05)

    def _bend_wish(self, number: int) -> float:
        """Level with the other bends of its wire, and between the two ends."""
        edge, _ = self.columns.bends[number - self.columns.real]
        lane = self.lanes[edge]
        ends = self.y[edge.source] + edge.start + self.y[edge.target] + edge.end
        return (sum(self.y[bend] for bend in lane) / len(lane) + ends / 2) / 2

    def _separations(self, layer: list[int]) -> list[float]:
        """The least distance of each box of a column from the first, top to top."""
        offsets = []
        offset = 0.0
        for index, number in enumerate(layer):
            offsets.append(offset)
            follower = layer[index + 1] if index + 1 < len(layer) else number
            bends = (number >= self.columns.real) + (follower >= self.columns.real)
            offset += self.columns.boxes[number].height + (GAP_Y, GAP_LANE, self._apart(number, follower))[bends]
        return offsets

    def _apart(self, one: int, other: int) -> float:
        """Between two bends: lanes of the same output are one."""
        if min(one, other) < self.columns.real:
            return 0.0
        first, second = (self.columns.bends[number - self.columns.real][0] for number in (one, other))
        return 0.0 if (first.source, first.start) == (second.source, second.start) else GAP_LANES


def isotonic(wishes: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The never falling numbers nearest to the wishes, by weighted least squares."""
    pools: list[tuple[float, float, int]] = []
    for wish, weight in zip(wishes, weights, strict=True):
        mean = wish
        total = weight
        count = 1
        while pools and pools[-1][0] > mean:
            other, other_total, other_count = pools.pop()
            mean = (mean * total + other * other_total) / (total + other_total)
            total = total + other_total
            count = count + other_count
        pools.append((mean, total, count))
    return [mean for mean, _, count in pools for _ in range(count)]
