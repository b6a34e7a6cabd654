"""Ranks that come late to where all meet, said once for each line of a run."""

from collections.abc import Iterable, Iterator
from typing import Final

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.ranks.arrival_words import late_words
from gradstudio.protocol.ranks.last_line import line_of, place_of

LATE_S: Final = 0.5
"""Less late is not said by itself."""
MOST_LINES: Final = 20


class Stragglers:
    """What was said in this run."""

    def __init__(self) -> None:
        """Nothing."""
        self._nodes: set[ItemId] = set()

    def words(self, rows: Iterable[Row], loaded: bytes) -> Iterator[str]:
        """What is to be said of rows of the program of a `Load`."""
        for row in rows:
            came = row.came
            if came is None or came.most - came.least < LATE_S or row.node in self._nodes:
                continue
            if len(self._nodes) < MOST_LINES:
                self._nodes.add(row.node)
                words = late_words(came)
                yield f"{words[0].upper()}{words[1:]} to {place_of(loaded, line_of(loaded, row.node))}."
