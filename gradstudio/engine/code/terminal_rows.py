"""What a program writes, as the rows of a terminal have it: bars of progress draw over themselves. No torch here."""

import re
from collections.abc import Iterator

MAX_ROW = 100_000
"""Characters of one row; what is longer keeps its end."""
MAX_HELD = 64
"""Rows that may still be drawn over."""
_PARTS = re.compile(r"\n|\r|\x1b\[[0-9;?]*[A-Za-z]|[^\n\r\x1b]+|\x1b")
_UP = "\x1b[A"


class TerminalRows:
    """Rows that are not told yet, and the place in them at which is written.

    A row that was ended is final, unless it was drawn over: then it may be once more, until something is written
    below it that is no bar.
    """

    def __init__(self) -> None:
        """Nothing was written."""
        self._rows = [""]
        self._bars = [False]
        self._row = self._column = 0

    @property
    def bars(self) -> int:
        """How many rows were drawn over and are not told yet."""
        return sum(self._bars)

    @property
    def bar(self) -> str:
        """The bars as they stand, one a line; "" when there is none."""
        shown = (row.rstrip() for row, is_bar in zip(self._rows, self._bars, strict=True) if is_bar)
        return "\n".join(row for row in shown if row)

    @property
    def row(self) -> str:
        """The row at which is written, as it stands."""
        return self._rows[self._row]

    def write(self, text: str) -> Iterator[str]:
        """Take text; the rows that are final by it."""
        for part in _PARTS.findall(text):
            if part == "\n":
                self._row, self._column = self._row + 1, 0
                if self._row == len(self._rows):
                    self._rows.append("")
                    self._bars.append(False)
                if not self._is_held():
                    yield from self._take(self._row)
            elif part == "\r":
                self._bars[self._row], self._column = True, 0
            elif part == _UP:
                self._row = max(0, self._row - 1)
            elif not part.startswith("\x1b"):
                if not self._bars[self._row]:
                    yield from self._take(self._row)
                self._put(part)

    def settle(self) -> Iterator[str]:
        """The rows that were ended: something else writes now."""
        yield from self._take(self._row)

    def finish(self) -> Iterator[str]:
        """All rows: nothing more is written."""
        yield from self._take(len(self._rows) - 1)
        last, self._rows, self._bars, self._row, self._column = self._rows[0], [""], [False], 0, 0
        if last.strip():
            yield last.rstrip()

    def _is_held(self) -> bool:
        return any(self._bars[: self._row]) and self._row < MAX_HELD

    def _put(self, text: str) -> None:
        row = self._rows[self._row]
        drawn = row[: self._column] + text + row[self._column + len(text) :]
        self._rows[self._row] = drawn[-MAX_ROW:]
        self._column = min(self._column + len(text), MAX_ROW)

    def _take(self, count: int) -> Iterator[str]:
        """The first rows, which nobody can draw over any more; a bar that was wiped away is none."""
        for row, is_bar in zip(self._rows[:count], self._bars[:count], strict=True):
            if not is_bar:
                yield row
            elif row.strip():
                yield row.rstrip()
        del self._rows[:count], self._bars[:count]
        self._row = max(0, self._row - count)
