"""What of the frames of blocks is in the way of wires: all of it for strangers, else its rows of ports. No Qt."""

from collections.abc import Mapping, Sequence

from gradstudio.graph.model import ROOT, Graph, ItemId, Wire
from gradstudio.scene.card.card_layout import PADDING, ROW, CardLayout, Measure
from gradstudio.scene.geometry import Corners
from gradstudio.scene.items import Frame

EACH = 3
"""Obstacles that a frame makes: the whole of it, its ports at the left, its ports at the right."""


def obstacles_of_frames(
    graph: Graph, frames: Mapping[ItemId, Frame], wires: Sequence[Wire], first: int, measure: Measure
) -> tuple[list[Corners], list[list[int]]]:
    """Left, top, right, bottom of each obstacle, and for each wire the numbers of those that are none to it.

    Args:
        graph: the program.
        frames: the blocks' frames.
        wires: those that are drawn.
        first: the number of the first obstacle; the others follow.
        measure: of texts.
    """
    if not frames:
        return [], [[] for _ in wires]
    number = {item: first + EACH * k for k, item in enumerate(frames)}
    rects: list[Corners] = []
    for frame in frames.values():
        rects += [(frame.box.x, frame.box.y, frame.box.right, frame.box.bottom), *frame_heads(frame, measure)]
    around = {item: _around(graph, item) for wire in wires for item in (wire.source, wire.target)}
    open_to = []
    for wire in wires:
        whole = [number[block] for end in (wire.source, wire.target) for block in around[end] if block in number]
        heads = [number[end] + k for end in (wire.source, wire.target) if end in number for k in (1, 2)]
        open_to.append(whole + heads)
    return rects, open_to


def _around(graph: Graph, item: ItemId) -> tuple[ItemId, ...]:
    """The blocks around an item; a block itself is one of them."""
    if item not in graph.parents:
        return ()
    own = (item,) if item in graph.blocks else ()
    return (*own, *(ItemId(body) for body in graph.ancestors(item) if body != ROOT))


def frame_heads(frame: Frame, measure: Measure) -> tuple[Corners, Corners]:
    """The words of a frame's head at the left, with its ports, and those at the right: an empty corner for none."""
    box = frame.box
    layout = frame.layout
    left_end = min(box.x + _left_width(layout, measure), box.right)
    at_left = (box.x, box.y, left_end, box.y + layout.height)

    right_width = _right_width(layout, measure)
    if not right_width:
        return at_left, (box.x, box.y, box.x, box.y)
    lowest = max((row.y for row in layout.inputs if row.path.startswith("next.")), default=0.0) + ROW / 2
    return at_left, (box.right - right_width, box.y, box.right, box.y + lowest)


def _left_width(layout: CardLayout, measure: Measure) -> float:
    """How far the title, labels, fields and ports at the left reach."""
    rows = [row for row in layout.inputs if not row.path.startswith("next.")]
    fields = [row.field.right for row in rows if row.field is not None]
    labels = [PADDING + measure(row.label, "label") for row in rows]
    ports = [output.x for output in layout.outputs]
    return max([measure(layout.title, "block") + PADDING, *fields, *labels, *ports])


def _right_width(layout: CardLayout, measure: Measure) -> float:
    """How far the labels of what the block takes from its statements reach in; 0 where there is none."""
    rows = [row for row in layout.inputs if row.path.startswith("next.")]
    return max((PADDING + measure(row.label, "label") for row in rows), default=0.0)
