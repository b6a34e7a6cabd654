"""Where ranks wait for one another: what is said when a collective does not come back."""

from collections.abc import Sequence
from typing import Protocol

from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.ranks.last_line import place_of


class Rank(Protocol):
    """What has to be known of a rank."""

    @property
    def number(self) -> int:
        """Which."""

    @property
    def is_busy(self) -> bool:
        """Whether a verb is under way there."""

    @property
    def running(self) -> Running | None:
        """The statement that takes long there."""

    @property
    def since_s(self) -> float:
        """When that began."""


def waiting_words(ranks: Sequence[Rank], now_s: float, patience_s: float, loaded: bytes = b"") -> str:
    """Who waits where in the program of a `Load`; "" while a rank comes further, or all are at the same line.

    All at one line are at work, as far as can be told: a collective of all ranks ends.
    """
    busy = [rank for rank in ranks if rank.is_busy]
    long = [rank for rank in busy if rank.running is not None and now_s - rank.since_s >= patience_s]
    if len(busy) < 1 or len(long) < len(busy) or len(ranks) < 2:
        return ""
    lines = {rank.running.line for rank in long if rank.running is not None}
    if len(busy) == len(ranks) and len(lines) == 1:
        return ""
    words = [f"rank {rank.number} {_place(rank, loaded)}" for rank in ranks]
    return f"Ranks wait for one another since {patience_s:.0f} s: {'; '.join(words)}. Stop (Shift+F5) ends them."


def _place(rank: Rank, loaded: bytes) -> str:
    if not rank.is_busy:
        return "has come to its end"
    return f"is at {place_of(loaded, rank.running.line)}" if rank.running is not None else "is at work"
