"""Leaves and buffers by their memory, and modes: what each write in a run had made of them. No Qt, no torch."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord

Place = tuple[int, tuple[int, ...], tuple[int, ...] | None]
"""Storage, shape and stride: the same elements of one memory."""

State = TypeVar("State")


class States(Generic[State]):
    """What one leaf, or one mode, was from which tick on."""

    __slots__ = ("records", "ticks")

    def __init__(self) -> None:
        """Nothing is known."""
        self.ticks: list[int] = []
        self.records: list[State] = []

    def put(self, tick: int, record: State) -> None:
        """It is this from the tick on; what was told of that tick before is replaced."""
        place = bisect_left(self.ticks, tick)
        if place < len(self.ticks) and self.ticks[place] == tick:
            self.records[place] = record
        else:
            self.ticks.insert(place, tick)
            self.records.insert(place, record)

    def between(self, after: int, until: int | None) -> tuple[int, State] | None:
        """The last state that begins behind one tick and at or before another (None: now)."""
        place = (len(self.ticks) if until is None else bisect_right(self.ticks, until)) - 1
        if place < 0 or self.ticks[place] <= after:
            return None
        return self.ticks[place], self.records[place]


class LeafStates:
    """Reads what ran when it is asked; before the first write into a leaf or a buffer it has nothing to say.

    Attributes:
        written: whether a statement wrote into a leaf that is none of its results, or a buffer, or switched a module.
    """

    def __init__(self) -> None:
        """Nothing has run."""
        self.written = False
        self._unread: list[tuple[int, Row]] = []
        self._states: dict[Place, States[TensorRecord]] = {}
        self._modes: dict[tuple[ItemId, int], States[bool]] = {}
        self._owners: dict[int, dict[ItemId, None]] = {}
        self._modules: set[ItemId] = set()

    def modules(self) -> set[ItemId]:
        """The nodes that gave modules, where any was switched, or a leaf written into."""
        if not self.written:
            return set()
        self._read()
        return self._modules

    def add(self, tick: int, row: Row) -> None:
        """A statement was executed, or is told again."""
        self._unread.append((tick, row))
        if row.writes or row.modes:
            self.written = True

    def add_all(self, rows: Collection[tuple[int, Row]]) -> None:
        """Statements were executed, each at its tick."""
        self._unread += rows
        self.written = self.written or any(row.writes or row.modes for _, row in rows)

    def at(self, record: TensorRecord, tick: int | None) -> TensorRecord:
        """What a leaf was at a tick (None: now) that was `record` when it was made."""
        _, found = self.since(record, tick)
        return found if found is record else _as_of(record, found)

    def since(self, record: TensorRecord, tick: int | None) -> tuple[int, TensorRecord]:
        """What was told of such a leaf last at a tick (None: now), and when; -1 where nothing was."""
        self._read()
        found, begun = record, -1
        while True:
            states = self._states.get((found.storage, found.summary.shape, found.stride))
            later = states.between(begun, tick) if states is not None else None
            if later is None:
                return begun, found
            begun, found = later

    def module_at(self, row: Row, output: int, made: int, tick: int | None) -> ModuleRecord | None:
        """A module that was made at a tick as it was at another (None: now); None where it was as it was made."""
        record = row.outputs[output]
        if not isinstance(record, ModuleRecord):
            return None
        self._read()
        modes = self._modes.get((row.node, output))
        switched = modes.between(made, tick) if modes is not None else None
        before = (*record.parameters.items(), *record.buffers.items())
        leaves = {path: self.at(leaf, tick) for path, leaf in before}
        if switched is None and all(leaves[path] is leaf for path, leaf in before):
            return None
        return msgspec.structs.replace(
            record,
            training=record.training if switched is None else switched[1],
            parameters={path: leaves[path] for path in record.parameters},
            buffers={path: leaves[path] for path in record.buffers},
        )

    def owners(self, rows: Iterable[Row]) -> set[ItemId]:
        """The nodes that show leaves which these statements wrote into, or modules which they switched."""
        self._read()
        storages, switched = set[int](), set[ItemId]()
        for row in rows:
            switched.update([mode.node for mode in row.modes])
            for state in row.writes:
                storages.add(state.storage)
            for record in row.outputs:
                if record.__class__ is TensorRecord and record.is_leaf and record.requires_grad:
                    storages.add(record.storage)
        return switched.union(*(self._owners.get(storage, ()) for storage in storages))

    def _read(self) -> None:
        for tick, row in self._unread:
            for record in row.outputs:
                self._own(row.node, record)
                if isinstance(record, TensorRecord) and learns(record):
                    self._put(tick, record.storage, record)
            for mode in row.modes:
                self._modes.setdefault((mode.node, mode.output), States()).put(tick, mode.training)
            for state in row.writes:
                self._put(tick, state.storage, state.record)
                moved = self._owners.setdefault(state.record.storage, {})
                moved.update(self._owners.get(state.storage, {}))
        self._unread.clear()

    def _put(self, tick: int, storage: int, record: TensorRecord) -> None:
        place = (storage, record.summary.shape, record.stride)
        self._states.setdefault(place, States()).put(tick, record)

    def _own(self, node: ItemId, record: Record) -> None:
        if isinstance(record, ModuleRecord):
            self._modules.add(node)
            leaves = [*record.parameters.values(), *record.buffers.values()]
        else:
            leaves = [record] if isinstance(record, TensorRecord) and learns(record) else []
        for leaf in leaves:
            self._owners.setdefault(leaf.storage, {})[node] = None


def learns(record: TensorRecord) -> bool:
    """Whether it is a leaf that requires grad: one value however often it is trained (semantics §8)."""
    return record.is_leaf and record.requires_grad


def _as_of(record: TensorRecord, state: TensorRecord) -> TensorRecord:
    """The record with the numbers, the version, the memory and whether it learns, of a later state."""
    return msgspec.structs.replace(
        record,
        summary=state.summary,
        requires_grad=state.requires_grad,
        version=state.version,
        storage=state.storage,
        stride=state.stride,
        size_bytes=state.size_bytes,
        contiguous=state.contiguous,
        device=state.device,
    )
