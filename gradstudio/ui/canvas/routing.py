"""Wires that would run behind cards take a lane between them. Plain numbers and numpy, no Qt."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from gradstudio.ui.canvas.geometry import PATH_POINTS, Floats, Indices, distinct

MOST_WIRES: Final = 400
"""A canvas with more of them draws plain curves."""
MOST_LANES: Final = 150
"""So many wires take lanes, the shortest first."""
TURN: Final = 64.0
"""Scene pixels from a port to where its wire has reached the lane."""
LEAST: Final = 60.0
"""A shorter wire stays as it is."""
MOST_ASIDE: Final = 110.0
CLEAR: Final = 6.0
OFFSETS: Final = np.arange(10.0, 60.0, 7.0)
"""How far from the edges of cards lanes run."""
APART: Final = 6.0
"""Least distance of the lanes of wires from different outputs."""
AROUND: Final = 700.0
"""How far above and below its ends a wire looks for a lane, scene pixels."""
BEHIND: Final = 3000.0
"""A card in the way counts as so many scene pixels."""
_THIRD: Final = PATH_POINTS // 3
_S: Final = (1.0 - np.cos(np.linspace(0.0, np.pi, _THIRD + 1))) / 2.0
Point = tuple[float, float]
Lane = tuple[float, float, float, Point]


def route_around(
    paths: Floats, obstacles: Floats, source: Indices, target: Indices, open_to: Sequence[Iterable[int]] = ()
) -> None:
    """Lead forward wires that run behind obstacles through lanes, in place.

    Args:
        paths: plain wires, `(wires, PATH_POINTS, 2)`.
        obstacles: `(obstacles, 4)` as left, top, right, bottom.
        source: the obstacle that each wire leaves, -1 for none.
        target: the obstacle in which it ends, -1 for none.
        open_to: for each wire, further obstacles that are none to it; not given: none.
    """
    if not len(obstacles) or not 0 < len(paths) <= MOST_WIRES:
        return
    length = paths[:, -1, 0] - paths[:, 0, 0]
    taken: list[Lane] = []
    for k in [k for k in _by_length(paths, length) if length[k] > LEAST][: 4 * MOST_LANES]:
        if len(taken) >= MOST_LANES:
            return
        own = (int(source[k]), int(target[k]), *(open_to[k] if open_to else ()))
        others = _others(paths[k], obstacles, own)
        behind = _hits(paths[k], others)
        if behind:
            made = _through_a_lane(paths[k], others, behind, taken)
            if made is not None:
                paths[k] = made


def _by_length(paths: Floats, length: Floats) -> list[int]:
    """The shortest first; among equals what stands higher, so that a muted wire, listed last, keeps its lane."""
    ordered: list[int] = np.lexsort((paths[:, -1, 1], paths[:, 0, 1], length)).tolist()
    return ordered


def _others(path: Floats, obstacles: Floats, own: Iterable[int]) -> Floats:
    """What may be in the way of a wire; `own` is not."""
    across = (obstacles[:, 0] < path[-1, 0]) & (obstacles[:, 2] > path[0, 0])
    across[[k for k in own if k >= 0]] = False
    low, high = path[:, 1].min(), path[:, 1].max()
    met = across & (obstacles[:, 1] < high) & (obstacles[:, 3] > low)
    if met.any():  # the lane may lead around all of what it meets
        low, high = min(low, obstacles[met, 1].min()), max(high, obstacles[met, 3].max())
    found: Floats = obstacles[across & (obstacles[:, 1] < high + AROUND) & (obstacles[:, 3] > low - AROUND)]
    return found


def _hits(path: Floats, others: Floats) -> int:
    """How many obstacles a path runs behind."""
    points = np.concatenate([path, (path[1:] + path[:-1]) / 2])
    x, y = points[:, :1], points[:, 1:]
    inside = (others[:, 0] < x) & (x < others[:, 2]) & (others[:, 1] < y) & (y < others[:, 3])
    return int(inside.any(0).sum())


def _through_a_lane(path: Floats, others: Floats, behind: int, taken: list[Lane]) -> Floats | None:
    """The path through the best lane; None when no lane runs behind fewer obstacles."""
    (sx, sy), (ex, ey) = path[0].tolist(), path[-1].tolist()
    out, into = sx + _aside(others[:, 2] - sx, sx - others[:, 0]), ex - _aside(ex - others[:, 0], others[:, 2] - ex)
    if out < into - LEAST / 2 and not _hits(bow := _path((out, sy), (into, ey), sx, ex), others):
        return bow
    for most, turns in ((1, (sx, ex)), (1, (out, into)), (behind, (out, into))):
        made = _best_lane(path, others, turns, most, taken)
        if made is not None:
            return made
    return None


def _best_lane(path: Floats, others: Floats, turns: Point, behind: int, taken: list[Lane]) -> Floats | None:
    """The path along the nearest lane that runs behind fewer obstacles than `behind`; it goes level up to the turns."""
    (sx, sy), (ex, ey), (out, into) = path[0].tolist(), path[-1].tolist(), turns
    first, last = out + TURN, into - TURN
    if last <= first:
        return None
    lanes = distinct(np.concatenate([(others[:, 1, None] - OFFSETS).ravel(), (others[:, 3, None] + OFFSETS).ravel()]))
    lanes = np.concatenate([lanes, [sy, ey]])
    along = _crossed(others, first - TURN / 2, last + TURN / 2, lanes, lanes)
    up = _crossed(others, out, first, np.minimum(lanes, sy), np.maximum(lanes, sy))
    down = _crossed(others, last, into - CLEAR, np.minimum(lanes, ey), np.maximum(lanes, ey))
    hits = along + np.maximum(up, down)
    cost = np.abs(lanes - sy) + np.abs(lanes - ey) + BEHIND * (along + up + down)
    for k in np.argsort(cost).tolist():
        if hits[k] >= behind:
            return None
        y = float(lanes[k])
        if all(
            abs(y - lane) >= APART or low > last or high < first or port == (sx, sy) for lane, low, high, port in taken
        ):
            taken.append((y, first, last, (sx, sy)))
            return _lane_path((out, sy), (first, y), (last, y), (into, ey), sx, ex)
    return None


def _aside(beyond: Floats, before: Floats) -> float:
    """How far a wire goes on level, past the edges of what stands above and below its port."""
    edges = beyond[(beyond > 0) & (before > 0) & (beyond < MOST_ASIDE)]
    return float(edges.max()) if len(edges) else 0.0


def _crossed(others: Floats, left: float, right: float, tops: Floats, bottoms: Floats) -> Floats:
    """For each stretch from top to bottom, how many obstacles it meets between left and right."""
    near = others[(others[:, 0] < right) & (others[:, 2] > left)]
    meets = (near[:, 1] - CLEAR < bottoms[:, None]) & (near[:, 3] + CLEAR > tops[:, None])
    counted: Floats = meets.sum(1).astype(np.float64)
    return counted


def _lane_path(out: Point, first: Point, last: Point, into: Point, left: float, right: float) -> Floats:
    """From a port at `left` level to the turn, up or down to the lane, along it, and so to the port at `right`."""
    made = np.empty((PATH_POINTS, 2))
    made[: _THIRD + 1] = _bow(out, first, _S)
    made[0, 0] = left
    made[_THIRD : 2 * _THIRD + 1] = np.linspace(first, last, _THIRD + 1)
    made[2 * _THIRD :] = _bow(last, into, _S)
    made[-1, 0] = right
    return made


def _path(out: Point, into: Point, left: float, right: float) -> Floats:
    """From a port at `left` level past what stands around it, up or down, and so to the port at `right`."""
    made = np.empty((PATH_POINTS, 2))
    made[1:-1] = _bow(out, into, np.linspace(0.0, 1.0, PATH_POINTS - 2))
    made[0], made[-1] = (left, out[1]), (right, into[1])
    return made


def _bow(start: Point, end: Point, t: Floats) -> Floats:
    """A curve that leaves and arrives level."""
    pull = (end[0] - start[0]) * 0.6
    a, b, c, d = (1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3
    x = a * start[0] + b * (start[0] + pull) + c * (end[0] - pull) + d * end[0]
    y = (a + b) * start[1] + (c + d) * end[1]
    bow: Floats = np.stack([x, y], 1)
    return bow
