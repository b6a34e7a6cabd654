"""The ticks of a timeline as arrays, so that hundreds of thousands of them can be drawn. No Qt here."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.records import ModuleRecord, Record, Summary, TensorRecord, TupleRecord
from gradstudio.protocol.timeline.run_timeline import Tick, Timeline

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int32]"
Bytes: TypeAlias = "npt.NDArray[np.uint8]"
LoopsOf = Callable[[ItemId], tuple[ItemId, ...]]
"""The loops around a node, outermost first."""

NOTHING: array[int] = array("i")
"""The numbers of no ticks: numpy is imported with the first one."""
BACKWARD, NOT_FINITE = 1, 2
"""Bits of a tick's marks."""


class Cells(NamedTuple):
    """What is drawn side by side: one a group, or one a tick.

    Attributes:
        starts: the first tick of each cell, `(cells,)`; `ticks` how many ticks there are.
        codes: number of the node of each cell in `TickArrays.nodes`; `marks` the bits of its ticks.
    """

    starts: Ints
    codes: Ints
    marks: Bytes
    ticks: int

    def __len__(self) -> int:
        """How many cells."""
        return len(self.starts)

    def at(self, tick: int) -> int:
        """The cell that holds a tick."""
        import numpy as np

        return int(np.searchsorted(self.starts, np.int32(tick), side="right")) - 1  # another type would copy it all

    def last_tick(self, cell: int) -> int:
        """The last tick of a cell: the moment behind it."""
        return int(self.starts[cell + 1]) - 1 if cell + 1 < len(self.starts) else self.ticks - 1

    def span(self, start: int, end: int) -> tuple[float, float]:
        """Ticks `[start, end)` in cells."""
        return float(self.at(start)), float(self.at(end - 1) + 1)


class Section(NamedTuple):
    """Ticks `[start, end)` of one pass that belong to its forward (backward 0) or to one backward."""

    start: int
    end: int
    pass_number: int
    backward: int
    order: int

    @property
    def title(self) -> str:
        """``backward 2, order 2``; "" in the forward."""
        if not self.backward:
            return ""
        return f"backward {self.backward}" + (f", order {self.order}" if self.order > 1 else "")


class Turn(NamedTuple):
    """Ticks `[start, end)` of one turn, from 0, of a loop, on one way through it.

    A backward that stands in a loop belongs to the turn it was begun in, with all it runs through; one that stands
    behind a loop goes back through its turns.
    """

    start: int
    end: int
    loop: ItemId
    turn: int
    way: int


class TickArrays:
    """Follows a timeline and keeps what is drawn of it.

    Attributes:
        nodes: every node that ticked, in the order of its number; `number` the other way round.
        sections: in order; `turns` by depth of the loops, in order.
        revision: counts changes.
    """

    def __init__(self, loops_of: LoopsOf) -> None:
        """Nothing yet; `loops_of` is asked once per node and change of the graph."""
        self._loops_of = loops_of
        self.revision = 0
        self._source: list[Tick] | None = None
        self._forget()

    def follow(self, timeline: Timeline) -> bool:
        """Take in what is new on the timeline; whether anything was."""
        ticks = timeline.ticks
        if ticks is not self._source or len(ticks) < self.count:
            changed = self.count > 0 or bool(ticks)
            self._forget()
            self._source = ticks
        else:
            changed = len(ticks) > self.count
        changed = self._complete(ticks) or changed
        if len(ticks) > self.count:
            self._extend(ticks[self.count :], timeline.backwards)
        if changed:
            self.revision += 1
            self._cells.clear()
        return changed

    def forget_loops(self) -> None:
        """The graph changed: nodes may stand in other loops; what ran stays as it was."""
        self._loops.clear()

    def cells(self, unfolded: bool) -> Cells:
        """The cells, folded to groups or one a tick."""
        if unfolded not in self._cells:
            if not self.count:
                self._cells[unfolded] = Cells(self._codes, self._codes, self._marks, 0)
                return self._cells[unfolded]
            import numpy as np

            if unfolded:
                starts = np.arange(self.count, dtype=np.int32)
                self._cells[unfolded] = Cells(starts, self._codes, self._marks, self.count)
            else:
                new = np.flatnonzero(np.diff(self._groups)) + 1
                starts = np.concatenate(([0], new)).astype(np.int32)
                marks = np.bitwise_or.reduceat(self._marks, starts)
                ends = np.concatenate((new, [self.count])) - 1  # a call stands behind what ran inside it
                self._cells[unfolded] = Cells(starts, self._codes[ends], marks, self.count)
        return self._cells[unfolded]

    def section_of(self, tick: int) -> Section | None:
        """The section that holds a tick."""
        place = bisect_right(self.sections, tick, key=lambda section: section.end)
        return self.sections[place] if place < len(self.sections) else None

    def autograd_of(self, tick: int) -> str:
        """The name of the autograd node of a tick; "" in the forward."""
        row = self._source[tick].autograd if self._source is not None else None
        return row.autograd if row is not None else ""

    def tick_of(self, step: int, backward: int, place: int) -> int | None:
        """The tick of a row: of a backward's `place`, else of the statement that was executed as `step`."""
        import numpy as np

        if backward:
            begin = self._begins.get(backward)
            return begin + place if begin is not None and 0 <= begin + place < self.count else None
        found = int(np.searchsorted(self._steps, np.int32(step)))
        return found if found < self.count and int(self._steps[found]) == step else None

    # ------------------------------------------------------------------ inner workings

    def _forget(self) -> None:
        self.count = 0
        self._codes: Ints = cast("Ints", NOTHING)
        self._groups: Ints = cast("Ints", NOTHING)
        self._steps: Ints = cast("Ints", NOTHING)
        self._marks: Bytes = cast("Bytes", NOTHING)
        self.nodes: list[ItemId] = []
        self.number: dict[ItemId, int] = {}
        self.sections: list[Section] = []
        self.turns: list[list[Turn]] = []
        self._begins: dict[int, int] = {}
        self._loops: dict[ItemId, tuple[ItemId, ...]] = {}
        self._incomplete: list[int] = []
        self._cells: dict[bool, Cells] = {}

    def _complete(self, ticks: list[Tick]) -> bool:
        """Look again at rows whose figures were still to come."""
        if not self._incomplete:
            return False
        still, changed = [], False
        for index in self._incomplete:
            tick = ticks[index]
            if tick.row is not None and not tick.row.complete:
                still.append(index)
            elif _mark(tick) != self._marks[index]:
                self._marks[index] = _mark(tick)
                changed = True
        self._incomplete = still
        return changed

    def _extend(self, new: list[Tick], backwards: dict[int, BackwardTraced]) -> None:
        import numpy as np

        codes = np.array([self._number(tick.node) for tick in new], np.int32)
        groups = np.array([tick.group for tick in new], np.int32)
        marks = np.array([_mark(tick) for tick in new], np.uint8)
        self._codes = np.concatenate((self._codes, codes))
        self._groups = np.concatenate((self._groups, groups))
        self._marks = np.concatenate((self._marks, marks))
        self._steps = np.concatenate((self._steps, self._steps_of(new)))
        for tick in new:
            if tick.row is not None and not tick.row.complete:
                self._incomplete.append(tick.index)
            self._add_section(tick)
            self._add_turns(tick, backwards.get(tick.backward))
        self.count += len(new)

    def _steps_of(self, new: list[Tick]) -> Ints:
        """Never falling, so that it can be searched: an autograd row counts to the statement before its own."""
        import numpy as np

        last = int(self._steps[-1]) if self.count else 0
        made = np.empty(len(new), np.int32)
        for k, tick in enumerate(new):
            last = tick.row.step if tick.row is not None else last
            made[k] = last
        return made

    def _number(self, node: ItemId) -> int:
        number = self.number.get(node)
        if number is None:
            number = self.number[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def _add_section(self, tick: Tick) -> None:
        index, order = tick.index, tick.autograd.order if tick.autograd is not None else 1
        if tick.backward and tick.backward not in self._begins:
            self._begins[tick.backward] = index - tick.place
        last = self.sections[-1] if self.sections else None
        if last is not None and (last.pass_number, last.backward) == (tick.pass_number, tick.backward):
            self.sections[-1] = last._replace(end=index + 1, order=max(last.order, order))
        else:
            self.sections.append(Section(index, index + 1, tick.pass_number, tick.backward, order))

    def _loops_around(self, node: ItemId) -> tuple[ItemId, ...]:
        if node not in self._loops:
            self._loops[node] = self._loops_of(node)
        return self._loops[node]

    def _add_turns(self, tick: Tick, traced: BackwardTraced | None) -> None:
        begun = traced.turns if traced is not None else ()
        turns, inner = (tick.turns, tick.node) if tick.turns[: len(begun)] == begun else (begun, ItemId(""))
        if not turns:
            return
        outer = self._loops_around(traced.statement) if traced is not None and begun else ()
        loops = (*outer[: len(begun)], *(self._loops_around(inner)[len(begun) :] if inner else ()))
        for depth, turn in enumerate(turns):
            while len(self.turns) <= depth:
                self.turns.append([])
            loop = loops[depth] if depth < len(loops) else ItemId("")
            way = tick.backward * 2 + 1 if depth >= len(begun) and tick.backward else tick.pass_number * 2
            row = self.turns[depth]
            last = row[-1] if row else None
            same = last is not None and last.end == tick.index
            if same and last is not None and (last.loop, last.turn, last.way) == (loop, turn, way):
                row[-1] = last._replace(end=tick.index + 1)
            else:
                row.append(Turn(tick.index, tick.index + 1, loop, turn, way))


def _mark(tick: Tick) -> int:
    bits = BACKWARD if tick.phase == "backward" else 0
    return bits | NOT_FINITE if _has_not_finite(tick) else bits


def _has_not_finite(tick: Tick) -> bool:
    if tick.autograd is not None:
        return any(map(_odd, tick.autograd.incoming)) or any(map(_odd, tick.autograd.outgoing))
    return tick.row is not None and any(map(_odd, summaries(tick.row.outputs)))


def _odd(summary: Summary | None) -> bool:
    return summary is not None and summary.nan + summary.posinf + summary.neginf > 0


def summaries(records: Iterable[Record]) -> Iterable[Summary]:
    """The summaries of the tensors in records, parameters of modules and items of tuples among them."""
    for record in records:
        match record:
            case TensorRecord():
                yield record.summary
            case TupleRecord():
                yield from summaries(record.items)
            case ModuleRecord():
                yield from summaries(record.parameters.values())
            case _:
                pass
