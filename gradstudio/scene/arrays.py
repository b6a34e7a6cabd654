"""Many points, rectangles and wires at once: wire paths, segments, hit tests. Plain numbers and numpy, no Qt.

numpy takes a tenth of a second to import: nothing that the first picture of a few cards needs may import this at once.
"""

from typing import Final

import numpy as np

from gradstudio.scene.geometry import (
    BERNSTEIN,
    CORNER,
    FORWARD,
    LANE,
    LEAST_PULL,
    MOST_PULL,
    PATH_POINTS,
    STUB,
    Box,
    Floats,
    visible,
)

_CORNER_STEPS: Final = np.linspace(0.0, 1.0, 5)
_SHARES: Final = np.array(BERNSTEIN).T


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
    pull = np.clip(np.abs(ends[:, 0] - starts[:, 0]) * 0.5, LEAST_PULL, MOST_PULL)
    a, b, c, d = _SHARES[:, None, :]
    (sx, sy), (ex, ey) = starts.T[:, :, None], ends.T[:, :, None]
    out, into = sx + pull[:, None], ex - pull[:, None]
    return np.stack([a * sx + b * out + c * into + d * ex, a * sy + b * sy + c * ey + d * ey], 2)


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
