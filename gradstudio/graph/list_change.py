"""Where a list of thousands differs from what it was: one run of places, found without a step of Python for each."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class ListChange(NamedTuple):
    """The places from `start` to `old_end` became those from `start` to `new_end`; what stands around them stayed."""

    start: int
    old_end: int
    new_end: int


def list_change(old: Sequence[Any], new: Sequence[Any]) -> ListChange:
    """The shortest run of places that is another one now."""
    most = min(len(old), len(new))
    start = _alike(old, new, most)
    end = _alike(old[start:][::-1], new[start:][::-1], most - start)
    return ListChange(start, len(old) - end, len(new) - end)


def _alike(old: Sequence[Any], new: Sequence[Any], most: int) -> int:
    """So many of the first are the same, of that many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
