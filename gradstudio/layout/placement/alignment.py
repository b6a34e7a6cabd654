"""Cards in rows and columns: edges brought to one line, gaps made equal. Plain numbers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar
from typing import Literal as OneOf

Side = OneOf["left", "right", "top", "bottom", "center", "middle"]
"""Of the rectangles: "center" is their middle across, "middle" the one down."""
Axis = OneOf["across", "down"]
GAP: Final = 24.0
"""Scene pixels between cards that would lie one over the other."""
Shifts = dict[str, tuple[float, float]]
Key = TypeVar("Key", bound=str)


class Rect(NamedTuple):
    """A rectangle in scene pixels."""

    x: float
    y: float
    width: float
    height: float


def align(rects: Mapping[str, Rect], side: Side, fixed: frozenset[str] = frozenset()) -> Shifts:
    """How far each has to move until this side of all is on one line: the outermost's, or that of the `fixed`."""
    if not rects:
        return {}
    across = side in ("left", "right", "center")
    share = {"left": 0.0, "top": 0.0, "right": 1.0, "bottom": 1.0, "center": 0.5, "middle": 0.5}[side]
    at = {key: (r.x + r.width * share) if across else (r.y + r.height * share) for key, r in rects.items()}
    still = [at[key] for key in fixed if key in at] or list(at.values())
    if share == 0.0:
        line = min(still)
    elif share == 1.0:
        line = max(still)
    else:
        line = (min(still) + max(still)) / 2
    shifts = {key: line - value for key, value in at.items() if key not in fixed and line != value}
    return {key: (by, 0.0) if across else (0.0, by) for key, by in shifts.items()}


def spread_apart(
    rects: Mapping[Key, Sequence[Rect]],
    order: Sequence[Key],
    brought: Collection[Key],
    fixed: frozenset[Key],
    axis: Axis,
) -> Iterator[tuple[Key, float]]:
    """How much farther right, or down, things have to stand so that nothing that was brought there covers anything.

    Args:
        rects: of each thing, one or several.
        order: in which they follow one another; it stays.
        brought: what came to where it stands; two others that lie over one another stay so.
        fixed: things that do not move; the others go round them.
        axis: along which things move.
    """
    k = 0 if axis == "across" else 1
    moved = set(brought)
    still = [rect for key in rects if key in fixed and key not in moved for rect in rects[key]]
    taken = [rect for key in rects if key in fixed and key in moved for rect in rects[key]]  # of what came or moved
    for key in order:
        if key in fixed:
            continue
        by = 0.0
        while (more := _into(rects[key], by, (*taken, *still) if key in moved else taken, k)) > by:
            by = more
            moved.add(key)
        (taken if key in moved else still).extend(_shifted(rect, by, k) for rect in rects[key])
        if by:
            yield key, by


def _into(rects: Sequence[Rect], by: float, taken: Sequence[Rect], k: int) -> float:
    """How far rectangles moved by so much have to move to come past what they meet; `by` where they meet nothing."""
    here = [(rect, _shifted(rect, by, k)) for rect in rects]
    return max((o[k] + o[k + 2] + GAP - old[k] for old, new in here for o in taken if _meet(new, o)), default=by)


def _shifted(rect: Rect, by: float, k: int) -> Rect:
    return rect._replace(x=rect.x + by) if k == 0 else rect._replace(y=rect.y + by)


def _meet(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def distribute(rects: Mapping[str, Rect], axis: Axis, least: float = 0.0) -> Shifts:
    """How far each has to move until the gaps between neighbours are equal, and not below `least`.

    The first and the last stay where they are, unless the others have no room between them.
    """
    k = 0 if axis == "across" else 1
    order = sorted(rects, key=lambda key: (rects[key][k] + rects[key][k + 2] / 2, key))
    if len(order) < 3:
        return {}
    first = rects[order[0]]
    last = rects[order[-1]]
    room = last[k] + last[k + 2] - first[k] - sum(rects[key][k + 2] for key in order)
    gap = max(least, room / (len(order) - 1))
    at = first[k]
    shifts: Shifts = {}
    for key in order:
        by = at - rects[key][k]
        if by:
            shifts[key] = (by, 0.0) if k == 0 else (0.0, by)
        at += rects[key][k + 2] + gap
    return shifts
