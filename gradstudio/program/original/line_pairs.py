"""Which lines of a printed program are which of the text that it was read from."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.original.statement_lines import StatementLines
from gradstudio.program.original.text_places import places_in
from gradstudio.program.write import write


class LinePair(NamedTuple):
    """The head of a statement, or a comment, in both: its first and its last line, from 1."""

    printed: int
    printed_last: int
    typed: int
    typed_last: int


def line_pairs(graph: Graph, text: str, at: Mapping[ItemId, int]) -> tuple[LinePair, ...]:
    """The statements and comments of a printed program that stand in a text which means it.

    Args:
        graph: the program.
        text: what means it, with line feeds.
        at: the line on which each item begins there.
    """
    script = write(graph)
    try:
        typed, printed = StatementLines(text, into_all=True), StatementLines(script.code)
    except SyntaxError:
        return ()
    return tuple(_pairs(typed, printed, places_in(typed, graph, at, script, printed)))


def _pairs(typed: StatementLines, printed: StatementLines, places: Mapping[int, int]) -> Iterator[LinePair]:
    for number, place in places.items():
        one, own = printed.statements[number], typed.statements[place]
        is_whole = one.head_last == one.last and one.last - one.first == own.last - own.first  # code, as it was typed
        yield LinePair(one.first, one.head_last, own.first, own.last if is_whole else own.head_last)
        above, typed_above = printed.above(number), typed.above(place)
        if len(above) == len(typed_above):
            for (line, _), (typed_line, _) in zip(above, typed_above, strict=True):
                yield LinePair(line, line, typed_line, typed_line)
