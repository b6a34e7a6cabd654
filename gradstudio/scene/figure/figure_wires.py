"""The ways of a figure's wires between boxes in their places: where each arrives, and around what it goes. No Qt."""

from collections.abc import Mapping
from typing import Final

from gradstudio.graph.model import BodyId, ItemId
from gradstudio.layout.layered.coordinates import isotonic
from gradstudio.scene.figure import figure_style as style
from gradstudio.scene.figure.drawing import Formula
from gradstudio.scene.figure.figure_graph import FigureGraph
from gradstudio.scene.figure.font_widths import formula_width
from gradstudio.scene.figure.snapshot import FlowKey
from gradstudio.scene.figure.wire_path import Lane, Path, wire_path
from gradstudio.scene.geometry import Box

LEVEL: Final = 7.0
"""A wire that is so little out of level is drawn level."""
LEVEL_WEIGHT: Final = 8.0
"""What the wish of a wire that can be level counts against that of one that comes from beside its box."""


def turned(pair: tuple[float, float]) -> tuple[float, float]:
    """Down for right, and right for down."""
    return pair[1], pair[0]


def wire_paths(
    figure: FigureGraph,
    boxes: Mapping[ItemId, Box],
    frames: Mapping[ItemId, Box],
    titles: Mapping[ItemId, Formula],
    *,
    is_down: bool,
) -> dict[FlowKey, Path]:
    """The ways of all flows; those of a figure in rows are found with its axes exchanged."""
    heads = [
        Box(box.x + style.FRAME_PADDING, box.y + 3.0, formula_width(titles[block], style.SMALL), style.FRAME_TITLE)
        for block, box in frames.items()
    ]
    if not is_down:
        return _level_paths(figure, boxes, frames, heads)
    turned = [{item: _turned_box(box) for item, box in some.items()} for some in (boxes, frames)]
    paths = _level_paths(figure, turned[0], turned[1], [_turned_box(head) for head in heads])
    return {key: _turned_path(path) for key, path in paths.items()}


def _level_paths(
    figure: FigureGraph, boxes: Mapping[ItemId, Box], frames: Mapping[ItemId, Box], heads: list[Box]
) -> dict[FlowKey, Path]:
    """Ways from left to right, twice: the first tell from which side each wire comes, so in what order they arrive."""
    heights = {(flow.source, flow.target): boxes[flow.source].center[1] for flow in figure.flows}
    ends = _ends(figure, boxes, heights)
    paths = _routes(figure, boxes, frames, heads, ends)
    heights.update({key: path.lane.height for key, path in paths.items() if path.lane is not None})
    better = _ends(figure, boxes, heights)
    return paths if better == ends else _routes(figure, boxes, frames, heads, better)


def _routes(
    figure: FigureGraph, boxes: Mapping[ItemId, Box], frames: Mapping[ItemId, Box], heads: list[Box],
    ends: Mapping[FlowKey, tuple[float, float]],
) -> dict[FlowKey, Path]:  # fmt: skip
    found: dict[FlowKey, Path] = {}
    lanes: dict[ItemId, list[Lane]] = {}
    for key, end in ends.items():
        source = boxes[key[0]]
        others = [box for item, box in boxes.items() if item not in key]
        # A frame that holds neither end is gone around, one that holds one of them is crossed.
        others += [box for block, box in frames.items() if not any(_holds(figure, block, item) for item in key)]
        taken = [lane for item, some in lanes.items() if item != key[0] for lane in some]
        found[key] = wire_path((source.right, source.center[1]), end, others + heads, taken)
        if (lane := found[key].lane) is not None:
            lanes.setdefault(key[0], []).append(lane)
    return found


def _ends(
    figure: FigureGraph, boxes: Mapping[ItemId, Box], heights: Mapping[FlowKey, float]
) -> dict[FlowKey, tuple[float, float]]:
    """Where each flow arrives: level where it can, else spread over the side of its box, in the order they come."""
    into: dict[ItemId, list[FlowKey]] = {}
    for flow in figure.flows:
        into.setdefault(flow.target, []).append((flow.source, flow.target))
    ends: dict[FlowKey, tuple[float, float]] = {}
    for target, keys in into.items():
        keys.sort(key=lambda key: heights[key])
        places = _places(boxes[target], [heights[key] for key in keys])
        ends.update({key: (boxes[target].x, place) for key, place in zip(keys, places, strict=True)})
    return ends


def _places(box: Box, heights: list[float]) -> list[float]:
    """Heights on a box's side for wires from these, in order."""
    apart = box.height / (len(heights) + 1)
    if len(heights) == 1:
        return [heights[0] if abs(heights[0] - box.center[1]) < LEVEL else box.center[1]]
    least = apart / 2
    wishes, weights = list[float](), list[float]()
    for place, height in enumerate(heights):
        is_level = box.y + least * (place + 1) <= height <= box.bottom - least * (len(heights) - place)
        wishes.append((height if is_level else box.y + apart * (place + 1)) - least * place)
        weights.append(LEVEL_WEIGHT if is_level else 1.0)
    return [place + least * k for k, place in enumerate(isotonic(wishes, weights))]


def _turned_box(box: Box) -> Box:
    return Box(box.y, box.x, box.height, box.width)


def _turned_path(path: Path) -> Path:
    segments = tuple((turned(one), turned(two), turned(end)) for one, two, end in path.segments)
    points = tuple(turned(point) for point in path.points)
    return Path(turned(path.start), segments, points, _turned_box(path.bounds), path.lane)


def _holds(figure: FigureGraph, block: ItemId, item: ItemId) -> bool:
    return figure.around(item, BodyId(block)) is not None
