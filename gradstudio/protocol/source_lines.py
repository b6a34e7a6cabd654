"""Lines of the text that a person gave, in place of those of the script it was written as."""

from collections.abc import Mapping
from functools import partial
from typing import TypeVar

import msgspec

from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import ItemId
from gradstudio.program.file_lines import line_in_file, line_of_script
from gradstudio.program.model import Incomplete, Program
from gradstudio.protocol.messages.events import Failed, Hello, NamedEntry, Printed, Warned
from gradstudio.protocol.messages.records import PlainRecord
from gradstudio.protocol.ranks.last_line import with_lines
from gradstudio.protocol.runner import Outcome

NOWHERE = ItemId("")
"""What no node of the canvas binds."""
Placed = TypeVar("Placed", NamedEntry, Printed, Warned, Failed, Incomplete)


def with_device(program: Program, outcome: Outcome, given: tuple[int, str] | None, value: str) -> Outcome:
    """What a run left, with `device` where the program's header binds it, which no node does (semantics §11, §13).

    Args:
        program: what ran.
        outcome: what it left.
        given: line and class in the text that was read, line 0 where it binds none; None: as the script has it.
        value: the device's name.
    """
    lines = program.prelude.split("\n")
    own = next((k for k, line in enumerate(lines, 1) if line.startswith("device = ")), 0)
    line, class_name = given if given is not None else (own, "device")
    if not line:
        return outcome
    record = PlainRecord(what="text", class_name=class_name, value=value)
    entry = NamedEntry(name="device", node=NOWHERE, operator="torch.device", line=line, outputs=(record,))
    report = msgspec.structs.replace(outcome.report, entries=(entry, *outcome.report.entries))
    return msgspec.structs.replace(outcome, report=report)


def map_lines(program: Program, outcome: Outcome, lines: Mapping[ItemId, int]) -> tuple[Program, Outcome]:
    """The program and what its run left, with `lines` wherever a line is told (semantics §13)."""

    def placed(record: Placed) -> Placed:
        return msgspec.structs.replace(record, line=line_in_file(program, lines, record.node, record.line))

    report = msgspec.structs.replace(outcome.report, entries=tuple(map(placed, outcome.report.entries)))
    left = Outcome(
        paused=with_lines(outcome.paused, partial(line_of_script, program, lines)),
        report=report,
        failed=_with_clash(placed(outcome.failed), lines) if outcome.failed is not None else None,
        printed=list(map(placed, outcome.printed)),
        warned=list(map(placed, outcome.warned)),
        logged=[with_lines(log, partial(line_of_script, program, lines)) for log in outcome.logged],
        backward=outcome.backward,
        needs=outcome.needs,
    )
    told = tuple(map(placed, program.incomplete))
    return msgspec.structs.replace(program, incomplete=told), left


def _with_clash(failed: Failed, lines: Mapping[ItemId, int]) -> Failed:
    clash = failed.clash
    if clash is None:
        return failed
    victim = lines.get(path_of(clash.victim)[-1], clash.victim_line) if clash.victim else clash.victim_line
    culprits = tuple(
        msgspec.structs.replace(one, line=lines.get(path_of(one.node)[-1], one.line)) for one in clash.culprits
    )
    return msgspec.structs.replace(failed, clash=msgspec.structs.replace(clash, victim_line=victim, culprits=culprits))


def script_lines(program: Program) -> dict[ItemId, int]:
    """The line of each item in the script that a document is written as, those inside definitions among them."""
    spans = [*program.spans, *(span for inside in program.insides for span in inside.spans)]
    return {span.node: span.line for span in spans}


def real_device(word: str, hello: Hello) -> str:
    """What the document's device word means here, as the script decides it."""
    if word != "auto":
        return word
    return "cuda" if any(device.name.startswith("cuda") for device in hello.devices) else "cpu"
