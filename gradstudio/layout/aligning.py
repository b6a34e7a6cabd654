"""Cards in rows and columns: edges brought to one line, gaps made equal. Plain numbers."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from typing import Literal as OneOf

Side = OneOf["left", "right", "top", "bottom", "center", "middle"]
"""Of the rectangles: "center" is their middle across, "middle" the one down."""
Axis = OneOf["across", "down"]
GAP: Final = 24.0
"""Scene pixels between cards that would lie one over the other."""
Shifts = dict[str, tuple[float, float]]


class Rect(NamedTuple):
    """A rectangle in scene pixels."""

    x: float
    y: float
    width: float
    height: float


def aligned(rects: Mapping[str, Rect], side: Side, fixed: frozenset[str] = frozenset()) -> Shifts:
    """How far each has to move until this side of all is on one line: the outermost's, or that of the `fixed`."""
    if not rects:
        return {}
    across = side in ("left", "right", "center")
    share = {"left": 0.0, "top": 0.0, "right": 1.0, "bottom": 1.0, "center": 0.5, "middle": 0.5}[side]
    at = {key: (r.x + r.width * share) if across else (r.y + r.height * share) for key, r in rects.items()}
    still = [at[key] for key in fixed if key in at] or list(at.values())
    line = min(still) if share == 0.0 else max(still) if share == 1.0 else (min(still) + max(still)) / 2
    shifts = {key: line - value for key, value in at.items() if key not in fixed and line != value}
    return {key: (by, 0.0) if across else (0.0, by) for key, by in shifts.items()}


def spaced(rects: Mapping[str, Rect], shifts: Shifts, side: Side, fixed: frozenset[str] = frozenset()) -> Shifts:
    """The shifts that `aligned` gave, and along the line so much more that no card lies over another.

    Their order along the line stays, that of two at the same place is their order across it; what has room stays.
    """
    along = 1 if side in ("left", "right", "center") else 0
    at = {key: rect[along] for key, rect in rects.items()}
    order = sorted((key for key in rects if key not in fixed), key=lambda key: (at[key], rects[key][1 - along], key))
    taken = sorted((at[key], at[key] + rects[key][along + 2]) for key in fixed if key in rects)
    found: Shifts = {}
    for key in order:
        begin, length = at[key], rects[key][along + 2]
        for first, last in taken:
            if begin < last and first < begin + length:
                begin = last + GAP
        taken = sorted((*taken, (begin, begin + length)))
        dx, dy = shifts.get(key, (0.0, 0.0))
        by = begin - at[key]
        shift = (dx, dy + by) if along else (dx + by, dy)
        if shift != (0.0, 0.0):
            found[key] = shift
    return found


def distributed(rects: Mapping[str, Rect], axis: Axis, least: float = 0.0) -> Shifts:
    """How far each has to move until the gaps between neighbours are equal, and not below `least`.

    The first and the last stay where they are, unless the others have no room between them.
    """
    k = 0 if axis == "across" else 1
    order = sorted(rects, key=lambda key: (rects[key][k] + rects[key][k + 2] / 2, key))
    if len(order) < 3:
        return {}
    first, last = rects[order[0]], rects[order[-1]]
    room = last[k] + last[k + 2] - first[k] - sum(rects[key][k + 2] for key in order)
    gap, at = max(least, room / (len(order) - 1)), first[k]
    shifts: Shifts = {}
    for key in order:
        by = at - rects[key][k]
        if by:
            shifts[key] = (by, 0.0) if k == 0 else (0.0, by)
        at += rects[key][k + 2] + gap
    return shifts
