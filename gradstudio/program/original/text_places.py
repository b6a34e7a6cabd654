"""Where the statements of a printed program stand in the text that it was read from."""

from collections.abc import Iterator, Mapping

from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import is_code
from gradstudio.program.drawn_in_code import drawn_in_code
from gradstudio.program.original.statement_lines import Statement, StatementLines
from gradstudio.program.write import Script


def places_in(
    typed: StatementLines, graph: Graph, at: Mapping[ItemId, int], script: Script, printed: StatementLines
) -> dict[int, int]:
    """By the number of a printed statement, that of the typed one it is; some have none.

    Args:
        typed: the text.
        graph: what it means.
        at: the line on which each item begins in it.
        script: what the graph is printed as.
        printed: the statements of it.
    """
    lines: dict[int, int] = {}
    for line, own in _lines(graph, at, script):
        lines.setdefault(line, own)  # of a part, that of the statement which holds it
    found: dict[int, int] = {}
    for number, one in enumerate(printed.statements):
        begins = lines.get(one.first, lines.get(one.node.lineno))
        place = typed.at(begins) if begins is not None else None
        if place is not None:
            found[number] = place
    _add_alike(typed, printed, found)
    return found


def _lines(graph: Graph, at: Mapping[ItemId, int], script: Script) -> Iterator[tuple[int, int]]:
    """Lines of the script, and where in the text they are from."""
    codes = _codes(graph)
    drawn = drawn_in_code(graph, script.bodies)
    for span in [*script.spans, *(span for inside in script.insides.values() for span in inside)]:
        line = at.get(span.node)
        if line is None:
            continue
        if span.node not in codes:
            yield span.line, line
            continue
        inner = drawn.get(span.node, ())
        end = span.line + inner[0][0] if inner else span.end_line + 1
        yield from ((one, line + one - span.line) for one in range(span.line, end))
        yield from ((span.line + below, at[item]) for below, item in inner if item in at)


def _codes(graph: Graph) -> set[ItemId]:
    return {node.id for one in graphs_of(graph) for node in one.nodes.values() if is_code(node)}


def _add_alike(typed: StatementLines, printed: StatementLines, found: dict[int, int]) -> None:
    """The heads of definitions, and what no item stands for, by what they say."""
    free = set(range(len(typed.statements))) - set(found.values())
    waiting: dict[tuple[object, ...], list[int]] = {}
    for place in sorted(free, reverse=True):
        for sign in _signs(typed.statements[place]):
            waiting.setdefault(sign, []).append(place)
    for number, one in enumerate(printed.statements):
        if number in found:
            continue
        for sign in _signs(one):
            places = [place for place in waiting.get(sign, ()) if place in free]
            if places:
                found[number] = places[-1]
                free.discard(places[-1])
                break


def _signs(one: Statement) -> Iterator[tuple[object, ...]]:
    """What tells a statement from others, the surest first."""
    if one.name:
        yield "definition", one.within, one.name
        yield "definition", one.name
        return
    yield one.within, one.key
    if one.within and type(one.node).__name__ == "Return":
        yield "return", one.within
