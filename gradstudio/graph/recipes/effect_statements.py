"""Recipes for statements with effects: their place in the order, the appended backward."""

from gradstudio.graph import order
from gradstudio.graph.analysis.program_analysis import analyse, root, unready_root
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import AddNode, AddWire, Edits, MoveItem, SetPlaces
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place, Wire
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import fresh_node
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.loader import load

BACKWARD = "torch.Tensor.backward"
BACKWARD_GAP_PX = 260.0


def move_earlier(graph: Graph, item: ItemId) -> Edits:
    """Move a statement before the one in front of it.

    Of a call on the card of its module the module moves, with what switches it, where the call cannot move alone.

    Raises:
        Refused: it is the first, or needs what stands in front of it.
    """
    groups, items = card_groups(graph), graph.bodies[graph.parents[item]]
    module = groups.modules.get(item)
    if module is None:
        return _shift(graph, item, -1)
    before = items[items.index(item) - 1]
    if groups.home(before) != item and not _feeds(graph, before, item):
        return _shift(graph, item, -1)
    _shift(graph, module, -1)  # refuses
    place = items.index(module)
    switches = sum(owner == module for owner in groups.switches.values())  # they stay directly behind it
    return (MoveItem(items[place - 1], graph.parents[item], place + switches),)


def move_later(graph: Graph, item: ItemId) -> Edits:
    """Move a statement behind the one after it.

    Raises:
        Refused: it is the last, or the one after it needs it.
    """
    return _shift(graph, item, 1)


def append_backward(graph: Graph, item: ItemId | None = None, output: int = 0) -> Edits:
    """``root.backward()`` at the end of the program (semantics §6).

    Raises:
        Refused: nothing in the program requires grad, or the loss that is meant cannot run yet.
    """
    if item is None and (waiting := unready_root(graph)) is not None:
        raise Refused(
            f"'{title(graph, waiting)}' is where the backward begins, and it cannot run yet: "
            f"{analyse(graph).validity.incomplete[waiting]}. Complete it first, or right-click another output and "
            "choose Backward from here."
        )
    source = item if item is not None else root(graph)
    if source is None:
        raise Refused(
            "Nothing here requires grad, so there is nothing to go back to. "
            "Set requires_grad to True on a tensor that shall get a gradient."
        )
    draft = Draft(graph)
    node = fresh_node(draft, load()[BACKWARD])
    place = graph.places.get(source, Place(0.0, 0.0))
    draft.do(
        AddNode(node, ROOT, draft.end_of(ROOT)),
        SetPlaces({node.id: Place(place.x + BACKWARD_GAP_PX, place.y)}),
        AddWire(Wire(source, output, node.id, "self")),
    )
    return draft.finish()


def _shift(graph: Graph, item: ItemId, by: int) -> Edits:
    body = graph.parents[item]
    items = graph.bodies[body]
    index = items.index(item)
    if not 0 <= index + by < len(items):
        raise Refused(f"'{title(graph, item)}' is the {'first' if by < 0 else 'last'} statement here already.")
    other = items[index + by]
    front, behind = (other, item) if by < 0 else (item, other)
    if _feeds(graph, front, behind):
        raise Refused(f"'{title(graph, behind)}' needs the value of '{title(graph, front)}', so it stays behind it.")
    return (MoveItem(item, body, index + by),)


def _feeds(graph: Graph, front: ItemId, behind: ItemId) -> bool:
    needs = order.wire_needs(graph)
    sources = _members(graph, front)
    return any(source in sources for member in _members(graph, behind) for source in needs.get(member, ()))


def _members(graph: Graph, item: ItemId) -> set[ItemId]:
    return {item, *(graph.order(BodyId(item)) if item in graph.blocks else ())}
