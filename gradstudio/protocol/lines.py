"""Lines of the text that a person gave, in place of those of the script it was written as."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Incomplete, Program
from gradstudio.protocol.messages import Failed, NamedEntry, Printed, Warned
from gradstudio.protocol.runner import Outcome

Placed = TypeVar("Placed", NamedEntry, Printed, Warned, Failed, Incomplete)


def in_lines(program: Program, outcome: Outcome, lines: Mapping[ItemId, int]) -> tuple[Program, Outcome]:
    """The program and what its run left, with `lines` wherever a line is told (SEMANTICS 13)."""

    def placed(record: Placed) -> Placed:
        return msgspec.structs.replace(record, line=lines.get(record.node, record.line))

    report = msgspec.structs.replace(outcome.report, entries=tuple(map(placed, outcome.report.entries)))
    left = Outcome(
        paused=outcome.paused,
        report=report,
        failed=placed(outcome.failed) if outcome.failed is not None else None,
        printed=list(map(placed, outcome.printed)),
        warned=list(map(placed, outcome.warned)),
        logged=outcome.logged,
        backward=outcome.backward,
        needs=outcome.needs,
    )
    told = tuple(map(placed, program.incomplete))
    return msgspec.structs.replace(program, incomplete=told), left
