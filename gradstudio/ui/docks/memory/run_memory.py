"""The memory of one run, statement by statement: when each was over, and what the program held then. No widgets."""

from bisect import bisect_right
from typing import NamedTuple

from gradstudio.advice.diagnosis.graph_weights import element_bytes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.run_timeline import Tick, Timeline
from gradstudio.scene.value_format import element_count


class Point(NamedTuple):
    """One tick of the run.

    Attributes:
        at_s: monotonic seconds of the engine, at its end.
        alive_bytes: that the program held; within a backward as before it.
    """

    at_s: float
    alive_bytes: int
    tick: int
    node: ItemId


class Part(NamedTuple):
    """What one node brought into being, and for how long.

    Attributes:
        start_s, end_s: monotonic seconds of the engine.
        size_bytes: of the storages it made.
    """

    start_s: float
    end_s: float
    size_bytes: int


class RunMemory:
    """The points of a timeline, in order of time."""

    def __init__(self, timeline: Timeline) -> None:
        """Read them off; ticks without a time are left out."""
        self._timeline, self._revision = timeline, timeline.revision
        self.points: list[Point] = []
        alive = 0
        clock = {number: traced.at_s for number, traced in timeline.backwards.items()}
        for tick in timeline.ticks:
            if tick.row is not None:
                alive = tick.row.alive_bytes or alive
                at_s = tick.row.at_s
            else:
                clock[tick.backward] += tick.autograd.seconds if tick.autograd is not None else 0.0
                at_s = clock[tick.backward]
            if at_s > 0:
                self.points.append(Point(at_s, alive, tick.index, tick.node))
        self.points.sort(key=lambda point: point.at_s)
        self._times = [point.at_s for point in self.points]
        self._by_tick = {point.tick: point for point in self.points}

    def is_of(self, timeline: Timeline) -> bool:
        """Whether these are the points of a timeline as it is: nothing was told or forgotten since."""
        return self._timeline is timeline and self._revision == timeline.revision

    @property
    def span_s(self) -> tuple[float, float] | None:
        """From the first statement to the last, monotonic seconds of the engine."""
        return (self._times[0], self._times[-1]) if self._times else None

    def at(self, engine_s: float, slack_s: float) -> Point | None:
        """What was under way at a time: the first tick that ended behind it; within some slack of the run's ends."""
        if not self._times or not self._times[0] - slack_s <= engine_s <= self._times[-1] + slack_s:
            return None
        return self.points[min(bisect_right(self._times, engine_s), len(self.points) - 1)]

    def time_of(self, tick: Tick) -> float | None:
        """When a tick was over."""
        point = self._by_tick.get(tick.index)
        return point.at_s if point is not None else None

    def alive_bytes(self, tick: Tick) -> int | None:
        """What the program held behind a tick; None when it has no time."""
        point = self._by_tick.get(tick.index)
        return point.alive_bytes if point is not None else None

    def gradient_bytes(self, tick: Tick) -> int:
        """What the `.grad` of all leaves took behind a tick."""
        held = self._timeline.held_by_leaves(tick.index)
        return sum(element_count(one.shape) * element_bytes(one.dtype) for one in held)

    def part(self, timeline: Timeline, node: ItemId, tick: int | None, freed_step: int) -> Part | None:
        """What the node's newest execution at or before a tick made, until it was let go (0: it is still there)."""
        row = timeline.row(node, tick)
        if row is None or not row.made_bytes or not row.at_s:
            return None
        later = (entry.row for entry in timeline.ticks if entry.row is not None)
        freed = next((other.at_s for other in later if freed_step and other.step >= freed_step), None)
        again = (entry.row for entry in timeline.ticks if entry.row is not None and entry.node == node)
        replaced = next((other.at_s for other in again if other.at_s > row.at_s), None)
        ends = [end for end in (freed, replaced) if end is not None and end > row.at_s]
        return Part(row.at_s - row.seconds, min(ends, default=self._times[-1]), row.made_bytes)
