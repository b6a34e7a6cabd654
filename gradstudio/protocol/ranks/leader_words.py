"""What a leader of ranks says beside what its ranks say, and what it can say again."""

import re
from collections.abc import Sequence
from typing import Final
from typing import Literal as OneOf

from msgspec.structs import replace

from gradstudio.protocol.messages.events import Failed, Gradients, Log, Paused, Row, Traced
from gradstudio.protocol.messages.requests import Do
from gradstudio.protocol.ranks.last_line import line_of, place_of
from gradstudio.protocol.ranks.rank_engine import RankEngine
from gradstudio.protocol.ranks.spread_tree import with_spreads_now

_OUT_OF_TIME: Final = re.compile(r"timed? ?out", re.IGNORECASE)
MOST_NAMED: Final = 4
"""Of more ranks it is not told which of them starts, and which loads torch."""
Outcome = OneOf["failed", "stopped", "died"]
OF_ONE: Final = {
    *("Infer", "TryWire", "Estimate", "Describe", "Fetch", "WhatIf", "Check", "WeighMemory", "BringModule"),
    *("KeepCheckpoint", "Answer", "LookAtData"),
}
"""Requests that one rank answers, the one that is shown."""
KEPT: Final = {
    *("Started", "Traced", "Gradients", "BackwardTraced", "PackedBackward", "Paused", "Failed", "Printed", "Warned"),
    *("Turned", "Hit", "Figured", "NoChart", "HistogramDrawn", "PointsDrawn", "ImagesDrawn", "ConfusionDrawn"),
    *("BoundaryDrawn", "DescentDrawn"),
}
"""What is told again of a rank that comes to be shown."""


def start_words(ranks: Sequence[RankEngine]) -> str:
    """How far ranks are that start: "" of one alone, of many in between, and when all are ready."""
    starting = [rank.number for rank in ranks if not rank.has_begun]
    loading = [rank.number for rank in ranks if rank.has_begun and not rank.is_ready]
    ready = [rank.number for rank in ranks if rank.is_ready]
    is_told = len(ranks) <= MOST_NAMED or len(ranks) in (len(starting), len(loading))
    if len(ranks) == 1 or len(ready) == len(ranks) or not is_told:
        return ""
    parts = [
        f"{_who(numbers, len(ranks))} {one if len(numbers) == 1 else more}"
        for numbers, one, more in (
            (ready, "is ready", "are ready"),
            (loading, "loads torch", "load torch"),
            (starting, "starts", "start"),
        )
        if numbers
    ]
    return f"{len(ranks)} processes: {', '.join(parts)}"


def _who(numbers: Sequence[int], count: int) -> str:
    *others, last = map(str, numbers)
    if len(numbers) == count:
        return "all"
    return f"ranks {', '.join(others)} and {last}" if others else f"rank {last}"


def of_rank(number: int, text: str) -> str:
    """Words of a rank, line by line."""
    return "\n".join(f"[rank {number}] {line}" if line else line for line in text.split("\n"))


def with_rows(traced: Traced, rows: tuple[Row, ...]) -> Traced:
    """The same with other rows."""
    return replace(traced, rows=rows)


def without_spreads(told: Gradients) -> Gradients:
    """As they stand while ranks are under way: nobody knows that they are of one turn."""
    rows = [row if row.grad is None else replace(row, grad=replace(row.grad, spread=None)) for row in told.rows]
    return replace(told, rows=tuple(rows), written=tuple(with_spreads_now(value, ()) for value in told.written))


def log(level: OneOf["info", "warning", "error"], words: str) -> Log:
    """Words of a leader, which are about lines of the script."""
    return Log(level=level, text=words, names_lines=True)


def last_pause(verb: Do, told: Paused | None, words: str, outcome: Outcome) -> Paused:
    """How the verb ended in the eyes of the window."""
    if told is not None:
        return replace(told, outcome=outcome, reason=words, names_lines=True, is_lost=True)
    return Paused(
        revision=0,
        verb=verb.verb,
        outcome=outcome,
        next_node=verb.until,
        at_end=False,
        pass_number=1,
        reason=words,
        names_lines=True,
        is_lost=True,
    )


def place_words(rank: RankEngine, loaded: bytes) -> str:
    """Where a rank is in the program of a `Load`; where that is not known, which line it has told of last."""
    if rank.running is not None:
        return f" at {place_of(loaded, rank.running.line)}"
    line = line_of(loaded, rank.newest) if rank.is_busy else 0
    return f" behind {place_of(loaded, line)}" if line else ""


def is_out_of_time(failure: Failed) -> bool:
    """Whether a collective has ended because others did not come to it in the time that its group allows."""
    return _OUT_OF_TIME.search(failure.message) is not None


def failure_words(number: int, failure: Failed) -> str:
    """That a rank has failed, or waited in vain, and where."""
    if is_out_of_time(failure):
        return f"Rank {number} waited at line {failure.line} for others until the time-out of its group."
    return f"Rank {number} failed at line {failure.line}."


def end_words(ranks: Sequence[RankEngine], loaded: bytes) -> tuple[str, Outcome]:
    """Why ranks that are busy are ended: one has failed, or waited in vain for them, or a person has said Stop."""
    failed = [(rank.number, rank.failure) for rank in ranks if rank.failure is not None]
    where = "; ".join(f"rank {rank.number}{place_words(rank, loaded)}" for rank in ranks if rank.is_busy)
    waited = [(number, failure) for number, failure in failed if is_out_of_time(failure)]
    if waited and len(waited) == len(failed):
        words = f"{failure_words(*waited[0])} Who did not come: {where}. All were ended, and begin from nothing."
        return words, "failed"
    if failed:
        number = next(number for number, failure in failed if not is_out_of_time(failure))
        words = f"Rank {number} failed, and others waited for it: {where}. All were ended, and begin from nothing."
        return words, "failed"
    return f"Ranks did not stop by themselves: {where}. All were ended, and begin from nothing.", "stopped"
