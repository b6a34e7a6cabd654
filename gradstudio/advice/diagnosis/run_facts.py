"""What of a recorded run its diagnosis reads: rows and backwards in order, and which leaf lives in which storage."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.graph.groups.call_ids import INPUTS, path_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
)

MAX_ROWS = 20_000
"""Only so much of a long run is looked over: its end."""
LeafKey = tuple[ItemId, str]
"""A leaf: the item that made it, and the path of a module's parameter."""


class TickLike(Protocol):
    """What is read of one thing that happened."""

    @property
    def row(self) -> Row | None:
        """The statement that ran; None for an autograd node."""

    @property
    def backward(self) -> int:
        """Of an autograd node, which backward it was in."""

    @property
    def place(self) -> int:
        """Of an autograd node, its place among the backward's rows."""


class TimelineLike(Protocol):
    """What is read of a run."""

    @property
    def ticks(self) -> Sequence[TickLike]:
        """All that happened, in order."""

    @property
    def backwards(self) -> dict[int, BackwardTraced]:
        """The backwards by number."""


class Leaf(NamedTuple):
    """A parameter as a person calls it.

    Attributes:
        owner: the item that made it: of a module's parameter the outermost module that was seen with it.
        path: of a module's parameter, within the owner.
    """

    owner: ItemId
    path: str


class Gap(NamedTuple):
    """Where something ran that is not in the record, or may have.

    Attributes:
        before, after: the rows on both sides of it; None: there is none.
    """

    before: Row | None
    after: Row | None


class RunFacts:
    """The end of a run.

    Attributes:
        events: executions and backwards in the order they happened, those inside calls among them.
        course: the same with the gaps between them, and without rows that only say how things stand behind one: what
            followed what is known where there is none in between.
        rows: the executions alone.
        latest: the newest of each item.
        leaves: by storage, what lives there; `births`: by which of the rows it was first seen.
        held: by the item that made an optimizer, the storages it is to update, and whether each requires grad.
        is_cut: the run began before the first event here.
        is_sampled: something ran in between that is not in the record.
    """

    def __init__(self, timeline: TimelineLike) -> None:
        """Look over the end of the run."""
        self.events: list[Row | BackwardTraced] = []
        self.is_cut = len(timeline.ticks) > MAX_ROWS
        for tick in timeline.ticks[-MAX_ROWS:]:
            if tick.row is not None:
                self.events.append(tick.row)
            elif tick.place == 0 and tick.backward in timeline.backwards:
                self.events.append(timeline.backwards[tick.backward])
        self.course = list(_with_gaps(self.events))
        self.is_sampled = any(isinstance(event, Gap) for event in self.course)
        self.rows = [event for event in self.events if isinstance(event, Row)]
        self.latest = {row.node: row for row in self.rows}
        self.leaves: dict[int, Leaf] = {}
        self.held: dict[ItemId, dict[int, bool]] = {}
        self._storages: dict[LeafKey, set[int]] = {}
        self.births: dict[int, int] = {}
        self._homes: dict[int, list[Leaf]] = {}
        for at, row in enumerate(self.rows):
            before = len(self.leaves)
            for record in row.outputs:
                self._note(row.node, record)
            for state in row.writes:
                given = {record.storage for record in row.outputs if isinstance(record, TensorRecord)}
                if state.storage != state.record.storage and state.record.storage in given:  # by `.data =`
                    for leaf in list(self._homes.get(state.storage, ())):
                        self._note_leaf(leaf.owner, leaf.path, state.record.storage)
            if len(self.leaves) > before:  # few of all rows make one
                self.births.update(dict.fromkeys(list(self.leaves)[before:], at))
        for traced in self.backwards():
            self._join(traced)

    def storages(self, key: LeafKey) -> set[int]:
        """Where a leaf has lived in the course of the run; mostly one place."""
        return self._storages.get(key, set())

    def record(self, item: ItemId, output: int) -> Record | None:
        """The newest result of an item."""
        row = self.latest.get(item)
        return row.outputs[output] if row is not None and output < len(row.outputs) else None

    def module_storages(self, item: ItemId) -> set[int]:
        """Where the parameters of a module live; empty for what is none."""
        record = self.record(item, 0)
        if not isinstance(record, ModuleRecord):
            return set()
        return {tensor.storage for tensor in record.parameters.values()}

    def call_by_names(self, view: ProgramView) -> None:
        """Call each leaf by the first item that binds a name, the program's before those inside classes."""
        for storage, homes in self._homes.items():
            made = [leaf for leaf in homes if path_of(leaf.owner)[-1] != INPUTS] or homes
            own = [leaf for leaf in made if view.statement(leaf.owner) == leaf.owner] or made
            leaf = next((leaf for leaf in own if _has_name(view, leaf.owner)), own[0])
            self.leaves[storage] = leaf._replace(owner=view.same_module(leaf.owner))

    def leaf_name(self, view: ProgramView, key: LeafKey) -> str:
        """How a person calls a leaf: ``net.0.weight``."""
        leaf = next((self.leaves[storage] for storage in self.storages(key) if storage in self.leaves), Leaf(*key))
        output = self._output_with(leaf.owner, self.storages(key))
        owner = view.name_of_written(leaf.owner) if output is None else view.name(leaf.owner, output)
        return owner + (f".{leaf.path}" if leaf.path else "")

    def is_held(self, item: ItemId) -> bool:
        """Whether an optimizer has a leaf that an item made."""
        storages = self.module_storages(item) | self.storages((item, ""))
        return any(not storages.isdisjoint(held) for held in self.held.values())

    def module_output(self, item: ItemId) -> int | None:
        """Which of several results of an item is a module; None where it has one result, or more modules."""
        row = self.latest.get(item)
        found = [k for k, one in enumerate(row.outputs) if isinstance(one, ModuleRecord)] if row is not None else []
        return found[0] if row is not None and len(row.outputs) > 1 and len(found) == 1 else None

    def _output_with(self, item: ItemId, storages: set[int]) -> int | None:
        """Which of several results of an item is the module with a leaf that lives there."""
        row = self.latest.get(item)
        if row is None or len(row.outputs) < 2:
            return None
        modules = ((k, one) for k, one in enumerate(row.outputs) if isinstance(one, ModuleRecord))
        return next((k for k, one in modules if any(p.storage in storages for p in one.parameters.values())), None)

    def is_module(self, item: ItemId) -> bool:
        """Whether an item gave a module."""
        return isinstance(self.record(item, 0), ModuleRecord)

    def backwards(self) -> Iterator[BackwardTraced]:
        """Those among the events."""
        return (event for event in self.events if isinstance(event, BackwardTraced))

    def _join(self, traced: BackwardTraced) -> None:
        """A leaf known by several paths: where these disagree, it took another one's place, and is the newer.

        What two layers made each for itself is one that they share: which of both the text says.
        """
        for key, row in leaf_rows(traced):
            homes = [(value.path, self.storages((value.node, value.path))) for value in row.values]
            known = [home for _, home in homes if home]
            own = [home for path, home in homes if home and "." not in path]
            if len(known) > 1 and not set.intersection(*known) and (len(own) < 2 or set.intersection(*own)):
                self._storages[key] = {max(set.union(*known), key=lambda storage: self.births.get(storage, -1))}

    def _note(self, node: ItemId, record: Record) -> None:
        if isinstance(record, ModuleRecord):
            for path, tensor in record.parameters.items():
                self._note_leaf(node, path, tensor.storage)
        elif isinstance(record, OptimizerRecord):
            self.held.setdefault(node, {}).update(record.leaves)
        elif isinstance(record, TensorRecord) and record.requires_grad and record.is_leaf:
            self._note_leaf(node, "", record.storage)

    def _note_leaf(self, node: ItemId, path: str, storage: int) -> None:
        if not storage:
            return
        self._storages.setdefault((node, path), set()).add(storage)
        homes = self._homes.setdefault(storage, [])
        if Leaf(node, path) not in homes:
            homes.append(Leaf(node, path))
            self.leaves.setdefault(storage, homes[0])


def _with_gaps(events: Iterable[Row | BackwardTraced]) -> Iterator[Row | BackwardTraced | Gap]:
    """What happened and where something is missing; a backward belongs to its statement, whose row follows."""
    before: Row | None = None
    backwards: list[BackwardTraced] = []
    step, is_behind = 0, False
    for event in events:
        if isinstance(event, BackwardTraced):
            backwards.append(event)
            continue
        if not event.caught_up:
            if is_behind or event.step > step + 1:
                yield Gap(before, event)
            before = event
            yield from backwards
            yield event
            backwards.clear()
        step, is_behind = event.step, event.caught_up
    if is_behind:
        yield Gap(before, None)
    yield from backwards


def _has_name(view: ProgramView, item: ItemId) -> bool:
    node = view.node(item)
    return node is not None and any(name != "_" for name in node.names)


def leaf_rows(traced: BackwardTraced) -> Iterator[tuple[LeafKey, AutogradRow]]:
    """The rows of a backward in which a gradient was added to a leaf's `.grad`."""
    for row in traced.rows:
        if row.autograd.endswith("AccumulateGrad") and row.values:
            yield (row.values[0].node, row.values[0].path), row


def turn_numbers(rows: Sequence[Row]) -> list[int]:
    """In how many turns an item stood before each of its rows, from 0, those without a record among them.

    Of loops in loops a whole inner one has as many turns as its longest that is known.
    """
    longest = [max(turns) + 1 for turns in itertools.zip_longest(*(row.turns for row in rows), fillvalue=0)]
    numbers = []
    for row in rows:
        number = 0
        for turn, length in zip(row.turns, longest, strict=False):
            number = number * length + turn
        numbers.append(number)
    return numbers


def is_filled(view: ProgramView, facts: RunFacts, row: Row) -> bool:
    """Whether a row gave memory as it was, and a later one wrote numbers into it: what stood there is no value."""
    if not view.word(row.node).startswith("empty"):
        return False
    own = {record.storage for record in row.outputs if isinstance(record, TensorRecord)}
    writes = (state for later in facts.rows for state in later.writes)
    return any(state.storage in own and magnitude(state.record) not in (None, math.inf) for state in writes)


def magnitude(record: Record | None) -> float | None:
    """The largest magnitude among a value's numbers, infinite where one is not finite; None where there are none."""
    if isinstance(record, TensorRecord):
        return magnitude_of(record.summary)
    if isinstance(record, PlainRecord) and record.what == "number":
        if isinstance(record.value, int | float):
            return abs(record.value)
        return float("inf") if record.value in ("inf", "-inf", "nan") else None
    return None


def magnitude_of(summary: Summary) -> float | None:
    """The same of a summary."""
    if summary.nan or summary.posinf or summary.neginf:
        return float("inf")
    if summary.minimum is None or summary.maximum is None:
        return None
    return float(max(abs(summary.minimum), abs(summary.maximum)))


def is_zero(summary: Summary | None) -> bool:
    """Whether every number is 0, as far as its figures are known."""
    if summary is None or summary.nan or summary.posinf or summary.neginf:
        return False
    return summary.minimum == 0 and summary.maximum == 0


def largest(summaries: "Sequence[Summary | None]") -> float:
    """The largest RMS among them."""
    return max((summary.rms or 0.0 for summary in summaries if summary is not None), default=0.0)
