"""Whether the hand shakes what it drags: to and fro across, quickly. No Qt."""

from typing import Final

STROKE: Final = 26.0
"""View pixels of each stroke at least."""
STROKES: Final = 5
WITHIN_MS: Final = 1200


class Shake:
    """Follows one drag."""

    def __init__(self, x: float, time_ms: int) -> None:
        """The drag begins at a view pixel."""
        self._turn, self._extreme, self._direction = x, x, 0
        self._turns: list[int] = [time_ms]

    def move(self, x: float, time_ms: int) -> bool:
        """The pointer moved; True once when it was a shake."""
        if self._direction == 0:
            if abs(x - self._turn) >= STROKE:
                self._direction = 1 if x > self._turn else -1
                self._extreme = x
            return False
        if (x - self._extreme) * self._direction >= 0:
            self._extreme = x
            return False
        if abs(x - self._extreme) < STROKE:
            return False
        self._direction, self._extreme = -self._direction, x
        self._turns = [*(turn for turn in self._turns if time_ms - turn <= WITHIN_MS), time_ms]
        if len(self._turns) < STROKES:
            return False
        self._turns = []
        return True
