"""Where a program begins for a person who opens it. No Qt."""

from collections.abc import Iterable, Set
from typing import Final

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.ports.item_ports import output_family
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.operators.model import Family

SET_UP: Final = ("Weights of ", "Layers of ")
"""Titles of the groups that a brought module begins with."""
_MODELS: Final = frozenset({Family.MODULE})
_COMPUTED: Final = frozenset({Family.MODULE, Family.TENSOR})


def first_item(graph: Graph) -> ItemId | None:
    """The first statement; behind groups that only set up weights and layers, the input.

    Of a program that begins with code (imports, settings), the first model that is made, else the first that computes.
    """
    items = graph.bodies[ROOT]
    if items and is_code_at(graph, items[0]):
        return _first_of(graph, items, _MODELS) or _first_of(graph, items, _COMPUTED) or items[0]
    behind = next((k for k, item in enumerate(items) if not _sets_up(graph, item)), 0)
    if behind:
        inputs = (item for item in items[behind:] if item in graph.nodes and not graph.wires_to(item))
        return next(inputs, items[behind])
    return items[0] if items else None


def _first_of(graph: Graph, items: Iterable[ItemId], families: Set[Family]) -> ItemId | None:
    """The first of these items, also in a frame, that is drawn and gives something of those families."""
    for item in items:
        block = graph.blocks.get(item)
        if block is not None and block.kind == "group":
            found = _first_of(graph, graph.bodies[BodyId(item)], families)
        else:
            drawn = block is None and not is_code_at(graph, item)
            found = item if drawn and output_family(graph, item, 0) in families else None
        if found is not None:
            return found
    return None


def _sets_up(graph: Graph, item: ItemId) -> bool:
    block = graph.blocks.get(item)
    return block is not None and block.kind == "group" and block.title.startswith(SET_UP)
