"""From an id as a run speaks of it (`graph.groups.call_ids`) to the node of a definition it means, and its address."""

from collections.abc import Mapping

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.analysis.call_paths import ItemLocation, call_paths
from gradstudio.graph.groups.call_ids import SEPARATOR, is_call_item, path_of
from gradstudio.graph.groups.definitions import definition_graph, group_of
from gradstudio.graph.model import Graph, ItemId


def locate_item(graph: Graph, item: ItemId) -> ItemLocation | None:
    """Where an item of a program, or inside its calls, stands; None when there is no such item (any more)."""
    *calls, last = path_of(item)
    where = graph
    for call in calls:
        name = group_of(where, call)
        if name not in graph.definitions:  # what it calls may have been handed to it
            return call_paths(graph).place(item)
        where = definition_graph(graph, name)
    return ItemLocation(where, last) if last in where or calls else None


def group_at(graph: Graph, item: ItemId) -> str:
    """The definition that an item of a program, or inside its calls, calls or constructs; "" when it does neither."""
    place = locate_item(graph, item)
    own = group_of(*place) if place is not None else ""
    return own or call_paths(graph).group(item)


class Addresses(dict[ItemId, str]):
    """How reports call each item: those of the program as `program_analysis.addresses` says, others ``call/inner``."""

    def __init__(self, graph: Graph, known: Mapping[ItemId, str]) -> None:
        """Those of the program are `known`."""
        super().__init__(known)
        self._graph = graph

    def __missing__(self, item: ItemId) -> str:
        """What is inside a call; anything else by its id."""
        if not is_call_item(item):
            return item
        *calls, last = path_of(item)
        above = ItemId(SEPARATOR.join(calls))
        found = locate_item(self._graph, item)
        known = program_analysis.addresses(found.graph) if found is not None else {}
        return f"{self[above]}{SEPARATOR}{known.get(last, last)}"

    def get(self, item: ItemId, default: str = "") -> str:  # type: ignore[override]  # there is always one
        """The same; of nobody what is given instead."""
        return self[item] if item in self or is_call_item(item) else default


def addresses(graph: Graph) -> Mapping[ItemId, str]:
    """How reports call each item, those inside calls among them."""
    return Addresses(graph, program_analysis.addresses(graph))
