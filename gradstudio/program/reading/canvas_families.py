"""What flows from the nodes of a canvas, as reading their text would have told: for statements that are read there."""

from collections.abc import Iterable, Iterator

from gradstudio.graph.model import Block, Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import row_of
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.operators.model import Face
from gradstudio.program.reading.graph_builder import GraphBuilder, Port

_BY_OPERANDS = frozenset({Face.INFIX, Face.PREFIX, Face.AUGMENTED, Face.ALIAS, Face.ITEM, Face.TUPLE})
"""What flows from these follows from what flows into them."""


def take_families(draft: GraphBuilder, items: Iterable[ItemId], known: set[ItemId]) -> None:
    """Let a draft that goes on from a canvas know what flows from some of its items; `known` are those it knows."""
    waiting = list(items)
    while waiting:
        item = waiting[-1]
        needed = [] if item in known else [one for one in _needed(draft.graph, item) if one not in known]
        if needed:
            known.add(item)  # ends the search should statements feed one another in a ring
            waiting += needed
            continue
        waiting.pop()
        known.add(item)
        _take(draft, item)


def _needed(graph: Graph, item: ItemId) -> Iterator[ItemId]:
    """The items from which follows what flows from an item."""
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    if node is None or (operator is not None and operator.face in _BY_OPERANDS):
        yield from (wire.source for wire in graph.wires_to(item) if node is not None or _is_first(wire))


def _take(draft: GraphBuilder, item: ItemId) -> None:
    graph = draft.graph
    node = graph.nodes.get(item)
    if node is not None:
        draft.know(item, _ports(draft, node))
        return
    block: Block | None = graph.blocks.get(item)
    for k, name in enumerate(block.carried if block is not None else ()):
        wire = graph.wire_into(item, f"first.{name}")
        if wire is not None:
            draft.set_family(item, k + 1, draft.family(draft.result(wire.source, wire.output)))


def _is_first(wire: Wire) -> bool:
    return wire.port.startswith("first.")


def _ports(draft: GraphBuilder, node: Node) -> dict[str, Port]:
    """What stands in the ports of a node, in the order of the operator's parameters."""
    operator = row_of(draft.graph, node)
    places = {one.name: k for k, one in enumerate(operator.parameters)} if operator is not None else {}
    ports: dict[str, Port] = {path: Written(text) for path, text in node.literals.items()}
    ports |= {wire.port: draft.result(wire.source, wire.output) for wire in draft.graph.wires_to(node.id)}
    return {path: ports[path] for path in sorted(ports, key=lambda path: _place(path, places))}


def _place(path: str, places: dict[str, int]) -> tuple[int, int, str]:
    root, _, rest = path.partition(".")
    number = rest.partition(".")[0]
    return places.get(root, len(places)), int(number) if number.isdecimal() else -1, rest
