"""Which values share memory, as far as the program's text tells: views, in-place results, aliases."""

from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.catalogue.out_variants import written_port
from gradstudio.operators.model import Effect, Face, Operator

Value = tuple[ItemId, int]
"""An output of an item."""


def storage_of(graph: Graph, item: ItemId, output: int = 0) -> Value:
    """The value whose memory this one lives in; itself when it has its own."""
    value = (item, output)
    while (before := _shared_with(graph, value)) is not None:
        value = before
    return value


def receiver_wire(graph: Graph, item: ItemId, output: int = 0) -> Wire | None:
    """The wire that brings the object an in-place node writes into, and which that result is; or None."""
    operator = _operator(graph, item)
    return graph.wire_into(item, written_port(operator.writes, output)) if operator is not None else None


def written_values(graph: Graph, item: ItemId) -> tuple[Value, ...]:
    """The values whose memory the node writes into."""
    operator = _operator(graph, item)
    if operator is None or Effect.IN_PLACE not in operator.effects:
        return ()
    wires = (graph.wire_into(item, name) for name in operator.writes)
    return tuple(storage_of(graph, wire.source, wire.output) for wire in wires if wire is not None)


def _operator(graph: Graph, item: ItemId) -> Operator | None:
    node = graph.nodes.get(item)
    return load().get(node.operator) if node is not None else None


def _shared_with(graph: Graph, value: Value) -> Value | None:
    item, output = value
    operator = _operator(graph, item)
    if operator is None:
        return None
    if operator.writes:
        wire = receiver_wire(graph, item, output)
    elif operator.view or operator.face is Face.ALIAS:
        wire = next(iter(graph.wires_to(item)), None)
    else:
        wire = None
    return (wire.source, wire.output) if wire is not None else None
