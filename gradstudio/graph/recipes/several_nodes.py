"""Recipes that give several nodes the same argument."""

from collections.abc import Iterable, Sequence

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports
from gradstudio.graph.recipes.nodes import set_document_device_port, set_literal
from gradstudio.operators.model import Kind

NOTHING: Edits = ()


def set_literals(graph: Graph, items: Sequence[ItemId], path: str, text: str) -> Edits:
    """Write a literal into the same argument of several nodes; "" is the default.

    Raises:
        Refused: one of them does not take it.
    """
    if len(items) == 1:  # as under each move of a slider
        return _set(graph, items[0], path, text)
    trial, edits = graph.copy(), NOTHING
    for item in items:
        made = _set(trial, item, path, text)
        apply_all(trial, made)
        edits = (*edits, *made)
    return edits


def _set(graph: Graph, item: ItemId, path: str, text: str) -> Edits:
    if text == DOCUMENT_DEVICE:
        return set_document_device_port(graph, item, path)
    return set_literal(graph, item, path, text)


def common_arguments(graph: Graph, items: Iterable[ItemId]) -> frozenset[str]:
    """The arguments that all of these nodes have, of the same kind, and that no wire feeds."""
    kinds: set[tuple[str, Kind]] | None = None
    for item in items:
        if item in graph.nodes:
            free = {(port.path, port.parameter.kind) for port in input_ports(graph, item) if port.state != "wired"}
            kinds = free if kinds is None else kinds & free
            if not kinds:
                break  # of thousands of nodes the first few mostly have nothing in common
    return frozenset(path for path, _ in kinds or ())
