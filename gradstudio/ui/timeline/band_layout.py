"""Where the bands of the strip lie, top to bottom. No Qt here."""

from typing import NamedTuple

SECTION_PX, TURN_PX, MAX_DEPTH = 15.0, 13.0, 2
PAD_PX = 2.5


class Bands(NamedTuple):
    """Top edges and heights in pixels.

    Attributes:
        turns: tops of the brackets by depth; `forward` and `backward` tops of the lanes, each `lane` high;
            `axis` lies between them.
    """

    turns: tuple[float, ...]
    forward: float
    axis: float
    backward: float
    lane: float
    bottom: float


def bands(height_px: float, depth: int) -> Bands:
    """Deal out a height among titles, brackets of loops, and the two lanes."""
    shown = min(depth, MAX_DEPTH)
    turns = tuple(SECTION_PX + TURN_PX * k for k in range(shown))
    top = SECTION_PX + TURN_PX * shown + PAD_PX
    lane = max((height_px - top - PAD_PX - 2.0) / 2, 5.0)
    axis = top + lane + 1.0
    return Bands(turns, top, axis, axis + 1.0, lane, axis + 1.0 + lane)


def brackets_px(depth: int) -> int:
    """Height that the brackets of loops nested so deep need."""
    return round(TURN_PX) * min(depth, MAX_DEPTH)
