"""What was brought somewhere covers nothing: what is in its way moves on along a line, and frames grow. No Qt."""

from collections.abc import Collection, Mapping
from typing import Final

from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.graph.slices import Slices, is_stop, work_through
from gradstudio.layout.placement.alignment import Rect, spread_apart
from gradstudio.scene.edit.drag_group import Corners, drag_group, is_pinned, with_members
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene

NEIGHBOURS_AT_ONCE: Final = 200
"""So many things look for what they meet between two stops."""
NOWHERE: Mapping[str, tuple[float, float]] = {}


def with_room(
    scene: Scene,
    brought: Collection[ItemId],
    places: Mapping[str, tuple[float, float]] = NOWHERE,
    *,
    down: bool = False,
    still: Collection[ItemId] = (),
) -> Corners:
    """The places, and those of all that has to move so that what was brought there covers nothing.

    Args:
        scene: what is there; it is as it was afterwards.
        brought: cards and frames that were brought somewhere; they move on, too, and keep their order.
        places: where they, and what moves with them, are to stand.
        down: things move down instead of right.
        still: what does not move on; nor does anything that is pinned.
    """
    return work_through(room_slices(scene, brought, places, down=down, still=still))


def room_slices(
    scene: Scene,
    brought: Collection[ItemId],
    places: Mapping[str, tuple[float, float]] = NOWHERE,
    *,
    down: bool = False,
    still: Collection[ItemId] = (),
) -> Slices[Corners]:
    """The same in slices, where nothing is in a frame or comes from elsewhere; else all at once: it is shown there."""
    met = set(brought)
    bodies = {scene.graph.parents[item] for item in met}
    if places or bodies != {ROOT}:
        return _with_frames(scene, met, bodies, dict(places), down, still)
    ways = yield from _ways(scene, ROOT, met, {}, down, still)
    moved = Corners()
    for number, (item, by) in enumerate(ways.items(), start=1):
        if is_stop(number):
            yield
        moved |= _pushed(scene, item, by, down)
    return moved


def _with_frames(
    scene: Scene, met: set[ItemId], waiting: set[BodyId], moved: Corners, down: bool, still: Collection[ItemId]
) -> Corners:
    """From the innermost bodies to the outermost: a frame that grew is in the way of others."""
    across = {item: _cross(scene.placement.room(item), down) for item in scene.graph.parents}
    before = {item: frame.box for item, frame in scene.placement.frames.items()}
    graph = scene.graph
    scene.drag.hold(scene.placement.frames)
    try:
        scene.drag.show(moved)
        while waiting:
            body = max(waiting, key=lambda each: len(graph.ancestors(ItemId(each))) if each != ROOT else -1)
            waiting.discard(body)
            for item, by in work_through(_ways(scene, body, met, across, down, still)).items():
                met.add(item)
                moved |= _pushed(scene, item, by, down)
            scene.drag.show(moved)
            if body != ROOT and scene.placement.room(ItemId(body)) != before[ItemId(body)]:
                met.add(ItemId(body))
                waiting.add(graph.parents[ItemId(body)])
    finally:
        scene.drag.let_go()
    return moved


def _pushed(scene: Scene, item: ItemId, by: float, down: bool) -> Corners:
    corners = drag_group(scene, (item,))
    return {key: (x, y + by) if down else (x + by, y) for key, (x, y) in corners.items()}


def _ways(
    scene: Scene,
    body: BodyId,
    met: set[ItemId],
    across: Mapping[ItemId, float],
    down: bool,
    still: Collection[ItemId],
) -> Slices[dict[ItemId, float]]:
    """How far each thing of a body moves on; `across` is where those stood aside that are shown elsewhere."""
    rects, held = dict[ItemId, tuple[Rect, ...]](), set[ItemId]()
    for number, item in enumerate(scene.graph.bodies[body], start=1):
        if is_stop(number):
            yield
        if found := _rects(scene, item):
            rects[item] = found
            if item in still or _is_held(scene, item):
                held.add(item)
    k = 1 if down else 0
    order = sorted(rects, key=lambda item: (rects[item][0][k], across.get(item, rects[item][0][1 - k]), item))
    ways = dict[ItemId, float]()
    shifts = spread_apart(rects, order, met, frozenset(held), "down" if down else "across")
    for number, (item, by) in enumerate(shifts, start=1):
        if not number % NEIGHBOURS_AT_ONCE:
            yield
        if by:
            ways[item] = by
    return ways


def _rects(scene: Scene, item: ItemId) -> tuple[Rect, ...]:
    """Of a card or frame, and of its note."""
    if scene.state.card_groups.home(item) != item:
        return ()
    box, note = scene.placement.room(item), scene.placement.notes.get(item)
    if box is None:
        return ()
    return tuple(rect_of(one) for one in (box, *((note.box,) if note else ())))


def rect_of(box: Box) -> Rect:
    """A box as `spread_apart` takes it."""
    return Rect(box.x, box.y, box.width, box.height)


def _is_held(scene: Scene, item: ItemId) -> bool:
    """Whether it, or something in it, is pinned down."""
    return any(is_pinned(scene.graph, part) for part in with_members(scene, (item,)))


def _cross(box: Box | None, down: bool) -> float:
    if box is None:
        return 0.0
    if down:
        return box.x
    return box.y
