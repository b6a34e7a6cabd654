"""What was brought somewhere covers nothing: what is in its way moves on along a line, and frames grow. No Qt."""

from collections.abc import Collection, Mapping

from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.layout.placement.alignment import Rect, spread_apart
from gradstudio.scene.edit.drag_group import Corners, drag_group, is_pinned, with_members
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene

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
    across = {item: _cross(scene.placement.room(item), down) for item in scene.graph.parents}
    before = {item: frame.box for item, frame in scene.placement.frames.items()}
    moved, met, graph = dict(places), set(brought), scene.graph
    waiting: set[BodyId] = {graph.parents[item] for item in met}
    scene.drag.hold(scene.placement.frames)
    try:
        scene.drag.show(moved)
        while waiting:
            body = max(waiting, key=lambda each: len(graph.ancestors(ItemId(each))) if each != ROOT else -1)
            waiting.discard(body)
            for item, by in _ways(scene, body, met, across, down, still).items():
                met.add(item)
                corners = drag_group(scene, (item,))
                moved |= {key: (x, y + by) if down else (x + by, y) for key, (x, y) in corners.items()}
            scene.drag.show(moved)
            if body != ROOT and scene.placement.room(ItemId(body)) != before[ItemId(body)]:
                met.add(ItemId(body))
                waiting.add(graph.parents[ItemId(body)])
    finally:
        scene.drag.let_go()
    return moved


def _ways(
    scene: Scene,
    body: BodyId,
    met: set[ItemId],
    across: Mapping[ItemId, float],
    down: bool,
    still: Collection[ItemId],
) -> dict[ItemId, float]:
    """How far each thing of a body moves on."""
    rects = {item: rects for item in scene.graph.bodies[body] if (rects := _rects(scene, item))}
    order = sorted(rects, key=lambda item: (rects[item][0][1 if down else 0], across[item], item))
    held = {item for item in rects if item in still or _is_held(scene, item)}
    return {
        ItemId(key): by for key, by in spread_apart(rects, order, met, frozenset(held), "down" if down else "across")
    }


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
