"""Where things are on the canvas: wire paths, hit tests, frames of blocks. Plain numbers and numpy, no Qt."""

from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

GRID: Final = 8.0
"""Scene pixels that dragged cards snap to."""
PATH_POINTS: Final = 22
"""Points of a flattened wire: 21 segments, so that every 3rd or 7th point still ends at the port."""
STUB: Final = 22.0
"""How far a backward wire leaves a card before it turns."""
CORNER: Final = 14.0
FORWARD: Final = 12.0
"""A wire that goes less far to the right than this goes backwards, around the cards."""
LANE: Final = 20.0
"""Distance of a backward wire's lane from the cards it goes around."""
FRAME_PADDING: Final = 18.0
FRAME_TITLE: Final = 26.0
FREE_STEP: Final = 32.0
"""Scene pixels between the places that are tried for a new card."""
EMPTY_FRAME: Final = (240.0, 96.0)
_CORNER_STEPS: Final = np.linspace(0.0, 1.0, 5)
_STEPS: Final = np.linspace(0.0, 1.0, PATH_POINTS)
_BERNSTEIN: Final = np.stack(
    [(1 - _STEPS) ** 3, 3 * (1 - _STEPS) ** 2 * _STEPS, 3 * (1 - _STEPS) * _STEPS**2, _STEPS**3]
)


class Box(msgspec.Struct, frozen=True, gc=False):
    """A rectangle in scene pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def center(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def contains(self, x: float, y: float) -> bool:
        """Whether the point is inside or on the edge."""
        return self.x <= x <= self.right and self.y <= y <= self.bottom

    def grown(self, by: float) -> "Box":
        """The rectangle with `by` more on every side."""
        return Box(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, dx: float, dy: float) -> "Box":
        """The rectangle elsewhere."""
        return Box(self.x + dx, self.y + dy, self.width, self.height)

    def meets(self, other: "Box") -> bool:
        """Whether the two share a point."""
        return self.x <= other.right and other.x <= self.right and self.y <= other.bottom and other.y <= self.bottom


def union(boxes: Iterable[Box]) -> Box | None:
    """The smallest rectangle around all of them; None around nothing."""
    found = list(boxes)
    if not found:
        return None
    x, y = min(box.x for box in found), min(box.y for box in found)
    return Box(x, y, max(box.right for box in found) - x, max(box.bottom for box in found) - y)


def frame_box(
    members: Iterable[Box], rows_height: float = 0.0, minimum_width: float = 0.0, left: float = FRAME_PADDING
) -> Box | None:
    """A block's frame: its members, padding (more at the left), a title strip, and rows of ports below the title."""
    inner = union(members)
    if inner is None:
        return None
    top = FRAME_TITLE + rows_height + FRAME_PADDING * 0.75
    width = max(inner.width + left + FRAME_PADDING, minimum_width)
    return Box(inner.x - left, inner.y - top, width, inner.height + top + FRAME_PADDING)


def nearest_grid_multiple(value: float, grid: float = GRID) -> float:
    """The nearest multiple of the grid."""
    return round(value / grid) * grid


def wire_paths(starts: Floats, ends: Floats, source_boxes: Floats, target_boxes: Floats) -> Floats:
    """Flattened wires.

    Args:
        starts: output anchors, `(wires, 2)`.
        ends: input anchors, `(wires, 2)`.
        source_boxes: cards the wires leave, `(wires, 4)` as left, top, right, bottom; a wire that
            runs backwards goes around them.
        target_boxes: cards the wires end in, as `source_boxes`.

    Returns:
        `(wires, PATH_POINTS, 2)` points in scene pixels.
    """
    paths = np.empty((len(starts), PATH_POINTS, 2))
    backward = ends[:, 0] < starts[:, 0] + FORWARD
    forward = ~backward
    if forward.any():
        paths[forward] = _curves(starts[forward], ends[forward])
    if backward.any():
        paths[backward] = _detours(starts[backward], ends[backward], source_boxes[backward], target_boxes[backward])
    return paths


def _curves(starts: Floats, ends: Floats) -> Floats:
    pull = np.clip(np.abs(ends[:, 0] - starts[:, 0]) * 0.5, 24.0, 180.0)
    x = np.stack([starts[:, 0], starts[:, 0] + pull, ends[:, 0] - pull, ends[:, 0]], 1) @ _BERNSTEIN
    y = np.stack([starts[:, 1], starts[:, 1], ends[:, 1], ends[:, 1]], 1) @ _BERNSTEIN
    return np.stack([x, y], 2)


def _lanes(starts: Floats, ends: Floats, source: Floats, target: Floats) -> Floats:
    """The y of the horizontal part of each backward wire."""
    gap_below = target[:, 1] - source[:, 3]
    gap_above = source[:, 1] - target[:, 3]
    below = np.maximum(source[:, 3], target[:, 3]) + LANE
    above = np.minimum(source[:, 1], target[:, 1]) - LANE
    nearer_below = (2 * below - starts[:, 1] - ends[:, 1]) <= (starts[:, 1] + ends[:, 1] - 2 * above)
    around = np.where(nearer_below, below, above)
    between = np.where(gap_below > 0, (target[:, 1] + source[:, 3]) / 2, (source[:, 1] + target[:, 3]) / 2)
    fits: Floats = np.where(np.maximum(gap_below, gap_above) >= 12.0, between, around)
    return fits


def _detours(starts: Floats, ends: Floats, source: Floats, target: Floats) -> Floats:
    lane = _lanes(starts, ends, source, target)
    out_x, in_x = starts[:, 0] + STUB, ends[:, 0] - STUB
    turns = [
        np.stack([out_x, starts[:, 1]], 1),
        np.stack([out_x, lane], 1),
        np.stack([in_x, lane], 1),
        np.stack([in_x, ends[:, 1]], 1),
    ]
    stops = [starts, *turns, ends]
    pieces = [starts[:, None]]
    pieces += [_corner(stops[k], stops[k + 1], stops[k + 2]) for k in range(4)]
    return np.concatenate([*pieces, ends[:, None]], 1)


def _corner(before: Floats, corner: Floats, after: Floats) -> Floats:
    """Five points of a quadratic curve that rounds the corner."""
    start = corner + _towards(corner, before)
    stop = corner + _towards(corner, after)
    t = _CORNER_STEPS[None, :, None]
    rounded: Floats = (1 - t) ** 2 * start[:, None] + 2 * (1 - t) * t * corner[:, None] + t**2 * stop[:, None]
    return rounded


def _towards(origin: Floats, goal: Floats) -> Floats:
    """A step from the corner towards a neighbour: at most the radius, at most half of the way."""
    step = goal - origin
    length = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)
    scaled: Floats = step * (np.minimum(CORNER, length / 2) / length)[:, None]
    return scaled


def path_bounds(paths: Floats) -> Floats:
    """Left, top, right, bottom of each path, `(wires, 4)`."""
    return np.concatenate([paths.min(axis=1), paths.max(axis=1)], 1)


def visible(bounds: Floats, view: Box, margin: float = 4.0) -> NDArray[np.bool_]:
    """Which rectangles (left, top, right, bottom) can show in the view."""
    seen: NDArray[np.bool_] = (
        (bounds[:, 0] <= view.right + margin)
        & (bounds[:, 2] >= view.x - margin)
        & (bounds[:, 1] <= view.bottom + margin)
        & (bounds[:, 3] >= view.y - margin)
    )
    return seen


def distinct(values: Floats) -> Floats:
    """The different values, sorted; `numpy.unique` imports half a library at its first call, which is felt."""
    ordered = np.sort(values)
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    found: Floats = ordered[new]
    return found


def segments(paths: Floats, stride: int, view: Box) -> Floats:
    """The line segments of paths that can show in the view, `(segments, 4)`; every `stride`-th point."""
    points = paths[:, ::stride]
    return clip_lines(np.concatenate([points[:, :-1], points[:, 1:]], 2).reshape(-1, 4), view)


def clip_lines(lines: Floats, view: Box) -> Floats:
    """Those of the segments that can show in the view."""
    keep = (
        (np.minimum(lines[:, 0], lines[:, 2]) <= view.right)
        & (np.maximum(lines[:, 0], lines[:, 2]) >= view.x)
        & (np.minimum(lines[:, 1], lines[:, 3]) <= view.bottom)
        & (np.maximum(lines[:, 1], lines[:, 3]) >= view.y)
    )
    return np.ascontiguousarray(lines[keep])


def dashes(path: Floats, dash: float, gap: float) -> Floats:
    """A path as segments of the length `dash` with gaps between, `(dashes, 4)`."""
    steps = np.hypot(*np.diff(path, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    starts = np.arange(0.0, max(along[-1], 1e-9), dash + gap)
    ends = np.minimum(starts + dash, along[-1])
    return np.stack([np.interp(at, along, path[:, k]) for at in (starts, ends) for k in (0, 1)], 1)


def lengthen(lines: Floats, by: float) -> None:
    """Make segments longer at both ends, in place, so that neighbours overlap."""
    along = lines[:, 2:] - lines[:, :2]
    along *= (by / np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9))[:, None]
    lines[:, :2] -= along
    lines[:, 2:] += along


def free_corner(seen: Box, size: tuple[float, float], taken: list[Box]) -> tuple[float, float]:
    """Where a rectangle of that size meets none of the others: near the middle of what is seen, else around it."""
    width, height = size
    middle = seen.x + (seen.width - width) / 2, seen.y + (seen.height - height) / 2
    steps = sorted(
        ((i * FREE_STEP, j * FREE_STEP) for i in range(-40, 41) for j in range(-40, 41)),
        key=lambda step: step[0] ** 2 + step[1] ** 2,
    )
    spots = [
        Box(nearest_grid_multiple(middle[0] + dx), nearest_grid_multiple(middle[1] + dy), width, height)
        for dx, dy in steps
    ]
    inside = [spot for spot in spots if seen.contains(spot.x, spot.y) and seen.contains(spot.right, spot.bottom)]
    found = next((spot for spot in (*inside, *spots) if not any(spot.meets(box) for box in taken)), spots[0])
    return found.x, found.y


def nearest_point(points: Floats, x: float, y: float, reach: float) -> int | None:
    """Index of the point nearest to (x, y), not farther than `reach`; the later wins a tie."""
    if not len(points):
        return None
    distances = np.hypot(points[:, 0] - x, points[:, 1] - y)
    best = len(points) - 1 - int(np.argmin(distances[::-1]))
    return best if distances[best] <= reach else None


def topmost_box(bounds: Floats, x: float, y: float) -> int | None:
    """Index of the last rectangle (left, top, right, bottom) that holds the point."""
    hits = np.nonzero((bounds[:, 0] <= x) & (bounds[:, 2] >= x) & (bounds[:, 1] <= y) & (bounds[:, 3] >= y))[0]
    return int(hits[-1]) if len(hits) else None


def nearest_wire(paths: Floats, bounds: Floats, x: float, y: float, reach: float) -> int | None:
    """Index of the wire nearest to the point, not farther than `reach`."""
    if not len(paths):
        return None
    near = np.nonzero(visible(bounds, Box(x, y, 0, 0), reach))[0]
    if not len(near):
        return None
    start, stop = paths[near, :-1], paths[near, 1:]
    along = stop - start
    squared = np.maximum((along**2).sum(2), 1e-9)
    t = np.clip(((np.array([x, y]) - start) * along).sum(2) / squared, 0.0, 1.0)
    foot = start + t[:, :, None] * along
    distance = np.hypot(foot[:, :, 0] - x, foot[:, :, 1] - y).min(1)
    best = int(np.argmin(distance))
    return int(near[best]) if distance[best] <= reach else None


def wires_across(paths: Floats, bounds: Floats, start: tuple[float, float], end: tuple[float, float]) -> list[int]:
    """Indices of the wires that the stretch from start to end crosses."""
    box = Box(min(start[0], end[0]), min(start[1], end[1]), abs(end[0] - start[0]), abs(end[1] - start[1]))
    near = np.nonzero(visible(bounds, box, 0.0))[0]
    if not len(near):
        return []
    along = np.subtract(end, start)
    offset = paths[near] - np.array(start)
    side = along[0] * offset[:, :, 1] - along[1] * offset[:, :, 0]
    first, pieces = paths[near, :-1], paths[near, 1:] - paths[near, :-1]
    from_piece = pieces[:, :, 0] * (start[1] - first[:, :, 1]) - pieces[:, :, 1] * (start[0] - first[:, :, 0])
    to_piece = pieces[:, :, 0] * (end[1] - first[:, :, 1]) - pieces[:, :, 1] * (end[0] - first[:, :, 0])
    crosses = (side[:, :-1] * side[:, 1:] <= 0.0) & (from_piece * to_piece <= 0.0)
    flat = (side[:, :-1] == 0.0) & (side[:, 1:] == 0.0)
    return [int(k) for k in near[(crosses & ~flat).any(1)]]
