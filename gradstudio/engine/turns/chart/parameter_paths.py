"""The way that two numbers took while they were learnt: where they stood at the end of each turn, or of every n-th."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.turns.chart.loss_surface import loss_surface, numbers_now
from gradstudio.engine.turns.chart.program_lines import ProgramLines
from gradstudio.graph.model import ItemId

MOST_POINTS: Final = 2048
"""Of more, every second goes, and from then on every second comes no more."""


class PathPoint(NamedTuple):
    """Where the numbers stood when so many statements had run."""

    step: int
    x: float
    y: float


class _Path:
    """Points in the order of the run, the first among them; `newest` is there, too, whatever was left out."""

    def __init__(self) -> None:
        self._points: list[PathPoint] = []
        self._newest: PathPoint | None = None
        self._every, self._passed = 1, 0

    @property
    def points(self) -> list[PathPoint]:
        """All that are kept; the newest last."""
        newest = self._newest
        return list(self._points) if newest is None or self._points[-1] is newest else [*self._points, newest]

    def add(self, step: int, x: float, y: float) -> None:
        """The numbers stand there now; nothing where they stood there already."""
        before = self._newest
        if before is not None and before.x == x and before.y == y:
            return
        self._newest = PathPoint(step, x, y)
        self._passed += 1
        if not self._points or self._passed % self._every == 0:
            self._points.append(self._newest)
            if len(self._points) > MOST_POINTS:
                self._points = self._points[::2]
                self._every *= 2

    def go_back(self, step: int) -> None:
        """What came after so many statements is not so any more."""
        self._points = [point for point in self._points if point.step <= step]
        self._newest = self._points[-1] if self._points else None


class ParameterPaths:
    """The paths of the nodes whose cards show one."""

    def __init__(self) -> None:
        """No path yet."""
        self.wanted: tuple[ItemId, ...] = ()
        self._paths: dict[ItemId, _Path] = {}
        self._names: dict[ItemId, tuple[str, ...]] = {}
        self._names_of: Loaded | None = None

    def clear(self) -> None:
        """A start from nothing."""
        self._paths, self._names = {}, {}

    def points(self, node: ItemId) -> list[PathPoint]:
        """Where its numbers stood, the oldest first."""
        path = self._paths.get(node)
        return path.points if path is not None else []

    def go_back(self, step: int) -> None:
        """The run stands where so many statements had run."""
        for path in self._paths.values():
            path.go_back(step)

    def note(self, live: Live, waiting: int = 0) -> None:
        """Note where the numbers are now, with so many statements that have run and are not counted yet."""
        self.notes(live, live.step_count + waiting, 0)()

    def notes(self, live: Live, step: int, a_turn: int) -> Callable[[], None]:
        """To be called at the end of each turn behind so many statements; each turn has `a_turn` of them."""
        followed = [(names, self._paths.setdefault(node, _Path())) for node, names in self._found(live)]
        namespace = live.namespace

        def note() -> None:
            nonlocal step
            step += a_turn
            for names, path in followed:
                now = numbers_now(names, namespace)
                if now is not None:
                    path.add(step, *now)

        return note

    def _found(self, live: Live) -> Iterator[tuple[ItemId, tuple[str, ...]]]:
        """The nodes that hold two numbers, as far as they are there yet, and the names of these."""
        if live.loaded is not self._names_of:
            self._names, self._names_of = {}, live.loaded
        for node in self.wanted:
            if node not in self._names:
                with contextlib.suppress(CannotDraw):
                    self._names[node] = loss_surface(live, ProgramLines(live.loaded), node).names
            if node in self._names:
                yield node, self._names[node]
