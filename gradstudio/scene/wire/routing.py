"""Wires that would run behind cards are led between them, in every style. Plain numbers and numpy, no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from gradstudio.scene.arrays import distinct
from gradstudio.scene.geometry import FORWARD, PATH_POINTS, Corners, Floats, Indices
from gradstudio.scene.wire.few_wires import GRAZE
from gradstudio.scene.wire.orthogonal_routing import BEHIND, Point, Taken, Way, find_way, port_levels
from gradstudio.scene.wire.route_memo import Outcome, RouteMemo, take
from gradstudio.scene.wire.wire_options import WireStyle
from gradstudio.scene.wire.wire_styles import way_path

MOST_WIRES: Final = 400
"""A canvas with more of them draws plain curves."""
MOST_LANES: Final = 150
"""So many wires are led around cards, the shortest first."""
MOST_WAYS: Final = 2
"""So many are found for one wire: a lane, and a better one."""
TURN: Final = 64.0
"""Scene pixels from a port to where its wire has reached the lane."""
LEAST: Final = 60.0
"""A shorter wire stays as it is."""
MOST_ASIDE: Final = 110.0
CLEAR: Final = 6.0
OFFSETS: Final = np.arange(14.0, 64.0, 7.0)
"""How far from the edges of cards lanes run."""
ASIDE: Final = 300.0
"""How far left and right of its ends a wire that goes backwards looks for a way."""
BESIDE: Final = 80.0
"""No stretch of a wire is further from what is in its way."""
AROUND: Final = 700.0
"""How far above and below its ends a wire looks for a lane, scene pixels."""
_THIRD: Final = PATH_POINTS // 3
_S: Final = (1.0 - np.cos(np.linspace(0.0, np.pi, _THIRD + 1))) / 2.0
_BETWEEN: Final = np.linspace(0.0, 1.0, 4, endpoint=False)[:, None, None]


def each_routed(
    paths: Floats,
    obstacles: Floats,
    source: Indices,
    target: Indices,
    open_to: Sequence[Iterable[int]] = (),
    style: WireStyle = "curved",
    memo: RouteMemo | None = None,
) -> Iterator[int]:
    """Leads wires that run behind obstacles around them, in place; right-angled ones also off each other.

    Args:
        paths: plain wires, `(wires, PATH_POINTS, 2)`.
        obstacles: `(obstacles, 4)` as left, top, right, bottom.
        source: the obstacle that each wire leaves, -1 for none.
        target: the obstacle in which it ends, -1 for none.
        open_to: for each wire, further obstacles that are none to it; not given: none.
        style: how wires are drawn.
        memo: what was found last time: a wire around which nothing is another has its way at once.

    Yields:
        The number of each wire that was led.
    """
    if not len(obstacles) or not 0 < len(paths) <= MOST_WIRES:
        return
    memo = memo if memo is not None else RouteMemo()
    order = _by_length(paths, paths[:, -1, 0] - paths[:, 0, 0])
    course = memo.begin(paths.copy(), obstacles, (source, target), open_to, style, order)
    taken = Taken()
    taken.levels.extend(port_levels(paths))
    led = 0
    for k in order:
        known = course.known(k) if led + MOST_WAYS <= MOST_LANES else None
        if known is not None:
            take(taken, known)
            found = known
        else:
            own = int(source[k]), int(target[k])
            found = _outcome(paths[k], obstacles, own, tuple(open_to[k]) if open_to else (), style, taken, led)
            course.note(k, found)
        led += found.led
        if found.path is not None:
            paths[k] = found.path
        if known is None:
            yield k
    course.end(is_whole=led < MOST_LANES)


def _outcome(
    path: Floats,
    obstacles: Floats,
    own: tuple[int, int],
    opened: tuple[int, ...],
    style: WireStyle,
    taken: Taken,
    led: int,
) -> Outcome:
    """What is found for a wire, the next after those that took their ways; `led` were led around cards."""
    levels, uprights, led_before = len(taken.levels), len(taken.uprights), led
    length = path[-1, 0] - path[0, 0]
    is_forward = bool(length >= FORWARD)
    others, reach = _others(path, obstacles, (*own, *opened))
    made: Floats | None = None
    if style == "angled" and is_forward:
        made, behind = _plain_way(path, others, taken)
    else:
        behind = _hits(path, others)
    if style == "curved" and behind and length > LEAST and led < MOST_LANES:
        made = _through_a_lane(path, others, behind, taken)
        behind = _hits(made, others) if made is not None else behind
        led += made is not None
    if behind and led < MOST_LANES:
        others, reach = _others(path, obstacles, opened, beside=not is_forward)
        found = _around(path, others, behind, taken, style)
        led += found is not None
        made = found if found is not None else made
    came = taken.levels.since(levels), taken.uprights.since(uprights)
    return Outcome(made, *came, led - led_before, reach, _window(path, others))


def _window(path: Floats, others: Floats) -> Corners:
    """Where stretches of a wire may lie that goes around these."""
    points = np.concatenate([path, others[:, :2], others[:, 2:]])
    (left, top), (right, low) = points.min(0) - BESIDE, points.max(0) + BESIDE
    return float(left), float(top), float(right), float(low)


def _plain_way(path: Floats, others: Floats, taken: Taken) -> tuple[Floats | None, int]:
    """A right-angled wire with its upright stretch where no other output's is; and what it runs behind."""
    start = path[0].tolist()
    end = path[-1].tolist()
    (sx, sy), (ex, ey), middle = start, end, (start[0] + end[0]) / 2
    low, high = min(sy, ey) - CLEAR, max(sy, ey) + CLEAR
    near = others[(others[:, 0] < ex) & (others[:, 2] > sx) & (others[:, 1] < high) & (others[:, 3] > low)]
    way = Way((sx, sy), middle, ey, middle, (ex, ey))
    hits = 0
    made = None
    if sy != ey and (len(near) or taken.is_run_on(way)):
        way, hits = find_way((sx, sy), (ex, ey), near, taken, is_plain=True)
        made = way_path("angled", way.stops)
    elif len(near):
        hits = _hits(path, near)
    if not hits:
        taken.add(way)
    return made, hits


def _around(path: Floats, others: Floats, behind: int, taken: Taken, style: WireStyle) -> Floats | None:
    """The path along the best way; None where it runs behind no fewer obstacles."""
    (sx, sy), (ex, ey) = path[0].tolist(), path[-1].tolist()
    way, hits = find_way((sx, sy), (ex, ey), others, taken)
    if hits >= behind:
        return None
    taken.add(way)
    made = way_path(style, way.stops)
    return made if style == "angled" or _hits(made, others) <= hits else way_path("angled", way.stops)


def _by_length(paths: Floats, length: Floats) -> list[int]:
    """The shortest first; among equals what stands higher, so that a muted wire, listed last, keeps its lane."""
    ordered: list[int] = np.lexsort((paths[:, -1, 1], paths[:, 0, 1], length)).tolist()
    return ordered


def _others(path: Floats, obstacles: Floats, own: Iterable[int], *, beside: bool = False) -> tuple[Floats, Corners]:
    """What may be in the way of a wire, and where that was looked for; `own` is not.

    `beside`: it may also go around at the left and the right.
    """
    left, right = float(path[:, 0].min()), float(path[:, 0].max())
    if beside:
        left, right = left - ASIDE, right + ASIDE
    across = (obstacles[:, 0] < right) & (obstacles[:, 2] > left)
    across[[k for k in own if k >= 0]] = False
    low, high = float(path[:, 1].min()), float(path[:, 1].max())
    met = across & (obstacles[:, 1] - GRAZE < high) & (obstacles[:, 3] + GRAZE > low)
    if met.any():  # the lane may lead around all of what it meets
        low, high = min(low, float(obstacles[met, 1].min())), max(high, float(obstacles[met, 3].max()))
    low, high = low - AROUND, high + AROUND
    found: Floats = obstacles[across & (obstacles[:, 1] < high) & (obstacles[:, 3] > low)]
    return found, (left, low, right, high)


def _hits(path: Floats, others: Floats) -> int:
    """How many obstacles a path runs behind, or grazes at their upper or lower edges."""
    points = (path[:-1] + _BETWEEN * (path[1:] - path[:-1])).reshape(-1, 2)
    x, y = points[:, :1], points[:, 1:]
    inside = (others[:, 0] < x) & (x < others[:, 2]) & (others[:, 1] - GRAZE < y) & (y < others[:, 3] + GRAZE)
    return int(inside.any(0).sum())


def _through_a_lane(path: Floats, others: Floats, behind: int, taken: Taken) -> Floats | None:
    """The path through the best lane; None when no lane runs behind fewer obstacles."""
    (sx, sy), (ex, ey) = path[0].tolist(), path[-1].tolist()
    out = sx + _aside(others[:, 2] - sx, sx - others[:, 0])
    into = ex - _aside(ex - others[:, 0], others[:, 2] - ex)
    if out < into - LEAST / 2 and not _hits(bow := _path((out, sy), (into, ey), sx, ex), others):
        return bow
    for most, turns in ((1, (sx, ex)), (1, (out, into)), (behind, (out, into))):
        made = _best_lane(path, others, turns, most, taken)
        if made is not None:
            return made
    return None


def _best_lane(path: Floats, others: Floats, turns: Point, behind: int, taken: Taken) -> Floats | None:
    """The path along the nearest lane that runs behind fewer obstacles than `behind`; it goes level up to the turns."""
    (sx, sy), (ex, ey), (out, into) = path[0].tolist(), path[-1].tolist(), turns
    first = out + TURN
    last = into - TURN
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
        if taken.is_free(y, first, last, (sx, sy)):
            taken.add(Way((sx, sy), first, y, last, (ex, ey)))
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
    a = (1 - t) ** 3
    b = 3 * (1 - t) ** 2 * t
    c = 3 * (1 - t) * t**2
    d = t**3
    x = a * start[0] + b * (start[0] + pull) + c * (end[0] - pull) + d * end[0]
    y = (a + b) * start[1] + (c + d) * end[1]
    bow: Floats = np.stack([x, y], 1)
    return bow
