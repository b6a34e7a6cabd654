"""What differs between two runs: literals, figures, lines of their programs."""

import difflib
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple
from typing import Literal as OneOf

from gradstudio.document.runs.kept_run import KeptRun, RunRecord
from gradstudio.document.runs.run_literals import differing

CONTEXT: Final = 1
THREADS: Final = "threads"
Side = OneOf["", "-", "+", "@"]
SIDES: Final[dict[str, Side]] = {" ": "", "-": "-", "+": "+", "@": "@"}


class DiffLine(NamedTuple):
    """A line of a comparison: of both (""), of the first ("-"), of the second ("+"), or a gap ("@")."""

    side: Side
    text: str


class Difference(NamedTuple):
    """A value that is not the same: its name, and what it is in each; "" where it is not there."""

    name: str
    first: str
    second: str


def literal_differences(first: dict[str, str], second: dict[str, str]) -> list[Difference]:
    """The literals that differ."""
    names = differing([first, second])
    return [Difference(name, first.get(name, ""), second.get(name, "")) for name in names]


def setting_differences(first: RunRecord, second: RunRecord) -> list[Difference]:
    """The literals that differ, and on how many threads each was computed, where both say that."""
    found = literal_differences(first.literals, second.literals)
    threads = (first.threads, second.threads)
    return [*found, Difference(THREADS, *map(str, threads))] if all(threads) and len({*threads}) > 1 else found


def line_differences(first: str, second: str) -> Iterator[DiffLine]:
    """The lines that differ, with one line around them."""
    found = difflib.unified_diff(first.splitlines(), second.splitlines(), n=CONTEXT, lineterm="")
    for number, line in enumerate(found):
        if number < 2:
            continue  # the names of the two
        side = SIDES[line[0]]
        yield DiffLine(side, "" if side == "@" else line[1:])


def summaries(runs: list[KeptRun]) -> list[str]:
    """What each run has otherwise than the others, ``lr 0.1 · seed 3``; the end of a name if that is one.

    First what tells most of them apart: a literal that was another nearly each time, before one that was changed once.
    Of a run whose literals were changed while it ran, that, too: ``lr 0.1 → 0.01``; and on how many threads it was
    computed, where that differs, for sums are rounded otherwise then.
    """
    literals = [run.record.literals for run in runs]
    names = sorted(differing(literals), key=lambda name: -len({one.get(name) for one in literals}))
    ends = Counter(map(_end, names))
    short = {name: _end(name) if ends[_end(name)] == 1 else name for name in names}
    found = []
    threads = {run.record.threads for run in runs} - {0}
    for run in runs:
        parts = [f"{short[name]} {run.record.literals.get(name, '–')}" for name in names]
        parts += [f"{THREADS} {run.record.threads}"] if run.record.threads and len(threads) > 1 else []
        found.append(" · ".join([*parts, *_changes(run)]))
    return found


def _changes(run: KeptRun) -> list[str]:
    """Of ``from turn 7: opt: lr 0.1 → 0.01``, which may be several, ``lr 0.1 → 0.01``; each once."""
    changes = [change for mark in run.record.marks for change in mark.split("; ")]
    return list(dict.fromkeys(change.rpartition(": ")[2] for change in changes))


def _end(name: str) -> str:
    return name.rpartition(".")[2]
