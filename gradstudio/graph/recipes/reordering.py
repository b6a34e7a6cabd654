"""Recipes that put a statement at another place of the program's order, as far as the wires allow."""

from collections.abc import Iterable

from gradstudio.graph import order
from gradstudio.graph.edits import Edits, MoveItem
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.rules import broken_border, check_bodies
from gradstudio.graph.text.item_titles import title


def put_at(graph: Graph, item: ItemId, body: BodyId, index: int) -> Edits:
    """Move a statement to before the one that is number `index` of a body now; behind the last: their count.

    Raises:
        Refused: a statement on the way needs its value, or it needs that of one; a block would stand in itself.
    """
    if graph.parents[item] != body:
        return _into(graph, item, body, index)
    items = graph.bodies[body]
    old = items.index(item)
    new = index - (index > old)
    passed = items[new:old] if new < old else items[old + 1 : new + 1]
    for other in passed if new > old else reversed(passed):
        front, behind = (other, item) if new < old else (item, other)
        if _feeds(graph, front, behind):
            raise Refused(
                f"'{title(graph, behind)}' needs the value of '{title(graph, front)}', so it stays behind it."
            )
    return (MoveItem(item, body, new),) if passed else ()


def _into(graph: Graph, item: ItemId, body: BodyId, index: int) -> Edits:
    """Into a block, or out of it; what it needs comes along in front of it where that is allowed."""
    if body != ROOT and (body == BodyId(item) or BodyId(item) in graph.ancestors(ItemId(body))):
        raise Refused(f"'{title(graph, item)}' cannot stand inside itself.")
    draft = Draft(graph)
    draft.do(MoveItem(item, body, index))
    check_bodies(draft.graph, (item,))
    if (reason := broken_border(draft.graph)) and not broken_border(graph):
        raise Refused(reason)
    return draft.finish()


def _feeds(graph: Graph, front: ItemId, behind: ItemId) -> bool:
    """Whether a value goes from one statement, or from within it, into the other by a wire that must go forward."""
    sources = frozenset(_members(graph, front))
    needs = order.wire_needs(graph)
    return any(not sources.isdisjoint(needs.get(member, ())) for member in _members(graph, behind))


def _members(graph: Graph, item: ItemId) -> Iterable[ItemId]:
    return (item, *graph.order(BodyId(item))) if item in graph.blocks else (item,)
