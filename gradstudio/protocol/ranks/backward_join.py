"""The all-reduces of a backward as several ranks tell them: each with the gradients of all, and with who was late."""

from collections import OrderedDict
from functools import reduce
from operator import or_
from typing import Final

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, Reduction, Share
from gradstudio.protocol.messages.ranks import NAMED_RANKS, Range
from gradstudio.protocol.ranks.spread_tree import require_own, with_spread_over

Key = tuple[ItemId, tuple[int, ...], int]
"""The statement, the turns of the loops around it, and which backward it was."""
MOST_BYTES: Final = 1 << 26
"""So many bytes, as they came, of backwards are known of all ranks, the newest."""


class _Backward:
    """What ranks have told of one backward.

    Attributes:
        told: its reductions, by rank.
        size: so many bytes they came in.
        waiting: the record of the rank that is shown, told without the others.
    """

    __slots__ = ("size", "told", "waiting")

    def __init__(self) -> None:
        self.told: dict[int, tuple[AutogradRow, ...]] = {}
        self.size = 0
        self.waiting: BackwardTraced | None = None


class BackwardJoin:
    """The backwards of a run in which gradients were reduced."""

    def __init__(self, count: int) -> None:
        """Of so many ranks; nothing was told."""
        self._count = count
        self._backwards: OrderedDict[Key, _Backward] = OrderedDict()
        self._size = 0

    def tell(self, rank: int, traced: BackwardTraced, size: int = 0) -> None:
        """A rank has run a backward; the message has so many bytes.

        Raises:
            BrokenFrame: it speaks of other ranks.
        """
        rows = _reductions(traced)
        if not rows:
            return
        for row in rows:
            require_own([grad.spread for grad in row.incoming if grad is not None], rank)
        backward = self._backwards.setdefault(_key(traced), _Backward())
        backward.told[rank] = rows
        backward.size, self._size = backward.size + size, self._size + size
        while self._size > MOST_BYTES:
            self._size -= self._backwards.popitem(last=False)[1].size

    def show(self, traced: BackwardTraced) -> BackwardTraced:
        """The record of the rank that is shown, as far as it is known; it is told again when all have told theirs."""
        backward = self._backwards.get(_key(traced))
        if backward is None or not _reductions(traced):
            return traced
        is_known = len(backward.told) == self._count
        backward.waiting = None if is_known else traced
        if not is_known:
            return traced
        return _joined(traced, backward)

    def take_known(self, traced: BackwardTraced) -> BackwardTraced | None:
        """The record that was shown without the others, once the last of them has told this one."""
        backward = self._backwards.get(_key(traced))
        if backward is None or backward.waiting is None or len(backward.told) < self._count:
            return None
        waiting, backward.waiting = backward.waiting, None
        return _joined(waiting, backward)

    def begin_anew(self, rank: int) -> None:
        """A rank begins from nothing: its backwards are counted from the first."""
        for backward in self._backwards.values():
            backward.told.pop(rank, None)

    def look_elsewhere(self) -> None:
        """Another rank is shown from now on."""
        for backward in self._backwards.values():
            backward.waiting = None


def _key(traced: BackwardTraced) -> Key:
    return traced.statement, traced.turns, traced.backward


def _reductions(traced: BackwardTraced) -> tuple[AutogradRow, ...]:
    return tuple(row for row in traced.rows if row.reduction is not None)


def _joined(traced: BackwardTraced, backward: _Backward) -> BackwardTraced:
    """Its reductions with those of all; as they are where ranks have reduced other things."""
    own = _reductions(traced)
    layout = [_layout(row) for row in own]
    if any([_layout(row) for row in rows] != layout for rows in backward.told.values()):
        return traced
    places = iter(range(len(own)))
    rows = [row if row.reduction is None else _over_ranks(row, next(places), backward) for row in traced.rows]
    return msgspec.structs.replace(traced, rows=tuple(rows))


def _layout(row: AutogradRow) -> tuple[object, ...]:
    return row.reduction and row.reduction.bucket, tuple(grad and grad.shape for grad in row.incoming)


def _over_ranks(row: AutogradRow, place: int, backward: _Backward) -> AutogradRow:
    told = {rank: rows[place] for rank, rows in sorted(backward.told.items())}
    shares = [
        Share(rank, one.reduction.came_s, one.incoming) for rank, one in told.items() if one.reduction is not None
    ]
    arrivals = reduce(or_, [Range(share.came_s, share.rank, share.came_s, share.rank) for share in shares])
    incoming = tuple(
        with_spread_over(grad, [share.grads[k] for share in shares]) for k, grad in enumerate(row.incoming)
    )
    assert isinstance(row.reduction, Reduction)
    reduction = msgspec.structs.replace(row.reduction, shares=tuple(shares[:NAMED_RANKS]), arrivals=arrivals)
    return msgspec.structs.replace(row, incoming=incoming, reduction=reduction)
