"""Where boxes, frames and wires of a figure stand, in points: in columns, or rows where it is to be narrow. No Qt."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.layout.layered import arrangement
from gradstudio.layout.layered.coordinates import GAP_X, GAP_Y
from gradstudio.layout.layered.model import Box as Rectangle
from gradstudio.layout.layered.model import Edge
from gradstudio.scene.figure import figure_style as style
from gradstudio.scene.figure.drawing import Formula
from gradstudio.scene.figure.figure_graph import FigureGraph
from gradstudio.scene.figure.figure_wires import turned, wire_paths
from gradstudio.scene.figure.font_widths import formula_width
from gradstudio.scene.figure.formula_writer import FormulaWriter
from gradstudio.scene.figure.snapshot import FlowKey, Snapshot
from gradstudio.scene.figure.wire_path import Path, number_room
from gradstudio.scene.geometry import Box, union

WIDEST: Final = 250.0
"""A formula that is wider is written with its inner parts as dots."""
BETWEEN: Final = 30.0
"""From a column to the next, where no number stands on the wires."""
BESIDE_NUMBER: Final = 22.0
ROW_GAP: Final = 13.0
LEAST_WIDTH: Final = 420.0
NARROWEST: Final = 24.0
PAGE: Final = 505.0
"""Width of the text on a page: a figure that would be wider goes from above downwards."""
BELOW: Final = 28.0
"""From a row to the next, where no number stands on the wires."""
DEPTHS: Final = (12, 3, 2, 1)


class Label(NamedTuple):
    """What stands in a box: its formula and the words below it that never change."""

    formula: Formula
    detail: Formula


class Layout(NamedTuple):
    """A figure with everything in its place.

    Attributes:
        lines: how many lines of a run each box has room for: values, then gradients.
        titles: of frames.
        rooms: of the numbers on wires.
    """

    figure: FigureGraph
    labels: dict[ItemId, Label]
    boxes: dict[ItemId, Box]
    frames: dict[ItemId, Box]
    titles: dict[ItemId, Formula]
    paths: dict[FlowKey, Path]
    rooms: dict[FlowKey, Box]
    lines: dict[ItemId, tuple[bool, bool]]
    size: tuple[float, float]


def lay_out(
    figure: FigureGraph, snapshots: Sequence[Snapshot], writer: FormulaWriter, widest: float | None = None
) -> Layout:
    """Places in which all that is said at any of the moments has room.

    Args:
        widest: a figure that would be wider than so many points stands in rows, if that is narrower; None: any width.
    """
    room = WIDEST if widest is None else min(WIDEST, widest - 2 * (style.MARGIN + style.PADDING_X))
    labels = {item: Label(_formula(writer, item, room), writer.detail(item)) for item in figure.boxes}
    lines = {item: _lines(item, snapshots) for item in figure.boxes}
    sizes = {item: _size(item, labels[item], lines[item], snapshots) for item in figure.boxes}
    layout = _placed(figure, snapshots, labels, lines, sizes, is_down=False)
    if widest is None or layout.size[0] <= widest:
        return layout
    stacked = _placed(figure, snapshots, labels, lines, sizes, is_down=True)
    return stacked if stacked.size[0] < layout.size[0] else layout


def _placed(
    figure: FigureGraph, snapshots: Sequence[Snapshot], labels: dict[ItemId, Label],
    lines: dict[ItemId, tuple[bool, bool]], sizes: Mapping[ItemId, tuple[float, float]], *, is_down: bool,
) -> Layout:  # fmt: skip
    """The figure from left to right, or from above downwards."""
    titles = {block: _title(figure, block) for block in figure.blocks}
    gap = _gap(snapshots, is_down=is_down)
    arranger = _Arranger(figure, sizes, titles, gap, is_down=is_down)
    extent = arranger.arrange(ROOT)
    boxes: dict[ItemId, Box] = {}
    frames: dict[ItemId, Box] = {}
    for item, box in arranger.absolute(ROOT, style.MARGIN, style.MARGIN):
        (frames if item in figure.graph.blocks else boxes)[item] = box
    paths = wire_paths(figure, boxes, frames, titles, is_down=is_down)
    whole = _extent(boxes, frames, paths, snapshots)
    if whole is not None and min(whole.x, whole.y) < style.MARGIN:  # a wire or number that stands beside everything
        right, down = max(0.0, style.MARGIN - whole.x), max(0.0, style.MARGIN - whole.y)
        boxes = {item: box.moved(right, down) for item, box in boxes.items()}
        frames = {item: box.moved(right, down) for item, box in frames.items()}
        paths = wire_paths(figure, boxes, frames, titles, is_down=is_down)
        whole = whole.moved(right, down)
    width = max(extent[0] + 2 * style.MARGIN, whole.right + style.MARGIN if whole else 0.0)
    height = max(extent[1] + 2 * style.MARGIN, whole.bottom + style.MARGIN if whole else 0.0)
    rooms = _rooms(paths, boxes, snapshots)
    return Layout(figure, labels, boxes, frames, titles, paths, rooms, lines, (width, height))


def _extent(
    boxes: Mapping[ItemId, Box], frames: Mapping[ItemId, Box], paths: Mapping[FlowKey, Path],
    snapshots: Sequence[Snapshot],
) -> Box | None:  # fmt: skip
    rooms = _rooms(paths, boxes, snapshots)
    return union([*boxes.values(), *frames.values(), *(path.bounds for path in paths.values()), *rooms.values()])


class _Arranger:
    """Places within bodies, inner ones first."""

    def __init__(
        self,
        figure: FigureGraph,
        sizes: Mapping[ItemId, tuple[float, float]],
        titles: Mapping[ItemId, Formula],
        gap: float,
        *,
        is_down: bool,
    ) -> None:
        self._is_down = is_down
        self._figure, self._sizes, self._titles = figure, dict(sizes), titles
        self._inner: dict[BodyId, list[tuple[ItemId, float, float]]] = {}
        # The canvas's own arrangement keeps its gaps; boxes are scaled so that these become those of a figure.
        self._scale_x, self._scale_y = GAP_X / gap, GAP_Y / ROW_GAP

    def arrange(self, body: BodyId) -> tuple[float, float]:
        """Width and height of what is in a body."""
        order = self._figure.order.get(body, [])
        for item in order:
            if item in self._figure.graph.blocks:
                width, height = self.arrange(BodyId(item))
                title = formula_width(self._titles[item], style.SMALL) + 2 * style.FRAME_PADDING
                across = max(width + 2 * style.FRAME_PADDING, title)
                self._sizes[item] = (across, height + 2 * style.FRAME_PADDING + style.FRAME_TITLE)
        number = {item: k for k, item in enumerate(order)}
        extents = [turned(self._sizes[item]) if self._is_down else self._sizes[item] for item in order]
        rectangles = [Rectangle(along * self._scale_x, across * self._scale_y) for along, across in extents]
        edges = self._edges(body, number)
        points = arrangement.arrange_boxes(rectangles, edges, least=LEAST_WIDTH * self._scale_x)
        places = [(x / self._scale_x, y / self._scale_y) for x, y in points]
        if self._is_down:
            places = [turned(place) for place in places]
        left, top = min((x for x, _ in places), default=0.0), min((y for _, y in places), default=0.0)
        self._inner[body] = [(item, x - left, y - top) for item, (x, y) in zip(order, places, strict=True)]
        right = max((x + self._sizes[item][0] for item, x, _ in self._inner[body]), default=0.0)
        return right, max((y + self._sizes[item][1] for item, _, y in self._inner[body]), default=0.0)

    def absolute(self, body: BodyId, x: float, y: float) -> list[tuple[ItemId, Box]]:
        """Every box and frame in a body whose corner is there."""
        found: list[tuple[ItemId, Box]] = []
        for item, left, top in self._inner[body]:
            found.append((item, Box(x + left, y + top, *self._sizes[item])))
            if item in self._figure.graph.blocks:
                inner_x = x + left + style.FRAME_PADDING
                found += self.absolute(BodyId(item), inner_x, y + top + style.FRAME_PADDING + style.FRAME_TITLE)
        return found

    def _edges(self, body: BodyId, number: Mapping[ItemId, int]) -> list[Edge]:
        found = set()
        pairs = [(flow.source, flow.target) for flow in self._figure.flows] + self._figure.turns
        for pair in pairs:
            source, target = (self._figure.around(item, body) for item in pair)
            if source is not None and target is not None and number[source] < number[target]:
                found.add((number[source], number[target]))
        middle = [self._sizes[item][0 if self._is_down else 1] * self._scale_y / 2 for item in number]
        return [Edge(one, other, middle[one], middle[other]) for one, other in sorted(found)]


def _formula(writer: FormulaWriter, item: ItemId, room: float) -> Formula:
    written: Formula = ()
    for depth in DEPTHS:
        written = writer.statement(item, depth)
        if formula_width(written, style.TEXT) <= room:
            break
    return written


def _lines(item: ItemId, snapshots: Sequence[Snapshot]) -> tuple[bool, bool]:
    """Whether a box has a line for values, and one for gradients, at any moment."""
    return any(one.values.get(item) for one in snapshots), any(one.gradients.get(item) for one in snapshots)


def _size(item: ItemId, label: Label, lines: tuple[bool, bool], snapshots: Sequence[Snapshot]) -> tuple[float, float]:
    small = [label.detail, *(words for one in snapshots for words in (one.values.get(item), one.gradients.get(item)))]
    widest = max([formula_width(words, style.SMALL) for words in small if words], default=0.0)
    width = max(formula_width(label.formula, style.TEXT), widest, NARROWEST - 2 * style.PADDING_X)
    height = style.LINE_HEIGHT + style.SMALL_LINE * (bool(label.detail) + sum(lines))
    return width + 2 * style.PADDING_X, height + 2 * style.PADDING_Y


def _gap(snapshots: Sequence[Snapshot], *, is_down: bool) -> float:
    """Between columns: room for the widest number on a wire; between rows for its height."""
    if is_down:
        return BELOW + style.SMALL_LINE * any(words for one in snapshots for words in one.sent.values())
    widths = [formula_width(words, style.SMALL) for one in snapshots for words in one.sent.values()]
    return max([BETWEEN, *(width + BESIDE_NUMBER for width in widths)])


def _title(figure: FigureGraph, block: ItemId) -> Formula:
    from gradstudio.scene.figure.frame_title import frame_title

    return frame_title(figure.graph, block)


def _rooms(
    paths: Mapping[FlowKey, Path], boxes: Mapping[ItemId, Box], snapshots: Sequence[Snapshot]
) -> dict[FlowKey, Box]:
    """Where the number of each flow stands that has one at any moment."""
    found: dict[FlowKey, Box] = {}
    for key, path in paths.items():
        widest = max((formula_width(one.sent[key], style.SMALL) for one in snapshots if one.sent.get(key)), default=0.0)
        if widest:
            others = [other for other in paths.values() if other is not path]
            found[key] = number_room(path, widest, [*boxes.values(), *found.values()], others)
    return found
