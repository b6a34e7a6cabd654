"""Where words and buttons are put so that they cover nothing: beside a card, above it or below it. No Qt."""

from collections.abc import Iterable, Sequence
from typing import Final

from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.wire_labels import WireLabels, frame_lines

HEIGHT: Final = 18.0
"""Of a plate, view pixels."""
GAP: Final = 8.0
CLEAR: Final = 2.0
"""Least distance to what is not to be covered."""
RING: Final = 5.0
"""A button stands so far from a card: the ring of one that is selected or has failed is beside it."""


def occupied(scene: Scene, camera: Camera, seen: Box, labels: WireLabels) -> list[Box]:
    """What nothing may be put over, view pixels: cards, notes, titles and edges of frames, the numbers on wires."""
    near = (scene.placement.box(scene.stack.ids[k]) for k in scene.placement.cards_in(seen))
    boxes = [box for box in near if box is not None]
    boxes += [note.box for note in scene.placement.notes.values()]
    for frame in scene.placement.frames.values():
        boxes += frame_lines(frame, scene.state.meter)
    if scene.state.shown.wire_gradients:
        boxes += [label.box for _, label in labels.near(seen, camera.zoom)]
    return [camera.box_to_view(box) for box in boxes]


def place_button(card: Box, widths: Iterable[float], height: float, taken: Sequence[Box], view: Box) -> Box | None:
    """A free place for a button of one of these widths at a card, the first that has one; None: there is no room.

    `taken` is what it must not cover, the card included; `view` is what can be seen.
    """
    for width in widths:
        lefts = (card.x, card.right - width, card.center[0] - width / 2)
        tops = (card.bottom + RING, card.y - RING - height)
        places = [Box(left, top, width, height) for top in tops for left in lefts]
        for top in (card.bottom - height, card.y):
            places += [Box(left, top, width, height) for left in (card.right + 3 * RING, card.x - 3 * RING - width)]
        places += [Box(card.x, top, width, height) for top in (tops[0] + height, tops[1] - height)]
        for place in places:
            moved = _moved_into(place, view)
            if moved is not None and not _covers(moved, taken):
                return moved
    return None


def _moved_into(place: Box, view: Box) -> Box | None:
    """The place, pushed as little as puts it into view; None where it is larger than the view."""
    if place.width > view.width or place.height > view.height:
        return None
    x = min(max(place.x, view.x), view.right - place.width)
    y = min(max(place.y, view.y), view.bottom - place.height)
    return Box(x, y, place.width, place.height)


def place_label(
    port: tuple[float, float], card: Box, width: float, taken: Iterable[Box], view: Box, *, upward: bool
) -> Box:
    """A free place for a plate near an output port, view pixels; the least bad one where none is free.

    `upward`: above the port rather than below it. `taken` is what it must not cover, the card of the port included;
    `view` is what can be seen.
    """
    x, y = port
    beside = [Box(x + GAP, y + 12.0 + k, width, HEIGHT) for k in (0.0, 18.0)]
    over = [Box(x + GAP, y - 12.0 - HEIGHT - k, width, HEIGHT) for k in (0.0, 18.0)]
    rows = [Box(card.right - width, card.y - HEIGHT - 5.0 - k, width, HEIGHT) for k in (0.0, 22.0)]
    below = [
        Box(left, card.bottom + 5.0 + k, width, HEIGHT) for k in (0.0, 22.0) for left in (card.right - width, card.x)
    ]
    first, then = (over, beside) if upward else (beside, over)
    places = [*first, *then, *rows, *below]
    inside = [place for place in places if view.contains(place.x, place.y) and view.contains(place.right, place.bottom)]
    boxes = list(taken)
    return next((place for place in inside if not _covers(place, boxes)), (inside or places)[-1])


def _covers(place: Box, boxes: Sequence[Box]) -> bool:
    grown = place.grown(CLEAR)
    return any(grown.meets(box) for box in boxes)
