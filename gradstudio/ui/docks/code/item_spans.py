"""Where the items of a program stand in its text, found by line and by item. No Qt here."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Span

MANY: Final = 300
"""Of more items the lines of all are gone through in order, instead of these being sorted."""


class ItemSpans:
    """The spans of one program; lines count from 1.

    Attributes:
        of: by item, where it stands.
    """

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        """Sort spans by line."""
        self._by_line: dict[int, list[Span]] = {}
        self.of: dict[ItemId, Span] = {}
        for span in spans:
            self.of[span.node] = span
            self._by_line.setdefault(span.line, []).append(span)

    @cached_property
    def _ends(self) -> dict[int, Span]:
        """By line, the longest span that ends there."""
        ends: dict[int, Span] = {}
        for span in self.of.values():
            longest = ends.get(span.end_line)
            if longest is None or (span.line, span.column) < (longest.line, longest.column):
                ends[span.end_line] = span
        return ends

    def in_order(self, items: frozenset[ItemId]) -> Iterator[Span]:
        """Where some items stand, by their lines."""
        if len(items) > MANY:  # where many are chosen the first are soon found
            return (span for span in self._in_order if span.node in items)
        return iter(sorted([self.of[item] for item in items if item in self.of], key=_line))

    def on_lines(self, items: frozenset[ItemId], lines: Iterable[int]) -> list[Span]:
        """Where some items stand that have a part on one of these lines."""
        wanted = set(lines)
        begun = [span for line in sorted(wanted) for span in self._by_line.get(line, ()) if span.node in items]
        above = (span for span in self._long if span.node in items and span.line not in wanted)
        return begun + [span for span in above if not wanted.isdisjoint(range(span.line, span.end_line + 1))]

    @cached_property
    def _long(self) -> list[Span]:
        """What stands on more than one line."""
        return [span for span in self.of.values() if span.end_line > span.line]

    @cached_property
    def _in_order(self) -> list[Span]:
        return sorted(self.of.values(), key=_line)

    def statement_at(self, line: int) -> ItemId | None:
        """The item whose statement begins on a line: not a part written inside it."""
        spans = self._by_line.get(line)
        return max(spans, key=_length).node if spans else None

    def ending_at(self, line: int) -> ItemId | None:
        """The item whose statement ends on a line."""
        span = self._ends.get(line)
        return span.node if span is not None else None

    def item_at(self, line: int, column: int) -> ItemId | None:
        """The innermost item whose text covers a place; else the one that begins on its line."""
        covering = [span for span in self._near(line) if _covers(span, line, column)]
        if covering:
            return min(covering, key=_length).node
        return next((span.node for span in self._by_line.get(line, ())), None)

    def exactly_at(self, line: int, column: int) -> ItemId | None:
        """The innermost item whose text covers a place; None: none does."""
        covering = [span for span in self._near(line) if _covers(span, line, column)]
        return min(covering, key=_length).node if covering else None

    def _near(self, line: int) -> Iterator[Span]:
        """What may cover a line: what begins on it, and what begins above it and is longer than a line."""
        yield from self._by_line.get(line, ())
        for above in range(line - 1, 0, -1):
            spans = self._by_line.get(above)
            if spans:
                yield from (span for span in spans if span.end_line >= line)
                return


def _covers(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


def _line(span: Span) -> int:
    return span.line


def _length(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
