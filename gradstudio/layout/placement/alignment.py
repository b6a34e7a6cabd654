"""Cards in rows and columns: edges brought to one line, gaps made equal. Plain numbers."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar
from typing import Literal as OneOf

Side = OneOf["left", "right", "top", "bottom", "center", "middle"]
"""Of the rectangles: "center" is their middle across, "middle" the one down."""
Axis = OneOf["across", "down"]
GAP: Final = 24.0
"""Scene pixels between cards that would lie one over the other."""
CELL: Final = 512.0
"""Scene pixels: the side of the squares by which rectangles are found, about two cards."""
Shifts = dict[str, tuple[float, float]]
Key = TypeVar("Key", bound=str)


class Rect(NamedTuple):
    """A rectangle in scene pixels."""

    x: float
    y: float
    width: float
    height: float


class RectIndex(Generic[Key]):
    """Rectangles by the squares of the plane into which they reach: what meets one is looked for around it alone."""

    def __init__(self, entries: Iterable[tuple[Key, Rect]] = ()) -> None:
        """Each with its key."""
        self._cells = defaultdict[tuple[int, int], list[tuple[Key, Rect]]](list)
        for key, rect in entries:
            self.add(key, rect)

    def add(self, key: Key, rect: Rect) -> None:
        """One more; a key may have several."""
        for cell in _cells(rect):
            self._cells[cell].append((key, rect))

    def meeting(self, rect: Rect) -> list[tuple[Key, Rect]]:
        """Those of which some lies in a rectangle; a large one may come several times."""
        left, top, width, height = rect
        right, bottom = left + width, top + height
        found = list[tuple[Key, Rect]]()
        for cell in _cells(rect):
            for entry in self._cells.get(cell, ()):
                x, y, across, down = entry[1]
                if x < right and left < x + across and y < bottom and top < y + down:
                    found.append(entry)
        return found


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

    Each that is not fixed, in its order; by 0 where it stays.

    Args:
        rects: of each thing, one or several.
        order: in which they follow one another; it stays.
        brought: what came to where it stands; two others that lie over one another stay so.
        fixed: things that do not move; the others go round them.
        axis: along which things move.
    """
    k = 0 if axis == "across" else 1
    moved = set(brought)
    still, taken = RectIndex[Key](), RectIndex[Key]()  # of what stands, and of what came or moved
    for key in rects.keys() & fixed:
        for rect in rects[key]:
            (taken if key in moved else still).add(key, rect)
    for key in order:
        if key in fixed:
            continue
        by = 0.0
        while (more := _into(rects[key], by, (taken, still) if key in moved else (taken,), k)) > by:
            by = more
            moved.add(key)
        for rect in rects[key]:
            (taken if key in moved else still).add(key, _shifted(rect, by, k))
        yield key, by


def _into(rects: Sequence[Rect], by: float, grounds: Sequence[RectIndex[Key]], k: int) -> float:
    """How far rectangles moved by so much have to move to come past what they meet; `by` where they meet nothing."""
    most = by
    for old in rects:
        new = _shifted(old, by, k)
        for ground in grounds:
            ends = [other[k] + other[k + 2] + GAP - old[k] for _, other in ground.meeting(new)]
            most = max([most, *ends])
    return most


def _shifted(rect: Rect, by: float, k: int) -> Rect:
    return rect._replace(x=rect.x + by) if k == 0 else rect._replace(y=rect.y + by)


def _cells(rect: Rect) -> list[tuple[int, int]]:
    columns, rows = _cell_numbers(rect.x, rect.width), _cell_numbers(rect.y, rect.height)
    return [(column, row) for column in columns for row in rows]


def _cell_numbers(at: float, size: float) -> range:
    end = at + size
    return range(int(min(at, end) // CELL), int(max(at, end) // CELL) + 1)


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
