"""Tables of distributed tensors as a whole: each rank cuts out what lies with it, and the leader puts that together.

No rank waits for another: torch gathers nothing for it, so a rank that computes, or is gone, spoils nothing.
"""

from collections.abc import Iterable

import msgspec

from gradstudio.protocol.messages.bounds import excess_words
from gradstudio.protocol.messages.events import Cell, Fetched
from gradstudio.protocol.messages.requests import Fetch

MISSING = "Not all ranks have told what lies with them."


class WholeTables:
    """The tables that were asked of all ranks."""

    def __init__(self, count: int) -> None:
        """Of so many ranks; nothing was asked."""
        self._count = count
        self._asked: dict[int, tuple[Fetch, dict[int, Fetched]]] = {}

    def begin(self, request: Fetch) -> bool:
        """Whether it is of a whole, so that all ranks are to be asked."""
        if request.whole:
            self._asked[request.request] = request, {}
        return request.whole

    def is_of_all(self, answer: Fetched) -> bool:
        """Whether it is a part of what was asked of all."""
        return answer.request in self._asked

    def tell(self, rank: int, answer: Fetched) -> Fetched | None:
        """A rank's part; the table once all have told theirs."""
        request, told = self._asked[answer.request]
        told[rank] = answer
        if len(told) < self._count:
            return None
        del self._asked[answer.request]
        return _joined(request, told)


def _joined(request: Fetch, told: dict[int, Fetched]) -> Fetched:
    first = told[min(told)]
    for rank, answer in sorted(told.items()):
        if answer.error:
            return msgspec.structs.replace(answer, values=(), error=f"Rank {rank}: {answer.error}")
    height, width = _size(request, first.shape)
    if words := excess_words(height * width):
        return msgspec.structs.replace(first, values=(), error=words)
    rows = _filled(height, width, told.values())
    if rows is None:
        return msgspec.structs.replace(first, values=(), error=MISSING)
    return msgspec.structs.replace(first, values=rows, at=(0, 0))


def _size(request: Fetch, shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of what was asked for, as far as there are so many."""
    has = (1, *shape)[-2:] if shape else (1, 1)
    asked = (request.rows, request.columns)
    height, width = [max(min(end, size) - begin, 0) for (begin, end), size in zip(asked, has, strict=True)]
    return height, width


def _filled(height: int, width: int, parts: Iterable[Fetched]) -> tuple[tuple[Cell, ...], ...] | None:
    """The cells that the parts have; None where one is missing."""
    cells: list[list[Cell | None]] = [[None] * width for _ in range(height)]
    for part in parts:
        top, left = part.at
        for row, values in zip(cells[top:], part.values, strict=False):
            row[left : left + len(values)] = values[: max(width - left, 0)]
    rows = tuple([tuple([cell for cell in row if cell is not None]) for row in cells])
    return rows if all(len(row) == width for row in rows) else None
