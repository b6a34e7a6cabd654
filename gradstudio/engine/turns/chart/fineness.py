"""How fine charts are that are drawn while a loop runs: as fine as there is time for, fifteen times a second."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gradstudio.protocol.messages.charts import SIDE

EVERY_S: Final = 1 / 15
SHARE: Final = 0.08
"""Of the time, what pictures may take while a loop runs."""
SIDES: Final = (SIDE, SIDE // 2, SIDE // 4)
"""Pixels across and down; where the fewest are still too many, pictures are fewer."""
PATIENCE: Final = 100
"""Behind so many pictures finer ones are tried again: what took long may have been a hiccup, or the first one."""


class Fineness:
    """Keeps what a picture of each fineness has cost; what is not known is tried.

    A cost is none of points alone: a coarse picture that takes half the time of a fine one says nothing of it.
    """

    def __init__(self) -> None:
        """Nothing was drawn."""
        self._costs_s: dict[int, float] = {}
        self._left = PATIENCE

    @property
    def side(self) -> int:
        """The finest that there is time for, as far as is known."""
        affordable = (side for side in SIDES if self._costs_s.get(side, 0.0) <= EVERY_S * SHARE)
        return next(affordable, SIDES[-1])

    @contextmanager
    def drawing(self) -> Iterator[int]:
        """How fine what is drawn within is to be; the CPU time of that is noted."""
        side, begun = self.side, time.thread_time()
        yield side
        self.note(side, time.thread_time() - begun)

    def note(self, side: int, cost_s: float) -> None:
        """What pictures of that side have cost together."""
        self._left -= 1
        if not self._left:
            self._costs_s.clear()
            self._left = PATIENCE
        self._costs_s[side] = cost_s
