"""What a leader of ranks says beside what its ranks say, and what it can say again."""

from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.protocol.messages.events import Paused, Row, Traced
from gradstudio.protocol.messages.requests import Do

Outcome = OneOf["failed", "stopped"]
KEPT: Final = {
    *("Started", "Traced", "Gradients", "BackwardTraced", "PackedBackward", "Paused", "Failed", "Printed", "Warned"),
    *("Turned", "Hit", "Figured", "NoChart", "HistogramDrawn", "PointsDrawn", "ImagesDrawn", "ConfusionDrawn"),
    "BoundaryDrawn",
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
