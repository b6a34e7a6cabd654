"""The way of one wire of a figure: a curve, led around the boxes between, and the room for its number. No Qt."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gradstudio.scene.figure.drawing import Point, Segment
from gradstudio.scene.figure.figure_style import SMALL_LINE
from gradstudio.scene.geometry import Box

CLEAR: Final = 3.5
"""Least distance of a wire from a box that it passes."""
LANE: Final = 7.0
PULL: Final = 0.5
TURN: Final = 26.0
SAMPLES: Final = 24
PLACES: Final = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85)
LABEL_EDGE: Final = 2.0


class Path(NamedTuple):
    """A wire from its source's side to its target's, also as the points that it passes."""

    start: Point
    segments: tuple[Segment, ...]
    points: tuple[Point, ...]

    @property
    def bounds(self) -> Box:
        """The rectangle that it needs."""
        xs, ys = [x for x, _ in self.points], [y for _, y in self.points]
        return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))


def wire_path(start: Point, end: Point, boxes: Sequence[Box]) -> Path:
    """The first way that meets no box: straight on, else by the nearest free lane above or below."""
    grown = [box.grown(CLEAR) for box in boxes]
    ways = [_direct(start, end), *(_by_lane(start, end, lane) for lane in _lanes(start, end, boxes))]
    paths = [Path(start, way, tuple(_points(start, way))) for way in ways]
    free = (path for path in paths if not any(box.contains(*point) for point in path.points for box in grown))
    return next(free, paths[0])


def number_room(path: Path, width: float, taken: Sequence[Box], others: Sequence[Path]) -> Box:
    """Room for a number on a wire, where it covers neither a box nor another number, and crosses no other wire."""
    across, high = width + 2 * LABEL_EDGE, SMALL_LINE
    rooms = []
    for place in PLACES:
        x, y = path.points[round(place * (len(path.points) - 1))]
        rooms.append(Box(x - across / 2, y - high / 2, across, high))
    free = [room for room in rooms if not any(room.meets(other) for other in taken)]
    alone = (room for room in free if not any(room.contains(*point) for other in others for point in other.points))
    return next(alone, next(iter(free), rooms[0]))


def _direct(start: Point, end: Point) -> tuple[Segment, ...]:
    pull = max(abs(end[0] - start[0]) * PULL, 8.0)
    return (((start[0] + pull, start[1]), (end[0] - pull, end[1]), end),)


def _by_lane(start: Point, end: Point, lane: float) -> tuple[Segment, ...]:
    """Into a lane, along it, and out again."""
    turn = min(TURN, max((end[0] - start[0]) / 3, 8.0))
    enter, leave = (start[0] + turn, lane), (end[0] - turn, lane)
    half = turn / 2
    return (
        ((start[0] + half, start[1]), (enter[0] - half, lane), enter),
        (enter, leave, leave),
        ((leave[0] + half, lane), (end[0] - half, end[1]), end),
    )


def _lanes(start: Point, end: Point, boxes: Sequence[Box]) -> list[float]:
    """Heights above and below boxes that stand between, the nearest first."""
    between = [box for box in boxes if box.right > start[0] and box.x < end[0]]
    heights = {edge for box in between for edge in (box.y - LANE, box.bottom + LANE)}
    middle = (start[1] + end[1]) / 2
    return sorted(heights, key=lambda height: (abs(height - middle), height))


def _points(start: Point, segments: Sequence[Segment]) -> list[Point]:
    found = [start]
    for one, two, end in segments:
        begin = found[-1]
        for k in range(1, SAMPLES + 1):
            t = k / SAMPLES
            u = 1 - t
            shares = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
            corners = (begin, one, two, end)
            found.append(
                (
                    sum(share * corner[0] for share, corner in zip(shares, corners, strict=True)),
                    sum(share * corner[1] for share, corner in zip(shares, corners, strict=True)),
                )
            )
    return found
