"""What a leader of ranks says beside what its ranks say, and what it can say again."""

from collections.abc import Sequence
from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.protocol.messages.events import Paused, Row, Traced
from gradstudio.protocol.messages.requests import Do
from gradstudio.protocol.ranks.last_line import line_of
from gradstudio.protocol.ranks.rank_engine import RankEngine

Outcome = OneOf["failed", "stopped", "died"]
KEPT: Final = {
    *("Started", "Traced", "Gradients", "BackwardTraced", "PackedBackward", "Paused", "Failed", "Printed", "Warned"),
    *("Turned", "Hit", "Figured", "NoChart", "HistogramDrawn", "PointsDrawn", "ImagesDrawn", "ConfusionDrawn"),
    *("BoundaryDrawn", "DescentDrawn"),
}
"""What is told again of a rank that comes to be shown."""


def of_rank(number: int, text: str) -> str:
    """Words of a rank, line by line."""
    return "\n".join(f"[rank {number}] {line}" if line else line for line in text.split("\n"))


def with_rows(traced: Traced, rows: tuple[Row, ...]) -> Traced:
    """The same with other rows."""
    return msgspec.structs.replace(traced, rows=rows)


def last_pause(verb: Do, told: Paused | None, words: str, outcome: Outcome) -> Paused:
    """How the verb ended in the eyes of the window."""
    if told is not None:
        return msgspec.structs.replace(told, outcome=outcome, reason=words)
    return Paused(
        revision=0, verb=verb.verb, outcome=outcome, next_node=verb.until, at_end=False, pass_number=1, reason=words
    )


def place_words(rank: RankEngine, loaded: bytes) -> str:
    """Where a rank is in the program of a `Load`; where that is not known, which line it has told of last."""
    if rank.running is not None:
        return f" at line {rank.running.line}"
    line = line_of(loaded, rank.newest) if rank.is_busy else 0
    return f" behind line {line}" if line else ""


def end_words(ranks: Sequence[RankEngine], loaded: bytes) -> tuple[str, Outcome]:
    """Why ranks that are busy are ended: one has failed, or a person has said Stop."""
    failed = [rank.number for rank in ranks if rank.has_failed]
    where = "; ".join(f"rank {rank.number}{place_words(rank, loaded)}" for rank in ranks if rank.is_busy)
    if failed:
        words = f"Rank {failed[0]} failed, and others waited for it: {where}. All were ended, and begin from nothing."
        return words, "failed"
    return f"Ranks did not stop by themselves: {where}. All were ended, and begin from nothing.", "stopped"
