"""Cards that show their content in place of a row for the input that holds it: stored tensors, and code. No Qt."""

from typing import Final

from gradstudio.graph.model import Graph, Node
from gradstudio.graph.ports.item_ports import Port, input_ports
from gradstudio.graph.text.code_records import CODE

STORED: Final = "python.stored"
UNDRAWN: Final = frozenset({STORED, CODE})


def ports_with_rows(graph: Graph, node: Node) -> tuple[Port, ...]:
    """The inputs that may have a row."""
    if node.operator == STORED:
        return ()
    ports = input_ports(graph, node.id)
    return tuple([port for port in ports if port.path != "code"]) if node.operator == CODE else ports


def captions_of(graph: Graph, node: Node) -> tuple[str, ...]:
    """What stands on the card of a stored tensor instead of its digest."""
    stored = graph.tensors.get(node.literals.get("digest", "").strip("\"'")) if node.operator == STORED else None
    return (f"{stored.dtype} {list(stored.shape)}", stored.source) if stored is not None else ()
