"""Whether a recipe that a fix is made of can be done."""

from collections.abc import Callable

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import EditError, Refused
from gradstudio.graph.model import Graph


def edits_of(graph: Graph, recipe: Callable[[Graph], Edits]) -> Edits:
    """The recipe's edits, when it does not refuse and they apply; else none."""
    try:
        edits = recipe(graph)
        apply_all(graph.copy(), edits)
    except (Refused, EditError):
        return ()
    return edits
