"""The paths of a few curved wires in plain numbers: the first picture does without numpy. No Qt.

numpy takes a tenth of a second to import; more wires, other shapes and ways around cards are worth that.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gradstudio.scene.geometry import BERNSTEIN, FORWARD, LEAST_PULL, MOST_PULL, Corners

FEW_WIRES: Final = 48
BETWEEN: Final = (0.0, 0.25, 0.5, 0.75)
"""Parts of a piece of a path at which is looked whether it is behind something; those of `routing`."""
GRAZE: Final = 6.0
"""A wire that comes nearer than this to the upper or lower edge of something runs along it, scene pixels."""
Point = tuple[float, float]
Path = list[Point]


def few_paths(starts: Sequence[Point], ends: Sequence[Point]) -> list[Path] | None:
    """The curves of `arrays.wire_paths`, bit by bit; None where a wire runs backwards."""
    if any(end[0] < start[0] + FORWARD for start, end in zip(starts, ends, strict=True)):
        return None
    return [_curve(start, end) for start, end in zip(starts, ends, strict=True)]


def _curve(start: Point, end: Point) -> Path:
    (sx, sy), (ex, ey) = start, end
    pull = min(max(abs(ex - sx) * 0.5, LEAST_PULL), MOST_PULL)
    out, into = sx + pull, ex - pull
    return [(a * sx + b * out + c * into + d * ex, a * sy + b * sy + c * ey + d * ey) for a, b, c, d in BERNSTEIN]


def bounds_of(path: Path) -> Corners:
    """Left, top, right and bottom of a path."""
    xs, ys = zip(*path, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def is_behind(path: Path, bounds: Corners, obstacle: Corners) -> bool:
    """Whether a path runs behind an obstacle, or grazes its upper or lower edge."""
    left, top, right, bottom = obstacle
    top, bottom = top - GRAZE, bottom + GRAZE
    if bounds[0] >= right or bounds[2] <= left or bounds[1] >= bottom or bounds[3] <= top:
        return False
    for (x, y), (next_x, next_y) in pairwise(path):
        for part in BETWEEN:
            if left < x + part * (next_x - x) < right and top < y + part * (next_y - y) < bottom:
                return True
    return False
