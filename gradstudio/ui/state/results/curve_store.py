"""Numbers over the turns of loops: losses by themselves, and what a person asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import Numbers
from gradstudio.protocol.messages.progress import CurveKey, Turned
from gradstudio.protocol.timeline.model import Turns
from gradstudio.ui.state.throttle import Throttle

if TYPE_CHECKING:
    from gradstudio.protocol.timeline.axis_steps import AxisSteps
    from gradstudio.protocol.timeline.loop_begins import LoopBegins

CAPACITY = 1 << 20
"""Points kept of a curve; of more, every four become the lowest and the highest of them."""
LEAST = 1024
ANNOUNCEMENT_MS = 100

Name: TypeAlias = "tuple[ItemId, CurveKey]"
"""The loop, and which number of its turns."""


class CurveMark(NamedTuple):
    """From a turn of a loop on literals are others; `number`: so many turns had gone by."""

    loop: ItemId
    number: int
    words: str


class BesideCurve(NamedTuple):
    """A curve of another run.

    Attributes:
        place: of that run among those that are drawn, from 0; `label` what it is called.
        title: of which value; `turns` from 0.
    """

    place: int
    label: str
    title: str
    turns: Numbers
    values: Numbers

    @property
    def largest(self) -> float:
        """The largest magnitude of its values; 0.0 where none is finite."""
        return _largest(self.values)

    def is_beside(self, titles: Collection[str]) -> bool:
        """Whether it is drawn beside curves of these titles: of one of their values, or where there are none."""
        return not titles or self.title in titles


class _Numbers:
    """0, 1, 2, …: the turns of every curve that has all of them are a part of this one array; nobody writes into it."""

    def __init__(self) -> None:
        self._all: Numbers | None = None

    def part(self, first: int, count: int) -> Numbers:
        """So many numbers from `first` on."""
        import numpy as np

        if self._all is None or first + count > len(self._all):
            room = max(LEAST, 1 << (first + count).bit_length())
            self._all = np.arange(room, dtype=np.float32)  # exact: there are no more than 1 << 24
            self._all.flags.writeable = False
        return self._all[first : first + count]


class _Points:
    """The points of one curve: turn numbers and values; they grow by doubling.

    Attributes:
        turns: of each point; None where each is the one behind the one before, from `first` on.
        largest: the largest magnitude of the values.
    """

    def __init__(self, numbers: _Numbers) -> None:
        import numpy as np

        self._numbers = numbers
        self.first, self.count = 0, 0
        self.turns: Numbers | None = None
        self.y: Numbers = np.empty(LEAST)
        self.largest = 0.0

    @property
    def last(self) -> int:
        """The turn of the newest point."""
        return self.first + self.count - 1 if self.turns is None else int(self.turns[self.count - 1])

    def x(self, shift: int = 0) -> Numbers:
        """The turns of all points, so many added."""
        if self.turns is None:
            return self._numbers.part(self.first + shift, self.count)
        return self.turns[: self.count] + shift if shift else self.turns[: self.count]

    def add(self, first: int, values: Numbers) -> None:
        """Points of consecutive turns; those of turns that are known are the same (`_part`) and left out."""
        known = self.last + 1 - first if self.count else 0
        if known > 0:
            first, values = first + known, values[known:]
        if self.count + len(values) > CAPACITY:
            self._thin()
        self._note_turns(first, len(values))
        end = self.count + len(values)
        if end > len(self.y):
            self.y = _enlarged(self.y, end)
        self.y[self.count : end] = values
        self.count = end
        self.largest = max(self.largest, _largest(values))

    def cut(self, turns: int) -> None:
        """Only so many turns stay."""
        self.count = int(self.x().searchsorted(turns))
        self.largest = _largest(self.y[: self.count])

    def put_before(self, turns: Numbers, values: Numbers) -> None:
        """Points that were kept: their turns may have gaps."""
        self.turns, self.y, self.count = turns.copy(), values.copy(), len(turns)
        self.largest = _largest(values)

    def _note_turns(self, first: int, count: int) -> None:
        """Turns from `first` on come behind those that are known."""
        import numpy as np

        if not self.count:
            self.first, self.turns = first, None if first < CAPACITY else np.empty(0)
        if self.turns is None and first == self.first + self.count:
            return
        end = self.count + count
        if self.turns is None or end > len(self.turns):
            self.turns = _enlarged(self.x(), end)
        self.turns[self.count : end] = np.arange(first, first + count)

    def _thin(self) -> None:
        """Of every four points the lowest and the highest stay, in the order they came."""
        import numpy as np

        whole = self.count // 4 * 4
        y = self.y[:whole].reshape(-1, 4)
        known = np.where(np.isnan(y), np.inf, y), np.where(np.isnan(y), -np.inf, y)
        places = np.sort(np.stack((known[0].argmin(1), known[1].argmax(1)), 1), 1) + np.arange(0, whole, 4)[:, None]
        rest = np.arange(whole, self.count)
        kept = np.concatenate((np.unique(places.ravel()), rest))
        self.turns, self.y, self.count = self.x()[kept], self.y[kept], len(kept)


def _enlarged(numbers: Numbers, least: int) -> Numbers:
    """A larger array that begins so; what is behind them is not touched, and takes no memory yet."""
    import numpy as np

    room = np.empty(max(LEAST, 1 << least.bit_length()))
    room[: len(numbers)] = numbers
    return room


class CurveStore(QObject):
    """What the engine told of every turn.

    Attributes:
        wanted: what a person asked to see beside the losses; told from the next turn on.
        beside: curves of other runs, which are drawn behind those of this one.
        earlier: gives the points that a curve had before this engine began, of a run that goes on; None: none.
        marks: where literals were changed while the run stood there, in the order of that.

    Signals:
        changed(): there are more points, or none; at most ten times a second.
        chosen(): something else is wanted.
    """

    changed = Signal()
    chosen = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """No turn was run."""
        super().__init__(parent)
        self.wanted: tuple[CurveKey, ...] = ()
        self.beside: tuple[BesideCurve, ...] = ()
        self.marks: tuple[CurveMark, ...] = ()
        self.earlier: Callable[[CurveKey], tuple[Numbers, Numbers] | None] | None = None
        self._points: dict[Name, _Points] = {}
        self._numbers = _Numbers()
        self._begins: dict[ItemId, LoopBegins] = {}
        self._parting: dict[ItemId, int] = {}
        self._throttle = Throttle(ANNOUNCEMENT_MS, self)
        self._throttle.due.connect(self.changed)

    @cached_property
    def _axis(self) -> AxisSteps:
        from gradstudio.protocol.timeline.axis_steps import AxisSteps  # no loop has turned at a start

        return AxisSteps()

    @property
    def names(self) -> tuple[Name, ...]:
        """The curves there are, in the order they came."""
        return tuple(self._points)

    def longest(self) -> dict[CurveKey, Name]:
        """A curve of each value: that of the loop which told most of it."""
        longest: dict[CurveKey, Name] = {}
        for name, points in self._points.items():
            known = longest.get(name[1])
            if points.count and (known is None or points.count > self._points[known].count):
                longest[name[1]] = name
        return longest

    def longest_of(self, names: Iterable[Name]) -> Name | None:
        """That of which most turns were told."""
        return max(names, key=lambda name: self._points[name].count, default=None)

    @property
    def parts(self) -> bool:
        """Whether turns that are drawn are about to be learnt anew, otherwise: a literal was changed before them."""
        return any(points.last >= self._parting[loop] for loop, points in self._behind_parting())

    def points(self, name: Name) -> tuple[Numbers, Numbers]:
        """Numbers of turns since the start from nothing, from 0, and values; NaN where a turn had none."""
        points = self._points[name]
        return points.x(), points.y[: points.count]

    def largest(self, name: Name) -> float:
        """The largest magnitude of what was told of a curve; 0.0: nothing finite was."""
        return self._points[name].largest

    def spread(self, name: Name, over: ItemId) -> Numbers:
        """Where the turns of a curve end among those of a loop within its own, from 1; its own numbers of any other."""
        import numpy as np

        numbers, inner, outer = self._points[name].x(1), self._begins.get(over), self._begins.get(name[0])
        corners = list(inner.corners()) if inner is not None else []
        is_within = bool(corners) and all(len(one.around) == 1 for one in corners)
        if name[0] == over or not is_within or outer is None or any(one.around for one in outer.corners()):
            return numbers
        epochs = np.array([0.0, *(one.around[0] for one in corners)])
        turns = np.array([0.0, *(one.number for one in corners)])
        if epochs[-1] == 0.0:
            epochs, turns = np.array([0.0, 1.0]), np.array([0.0, float(self.newest_turn(over) or 1)])
        slope = turns[-1] / epochs[-1]
        beyond = np.maximum(numbers.astype(np.float64) - epochs[-1], 0.0) * slope
        ends: Numbers = np.interp(numbers, epochs, turns) + beyond
        return ends

    def each(self, loop: ItemId) -> int:
        """How many turns of the axis, those of the loop that told most, each turn of a loop takes."""
        axis = self.longest_of(self.longest().values())
        return self._axis.each(loop, axis[0] if axis is not None else None)

    def steps(self, name: Name) -> tuple[Numbers, Numbers]:
        """The points of a curve as they are kept: steps on the axis, from 0, and values."""
        from gradstudio.protocol.timeline.axis_steps import on_axis

        numbers, values = self.points(name)
        return on_axis(numbers, self.each(name[0])), values

    def marks_on_axis(self) -> tuple[CurveMark, ...]:
        """One of each change: by the turns of the loop that told most, which are those of the axis."""
        axis = self.longest_of(self.longest().values())
        return tuple([mark for mark in self.marks if axis is not None and mark.loop == axis[0]])

    def add(self, event: Turned) -> None:
        """Turns of a loop have gone by."""
        import numpy as np

        from gradstudio.protocol.timeline.loop_begins import LoopBegins  # the first picture has no turns

        if event.curves and self._parting:
            self._part()
        self._axis.hear(event)
        if event.begins:
            self._begins.setdefault(event.loop, LoopBegins()).add(event.begins)
        for curve in event.curves:
            values = np.frombuffer(curve.data, dtype="<f8")
            points = self._points.get((event.loop, curve.key)) or self._begin((event.loop, curve.key))
            points.add(max(event.number - len(values), 0), values)
        if event.curves:
            self._throttle.request()

    def _behind_parting(self) -> list[tuple[ItemId, _Points]]:
        """The curves that have points, of loops of which it is known behind how many turns literals are others."""
        return [(loop, one) for (loop, _), one in self._points.items() if loop in self._parting and one.count]

    def _part(self) -> None:
        """What was learnt with other literals makes room for what is learnt now, behind the turn of the change."""
        for loop, points in self._behind_parting():
            points.cut(self._parting[loop])
        for loop, begins in self._begins.items():
            if loop in self._parting:
                begins.cut(self._parting[loop])
        self._points = {name: points for name, points in self._points.items() if points.count}
        self.marks = tuple([one for one in self.marks if one.number <= self._parting.get(one.loop, one.number)])
        self._parting = {}

    def _begin(self, name: Name) -> _Points:
        points = self._points[name] = _Points(self._numbers)
        before = self.earlier(name[1]) if self.earlier is not None else None
        if before is not None:
            points.put_before(*before)
        return points

    def newest_turn(self, loop: ItemId) -> int:
        """How many turns of a loop were told of, in all turns of those around; 0: none."""
        told = (points.last + 1 for (one, _), points in self._points.items() if one == loop)
        return max(told, default=0)

    def number_of(self, loop: ItemId, turns: Turns) -> int | None:
        """The number of a turn of a loop, given with the turns of those around it; None when it was not told."""
        begins = self._begins.get(loop)
        found = begins.number_in(turns[:-1]) if begins is not None and turns else None
        return found + turns[-1] if found is not None else None

    def turns_at(self, loop: ItemId, number: int) -> Turns | None:
        """The turn of that number, with the turns of the loops around; None when there was none."""
        begins = self._begins.get(loop)
        found = begins.at(number) if begins is not None else None
        return (*found.around, number - found.number) if found is not None else None

    def turns_told(self, loop: ItemId, around: Turns) -> int:
        """How many turns of a loop are known of, in these turns of the loops around; 0: none."""
        begins = self._begins.get(loop)
        begin = begins.number_in(around) if begins is not None else None
        if begins is None or begin is None:
            return 0
        behind, newest = begins.behind(begin), self.newest_turn(loop)
        return max((min(behind.number, newest) if behind is not None else newest) - begin, 0)

    def want(self, keys: tuple[CurveKey, ...]) -> None:
        """Ask for these beside the losses."""
        self.wanted = keys
        self.chosen.emit()

    def put_beside(self, curves: tuple[BesideCurve, ...]) -> None:
        """Draw these behind, and no others."""
        self.beside = curves
        self._throttle.request()

    def mark(self, turns: Mapping[ItemId, int], words: str) -> None:
        """Something holds from here on, where so many turns of each loop have gone by.

        Turns behind that, of a run that went back, stay until the first of them is learnt anew.
        """
        self.marks += tuple([CurveMark(loop, number, words) for loop, number in turns.items()])
        self._parting = dict(turns)
        self._throttle.request()

    def clear(self) -> None:
        """A start from nothing."""
        self.marks, self.earlier, self._parting = (), None, {}
        self._points.clear()
        self._numbers = _Numbers()
        self._begins.clear()
        self.__dict__.pop("_axis", None)  # loops may stand in others now, or in none
        self._throttle.request()


def _largest(values: Numbers) -> float:
    """The largest magnitude of what is finite; 0.0 where nothing is."""
    import numpy as np

    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if len(finite) else 0.0
