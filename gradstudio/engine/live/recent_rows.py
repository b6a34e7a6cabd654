"""The rows that the report tells of: the newest of a run, and of long loops the first and the last turns."""

from collections.abc import Hashable, Iterator
from itertools import islice

from gradstudio.protocol.messages.events import Row

FIRST_TURNS, LAST_TURNS = 16, 240
MAX_ROWS = 10_000
"""Rows kept for the report; of more the oldest go."""
MOST_BEYOND = 1_000
"""So many more are there before the oldest are looked for: they go together."""


class RecentRows:
    """Rows in the order they were first told; one told again takes its own place."""

    def __init__(self) -> None:
        """None yet."""
        self._rows: dict[Hashable, Row] = {}

    def add(self, row: Row) -> None:
        """A row was told, in full or in outline."""
        rows, turns = self._rows, row.turns
        if not turns:
            rows[row.node, row.pass_number] = row
        else:
            rows[row.node, turns, row.pass_number] = row
            if turns[-1] >= FIRST_TURNS + LAST_TURNS:
                rows.pop((row.node, (*turns[:-1], turns[-1] - LAST_TURNS), row.pass_number), None)
        if len(rows) > MAX_ROWS + MOST_BEYOND:
            self._shorten()

    def values(self) -> Iterator[Row]:
        """The newest, in order."""
        self._shorten()
        return iter(self._rows.values())

    def _shorten(self) -> None:
        beyond = len(self._rows) - MAX_ROWS
        for key in list(islice(self._rows, max(beyond, 0))):
            del self._rows[key]
