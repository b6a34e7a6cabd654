"""Where the statements that are drawn of functions in code stand in its text."""

from collections.abc import Mapping

from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.drawn_bodies import body_places
from gradstudio.program.printing.statement_printer import PrintedBodies


def drawn_in_code(graph: Graph, bodies: PrintedBodies) -> Mapping[ItemId, tuple[tuple[int, ItemId], ...]]:
    """By the node of code, the lines of its printed text, from 0, at which items of printed bodies begin."""
    codes = [node for one in graphs_of(graph) for node in one.nodes.values() if is_code(node)]
    return {node.id: places for node in codes if (places := _places(node, bodies))}


def _places(node: Node, bodies: PrintedBodies) -> tuple[tuple[int, ItemId], ...]:
    found: dict[int, ItemId] = {}
    more = 0
    for place in body_places(code_of(node)):
        body = bodies.get(place.name)
        if body is not None:
            first = place.line + more
            for span in body.spans:
                found.setdefault(first + span.line - 1, span.node)
            more += len(body.lines) - 1
    return tuple(sorted(found.items()))
