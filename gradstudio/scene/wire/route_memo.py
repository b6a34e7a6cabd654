"""What became of each wire that was led last, for those around which nothing is another since. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from gradstudio.scene.geometry import Corners, Floats, Indices
from gradstudio.scene.wire.orthogonal_routing import Bools, Taken, port_levels
from gradstudio.scene.wire.wire_options import WireStyle

Key = tuple[bytes, Corners | None, Corners | None, tuple[Corners, ...], int]
"""Of a wire: its plain path, what it leaves and enters, what else is open to it, and how many before it are alike."""
UNKNOWN: Final = -1


class Outcome(NamedTuple):
    """What was found for a wire.

    Attributes:
        path: the way it is led; None: it stays as it is.
        levels, uprights: the stretches it takes, rows as of `Stretches`.
        led: so many ways around cards were found for it.
        reach: an obstacle that does not meet this changes nothing of it.
        window: nor does a stretch of another wire that does not meet this.
    """

    path: Floats | None
    levels: Floats
    uprights: Floats
    led: int
    reach: Corners
    window: Corners


class _Record(NamedTuple):
    """All wires as they were led last; `ranks` says which came first."""

    style: WireStyle
    plain: Floats
    obstacles: list[Corners]
    numbers: dict[Key, int]
    ranks: list[int]
    outcomes: list[Outcome]


class RouteMemo:
    """Remembers the last leading that came to its end."""

    def __init__(self) -> None:
        """No wire was led."""
        self._last: _Record | None = None

    def begin(
        self,
        plain: Floats,
        obstacles: Floats,
        own: tuple[Indices, Indices],
        open_to: Sequence[Iterable[int]],
        style: WireStyle,
        order: Sequence[int],
    ) -> Course:
        """Lead wires with these plain paths, in an order, among obstacles; `own` are those they leave and enter."""
        corners: list[Corners] = [(left, top, right, low) for left, top, right, low in obstacles.tolist()]
        ends = zip(*(numbers.tolist() for numbers in own), strict=True)
        alike = Counter[tuple[object, ...]]()
        keys = list[Key]()
        for k, (path, (source, target)) in enumerate(zip(plain, ends, strict=True)):
            opened = tuple(sorted([corners[one] for one in (open_to[k] if open_to else ()) if one >= 0]))
            leaves = corners[source] if source >= 0 else None
            enters = corners[target] if target >= 0 else None
            key = path.tobytes(), leaves, enters, opened
            keys.append((*key, alike[key]))
            alike[key] += 1
        ranks = [0] * len(order)
        for rank, k in enumerate(order):
            ranks[k] = rank
        numbers = dict(zip(keys, range(len(keys)), strict=True))
        return Course(self, _Record(style, plain, corners, numbers, ranks, []), keys, order, self._last)

    def keep(self, record: _Record | None) -> None:
        """A leading came to its end; None: what was found for its wires depends on how many there are."""
        self._last = record


class Course:
    """Wires that are being led: what of the last time holds, and what was found now."""

    def __init__(
        self, memo: RouteMemo, now: _Record, keys: list[Key], order: Sequence[int], last: _Record | None
    ) -> None:
        """Compare with the last time."""
        self._memo, self._now = memo, now
        self._found: dict[int, Outcome] = {}
        self._before = [UNKNOWN] * len(keys)
        if last is not None and last.style == now.style:
            before = [last.numbers.get(key, UNKNOWN) for key in keys]
            ranks = [last.ranks[before[k]] for k in order if before[k] != UNKNOWN]
            if all(one < other for one, other in pairwise(ranks)):
                self._before = before
        self._outcomes = last.outcomes if last is not None else []
        known = [k != UNKNOWN for k in self._before]
        self._holds: Bools = np.array(known, dtype=np.bool_)
        self._windows = self._boxes("window")
        if last is not None and any(known):
            changed = Counter(now.obstacles)
            changed.subtract(last.obstacles)
            self._holds &= ~_met(self._boxes("reach"), [one for one, count in changed.items() if count])
            self._distrust_around(last)

    def _boxes(self, which: str) -> Floats:
        """Of each wire as it was led last; nothing of one that was not."""
        nowhere = (np.inf, np.inf, -np.inf, -np.inf)
        boxes = [nowhere if k == UNKNOWN else getattr(self._outcomes[k], which) for k in self._before]
        return np.array(boxes, dtype=np.float64).reshape(-1, 4)

    def _distrust_around(self, last: _Record) -> None:
        """What wires that went took is free, and ports of those that came are not."""
        gone = set(range(len(last.plain))).difference(self._before)
        for k in gone:
            self._distrust(last.outcomes[k])
        came = [k for k, before in enumerate(self._before) if before == UNKNOWN]
        for plain in (last.plain[sorted(gone)], self._now.plain[came]):
            if len(plain):
                self._holds &= ~_met(self._windows, _level_boxes(port_levels(plain)))

    def _distrust(self, outcome: Outcome) -> None:
        taken = [*_level_boxes(outcome.levels), *_upright_boxes(outcome.uprights)]
        self._holds &= ~_met(self._windows, taken)

    def known(self, k: int) -> Outcome | None:
        """What was found for a wire last time; None where something around it is another."""
        if not self._holds[k]:
            return None
        outcome = self._found[k] = self._outcomes[self._before[k]]
        return outcome

    def note(self, k: int, outcome: Outcome) -> None:
        """That was found for a wire now; wires that come later see it."""
        self._found[k] = outcome
        before = self._outcomes[self._before[k]] if self._before[k] != UNKNOWN else None
        if before is not None:
            if np.array_equal(before.levels, outcome.levels) and np.array_equal(before.uprights, outcome.uprights):
                return
            self._distrust(before)
        self._distrust(outcome)

    def end(self, *, is_whole: bool) -> None:
        """All wires are led; `is_whole`: none of them had to do without because there were so many."""
        found = [self._found[k] for k in range(len(self._found))]
        self._memo.keep(self._now._replace(outcomes=found) if is_whole else None)


def take(taken: Taken, outcome: Outcome) -> None:
    """What a wire takes is taken."""
    taken.levels.extend(outcome.levels)
    taken.uprights.extend(outcome.uprights)


def _level_boxes(rows: Floats) -> list[Corners]:
    return [(low, at, high, at) for at, low, high, *_ in rows.tolist()]


def _upright_boxes(rows: Floats) -> list[Corners]:
    return [(at, low, at, high) for at, low, high, *_ in rows.tolist()]


def _met(boxes: Floats, others: Sequence[Corners]) -> Bools:
    """Which boxes one of the others meets."""
    some = np.array(others, dtype=np.float64).reshape(-1, 4)
    across: Bools = (boxes[:, :1] <= some[:, 2]) & (boxes[:, 2:3] >= some[:, 0])
    both: Bools = across & (boxes[:, 1:2] <= some[:, 3]) & (boxes[:, 3:] >= some[:, 1])
    found: Bools = np.any(both, axis=1)
    return found
