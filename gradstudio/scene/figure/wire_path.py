"""The way of one wire of a figure: a curve, led around the boxes between, and the room for its number. No Qt."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gradstudio.scene.figure.drawing import Point, Segment
from gradstudio.scene.figure.figure_style import SMALL_LINE
from gradstudio.scene.geometry import Box

CLEAR: Final = 3.5
"""Least distance of a wire from a box that it passes."""
BESIDE: Final = 3.5
"""Of a lane, from what is kept clear."""
LEAST_GAP: Final = 1.0
LANE_GAP: Final = 6.0
"""Between two lanes of wires that bring different things."""
PULL: Final = 0.5
TURN: Final = 26.0
SAMPLES: Final = 24
MOST_SAMPLES: Final = 1_000
APART: Final = 8.0
"""Points of a long curve are so far apart: no box is so narrow."""
PLACES: Final = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85)
LABEL_EDGE: Final = 2.0


class Lane(NamedTuple):
    """The level stretch of a wire that goes around something."""

    height: float
    left: float
    right: float


class Path(NamedTuple):
    """A wire from its source's side to its target's; also as points that it passes, and the rectangle around them.

    Attributes:
        lane: where it goes around something; None: it goes straight on.
    """

    start: Point
    segments: tuple[Segment, ...]
    points: tuple[Point, ...]
    bounds: Box
    lane: Lane | None = None


def wire_path(start: Point, end: Point, boxes: Sequence[Box], taken: Sequence[Lane] = ()) -> Path:
    """The first way that meets no box: straight on, else by the nearest free lane above or below.

    Args:
        taken: lanes of wires that bring something else.
    """
    left, right = min(start[0], end[0]), max(start[0], end[0])
    grown = [box.grown(CLEAR) for box in boxes]
    between = [box for box in grown if box.right > left and box.x < right]
    direct = _path(start, _direct(start, end))
    if not _meets(direct, between):
        return direct
    around = (_path_by_lane(start, end, lane) for lane in _free(_lanes(start, end, between), left, right, taken))
    return next((path for path in around if not _meets(path, between)), direct)


def number_room(path: Path, width: float, taken: Sequence[Box], others: Sequence[Path]) -> Box:
    """Room for a number on a wire, where it covers neither a box nor another number, and crosses no other wire."""
    across, high = width + 2 * LABEL_EDGE, SMALL_LINE
    rooms = []
    for place in PLACES:
        x, y = path.points[round(place * (len(path.points) - 1))]
        rooms.append(Box(x - across / 2, y - high / 2, across, high))
    free = [room for room in rooms if not any(room.meets(other) for other in taken)]
    near = [other for other in others if any(room.meets(other.bounds) for room in free)]
    alone = (room for room in free if not any(room.contains(x, y) for other in near for x, y in other.points))
    return next(alone, next(iter(free), rooms[0]))


def _free(heights: Sequence[float], left: float, right: float, taken: Sequence[Lane]) -> list[float]:
    """The same heights in their order, each moved aside as far as other lanes along the way ask for."""
    near = sorted(lane.height for lane in taken if lane.left < right and lane.right > left)
    if not near:
        return list(heights)
    found = list[float]()
    for height in heights:
        up = down = height
        while any(abs(other - up) < LANE_GAP for other in near):
            up -= LANE_GAP
        while any(abs(other - down) < LANE_GAP for other in near):
            down += LANE_GAP
        found += [up] if up == down else [up, down]
    return found


def _path_by_lane(start: Point, end: Point, height: float) -> Path:
    segments = _by_lane(start, end, height)
    (_, _, entered), (_, _, left), _ = segments
    return _path(start, segments)._replace(lane=Lane(height, entered[0], left[0]))


def _meets(path: Path, boxes: Sequence[Box]) -> bool:
    near = [box for box in boxes if box.meets(path.bounds)]
    return any(box.contains(x, y) for x, y in path.points for box in near)


def _direct(start: Point, end: Point) -> tuple[Segment, ...]:
    pull = max(abs(end[0] - start[0]) * PULL, 8.0)
    return (((start[0] + pull, start[1]), (end[0] - pull, end[1]), end),)


def _by_lane(start: Point, end: Point, lane: float) -> tuple[Segment, Segment, Segment]:
    """Into a lane, along it, and out again."""
    turn = _turn(start, end)
    enter, leave = (start[0] + turn, lane), (end[0] - turn, lane)
    half = turn / 2
    return (
        ((start[0] + half, start[1]), (enter[0] - half, lane), enter),
        (enter, leave, leave),
        ((leave[0] + half, lane), (end[0] - half, end[1]), end),
    )


def _turn(start: Point, end: Point) -> float:
    """How far from its ends a wire reaches its lane."""
    return min(TURN, max((end[0] - start[0]) / 3, 8.0))


def _lanes(start: Point, end: Point, boxes: Sequence[Box]) -> list[float]:
    """Heights at which nothing stands in the way, the nearest first: beside each pile of boxes that leaves no gap."""
    turn = _turn(start, end)
    ways = sorted((box.y, box.bottom) for box in boxes if box.right > start[0] + turn and box.x < end[0] - turn)
    piles: list[tuple[float, float]] = []
    for top, bottom in ways:
        if piles and top - piles[-1][1] < LEAST_GAP:
            piles[-1] = (piles[-1][0], max(piles[-1][1], bottom))
        else:
            piles.append((top, bottom))
    heights = []
    for k, (top, bottom) in enumerate(piles):
        above = top - piles[k - 1][1] if k else 2 * BESIDE
        below = piles[k + 1][0] - bottom if k + 1 < len(piles) else 2 * BESIDE
        heights += [top - min(BESIDE, above / 2), bottom + min(BESIDE, below / 2)]
    middle = (start[1] + end[1]) / 2
    return sorted(heights, key=lambda height: (abs(height - middle), height))


def _path(start: Point, segments: tuple[Segment, ...]) -> Path:
    points = tuple(_points(start, segments))
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Path(start, segments, points, Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)))


def _points(start: Point, segments: Sequence[Segment]) -> list[Point]:
    """The points of cubics, close enough that no box lies between two, and what is level at its ends and between."""
    found = [start]
    for one, two, end in segments:
        begin = found[-1]
        count = SAMPLES if one == begin else round(min(MOST_SAMPLES, max(SAMPLES, abs(end[0] - begin[0]) / APART)))
        for k in range(1, count + 1):
            t = k / count
            u = 1 - t
            a, b, c, d = u**3, 3 * u * u * t, 3 * u * t * t, t**3
            x = a * begin[0] + b * one[0] + c * two[0] + d * end[0]
            found.append((x, a * begin[1] + b * one[1] + c * two[1] + d * end[1]))
    return found
