"""Programs in the manner of tutorials: right ones, and ones with a planted bug, as texts (tests/corpus/teaching).

A program begins with ``#=== NAME``; a planted one says where the finding is expected, and a pattern of its first
sentence: ``#=== NAME @ ADDRESS|ADDRESS @ PATTERN``.
"""

import re
from pathlib import Path
from typing import NamedTuple

import torch

from gradstudio.advice.run_problems import RunProblem, RunRecorder, run_problems
from gradstudio.graph.analysis.call_addresses import addresses
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from tests.engine.conftest import Bench

FOLDER = Path(__file__).parent.parent / "corpus" / "teaching"
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


def told_of(text: str) -> list[Told]:
    """Run a program on an engine of this process, and say what the window and the command line would."""
    graph = read_script(text).graph
    bench, recorder = Bench(), RunRecorder()
    torch.manual_seed(0)
    bench.run(compile_graph(graph))
    for event in bench.events:
        recorder.hear(event)
    names = addresses(graph)
    return [Told(names.get(problem.node, problem.node), problem) for problem in run_problems(graph, recorder)]


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
