"""Entries: the printed statements of a graph, each with what is printed inside it."""

from collections.abc import Sequence

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.model import Span
from gradstudio.program.printing.trailing_comments import GAP, comment_behind
from gradstudio.program.write import Script


class Entry(msgspec.Struct, frozen=True):
    """A statement or a block's head in a script.

    Attributes:
        text: its lines without their indentation.
        parts: the nodes printed inside it, in the order of the text.
        above: the comments above it, "" for a blank line.
        beside: the comment behind it, or behind its head.
    """

    item: ItemId
    text: str
    parts: tuple[ItemId, ...] = ()
    above: tuple[str, ...] = ()
    beside: str = ""


def entries_of(script: Script) -> list[Entry]:
    """The statements of a script from top to bottom."""
    return entries_among(script.code.split("\n"), script.spans)


def entries_among(lines: list[str], spans: Sequence[Span]) -> list[Entry]:
    """The statements that stand in lines at these places, from top to bottom."""
    found: list[Entry] = []
    k = 0
    while k < len(spans):
        outer, first = spans[k], k + 1
        k = first
        while k < len(spans) and _end(spans[k]) <= _end(outer):
            k += 1
        parts = tuple(span.node for span in spans[first:k])
        beside = comment_behind(lines, outer.end_line - 1, outer.end_column)
        found.append(Entry(outer.node, _text(lines, outer, beside), parts, _above(lines, outer.line - 1), beside))
    return found


def hidden_items(graph: Graph, entries: list[Entry]) -> set[ItemId]:
    """The items that no text shows: what is muted, cannot run, or only lets its input through."""
    shown = {item for entry in entries for item in (entry.item, *entry.parts)}
    return {item for item in graph.order() if item not in shown}


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def _text(lines: list[str], span: Span, beside: str) -> str:
    indent = _depth(lines[span.line - 1])
    text = "\n".join(line[indent:] for line in lines[span.line - 1 : span.end_line])
    return text.removesuffix(GAP + beside) if beside else text


def _above(lines: list[str], index: int) -> tuple[str, ...]:
    """The comments above line `index` (from 0) that are as deep as it, regions excepted, and the blank lines there."""
    first, depth = index, _depth(lines[index])
    while first and (not lines[first - 1] or (_is_comment(lines[first - 1]) and _depth(lines[first - 1]) == depth)):
        first -= 1
    return tuple(line.strip() for line in lines[first:index])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_comment(line: str) -> bool:
    text = line.lstrip()
    return text.startswith("#") and not text.startswith(("# region:", "# endregion"))
