"""Decision boundaries: what a function of two inputs gives over the plane, as a picture, and the data on it."""

from typing import Final

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Size
from gradstudio.protocol.messages.progress import CurveKey

SIDE: Final = 200
"""Pixels of a picture, across and down; while a run is under way there may be fewer."""
COLOURS: Final = 256
"""Colours that a pixel may have."""
MOST_CLASSES: Final = 32


class Watch(Message, frozen=True):
    """What is to be told of turns from now on, also of a run that is under way; `Do` says it for a run that begins.

    Attributes:
        boundaries: nodes whose boundaries are drawn; where no run is under way, at once.
    """

    curves: tuple[CurveKey, ...] = ()
    boundaries: tuple[ItemId, ...] = ()


class BoundaryDrawn(Message, frozen=True):
    """What a node, or the module it makes, gives over the plane.

    Attributes:
        step: how many statements had run; a picture stands until a later one.
        side: pixels across and down.
        levels: a byte a pixel, the upper row first. Of one number its place between 0 and 255 on a scale; of `classes`
            the class that wins, times `shades`, plus how sure that is.
        classes: of how many classes; 0: it is one number.
        span: left, right, lower and upper end of the plane.
        points: the data, pairs of float32, little-endian; `point_levels` what each is to be, as in `levels`; empty
            where that is not known.
        why_none: what keeps it from being drawn; "" when it is.
    """

    node: ItemId
    step: Size = 0
    side: Count = SIDE
    levels: bytes = b""
    classes: Count = 0
    span: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0)
    points: bytes = b""
    point_levels: bytes = b""
    why_none: str = ""

    @property
    def shades(self) -> int:
        """How many bytes a class has."""
        return shades_of(self.classes)


def shades_of(classes: int) -> int:
    """How many bytes each of so many classes has."""
    return COLOURS // max(classes, 1)
