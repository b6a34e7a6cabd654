"""Whether the hand shakes what it drags: to and fro, quickly. No Qt."""

from typing import Final

STROKE: Final = 22.0
"""View pixels of each stroke at least."""
TURNS: Final = 3
WITHIN_MS: Final = 1300
"""From the first of these turns to the last, whatever the hand did before."""
CALM_MS: Final = 500
"""A new shake begins after so long without a turn: a long one counts once."""


class _Axis:
    """Turns along one axis."""

    def __init__(self, at: float) -> None:
        self._extreme, self._direction = at, 0

    def turns(self, at: float) -> bool:
        """The pointer is there now; whether it has turned by a stroke."""
        if self._direction == 0:
            if abs(at - self._extreme) >= STROKE:
                self._direction = 1 if at > self._extreme else -1
                self._extreme = at
            return False
        if (at - self._extreme) * self._direction >= 0:
            self._extreme = at
            return False
        if abs(at - self._extreme) < STROKE:
            return False
        self._direction, self._extreme = -self._direction, at
        return True


class Shake:
    """Follows one drag; judges its strokes across and its strokes up and down, each by itself."""

    def __init__(self, x: float, y: float) -> None:
        """The drag begins at a view pixel."""
        self._axes = (_Axis(x), _Axis(y))
        self._turns: tuple[list[int], list[int]] = ([], [])
        self._spent_until = 0

    def move(self, x: float, y: float, time_ms: int) -> bool:
        """The pointer moved; True once when it was a shake."""
        for axis, turns, at in zip(self._axes, self._turns, (x, y), strict=True):
            if not axis.turns(at):
                continue
            if time_ms < self._spent_until:
                self._spent_until = time_ms + CALM_MS
                continue
            turns[:] = [*(turn for turn in turns if time_ms - turn <= WITHIN_MS), time_ms]
            if len(turns) >= TURNS:
                self._forget(time_ms + CALM_MS)
                return True
        return False

    def _forget(self, until_ms: int) -> None:
        for turns in self._turns:
            turns.clear()
        self._spent_until = until_ms
