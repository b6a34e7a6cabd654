"""The reports of several ranks as one: that of the rank that is shown, with the spread over all on its values."""

from collections.abc import Mapping

import msgspec

from gradstudio.protocol.messages.events import NamedEntry, Report, Row
from gradstudio.protocol.ranks.spread_tree import over_ranks, own_spreads, spreads_of, with_spreads


def joined_report(reports: Mapping[int, Report], shown: int) -> Report:
    """Entries are those of the same name on all ranks."""
    by_name = [{entry.name: entry for entry in report.entries} for report in reports.values()]
    entries = tuple(
        _joined_entry(entry, [each[entry.name] for each in by_name if entry.name in each])
        for entry in reports[shown].entries
    )
    return msgspec.structs.replace(reports[shown], entries=entries)


def require_own_report(report: Report, rank: int) -> None:
    """See that a report speaks of its own rank alone.

    Raises:
        BrokenFrame: it speaks of others.
    """
    for entry in report.entries:
        own_spreads(_as_row(entry), rank)


def _joined_entry(entry: NamedEntry, told: list[NamedEntry]) -> NamedEntry:
    spreads = over_ranks([spreads_of(_as_row(one)) for one in told])
    return msgspec.structs.replace(entry, outputs=with_spreads(_as_row(entry), spreads).outputs)


def _as_row(entry: NamedEntry) -> Row:
    return Row(step=0, node=entry.node, outputs=entry.outputs)
