"""What several ranks say of one step becomes one row: that of the rank that is shown, with the spread over all."""

from collections import OrderedDict
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Final

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Gradients, GradRow, Row
from gradstudio.protocol.ranks.spread_tree import Told, over_ranks, spreads_of, with_spreads

Key = tuple[int, ItemId]
"""The step and its node: ranks that go different ways share no more of them."""
GradKey = tuple[ItemId, int, str]
MOST_STEPS: Final = 20_000
"""Of so many steps, the newest, is known what ranks say."""


class RowJoin:
    """The rows of a run, by step."""

    def __init__(self, count: int) -> None:
        """Of so many ranks; nothing was told."""
        self._count = count
        self._told: OrderedDict[Key, dict[int, Told]] = OrderedDict()
        self._waiting: dict[Key, Row] = {}
        self._known: OrderedDict[Key, Told] = OrderedDict()

    def tell(self, rank: int, rows: Iterable[Row]) -> None:
        """A rank has done these steps."""
        for row in rows:
            if row.complete:
                self._told.setdefault((row.step, row.node), {})[rank] = spreads_of(row)
        while len(self._told) > MOST_STEPS:
            key, told = self._told.popitem(last=False)
            self._waiting.pop(key, None)
            self._keep(key, told)

    def show(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows of the rank that is shown, after they were told: as they are known, incomplete until all have told."""
        return tuple(self._shown(row) for row in rows)

    def take_known(self) -> tuple[Row, ...]:
        """Rows that were shown incomplete and that all have told by now."""
        return self._taken([key for key in self._waiting if len(self._told[key]) == self._count])

    def finish(self) -> tuple[Row, ...]:
        """The verb is over, and what was not told by all will not be: the rows that wait. Steps may come again."""
        rows = self._taken(list(self._waiting))
        for key, told in self._told.items():
            self._keep(key, told)
        self._told.clear()
        return rows

    def recall(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Rows of another rank, told before, with what is known of them."""
        return tuple(with_spreads(row, self._known.get((row.step, row.node), spreads_of(row))) for row in rows)

    def _taken(self, keys: Iterable[Key]) -> tuple[Row, ...]:
        return tuple(with_spreads(self._waiting.pop(key), over_ranks(self._told[key].values())) for key in keys)

    def _keep(self, key: Key, told: dict[int, Told]) -> None:
        self._known[key] = over_ranks(told.values())
        if len(self._known) > MOST_STEPS:
            self._known.popitem(last=False)

    def _shown(self, row: Row) -> Row:
        key = row.step, row.node
        told = self._told.get(key, {})
        if not row.complete or not told:
            return row
        if len(told) == self._count:
            return with_spreads(row, over_ranks(told.values()))
        self._waiting[key] = row
        return msgspec.structs.replace(row, complete=False)


class GradJoin:
    """The newest gradients of each rank, by value."""

    def __init__(self, count: int) -> None:
        """Of so many ranks."""
        self._told: list[dict[GradKey, GradRow]] = [{} for _ in range(count)]

    def tell(self, rank: int, told: Gradients) -> None:
        """A rank says how gradients stand."""
        rows = {(row.node, row.output, row.path): row for row in told.rows}
        self._told[rank] = rows if told.whole else {**self._told[rank], **rows}

    def rows(self, shown: int) -> tuple[GradRow, ...]:
        """Those of the rank that is shown, with their spread over the ranks that have one."""
        found = []
        for key, row in self._told[shown].items():
            others = [each[key].grad for each in self._told if key in each]
            spreads = [grad.spread for grad in others if grad is not None and grad.spread is not None]
            if row.grad is not None and spreads:
                grad = msgspec.structs.replace(row.grad, spread=reduce(or_, spreads))
                found.append(msgspec.structs.replace(row, grad=grad))
        return tuple(found)
