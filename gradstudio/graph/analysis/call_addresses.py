"""From an id as a run speaks of it (`graph.groups.call_ids`) to the node of a definition it means, and its address."""

from collections.abc import Mapping
from typing import NamedTuple

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.groups.call_ids import SEPARATOR, is_inner, path_of
from gradstudio.graph.groups.definitions import group_of, inside
from gradstudio.graph.model import Graph, ItemId


class Standing(NamedTuple):
    """Where an item stands: the program, or the inside of a definition, as a graph; and its id there."""

    graph: Graph
    item: ItemId


def standing(graph: Graph, item: ItemId) -> Standing | None:
    """Where an item of a program, or inside its calls, stands; None when there is no such item (any more)."""
    *calls, last = path_of(item)
    where = graph
    for call in calls:
        name = group_of(where, call)
        if name not in graph.definitions:
            return None
        where = inside(graph, name)
    return Standing(where, last) if last in where or calls else None


class Addresses(dict[ItemId, str]):
    """How reports call each item: those of the program as `program_analysis.addresses` says, others ``call/inner``."""

    def __init__(self, graph: Graph, known: Mapping[ItemId, str]) -> None:
        """Those of the program are `known`."""
        super().__init__(known)
        self._graph = graph

    def __missing__(self, item: ItemId) -> str:
        """What is inside a call; anything else by its id."""
        if not is_inner(item):
            return item
        *calls, last = path_of(item)
        above = ItemId(SEPARATOR.join(calls))
        found = standing(self._graph, item)
        known = program_analysis.addresses(found.graph) if found is not None else {}
        return f"{self[above]}{SEPARATOR}{known.get(last, last)}"

    def get(self, item: ItemId, default: str = "") -> str:  # type: ignore[override]  # there is always one
        """The same; of nobody what is given instead."""
        return self[item] if item in self or is_inner(item) else default


def addresses(graph: Graph) -> Mapping[ItemId, str]:
    """How reports call each item, those inside calls among them."""
    return Addresses(graph, program_analysis.addresses(graph))
