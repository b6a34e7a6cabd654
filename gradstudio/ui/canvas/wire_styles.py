"""The shapes of wires: curved, straight or right-angled, through dots or not. Plain numbers and numpy, no Qt."""

import itertools
from typing import Final

import numpy as np

from gradstudio.ui.canvas import geometry
from gradstudio.ui.canvas.geometry import PATH_POINTS, Floats
from gradstudio.ui.state.wire_view import WireStyle

ROUND: Final = 7.0
"""Radius of the corners of right-angled wires, scene pixels."""
_LEVEL: Final = np.linspace(0.0, 1.0, 6)[:, None]
_BEND: Final = np.linspace(0.0, 1.0, 5)[:, None]


def styled_paths(style: WireStyle, starts: Floats, ends: Floats, source_boxes: Floats, target_boxes: Floats) -> Floats:
    """Flattened wires, `(wires, PATH_POINTS, 2)`; the arguments are those of `geometry.wire_paths`."""
    if style == "straight":
        return starts[:, None] + np.linspace(0.0, 1.0, PATH_POINTS)[None, :, None] * (ends - starts)[:, None]
    paths = geometry.wire_paths(starts, ends, source_boxes, target_boxes)
    if style == "angled":
        for k in np.nonzero(ends[:, 0] >= starts[:, 0] + 12.0)[0].tolist():
            paths[k] = _angled(starts[k], ends[k])
    return paths


def dotted_path(style: WireStyle, points: Floats) -> Floats:
    """A flattened wire through points, the first and the last its ports: `(PATH_POINTS, 2)`."""
    if style == "curved":
        return _curved(points)
    stops = points
    if style == "angled" and 3 * len(points) - 2 <= PATH_POINTS:
        pairs = itertools.pairwise(points)
        stops = np.concatenate([[points[0]], *(_stops(one, other) for one, other in pairs)])
    return np.concatenate([stops, np.repeat(stops[-1:], PATH_POINTS - len(stops), 0)])


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


def _bend(start: Floats, corner: Floats, end: Floats) -> Floats:
    bend: Floats = (1 - _BEND) ** 2 * start + 2 * (1 - _BEND) * _BEND * corner + _BEND**2 * end
    return bend


def _curved(points: Floats) -> Floats:
    """A curve through points that leaves the first and reaches the last level."""
    pieces = len(points) - 1
    step = np.diff(points, axis=0)
    length = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)
    way = np.zeros_like(points)
    way[1:-1] = points[2:] - points[:-2]
    way[[0, -1], 0] = 1.0
    way /= np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None]
    each, more = divmod(PATH_POINTS - 1, pieces)
    path, at = np.empty((PATH_POINTS, 2)), 0
    path[0] = points[0]
    for k in range(pieces):
        count, pull = each + (k < more), length[k] * 0.36
        t = np.linspace(0.0, 1.0, count + 1)[1:, None]
        a, b, c, d = points[k], points[k] + way[k] * pull, points[k + 1] - way[k + 1] * pull, points[k + 1]
        curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        path[at + 1 : at + count + 1] = curve
        at += count
    return path
