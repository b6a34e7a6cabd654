"""Makes room on the canvas: what is in the way of a card that is put into a wire moves right. No Qt."""

import math
from typing import Final

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.scene.edit.new_card_size import new_card_size
from gradstudio.scene.geometry import GRID, Box
from gradstudio.scene.scene import Scene

GAP: Final = 48.0
"""Scene pixels between a card and those it is wired to."""
CLEAR: Final = 16.0
"""Least distance to all others."""
Corners = dict[str, tuple[float, float]]


def insert_with_room(scene: Scene, wire: Wire, key: str, x: float, y: float) -> tuple[Edits, ItemId]:
    """A fresh node in a wire, right of where the wire comes from; what is in its way moves right.

    Raises:
        Refused: the operator does not fit there.
    """
    left = left_edge_on_wire(scene, wire, x)
    edits, item = recipes.insert_on_wire(scene.graph, wire, key, left, y)
    moves = moves_to_clear(scene, Box(left, y, *new_card_size(scene, key)), wire)
    return ((*edits, *recipes.move(scene.graph, moves)) if moves else edits), item


def lead_through_with_room(scene: Scene, wire: Wire, item: ItemId, x: float, y: float) -> Edits:
    """A node that stands on the canvas, put into a wire at a place; what is in its way moves right.

    Raises:
        Refused: it does not fit there.
    """
    edits = recipes.insert_existing(scene.graph, wire, item)
    box = scene.placement.room(item)
    left = left_edge_on_wire(scene, wire, x)
    size = (box.width, box.height) if box is not None else new_card_size(scene, "")
    moves: Corners = {part: (left, y) for part in scene.state.card_groups.whole((item,)) if part in scene.graph.places}
    return (*edits, *recipes.move(scene.graph, moves_to_clear(scene, Box(left, y, *size), wire, item) | moves))


def left_edge_on_wire(scene: Scene, wire: Wire, x: float) -> float:
    """Where a card on a wire may begin: right of where the wire comes from."""
    source = scene.placement.room(wire.source)
    is_around = source is not None and ItemId(wire.source) in scene.placement.frames
    return max(x, source.right + GAP) if source is not None and not is_around else x


def moves_to_clear(scene: Scene, fresh: Box, wire: Wire, without: ItemId | None = None) -> Corners:
    """New places of what a card would cover, of what that would cover, and so on; also in the blocks around."""
    body: BodyId = scene.graph.parents.get(wire.target, ROOT)
    moves: dict[ItemId, float] = {}
    ways, grown = _pushed(scene, body, fresh, wire.target, without)
    moves |= ways
    while body != ROOT:
        frame, body = ItemId(body), scene.graph.parents[ItemId(body)]
        old = scene.placement.room(frame)
        if old is None or grown <= old.right:
            break
        ways, grown = _pushed(scene, body, Box(old.x, old.y, grown - old.x, old.height), None, frame)
        moves |= ways
    return _corners(scene, moves)


def _pushed(
    scene: Scene, body: BodyId, fresh: Box, reader: ItemId | None, without: ItemId | None
) -> tuple[dict[ItemId, float], float]:
    """How far each thing of a body moves right, and where the farthest ends with the frame's edge."""
    members = [
        item for item in scene.graph.bodies[body] if scene.state.card_groups.home(item) == item and item != without
    ]
    boxes = {item: box for item in members if (box := scene.placement.room(item)) is not None}
    taken, ways, end = [fresh], dict[ItemId, float](), fresh.right + GAP
    home = scene.state.card_groups.home(reader) if reader is not None else None
    for item, box in sorted(boxes.items(), key=lambda pair: (pair[1].x, pair[1].y)):
        if box.right <= fresh.x or (box.x < fresh.x and item != home):
            continue
        by = max(0.0, fresh.right + GAP - box.x) if item == home else 0.0
        for other in taken:
            if _meet(box.moved(by, 0.0), other):
                by = other.right + (GAP if other is fresh else CLEAR) - box.x
        if by > 0:
            ways[item] = math.ceil(by / GRID) * GRID
            taken.append(box.moved(ways[item], 0.0))
            end = max(end, box.right + ways[item] + GAP)
    return ways, end


def _corners(scene: Scene, moves: dict[ItemId, float]) -> Corners:
    """Places of everything that moves with those: what shares a card, what a block holds, notes."""
    graph: Graph = scene.graph
    ways: dict[str, float] = {}
    for item, by in moves.items():
        whole = {item}
        if item in scene.placement.frames:
            whole |= scene.state.members(item)
        for part in scene.state.card_groups.whole(whole):
            ways[part] = by
            ways[f"note:{part}"] = by
    for wire in graph.wires.values():
        if wire.source in ways and wire.target in ways:
            ways |= dict.fromkeys(scene.dots.of(wire), ways[wire.target])
    places = graph.places
    return {key: (places[key].x + by, places[key].y) for key, by in ways.items() if key in places}


def _meet(one: Box, other: Box) -> bool:
    return one.grown(CLEAR).meets(other)
