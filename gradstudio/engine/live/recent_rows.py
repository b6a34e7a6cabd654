"""The rows that the report tells of: the newest of a run, and of long loops the first turns and the last recorded."""

from collections import deque
from collections.abc import Hashable, Iterator
from itertools import islice

from gradstudio.graph.model import ItemId
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
        self._last: dict[ItemId, tuple[Hashable, deque[Hashable]]] = {}

    def add(self, row: Row) -> None:
        """A row was told, in full or in outline."""
        rows, turns = self._rows, row.turns
        if not turns:
            rows[row.node, row.pass_number] = row
        else:
            key = (row.node, turns, row.pass_number)
            if turns[-1] >= FIRST_TURNS and key not in rows:
                self._make_room(row, key)
            rows[key] = row
        if len(rows) > MAX_ROWS + MOST_BEYOND:
            self._shorten()

    def values(self) -> Iterator[Row]:
        """The newest, in order."""
        self._shorten()
        return iter(self._rows.values())

    def _make_room(self, row: Row, key: Hashable) -> None:
        """A turn of a loop comes, so the oldest of its last turns goes: of those that were recorded, few may be."""
        loop = (row.turns[:-1], row.pass_number)
        known = self._last.get(row.node)
        if known is None or known[0] != loop:
            known = self._last[row.node] = (loop, deque())
        last = known[1]
        last.append(key)
        if len(last) > LAST_TURNS:
            self._rows.pop(last.popleft(), None)

    def _shorten(self) -> None:
        beyond = len(self._rows) - MAX_ROWS
        for key in list(islice(self._rows, max(beyond, 0))):
            del self._rows[key]
