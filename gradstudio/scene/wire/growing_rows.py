"""Rows of a table of numbers that come and go where they stand: thousands of others are not copied. No Qt."""

from collections.abc import Sequence
from typing import Final

from gradstudio.scene.geometry import Floats

FEW: Final = 32
"""So many are closed up one by one; of more a new table is made."""
SPARE: Final = 16
"""A table that is made anew has room for this part more."""


class GrowingRows:
    """The room in which the rows of one table stand."""

    def __init__(self) -> None:
        """None yet."""
        self._room: Floats | None = None

    def follow(self, rows: Floats, gone: Sequence[int], came: int) -> Floats:
        """The table without some rows, and with so many more behind it that are still to be filled.

        Args:
            rows: the table, which is not to be used any more.
            gone: from the first to the last.
            came: so many more.
        """
        count = len(rows) - len(gone) + came
        room = self._room
        if rows.base is room and room is not None and len(room) >= count and len(gone) <= FEW:
            _close_up(room, len(rows), gone)
        else:
            self._room = room = _with_room(rows, gone, count)
        return room[:count]


def _with_room(rows: Floats, gone: Sequence[int], count: int) -> Floats:
    import numpy as np

    room: Floats = np.empty((count + count // SPARE + SPARE, *rows.shape[1:]), dtype=rows.dtype)
    stays = np.delete(rows, list(gone), axis=0) if gone else rows
    room[: len(stays)] = stays
    return room


def _close_up(room: Floats, count: int, gone: Sequence[int]) -> None:
    """Move what stands behind each of them forward: numbers in one row are moved without a copy."""
    flat = room.reshape(-1)
    width = flat.size // len(room)
    for k, place in enumerate(gone):
        end = gone[k + 1] if k + 1 < len(gone) else count
        flat[(place - k) * width : (end - k - 1) * width] = flat[(place + 1) * width : end * width]
