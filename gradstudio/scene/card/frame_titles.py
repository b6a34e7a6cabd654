"""Where a block's title is written when it is seen from afar: in its strip, above the frame, or nowhere. No Qt."""

from typing import TYPE_CHECKING, Final

import msgspec

from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.geometry import FRAME_TITLE, Box
from gradstudio.scene.items import Frame
from gradstudio.scene.text_measure import TextMeasure

if TYPE_CHECKING:
    from gradstudio.scene.scene import Scene

LINES: Final = (("block", 15.0), ("mono_label", 13.0), ("mono_small", 11.0))
"""Roles of letters and the height of a line of each, view pixels, the largest first."""
FEW_LETTERS: Final = 4
"""A text cut to fewer letters says nothing."""


class Title(msgspec.Struct, frozen=True):
    """A title as it is painted; `top` is below the frame's upper edge, both in view pixels."""

    text: str
    role: str
    top: float
    height: float


def title_from_afar(frame: Frame, scene: "Scene", zoom: float) -> Title | None:
    """The title of a frame at a zoom at which cards are plates; None where it has no room.

    It covers nothing that the frame holds. Of a frame in the program itself it may stand above the frame instead.
    """
    meter, room = scene.state.meter, frame.box.width * zoom - PADDING
    for role, height in LINES:
        if frame.room * zoom >= height and (text := title_in(meter, frame.layout.title, role, room)):
            return Title(text, role, 0.0, max(height, min(FRAME_TITLE, frame.room) * zoom))
    if frame.depth == 0:
        for role, height in LINES:
            text = title_in(meter, frame.layout.title, role, room)
            if text and _is_free_above(frame.box, scene, height / zoom):
                return Title(text, role, -height, height)
    return None


def shorten_title(meter: TextMeasure, text: str, role: str, width: float) -> str:
    """The text, or its beginning with "…" in that width; "" where only a few letters would be left."""
    cut = meter.elided(text, role, width)
    return cut if cut == text or len(cut) > FEW_LETTERS else ""


def title_in(meter: TextMeasure, title: str, role: str, room: float) -> str:
    """A title without what every block of its kind begins with, where it has no room for that; then cut."""
    if meter.width(title, role) > room:
        title = title.removeprefix("with torch.").removesuffix(":")
    return shorten_title(meter, title, role, room)


def _is_free_above(box: Box, scene: "Scene", height: float) -> bool:
    """Whether nothing stands in a strip of that height, scene pixels, above a frame."""
    strip = Box(box.x, box.y - height, box.width, height - 1.0)
    others = (
        *(note.box for note in scene.placement.notes.values()),
        *(frame.box for frame in scene.placement.frames.values()),
    )
    return not scene.placement.cards_in(strip, 0.0) and not any(strip.meets(other) for other in others)
