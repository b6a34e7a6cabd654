"""Where a program begins for a person who opens it. No Qt."""

from typing import Final

from gradstudio.graph.model import ROOT, Graph, ItemId

SET_UP: Final = ("Weights of ", "Layers of ")
"""Titles of the groups that a brought module begins with."""


def first_item(graph: Graph) -> ItemId | None:
    """The first statement; behind groups that only set up weights and layers, the input."""
    items = graph.bodies[ROOT]
    behind = next((k for k, item in enumerate(items) if not _sets_up(graph, item)), 0)
    if behind:
        inputs = (item for item in items[behind:] if item in graph.nodes and not graph.wires_to(item))
        return next(inputs, items[behind])
    return items[0] if items else None


def _sets_up(graph: Graph, item: ItemId) -> bool:
    block = graph.blocks.get(item)
    return block is not None and block.kind == "group" and block.title.startswith(SET_UP)
