"""Whether every wire of a file goes forward in the order of its program; if not, which nodes to name."""

from collections.abc import Sequence

from gradstudio.document.errors import BadWire
from gradstudio.document.gsg.field_checks import Fault, Where
from gradstudio.document.gsg.file_records import WireRecord
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire
from gradstudio.graph.rules import chain
from gradstudio.graph.text.item_titles import title


def check_forward(graph: Graph, where: Where, records: Sequence[WireRecord]) -> None:
    """Refuse a wire that ends before it begins, but for what a loop carries into its next turn.

    Raises:
        Fault: it names the nodes, and the whole ring where they form one.
    """
    position = {item: number for number, item in enumerate(graph.order())}
    for number, line in enumerate(records):
        wire = graph.wires[ItemId(line.target), line.port]
        start, end = position.get(wire.source, -1), position.get(wire.target, len(position))
        if start >= end and not _next_turn(graph, wire):
            raise Fault(_words(graph, wire), (*where, number), BadWire)


def _next_turn(graph: Graph, wire: Wire) -> bool:
    """Whether the wire brings a value from inside a loop to that loop's next turn."""
    if wire.target not in graph.blocks or not wire.port.startswith("next."):
        return False
    return wire.source == wire.target or BodyId(wire.target) in graph.ancestors(wire.source)


def _words(graph: Graph, wire: Wire) -> str:
    ring = chain(graph, wire.target, wire.source)
    if ring:
        names = " → ".join(_called(graph, item) for item in (*ring, ring[0]))
        return f"these nodes feed one another in a ring: {names}"
    source, target = _called(graph, wire.source), _called(graph, wire.target)
    return f"{target} takes a value from {source}, which stands after it in the program"


def _called(graph: Graph, item: ItemId) -> str:
    return f"'{title(graph, item)}' ({item})"
