"""Muted wires: drawn and kept, but absent from the program. They are not among `Graph.wires`; only this room knows."""

from collections.abc import Collection

import msgspec

from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import Graph, Node, Wire
from gradstudio.graph.ports.item_ports import find_port, output_ports


def muted_wires(graph: Graph) -> tuple[Wire, ...]:
    """The muted wires whose ends are both there, in the order of the nodes they end in."""
    muting = index_of(graph).muting
    nodes = [node for node in graph.nodes.values() if node.id in muting] if muting else []
    return tuple(wire for node in nodes for wire in muted_into(graph, node))


def muted_into(graph: Graph, node: Node) -> tuple[Wire, ...]:
    """The muted wires of one node whose ends are both there."""
    wires = (Wire(source, output, node.id, port) for port, (source, output) in node.muted_wires.items())
    return tuple(wire for wire in wires if _has_ends(graph, wire))


def is_muted(graph: Graph, wire: Wire) -> bool:
    """Whether this wire is there and muted."""
    node = graph.nodes.get(wire.target)
    return node is not None and node.muted_wires.get(wire.port) == (wire.source, wire.output)


def without_muted(node: Node, ports: Collection[str]) -> Node:
    """The node without the muted wires into these ports."""
    if not any(port in node.muted_wires for port in ports):
        return node
    kept = {port: end for port, end in node.muted_wires.items() if port not in ports}
    return msgspec.structs.replace(node, muted_wires=kept)


def without_sources(node: Node, graph: Graph) -> Node:
    """The node without the muted wires that begin at what the graph has not."""
    return without_muted(node, [port for port, (source, _) in node.muted_wires.items() if source not in graph])


def _has_ends(graph: Graph, wire: Wire) -> bool:
    if wire.source not in graph or (wire.target, wire.port) in graph.wires:
        return False
    return wire.output < len(output_ports(graph, wire.source)) and find_port(graph, wire.target, wire.port) is not None
