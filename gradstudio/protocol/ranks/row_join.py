"""What several ranks say of one step becomes one row: that of the rank that is shown, with the spread over all."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.messages.bounds import Turns
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, ValueNow
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.ranks.spread_tree import (
    Told,
    as_row,
    over_ranks,
    own_spreads,
    require_own,
    spreads_of,
    with_spread_over,
    with_spreads,
    with_spreads_now,
    without,
)

Key = tuple[int, ItemId, Turns, int]
"""The verb, the node, the turns of the loops around it, and which time it ran there: each rank counts its own
steps, and what one ran without a record another may have recorded."""
GradKey = tuple[ItemId, int, str]
Place = tuple[ItemId, int]
"""A node, and which of its outputs."""
MOST_STEPS: Final = 20_000
"""Of so many steps, the newest, is known what ranks say."""
MOST_BYTES: Final = 1 << 26
"""So many bytes, as they came, of rows that wait for other ranks, and so many of each rank's gradients."""


class _Known(NamedTuple):
    """What is known of a step over ranks: the spreads of its summaries, and when they came to it."""

    spreads: Told
    came: Range | None

    def put_into(self, row: Row) -> Row:
        """The row of one rank with that."""
        return msgspec.structs.replace(with_spreads(row, self.spreads), came=self.came)


class _Step:
    """What ranks have told of a step.

    Attributes:
        told: by rank.
        size: so many bytes it came in.
        came: when they came to it, where they met.
        row: of the rank that is shown, which waits for the others.
    """

    __slots__ = ("came", "row", "size", "told")

    def __init__(self) -> None:
        self.told: dict[int, Told] = {}
        self.size = 0
        self.came: Range | None = None
        self.row: Row | None = None

    def tell(self, rank: int, row: Row) -> None:
        """A rank has done it.

        Raises:
            BrokenFrame: it speaks of other ranks.
        """
        self.told[rank] = own_spreads(row, rank)
        if row.came is not None:
            require_own([row.came], rank)
            self.came = row.came if self.came is None else self.came | row.came

    def known(self, count: int) -> _Known:
        """What is known of it over the ranks that have told it, of so many."""
        return _Known(without(over_ranks(self.told.values()), count - len(self.told)), self.came)


class _Places:
    """Where a rank's steps stand in its program, so that those of others are found.

    Attributes:
        keys: by its own step and the node, of `MOST_STEPS` of them, the newest.
    """

    def __init__(self) -> None:
        self.keys: OrderedDict[tuple[int, ItemId], Key] = OrderedDict()
        self._times: dict[tuple[ItemId, Turns], int] = {}

    def note(self, row: Row, verb: int) -> Key:
        """The key of a row that is told."""
        known = self.keys.get((row.step, row.node))
        if known is not None and known[0] == verb:
            return known
        place = (row.node, row.turns)
        time = self._times[place] = self._times.get(place, -1) + 1
        key = self.keys[(row.step, row.node)] = (verb, *place, time)
        if len(self.keys) > MOST_STEPS:
            (_, node), old = self.keys.popitem(last=False)
            self._times.pop((node, old[2]), None)
        return key

    def end_verb(self) -> None:
        """What runs next is counted from nothing."""
        self._times.clear()


class RowJoin:
    """The rows of a run, by step."""

    def __init__(self, count: int) -> None:
        """Of so many ranks; nothing was told."""
        self._count = count
        self._steps: OrderedDict[Key, _Step] = OrderedDict()
        self._size = 0
        self._due: list[Row] = []
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        self._places = [_Places() for _ in range(count)]
        self._shown, self._verb = 0, 0

    def tell(self, rank: int, rows: Iterable[Row], size: int = 0) -> None:
        """A rank has done these steps, in a message of so many bytes.

        Raises:
            BrokenFrame: it speaks of other ranks.
        """
        for row in rows:
            if row.complete:
                step = self._steps.setdefault(self._places[rank].note(row, self._verb), _Step())
                step.tell(rank, row)
                step.size, self._size, size = step.size + size, self._size + size, 0
                if step.row is not None and len(step.told) == self._count:
                    self._due.append(step.known(self._count).put_into(step.row))
                    step.row = None
        while len(self._steps) > MOST_STEPS or (self._size > MOST_BYTES and self._steps):
            self._let_go()

    def show(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows of the rank that is shown, after they were told: as they are known, incomplete until all have told."""
        return tuple(self._shown_row(row) for row in rows)

    def take_known(self) -> tuple[Row, ...]:
        """Rows that were shown incomplete, and that all have told by now, or on which too much waits."""
        due, self._due = tuple(self._due), []
        return due

    def finish(self) -> tuple[Row, ...]:
        """The verb is over, and what was not told by all will not be: the rows that wait. Steps may come again."""
        while self._steps:
            self._let_go()
        self._verb += 1
        for places in self._places:
            places.end_verb()
        return self.take_known()

    def recall(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows of another rank, told before, with what is known of them; those that others have not told yet wait."""
        return tuple(self._recalled(row) for row in rows)

    def look_elsewhere(self, rank: int) -> None:
        """Another rank is shown from now on: rows of the one before wait no more."""
        self._shown = rank
        self._due.clear()
        for step in self._steps.values():
            step.row = None

    def _recalled(self, row: Row) -> Row:
        key = self._key(row)
        if key in self._steps:
            return self._shown_row(row)
        known = self._known.get(key) if key is not None else None
        return self._alone(row) if known is None else known.put_into(row)

    def _key(self, row: Row) -> Key | None:
        return self._places[self._shown].keys.get((row.step, row.node))

    def _alone(self, row: Row) -> Row:
        """Its rank has told it, and no other one."""
        return with_spreads(row, without(spreads_of(row), self._count - 1))

    def _let_go(self) -> None:
        """Nothing more is heard of the oldest step."""
        key, step = self._steps.popitem(last=False)
        self._size -= step.size
        known = self._known[key] = step.known(self._count)
        if step.row is not None:
            self._due.append(known.put_into(step.row))
        if len(self._known) > MOST_STEPS:
            self._known.popitem(last=False)

    def _shown_row(self, row: Row) -> Row:
        key = self._key(row)
        step = self._steps.get(key) if key is not None else None
        if not row.complete:
            return row
        if step is None:
            return self._alone(row)
        known = step.known(self._count).put_into(row)
        if len(step.told) == self._count:
            return known
        step.row = row
        return msgspec.structs.replace(known, complete=False)


class GradJoin:
    """The newest gradients of each rank, and what something wrote to, by value."""

    def __init__(self, count: int) -> None:
        """Of so many ranks."""
        self._told: list[dict[GradKey, GradRow]] = [{} for _ in range(count)]
        self._sizes: list[dict[GradKey, int]] = [{} for _ in range(count)]
        self._written: list[dict[Place, ValueNow]] = [{} for _ in range(count)]
        self._written_sizes = [0] * count

    def tell(self, rank: int, told: Gradients, size: int = 0) -> None:
        """A rank says how gradients stand, in a message of so many bytes.

        Raises:
            BrokenFrame: it speaks of other ranks, or of more than can be kept.
        """
        rows = {(row.node, row.output, row.path): row for row in told.rows}
        each = size // max(len(rows) + len(told.written), 1)
        sizes = dict.fromkeys(rows, each)
        require_own([row.grad.spread for row in told.rows if row.grad is not None], rank)
        for value in told.written:
            own_spreads(as_row(value), rank)
        self._told[rank] = rows if told.whole else {**self._told[rank], **rows}
        self._sizes[rank] = sizes if told.whole else {**self._sizes[rank], **sizes}
        if told.whole:
            self._written[rank] = {(value.node, value.output): value for value in told.written}
            self._written_sizes[rank] = each * len(told.written)
        if sum(self._sizes[rank].values()) + self._written_sizes[rank] > MOST_BYTES:
            raise BrokenFrame(f"It tells of more gradients than {MOST_BYTES} bytes hold.")

    def known(self, shown: int, revision: int) -> Gradients:
        """What is known over ranks, for the rank that is shown."""
        return Gradients(revision=revision, rows=self.rows(shown), whole=False, written=self.written(shown))

    def rows(self, shown: int) -> tuple[GradRow, ...]:
        """Those of the rank that is shown, with their spread over the ranks that have one."""
        found = []
        for key, row in self._told[shown].items():
            told = [each[key].grad for each in self._told if key in each]
            grad = with_spread_over(row.grad, told, len(self._told) - len(told))
            if grad is not row.grad:
                found.append(msgspec.structs.replace(row, grad=grad))
        return tuple(found)

    def written(self, shown: int) -> tuple[ValueNow, ...]:
        """All that something wrote to on the rank that is shown, with its spread over the ranks that say so."""
        found = []
        for place, value in self._written[shown].items():
            told = [spreads_of(as_row(each[place])) for each in self._written if place in each]
            found.append(with_spreads_now(value, without(over_ranks(told), len(self._written) - len(told))))
        return tuple(found)
