"""From columns and their order to pixels: nothing overlaps, and wires pass between boxes where they can.

Within a column the best heights for given wishes are an isotonic regression, solved exactly by
pooling adjacent violators. Wires are drawn as one curve from port to port, so a bend wishes to
be where that curve passes its column.
"""

from collections.abc import Sequence

from gradstudio.layout.model import Columns, Edge

GAP_X = 70.0
GAP_Y = 40.0
GAP_BEND = 24.0
PULL = 180.0
"""How far a drawn wire goes straight on from its port before it turns, at most."""
ROUNDS = 4
BEND_WEIGHT = 40.0
Point = tuple[float, float]


def place_columns(columns: Columns) -> list[Point]:
    """Top left corner of every box (bends left out), pixels; the drawing begins at (0, 0)."""
    left = _column_starts(columns)
    heights = _Heights(columns, left).settle()
    points = [(left[columns.layer[number]], heights[number]) for number in range(columns.real)]
    top = min((y for _, y in points), default=0.0)
    return [(x, round(y - top, 1)) for x, y in points]


def _column_starts(columns: Columns) -> list[float]:
    """The left edge of each column, and where one more would begin."""
    starts, x = [], 0.0
    for layer in columns.layers:
        starts.append(x)
        width = max((columns.boxes[number].width for number in layer), default=0.0)
        x += width + (GAP_X if width else 0.0)
    return [*starts, x]


class _Heights:
    """The search for heights.

    Attributes:
        y: top of every box; of a bend, the top of the band in which its wire passes the column.
        thickness: height of every box, or of that band.
        passes: for each bend, which part of its wire's way up or down is done where the column
            begins and where it ends.
    """

    def __init__(self, columns: Columns, left: list[float]) -> None:
        self.columns = columns
        self.thickness = [box.height for box in columns.boxes]
        self.y = [0.0] * len(columns.boxes)
        self.passes = [self._pass(edge, column, left) for edge, column in columns.bends]
        self.before: list[list[Edge]] = [[] for _ in range(columns.real)]
        self.after: list[list[Edge]] = [[] for _ in range(columns.real)]
        for edge in columns.edges:
            self.after[edge.source].append(edge)
            self.before[edge.target].append(edge)

    def settle(self) -> list[float]:
        """The heights after all rounds."""
        columns = range(len(self.columns.layers))
        back = columns[::-1]
        for layer in self.columns.layers:
            for number, offset in zip(layer, self._separations(layer), strict=True):
                self.y[number] = offset
        for _ in range(ROUNDS):
            for column in columns:
                self._settle(column, 0.5, self.before)
            for column in back:
                self._settle(column, 0.5, self.after)
        for span in (columns, back) * 3:
            for column in span:
                self._settle(column, BEND_WEIGHT, self.before, self.after)
        return self.y

    def _pass(self, edge: Edge, column: int, left: list[float]) -> tuple[float, float]:
        start = left[self.columns.layer[edge.source]] + self.columns.boxes[edge.source].width
        width = left[self.columns.layer[edge.target]] - start
        return curve_height(left[column] - start, width), curve_height(left[column + 1] - GAP_X - start, width)

    def _settle(self, column: int, bend_weight: float, *sides: list[list[Edge]]) -> None:
        """Move a column's boxes to where their wires on the given sides want them."""
        layer = self.columns.layers[column]
        wishes = [
            self._box_wish(number, sides) if number < self.columns.real else (self._bend_wish(number), bend_weight)
            for number in layer
        ]
        offsets = self._separations(layer)
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
        """Where the band of the bend's wire begins; its thickness is noted on the way."""
        edge, _ = self.columns.bends[number - self.columns.real]
        first, last = self.passes[number - self.columns.real]
        start = self.y[edge.source] + edge.start
        way = self.y[edge.target] + edge.end - start
        self.thickness[number] = abs(way) * (last - first)
        return start + min(way * first, way * last)

    def _separations(self, layer: list[int]) -> list[float]:
        """The least distance of each box of a column from the first, top to top."""
        offsets, offset = [], 0.0
        for index, number in enumerate(layer):
            offsets.append(offset)
            follower = layer[index + 1] if index + 1 < len(layer) else number
            both = (number >= self.columns.real) + (follower >= self.columns.real)
            offset += self.thickness[number] * (both < 2) + (GAP_Y, GAP_BEND, 0.0)[both]
        return offsets


def curve_height(x: float, width: float) -> float:
    """Which part of its way up or down a wire of that width has gone at x: 0 at its start, 1 at its end.

    The wire is a cubic Bézier curve that leaves and arrives level.
    """
    if width <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    pull, low, high = min(PULL, width / 2), 0.0, 1.0
    for _ in range(12):
        t = (low + high) / 2
        at = 3 * (1 - t) ** 2 * t * pull + 3 * (1 - t) * t**2 * (width - pull) + t**3 * width
        low, high = (t, high) if at < x else (low, t)
    return low * low * (3 - 2 * low)


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
