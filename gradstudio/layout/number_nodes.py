"""Which statements need nothing but numbers: they stand beside what uses them, wherever the numbers are. No Qt."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import output_ports
from gradstudio.operators.model import Family

ARITHMETIC = ("operator.", "math.")


def number_items(graph: Graph) -> set[ItemId]:
    """The nodes whose inputs are literals, number constants and arithmetic of these."""
    numbers: set[tuple[ItemId, int]] = set()
    light: set[ItemId] = set()
    for item in graph.order():
        wires = graph.wires_to(item)
        if item in graph.blocks:
            counts = [port.index for port in output_ports(graph, item) if port.family is Family.NUMBER]
            numbers |= {(item, index) for index in counts}
        elif all((wire.source, wire.output) in numbers for wire in wires):
            light.add(item)
            ports, is_sum = output_ports(graph, item), graph.nodes[item].operator.startswith(ARITHMETIC)
            if (wires and is_sum) or (ports and all(port.family is Family.NUMBER for port in ports)):
                numbers |= {(item, port.index) for port in ports}
    return light
