"""What a figure is made of: lines, boxes and words with a role, in points; each format writes these. No Qt."""

import math
from typing import Final, NamedTuple
from typing import Literal as OneOf

from gradstudio.scene.geometry import Box

Point = tuple[float, float]
Segment = tuple[Point, Point, Point]
"""Of a cubic: two handles and where it ends."""
Anchor = OneOf["start", "middle", "end"]
Arrow = OneOf["none", "forward", "back"]
HEAD_LENGTH: Final = 5.0
HEAD_WIDTH: Final = 3.6
DASHES: Final = (3.0, 2.0)
"""Points of a dashed line, and of the gaps in it."""
RAISED: Final = 0.36
LOWERED: Final = 0.2
"""How far raised and lowered letters stand from the line, as shares of the size."""


class Run(NamedTuple):
    """Letters of one kind within a formula.

    Attributes:
        level: 1 raised, -1 lowered, 0 on the line.
        is_italic: a variable; names of functions, numbers and signs stand upright.
    """

    text: str
    is_italic: bool = False
    level: int = 0


Formula = tuple[Run, ...]


class Frame(NamedTuple):
    """A rectangle; `stroke` and `fill` are roles of the style, "" for none."""

    box: Box
    radius: float
    stroke: str
    fill: str
    width: float
    is_dashed: bool = False
    key: str = ""


class Curve(NamedTuple):
    """A wire from `start` along cubics; `arrow` tells at which end its head is."""

    start: Point
    segments: tuple[Segment, ...]
    stroke: str
    width: float
    is_dashed: bool = False
    arrow: Arrow = "forward"
    key: str = ""


class Words(NamedTuple):
    """A formula in one line; `x` is where `anchor` says, `y` its base line.

    Attributes:
        has_ground: on a patch of the figure's ground, so that what lies below does not cross the letters.
    """

    x: float
    y: float
    formula: Formula
    size: float
    role: str
    anchor: Anchor = "middle"
    has_ground: bool = False
    key: str = ""


Mark = Frame | Curve | Words


class Drawing(NamedTuple):
    """A figure of a size in points, what is drawn first below what is drawn later; `is_filled`: on a ground."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    is_filled: bool = True


def arrow_head(curve: Curve) -> tuple[Point, Point, Point] | None:
    """The corners of a wire's head, the tip first; None where it has none."""
    if curve.arrow == "none":
        return None
    last = curve.segments[-1]
    if curve.arrow == "forward":
        tip, handle = last[2], last[1] if last[1] != last[2] else last[0]
    else:
        tip, handle = curve.start, curve.segments[0][0]
    length = math.hypot(tip[0] - handle[0], tip[1] - handle[1]) or 1.0
    along = ((tip[0] - handle[0]) / length, (tip[1] - handle[1]) / length)
    long, wide = HEAD_LENGTH + curve.width, HEAD_WIDTH + curve.width
    back = (tip[0] - along[0] * long, tip[1] - along[1] * long)
    side = (-along[1] * wide / 2, along[0] * wide / 2)
    return tip, (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])


def upright(text: str) -> Formula:
    """Upright words."""
    return (Run(text),) if text else ()


def flat(formula: Formula) -> str:
    """The formula as plain text: what is raised behind "^", what is lowered behind "_"."""
    return "".join(("", "^", "_")[run.level] + run.text for run in formula)
