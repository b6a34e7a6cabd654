"""What the layered layout works on: boxes in columns, joined by edges from left to right."""

import msgspec


class Box(msgspec.Struct, frozen=True):
    """A rectangle to place, scene pixels."""

    width: float
    height: float


class Edge(msgspec.Struct, frozen=True):
    """A wire between boxes, by number; `source` < `target`, so numbers are in program order.

    Attributes:
        start, end: where it leaves and arrives, pixels below the top of its box.
    """

    source: int
    target: int
    start: float = 0.0
    end: float = 0.0


class Segment(msgspec.Struct, frozen=True):
    """A piece of an edge between two neighbouring columns; `start` and `end` as of `Edge`."""

    source: int
    target: int
    start: float
    end: float


class Columns:
    """Boxes in columns, with bends standing for edges that pass a column.

    Attributes:
        boxes: the boxes; numbers from `real` on are bends, of no size.
        edges: the wires between boxes.
        bends: edge and column of each bend.
        layer: the column of each.
        layers: the numbers in each column, top to bottom.
        left, right: the segments that arrive at and leave each number.
    """

    def __init__(self, boxes: list[Box], layer: list[int]) -> None:
        """Columns without edges, each in the order of the numbers."""
        self.boxes, self.layer, self.real = list(boxes), list(layer), len(boxes)
        self.layers: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
        for number, column in enumerate(layer):
            self.layers[column].append(number)
        self.edges: list[Edge] = []
        self.bends: list[tuple[Edge, int]] = []
        self.left: list[list[Segment]] = [[] for _ in boxes]
        self.right: list[list[Segment]] = [[] for _ in boxes]

    def add_bend(self, edge: Edge, column: int) -> int:
        """A new bend where an edge passes a column."""
        number = len(self.boxes)
        self.boxes.append(Box(0.0, 0.0))
        self.layer.append(column)
        self.bends.append((edge, column))
        self.layers[column].append(number)
        self.left.append([])
        self.right.append([])
        return number

    def join(self, segment: Segment) -> None:
        """Draw a segment between neighbouring columns."""
        self.right[segment.source].append(segment)
        self.left[segment.target].append(segment)
