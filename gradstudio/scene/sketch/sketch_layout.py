"""Where the boxes and frames of a sketch lie, in points; it flows down, each call of a module in a frame. No Qt.

Within, `along` is the way that values flow and `across` the other: the layered layout and the wires of figures
know a flow to the right, so both axes change places at the end.
"""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final, NamedTuple

from gradstudio.layout.layered import arrangement
from gradstudio.layout.layered.coordinates import GAP_X, GAP_Y
from gradstudio.layout.layered.model import Box as Rectangle
from gradstudio.layout.layered.model import Edge
from gradstudio.protocol.sketch import CallPath, Sketch, SketchEdge
from gradstudio.scene.figure import figure_style as style
from gradstudio.scene.figure.drawing import Point, Segment
from gradstudio.scene.figure.wire_path import Path, wire_path
from gradstudio.scene.geometry import Box

ALONG_GAP: Final = 24.0
ACROSS_GAP: Final = 16.0
LEAST_WIDTH: Final = 400.0
Item = int | CallPath
Size = tuple[float, float]
"""Along and across."""


class Wire(NamedTuple):
    """A wire as a curve goes."""

    edge: SketchEdge
    start: Point
    segments: tuple[Segment, ...]


class SketchLayout(NamedTuple):
    """Boxes by number of their node, frames by path, and wires; in points from the left top."""

    boxes: dict[int, Box]
    frames: dict[CallPath, Box]
    wires: tuple[Wire, ...]
    width: float
    height: float


def lay_out(sketch: Sketch, sizes: Sequence[Size], titles: Mapping[CallPath, float]) -> SketchLayout:
    """Places for boxes of these widths and heights, and for frames whose titles are so wide."""
    arranger = _Arranger(sketch, [(height, width) for width, height in sizes], titles)
    arranger.arrange(())
    placed = dict(arranger.absolute((), style.MARGIN, style.MARGIN))
    wires = _paths(sketch, placed)
    low = min([0.0, *(path.bounds.y - style.MARGIN for _, path in wires)])
    boxes = {item: _turned(box, -low) for item, box in placed.items() if isinstance(item, int)}
    frames = {item: _turned(box, -low) for item, box in placed.items() if isinstance(item, tuple)}
    curves = tuple(Wire(edge, *_turned_path(path, -low)) for edge, path in wires)
    across = max([box.bottom for box in placed.values()] + [path.bounds.bottom for _, path in wires], default=0.0)
    along = max([box.right for box in placed.values()], default=0.0)
    return SketchLayout(boxes, frames, curves, across - low + style.MARGIN, along + style.MARGIN)


class _Arranger:
    """Places within frames, inner ones first."""

    def __init__(self, sketch: Sketch, sizes: Sequence[Size], titles: Mapping[CallPath, float]) -> None:
        self._sketch = sketch
        self._sizes: dict[Item, Size] = dict(enumerate(sizes))
        self._titles = titles
        self._inner: dict[CallPath, list[tuple[Item, float, float]]] = {}
        self._along, self._across = GAP_X / ALONG_GAP, GAP_Y / ACROSS_GAP

    def arrange(self, body: CallPath) -> Size:
        """How large what is in a frame is, along and across."""
        order, pairs = self._body(body)
        for item in order:
            if isinstance(item, tuple):
                along, across = self.arrange(item)
                wide = max(across, self._titles[item]) + 2 * style.FRAME_PADDING
                self._sizes[item] = (along + 2 * style.FRAME_PADDING + style.FRAME_TITLE, wide)
        sizes = [self._sizes[item] for item in order]
        rectangles = [Rectangle(along * self._along, across * self._across) for along, across in sizes]
        edges = [Edge(one, other, rectangles[one].height / 2, rectangles[other].height / 2) for one, other in pairs]
        points = arrangement.arrange_boxes(rectangles, edges, least=LEAST_WIDTH)
        places = [(x / self._along, y / self._across) for x, y in points]
        left, top = min((x for x, _ in places), default=0.0), min((y for _, y in places), default=0.0)
        self._inner[body] = [(item, x - left, y - top) for item, (x, y) in zip(order, places, strict=True)]
        along = max((x + self._sizes[item][0] for item, x, _ in self._inner[body]), default=0.0)
        return along, max((y + self._sizes[item][1] for item, _, y in self._inner[body]), default=0.0)

    def absolute(self, body: CallPath, x: float, y: float) -> list[tuple[Item, Box]]:
        """Every box and frame in a frame whose corner is there."""
        found: list[tuple[Item, Box]] = []
        for item, left, top in self._inner[body]:
            found.append((item, Box(x + left, y + top, *self._sizes[item])))
            if isinstance(item, tuple):
                inner_x = x + left + style.FRAME_PADDING + style.FRAME_TITLE
                found += self.absolute(item, inner_x, y + top + style.FRAME_PADDING)
        return found

    def _body(self, body: CallPath) -> tuple[list[Item], list[tuple[int, int]]]:
        """What stands in a frame, in an order in which edges go forward, and those edges by place in it."""
        items: dict[Item, None] = {}
        for number in range(len(self._sketch.nodes)):
            item = self._within(number, body)
            if item is not None:
                items[item] = None
        before: dict[Item, dict[Item, None]] = {item: {} for item in items}
        for edge in self._sketch.edges:
            source, target = self._within(edge.source, body), self._within(edge.target, body)
            if source is not None and target is not None and source != target:
                before[target][source] = None
        try:
            order = list(TopologicalSorter(before).static_order())
        except CycleError:  # a tensor that a module keeps from call to call: the order of the nodes has to do
            order = list(items)
        place = {item: number for number, item in enumerate(order)}
        pairs = [(place[one], place[other]) for other, sources in before.items() for one in sources]
        return order, sorted((one, other) for one, other in pairs if one < other)

    def _within(self, number: int, body: CallPath) -> Item | None:
        """The node itself or the frame around it that stands directly in a frame; None of what stands elsewhere."""
        path = self._sketch.nodes[number].path
        if path[: len(body)] != body:
            return None
        return number if path == body else path[: len(body) + 1]


def _paths(sketch: Sketch, placed: Mapping[Item, Box]) -> list[tuple[SketchEdge, Path]]:
    found = []
    boxes = {item: box for item, box in placed.items() if isinstance(item, int)}
    frames = {item: box for item, box in placed.items() if isinstance(item, tuple)}
    arrivals = _arrivals(sketch, boxes)
    for edge in sketch.edges:
        ends = (edge.source, edge.target)
        paths = [sketch.nodes[end].path for end in ends]
        in_the_way = [box for item, box in boxes.items() if item not in ends]
        in_the_way += [box for frame, box in frames.items() if all(path[: len(frame)] != frame for path in paths)]
        source = boxes[edge.source]
        found.append((edge, wire_path((source.right, source.y + source.height / 2), arrivals[edge], in_the_way)))
    return found


def _arrivals(sketch: Sketch, boxes: Mapping[int, Box]) -> dict[SketchEdge, Point]:
    """Where wires come in: side by side, in the order of what they come from."""
    incoming: dict[int, list[SketchEdge]] = {}
    for edge in sketch.edges:
        incoming.setdefault(edge.target, []).append(edge)
    found = {}
    for target, edges in incoming.items():
        box = boxes[target]
        edges.sort(key=lambda edge: boxes[edge.source].y + boxes[edge.source].height / 2)
        for place, edge in enumerate(edges, 1):
            found[edge] = (box.x, box.y + box.height * place / (len(edges) + 1))
    return found


def _turned(box: Box, aside: float) -> Box:
    return Box(box.y + aside, box.x, box.height, box.width)


def _turned_path(path: Path, aside: float) -> tuple[Point, tuple[Segment, ...]]:
    def turned(point: Point) -> Point:
        return point[1] + aside, point[0]

    return turned(path.start), tuple((turned(one), turned(two), turned(end)) for one, two, end in path.segments)
