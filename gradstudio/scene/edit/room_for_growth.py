"""What a card that became higher would cover moves down; what it lay over before stays. No Qt."""

from collections.abc import Iterator, Mapping
from itertools import chain

from gradstudio.graph.model import ROOT, ItemId
from gradstudio.graph.slices import Slices, is_stop, work_through
from gradstudio.layout.placement.alignment import Rect, RectIndex
from gradstudio.scene.edit.drag_group import Corners
from gradstudio.scene.edit.make_room import rect_of, room_slices
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene

TOUCH = 1.0
"""Things that share no more than so many scene pixels lie beside one another."""
FEW = 64
"""Of so many cards that grew each looks among all."""


def room_for_growth(scene: Scene, growth: Mapping[ItemId, float]) -> Corners:
    """Where things have to stand so that nothing is covered by what cards grew; none where nothing is.

    Args:
        scene: as it is now.
        growth: by card, by how many scene pixels its room is higher than it was.
    """
    return work_through(growth_slices(scene, growth))


def growth_slices(scene: Scene, growth: Mapping[ItemId, float]) -> Slices[Corners]:
    """The same in slices; what is drawn may change at a stop, what stands where must not."""
    grounds = (yield from _everything(scene)) if len(growth) > FEW else None
    covering = set[ItemId]()
    for number, (item, by) in enumerate(growth.items(), start=1):
        if is_stop(number):
            yield
        covering.update(unit for unit in _units(scene, item) if _covers(scene, unit, by, grounds))
    return (yield from room_slices(scene, covering, down=True)) if covering else {}


def _units(scene: Scene, item: ItemId) -> Iterator[ItemId]:
    """A card, and the frames around it, which grew with it."""
    if item in scene.graph.parents:
        yield item
        yield from (ItemId(body) for body in scene.graph.ancestors(item) if body != ROOT)


def _everything(scene: Scene) -> Slices[RectIndex[ItemId]]:
    """All cards, frames and notes: where thousands of cards grew, each asks only its neighbours."""
    placement = scene.placement
    cards = (
        (item, Rect(left, top, right - left, bottom - top))
        for item, (left, top, right, bottom) in zip(scene.stack.ids, placement.corners, strict=True)
    )
    frames = ((item, rect_of(frame.box)) for item, frame in placement.frames.items())
    notes = ((item, rect_of(note.box)) for item, note in placement.notes.items() if item)
    found = RectIndex[ItemId]()
    for number, (item, rect) in enumerate(chain(cards, frames, notes), start=1):
        if is_stop(number):
            yield
        found.add(item, rect)
    return found


def _covers(scene: Scene, unit: ItemId, by: float, everything: RectIndex[ItemId] | None) -> bool:
    """Whether it covers, with what it grew at its lower edge, something of others that it did not lie over before."""
    room = scene.placement.room(unit)
    if room is None:
        return False
    found = _in_box(scene, Box(room.x, room.bottom - by, room.width, by), everything) - {unit}
    if not found:
        return False
    own = scene.state.members(unit) if unit in scene.placement.frames else ()
    found.difference_update(own, map(ItemId, scene.graph.ancestors(unit)))
    before = Box(room.x, room.y, room.width, room.height - by)
    return bool(found) and bool(found - _in_box(scene, before, everything))


def _in_box(scene: Scene, box: Box, everything: RectIndex[ItemId] | None) -> set[ItemId]:
    """The cards, frames and notes of which some lies there."""
    placement, ids, box = scene.placement, scene.stack.ids, box.grown(-TOUCH / 2)
    if everything is not None:
        return {item for item, _ in everything.meeting(rect_of(box))}
    found = {ids[k] for k in placement.cards_in(box, 0.0)}
    found |= {item for item, frame in placement.frames.items() if frame.box.meets(box)}
    return found | {item for item, note in placement.notes.items() if item and note.box.meets(box)}
