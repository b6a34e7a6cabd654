"""A node that stands on the canvas, put into a wire."""

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import AddWire, Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import output_ports
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.repairs import combine_steps
from gradstudio.graph.recipes.wiring.connection import connect, first_fitting_port
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.item_titles import title


def is_idle(graph: Graph, item: ItemId) -> bool:
    """Whether no wire comes to a card or leaves it."""
    module = card_groups(graph).modules.get(item)
    between = {item, module}
    wires = (*graph.wires_to(item), *graph.wires_from(item))
    if module is not None:
        wires = (*wires, *graph.wires_to(module), *graph.wires_from(module))
    return item in graph.nodes and all(wire.source in between and wire.target in between for wire in wires)


def insert_existing(graph: Graph, wire: Wire, item: ItemId) -> Edits:
    """Lead a wire through a node that has none, by the ports that fit.

    Raises:
        Refused: nothing of the node fits what flows there, or the order forbids it.
    """
    if item in (wire.source, wire.target) or not is_idle(graph, item):
        raise Refused(f"'{title(graph, item)}' is wired already.")
    path = first_fitting_port(graph, wire.source, wire.output, item)
    outputs = output_ports(graph, item)
    if path is None or not outputs:
        raise Refused(f"{title(graph, item)} cannot stand on this wire: nothing of it fits what flows here.")

    def through(now: Graph) -> Edits:
        draft = Draft(now)
        draft.cut((wire,))
        reason = why_not(draft.graph, item, 0, wire.target, wire.port, exact=True)
        if reason:
            raise Refused(reason)
        draft.do(AddWire(Wire(item, 0, wire.target, wire.port)))
        return draft.finish()

    return combine_steps(graph, lambda now: connect(now, wire.source, wire.output, item, path), through)
