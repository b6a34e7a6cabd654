"""Where an arrow key leads among places on a page: plain geometry."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRect, Qt

ASIDE: Final = 3
"""A pixel off the way counts as much as this many along it."""


def nearest(boxes: Sequence[QRect], now: int, key: Qt.Key) -> int | None:
    """Index of the box that lies next in the direction of an arrow; None: none does."""
    here = boxes[now]
    best: tuple[int, int] | None = None
    for number, box in enumerate(boxes):
        along = _along(here, box, key)
        if number == now or along is None:
            continue
        cost = along + ASIDE * _aside(here, box, key)
        if best is None or cost < best[0]:
            best = (cost, number)
    return best[1] if best is not None else None


def _along(here: QRect, there: QRect, key: Qt.Key) -> int | None:
    """Pixels between two boxes on the way; None when the other does not lie that way."""
    match key:
        case Qt.Key.Key_Right:
            gap = there.left() - here.right()
        case Qt.Key.Key_Left:
            gap = here.left() - there.right()
        case Qt.Key.Key_Down:
            gap = there.top() - here.bottom()
        case _:
            gap = here.top() - there.bottom()
    return gap if gap >= 0 else None


def _aside(here: QRect, there: QRect, key: Qt.Key) -> int:
    """Pixels by which the other is off the way; 0 where the two overlap across it."""
    if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
        return max(0, there.top() - here.bottom(), here.top() - there.bottom())
    return max(0, there.left() - here.right(), here.left() - there.right())
