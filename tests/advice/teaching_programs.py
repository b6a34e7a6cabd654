"""Programs in the manner of tutorials: right ones, and ones with a planted bug, as texts (tests/corpus/teaching).

A program begins with ``#=== NAME``; a planted one says where the finding is expected, and a pattern of its first
sentence: ``#=== NAME @ ADDRESS|ADDRESS @ PATTERN``. What the engine said of the smaller ones is kept in
``tests/advice/recordings/teaching`` (tests/helpers/recordings.py), so that they are asked of without torch, too.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding_sources import every_finding
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.advice.fixes.fix_kinds import fixes_for
from gradstudio.advice.model import Fix
from gradstudio.advice.run_problems import RunProblem, RunRecorder, run_problems
from gradstudio.graph.analysis.call_addresses import addresses
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.base import Message
from tests.helpers import recordings

FOLDER = Path(__file__).parent.parent / "corpus" / "teaching"
RECORDINGS = "advice/recordings/teaching"
BEGIN = "#=== "


class Teaching(NamedTuple):
    """One program; a right one has no addresses and no pattern."""

    name: str
    text: str
    addresses: tuple[str, ...] = ()
    pattern: str = ""


class Told(NamedTuple):
    """What is said of a run: the address of its node, and the problem."""

    address: str
    problem: RunProblem


def programs(prefix: str) -> list[Teaching]:
    """All programs of the files that begin so, by name in the order they are written."""
    found = []
    for file in sorted(FOLDER.glob(f"{prefix}*.txt")):
        for part in file.read_text(encoding="utf-8").split(BEGIN)[1:]:
            head, _, text = part.partition("\n")
            name, *expected = (field.strip() for field in head.split(" @ "))
            places = tuple(expected[0].split("|")) if expected else ()
            found.append(Teaching(name, text, places, expected[1] if expected else ""))
    return found


def recorded(prefix: str) -> list[Teaching]:
    """Those of them whose run is kept."""
    return [program for program in programs(prefix) if recordings.is_kept(f"{RECORDINGS}/{program.name}")]


def recorder_of(events: Iterable[Message]) -> RunRecorder:
    """What was heard of a run."""
    recorder = RunRecorder()
    for event in events:
        recorder.hear(event)
    return recorder


def told_of(graph: Graph, events: Iterable[Message]) -> list[Told]:
    """What the window and the command line would say of a run."""
    names = addresses(graph)
    problems = run_problems(graph, recorder_of(events))
    return [Told(names.get(problem.node, problem.node), problem) for problem in problems]


def ways_out(graph: Graph, events: Iterable[Message]) -> list[Fix]:
    """The ways out of all that is found in a run, and of its failure."""
    recorder = recorder_of(events)
    run = RunDiagnosis(recorder.timeline)
    found = every_finding(graph, recorder.value, run, recorder.gradients())
    failed = fixes_for(recorder.failed, graph, recorder.value) if recorder.failed is not None else ()
    return [*failed, *(fix for finding in found for fix in finding_fixes(finding, graph))]


def is_found(program: Teaching, told: list[Told]) -> bool:
    """Whether the cause stands in the first sentence of an alarm at its node, or at the call that it is inside of."""
    return any(
        one.problem.severity != "info"
        and {one.address, one.address.partition("/")[0]} & set(program.addresses)
        and re.search(program.pattern, one.problem.title)
        for one in told
    )


def alarms(told: list[Told]) -> list[str]:
    """What is said of a program that is more than a note."""
    return [f"{one.address}: {one.problem.title}" for one in told if one.problem.severity != "info"]
