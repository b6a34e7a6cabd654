"""The shapes of wires: curved, straight or right-angled, through dots or not. Plain numbers and numpy, no Qt."""

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from gradstudio.scene import arrays, geometry
from gradstudio.scene.geometry import PATH_POINTS, Floats
from gradstudio.scene.wire.wire_options import WireStyle

ROUND: Final = 7.0
"""Radius of the corners of right-angled wires, scene pixels."""
WIDE: Final = 36.0
"""Of curved ones that are led around cards: the curve stays within the distance that ways keep from these."""
MOST_PULL: Final = 180.0
"""As far as a curve leaves a port or a dot straight on at most."""
EVEN: Final = 0.001
"""Radians of turning that a scene pixel of length counts as, where the points of a curve are shared out."""
_FINE: Final = np.linspace(0.0, 1.0, 49)[:, None]
_LEVEL: Final = np.linspace(0.0, 1.0, 6)[:, None]
_BEND: Final = np.linspace(0.0, 1.0, 5)[:, None]


def styled_paths(style: WireStyle, starts: Floats, ends: Floats, source_boxes: Floats, target_boxes: Floats) -> Floats:
    """Flattened wires, `(wires, PATH_POINTS, 2)`; the arguments are those of `arrays.wire_paths`."""
    paths = arrays.wire_paths(starts, ends, source_boxes, target_boxes)
    forward = ends[:, 0] >= starts[:, 0] + geometry.FORWARD
    if style == "straight":
        straight = starts[:, None] + np.linspace(0.0, 1.0, PATH_POINTS)[None, :, None] * (ends - starts)[:, None]
        paths[forward] = straight[forward]
    elif style == "angled":
        for k in np.nonzero(forward)[0].tolist():
            paths[k] = _angled(starts[k], ends[k])
    return paths


def way_path(style: WireStyle, stops: Floats) -> Floats:
    """A flattened wire along the stops of a way around cards: `(PATH_POINTS, 2)`."""
    if style == "straight":
        return spread(np.array([stops[0], stops[2], stops[3], stops[5]]))
    return _rounded(stops, WIDE if style == "curved" else ROUND)


def dotted_path(style: WireStyle, points: Floats, onward: Sequence[Floats] = ()) -> Floats:
    """A flattened wire through points, the first and the last its ports: `(PATH_POINTS, 2)`.

    `onward`: for each point between, the sum of the directions in which wires go on from it; not given: just this one.
    """
    if style == "curved":
        return _curved(points, onward)
    if style == "angled" and 3 * len(points) - 2 <= PATH_POINTS:
        return _angled_through(points)
    return spread(points)


def spread(stops: Floats) -> Floats:
    """A path along stops, which are among its points; long pieces have more of them."""
    steps = np.hypot(*np.diff(stops, axis=0).T)
    left = PATH_POINTS - len(stops)
    whole = max(float(steps.sum()), 1e-9)
    counts = 1 + np.floor(steps / whole * left).astype(int)
    counts[int(np.argmax(steps))] += PATH_POINTS - 1 - int(counts.sum())
    pieces = [
        one + np.linspace(0.0, 1.0, count + 1)[1:, None] * (other - one)
        for one, other, count in zip(stops[:-1], stops[1:], counts.tolist(), strict=True)
    ]
    return np.concatenate([stops[:1], *pieces])


def _stops(start: Floats, end: Floats) -> Floats:
    """Level, upright and level again from one point to another, without the first."""
    middle = (start[0] + end[0]) / 2
    return np.array([(middle, start[1]), (middle, end[1]), end])


def _angled(start: Floats, end: Floats) -> Floats:
    """Level to the middle, up or down, and level again, the corners rounded a little."""
    (first, second, _), down = _stops(start, end), end[1] - start[1]
    radius = min(ROUND, abs(down) / 2, (end[0] - start[0]) / 4)
    aside, upright = np.array([radius, 0.0]), np.array([0.0, np.copysign(radius, down)])
    out, into = first - aside, second + aside
    bends = [_bend(out, first, first + upright), _bend(second - upright, second, into)]
    return np.concatenate([start + _LEVEL * (out - start), *bends, into + _LEVEL * (end - into)])


def _angled_through(points: Floats) -> Floats:
    """Right-angled through dots, its corners rounded as well as so many points can be."""
    pieces = len(points) - 1
    each = min(5, (PATH_POINTS - len(points)) // (2 * pieces))
    made = [points[:1]]
    for one, other in itertools.pairwise(points):
        first, second, _ = _stops(one, other)
        made += [_corner(one, first, second, ROUND, each), _corner(first, second, other, ROUND, each), other[None]]
    path = np.concatenate(made)
    return np.concatenate([path, np.repeat(path[-1:], PATH_POINTS - len(path), 0)])


def _rounded(stops: Floats, radius: float) -> Floats:
    """A path along stops with round corners, `(PATH_POINTS, 2)`; of two corners at one place neither is one."""
    step = np.abs(np.diff(stops, axis=0)).sum(1)
    stops = stops[[0, *(k for k in range(1, len(stops) - 1) if step[k] > 0.5), len(stops) - 1]]
    (x, y), count = np.diff(stops, axis=0).T, len(stops) - 1
    turns = [k for k in range(1, count) if abs(x[k - 1] * y[k] - y[k - 1] * x[k]) > 1e-6]
    if not turns:
        return spread(stops[[0, -1]])
    stops = stops[[0, *turns, len(stops) - 1]]
    each = min(5 if len(turns) > 2 else 8, (PATH_POINTS - 2) // len(turns))
    reach = np.hypot(*np.diff(stops, axis=0).T)
    reach[1:-1] /= 2
    bends = [
        _corner(stops[k - 1], stops[k], stops[k + 1], min(radius, reach[k - 1], reach[k]), each)
        for k in range(1, len(stops) - 1)
    ]
    path = np.concatenate([stops[:1], *bends, stops[-1:]])
    return _filled(path)


def _filled(path: Floats) -> Floats:
    """A path with more points on its longest pieces, `(PATH_POINTS, 2)`."""
    while len(path) < PATH_POINTS:
        k = int(np.argmax(np.hypot(*np.diff(path, axis=0).T)))
        path = np.insert(path, k + 1, (path[k] + path[k + 1]) / 2, 0)
    return path


def _corner(before: Floats, corner: Floats, after: Floats, radius: float, count: int) -> Floats:
    """A rounded corner of so many points; one is the corner itself."""
    if count < 2:
        return corner[None]
    (one, along), (other, onward) = _way(corner, before), _way(corner, after)
    start, stop = corner + one * min(radius, along / 2), corner + other * min(radius, onward / 2)
    t = np.linspace(0.0, 1.0, count)[:, None]
    bend: Floats = (1 - t) ** 2 * start + 2 * (1 - t) * t * corner + t**2 * stop
    return bend


def _way(origin: Floats, goal: Floats) -> tuple[Floats, float]:
    """The direction from one point to another, and how far that is."""
    step = goal - origin
    length = float(np.hypot(*step))
    return step / max(length, 1e-9), length


def _bend(start: Floats, corner: Floats, end: Floats) -> Floats:
    bend: Floats = (1 - _BEND) ** 2 * start + 2 * (1 - _BEND) * _BEND * corner + _BEND**2 * end
    return bend


def directions(points: Floats) -> Floats:
    """The directions of the pieces between points, each of the length 1."""
    step = np.diff(points, axis=0)
    found: Floats = step / np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
    return found


def _curved(points: Floats, onward: Sequence[Floats]) -> Floats:
    """A curve through points that leaves the first and reaches the last level.

    At a dot it goes half-way between where it comes from and where it goes on, however far these are: a far point
    does not pull harder. Wires that share a dot go through it in one direction: they are one strand up to there.
    """
    pieces = len(points) - 1
    step, ahead = np.diff(points, axis=0), directions(points)
    length = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)
    way = np.zeros_like(points)
    for k in range(1, pieces):
        goes = onward[k - 1] if onward else ahead[k]
        goes = goes / max(float(np.hypot(*goes)), 1e-9)
        mean = ahead[k - 1] + goes
        way[k] = mean if float(np.hypot(*mean)) > 1e-3 else ahead[k - 1]
    way[[0, -1], 0] = 1.0
    way /= np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None]
    curves = [
        _cubic(points[k], way[k], points[k + 1], way[k + 1], min(length[k] * 0.36, MOST_PULL)) for k in range(pieces)
    ]
    return _thinned(curves)


def _cubic(start: Floats, leaves: Floats, end: Floats, reaches: Floats, pull: float) -> Floats:
    """A curve in many small steps."""
    b, c = start + leaves * pull, end - reaches * pull
    curve: Floats = (1 - _FINE) ** 3 * start + 3 * (1 - _FINE) ** 2 * _FINE * b
    return curve + 3 * (1 - _FINE) * _FINE**2 * c + _FINE**3 * end


def _thinned(curves: Sequence[Floats]) -> Floats:
    """Curves behind each other in few points, `(PATH_POINTS, 2)`, most where they turn, their ends among them."""
    bent = [_bending(curve) for curve in curves]
    whole = np.array([along[-1] for along in bent])
    counts = 1 + np.floor(whole / max(float(whole.sum()), 1e-9) * (PATH_POINTS - 1 - len(curves))).astype(int)
    counts[int(np.argmax(whole))] += PATH_POINTS - 1 - int(counts.sum())
    path = [curves[0][:1]]
    for curve, along, count in zip(curves, bent, counts.tolist(), strict=True):
        at = np.linspace(0.0, along[-1], count + 1)[1:]
        path.append(np.stack([np.interp(at, along, curve[:, 0]), np.interp(at, along, curve[:, 1])], 1))
    return np.concatenate(path)


def _bending(curve: Floats) -> Floats:
    """How far a curve has turned up to each of its points, radians; its length counts a little."""
    step = np.diff(curve, axis=0)
    angle = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    turned = np.abs(np.diff(angle, prepend=angle[:1])) + np.abs(np.diff(angle, append=angle[-1:]))
    bent: Floats = np.concatenate([[0.0], np.cumsum(turned / 2 + EVEN * np.hypot(step[:, 0], step[:, 1]))])
    return bent
