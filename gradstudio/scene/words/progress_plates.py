"""Where the plates stand that say how far loops are: beside the titles of their frames, and over none. No Qt."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from gradstudio.scene.camera import Camera
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.frame_titles import title_from_afar, title_in
from gradstudio.scene.geometry import FRAME_TITLE, Box
from gradstudio.scene.items import Frame
from gradstudio.scene.results import LoopTurn

if TYPE_CHECKING:
    from gradstudio.scene.scene import Scene

HEIGHT_PX: Final = 20.0
MARGIN_PX: Final = 4.0
SIDE_PX: Final = 8.0
SEPARATOR: Final = " · "


class Plate(NamedTuple):
    """How far a loop is, as it is painted: in view pixels, as large at every zoom."""

    box: Box
    words: str
    share: float


def progress_plates(
    loops: Iterable[LoopTurn], scene: "Scene", camera: Camera, seen: Box, *, is_far: bool
) -> list[Plate]:
    """The plates of loops, the outermost first; one without room says less, or is left out.

    Args:
        loops: the loops that a run stands in.
        scene: what is drawn.
        camera: how it is seen.
        seen: what is seen, scene pixels: a plate of a frame that goes on beside it stands at its edge.
        is_far: cards are plates, so titles of frames are written as from afar.
    """
    frames = scene.placement.frames
    end = camera.box_to_view(seen).right
    taken = [box for frame in frames.values() if (box := _title_box(frame, scene, camera, is_far)) is not None]
    plates = []
    for loop in loops:
        frame = frames.get(loop.loop)
        if frame is None or not frame.box.meets(seen):
            continue
        shown = camera.box_to_view(frame.box)
        right = min(shown.right, end) - MARGIN_PX
        plate = next(_free(loop, shown, right, taken, scene, camera.zoom), None)
        if plate is not None:
            taken.append(plate.box)
            plates.append(plate)
    return plates


def _free(loop: LoopTurn, frame: Box, right: float, taken: list[Box], scene: "Scene", zoom: float) -> Iterator[Plate]:
    """Where it covers nothing that is taken, with as many words as have room there."""
    parts = loop.words.split(SEPARATOR)
    strip = frame.y + max((FRAME_TITLE * zoom - HEIGHT_PX) / 2, 1.0)
    tops = (strip, frame.y - HEIGHT_PX - MARGIN_PX, frame.bottom + MARGIN_PX)
    for count in range(len(parts), 0, -1):
        words = SEPARATOR.join(parts[:count])
        width = scene.state.meter.width(words, "plate") + 2 * SIDE_PX
        for top in tops:
            box = Box(right - width, top, width, HEIGHT_PX)
            is_inside = box.x >= frame.x or top != strip
            if is_inside and not any(box.meets(other) for other in taken):
                yield Plate(box, words, loop.share)


def _title_box(frame: Frame, scene: "Scene", camera: Camera, is_far: bool) -> Box | None:
    """What the title of a frame covers, view pixels."""
    shown, meter = camera.box_to_view(frame.box), scene.state.meter
    if is_far:
        title = title_from_afar(frame, scene, camera.zoom)
        if title is None:
            return None
        return Box(shown.x, shown.y + title.top, PADDING / 2 + meter.width(title.text, title.role), title.height)
    text = title_in(meter, frame.layout.title, "block", frame.box.width - 2 * PADDING)
    width = (PADDING + meter.width(text, "block")) * camera.zoom
    return Box(shown.x, shown.y, width, FRAME_TITLE * camera.zoom)
