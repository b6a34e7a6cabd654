"""Where a person may look at an operator and ask for its page."""

from typing import Protocol, runtime_checkable

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import Graph, ItemId


@runtime_checkable
class OperatorSource(Protocol):
    """A widget that lists operators: F1 within it shows the page of the one that is current."""

    def documented_operator(self) -> str:
        """The key of the operator that is current; "" for none."""


def operator_of_card(graph: Graph, item: ItemId | None) -> str:
    """The operator that an item's card shows: of a module and its only call, which share one, the module; else ""."""
    if item is None or item not in graph.nodes:
        return ""
    return graph.nodes[card_groups(graph).modules.get(item, item)].operator
