"""The spreads within records, wherever they lie: how they are read one after another, and put back over ranks."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import TypeVar

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.messages.events import LeafState, Row, ValueNow
from gradstudio.protocol.messages.ranks import Range, Spread
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)

Change = Callable[[Spread | None], Spread | None]
RecordT = TypeVar("RecordT", bound=Record)


def changed_row(row: Row, change: Change) -> Row:
    """The row with all of its spreads changed, in their order."""
    outputs = tuple(changed_record(record, change) for record in row.outputs)
    writes = tuple(LeafState(state.storage, changed_record(state.record, change)) for state in row.writes)
    return msgspec.structs.replace(row, outputs=outputs, writes=writes)


def changed_record(record: RecordT, change: Change) -> RecordT:
    """The record with all of its spreads changed, in their order: of a tensor, then its gradient; items; names.

    Where one rank has a number, another may have None or a text: they have a place, too.
    """
    match record:
        case TensorRecord():
            summary = _changed_summary(record.summary, change)
            grad = None if record.grad is None else _changed_summary(record.grad, change)
            return msgspec.structs.replace(record, summary=summary, grad=grad)
        case PlainRecord():
            spread = change(record.spread)
            return msgspec.structs.replace(record, spread=spread) if record.what == "number" else record
        case TupleRecord():
            return msgspec.structs.replace(record, items=tuple(changed_record(item, change) for item in record.items))
        case ModuleRecord():
            return msgspec.structs.replace(
                record,
                parameters={name: changed_record(one, change) for name, one in record.parameters.items()},
                buffers={name: changed_record(one, change) for name, one in record.buffers.items()},
            )
        case _:
            return record


def _changed_summary(summary: Summary, change: Change) -> Summary:
    return msgspec.structs.replace(summary, spread=change(summary.spread))


Told = Sequence[Spread | None]
"""The spreads of one rank's record, in their order."""


def spreads_of(row: Row) -> Told:
    """What its rank says of each value, gradient and number."""
    found: list[Spread | None] = []

    def note(spread: Spread | None) -> Spread | None:
        found.append(spread)
        return spread

    changed_row(row, note)
    return found


def over_ranks(told: Iterable[Told]) -> Told:
    """Over all ranks that have told it; nothing of what they hold differently, as lists of other lengths."""
    ranks = list(told)
    if len({len(each) for each in ranks}) > 1:
        return ()
    return [_of_some(of_one) for of_one in zip(*ranks, strict=True)]


def without(told: Told, missing: int) -> Told:
    """The same, where so many ranks have not told it."""
    if not missing:
        return told
    return [
        None if spread is None else msgspec.structs.replace(spread, missing=spread.missing + missing) for spread in told
    ]


def with_spreads(row: Row, spreads: Told) -> Row:
    """The row, each of its values with the spread over ranks; with none where they are too few."""
    left = iter(spreads)
    return changed_row(row, lambda _: next(left, None))


def as_row(value: ValueNow) -> Row:
    """A row that holds its record alone."""
    return Row(step=value.step, node=value.node, outputs=(value.record,))


def with_spreads_now(value: ValueNow, spreads: Told) -> ValueNow:
    """What something wrote to, each of its values with the spread over ranks; with none where they are too few."""
    left = iter(spreads)
    return msgspec.structs.replace(value, record=changed_record(value.record, lambda _: next(left, None)))


def _of_one(spreads: list[Spread]) -> Spread | None:
    return reduce(or_, spreads) if spreads else None


def _of_some(spreads: Sequence[Spread | None]) -> Spread | None:
    """Over the ranks that have one, where others may hold what has none."""
    found = [spread for spread in spreads if spread is not None]
    spread = _of_one(found)
    return None if spread is None else without([spread], len(spreads) - len(found))[0]


def own_spreads(row: Row, rank: int) -> Told:
    """What a rank says of each value of its row.

    Raises:
        BrokenFrame: it speaks of other ranks.
    """
    found = spreads_of(row)
    require_own(found, rank)
    return found


def with_spread_over(summary: Summary | None, of_ranks: Iterable[Summary | None], missing: int = 0) -> Summary | None:
    """A summary with the spread over all ranks that have one; as it is where none has, or it is none.

    Of so many ranks nothing is known.
    """
    spread = _of_one([one.spread for one in of_ranks if one is not None and one.spread is not None])
    if summary is None or spread is None:
        return summary
    (known,) = without([spread], missing)
    return msgspec.structs.replace(summary, spread=known)


def require_own(spreads: Iterable[Spread | Range | None], rank: int) -> None:
    """See that these are of one rank alone, as each says them.

    Raises:
        BrokenFrame: one is of others.
    """
    for spread in spreads:
        if spread is not None and not spread.is_of(rank):
            raise BrokenFrame(f"Rank {rank} speaks of other ranks.")
