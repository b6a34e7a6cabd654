"""Recipes for blocks: wrapping a selection, unwrapping it, dragging in and out."""

from collections.abc import Iterable

from gradstudio.graph import order
from gradstudio.graph.edits import AddBlock, Edits, MoveItem, SetPlaces
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, Block, BlockKind, BodyId, Graph, ItemId, Place
from gradstudio.graph.names import fresh_name
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.removal import dissolve
from gradstudio.graph.rules import broken_border, check_bodies
from gradstudio.graph.text.item_titles import title

FRESH_LITERALS: dict[str, dict[str, str]] = {
    "autocast": {"device_type": '"cpu"', "dtype": "torch.bfloat16"},
    "for": {"range.0": "3"},
    "if": {"condition": "True"},
    "set_grad_enabled": {"mode": "True"},
    "set_detect_anomaly": {"mode": "True"},
}


def add_block(graph: Graph, kind: BlockKind, x: float, y: float, *, body: BodyId = ROOT) -> tuple[Edits, ItemId]:
    """An empty block at the end of a body; a `for` goes over ``range(3)``.

    Raises:
        Refused: it may not stand in that body.
    """
    draft = Draft(graph)
    block = _fresh(draft, kind)
    draft.do(AddBlock(block, body, draft.end_of(body)), SetPlaces({block.id: Place(x, y)}))
    check_bodies(draft.graph, (block.id,))
    return draft.finish(), block.id


def wrap(graph: Graph, items: Iterable[ItemId], kind: BlockKind = "no_grad", block_title: str = "") -> Edits:
    """Put statements into a new block, where the first of them stands.

    Raises:
        Refused: nothing is selected, or a statement would have to run in the middle of the block.
    """
    chosen = top_items(graph, items)
    if not chosen:
        raise Refused("Select the statements that shall stand in the block first.")
    body = graph.parents[chosen[0]]
    draft = Draft(graph)
    block = _fresh(draft, kind, block_title)
    draft.do(AddBlock(block, body, graph.bodies[body].index(chosen[0])))
    for index, item in enumerate(chosen):
        draft.do(MoveItem(item, BodyId(block.id), index))
    check_bodies(draft.graph, (block.id, *chosen))
    return draft.finish()


def unwrap(graph: Graph, block: ItemId) -> Edits:
    """Take a block away; its statements stay where they are."""
    draft = Draft(graph)
    draft.cut((*graph.wires_to(block), *graph.wires_from(block)))
    dissolve(draft, block)
    if f"note:{block}" in graph.places or block in graph.places:
        draft.do(SetPlaces({key: None for key in (block, f"note:{block}") if key in graph.places}))
    return draft.finish()


def move_into(graph: Graph, items: Iterable[ItemId], body: BodyId) -> Edits:
    """Drag statements into a block, or out of it into the body around.

    Raises:
        Refused: a block would stand in itself, or a statement would have to run in its middle.
    """
    draft, items = Draft(graph), tuple(items)
    for item in top_items(graph, items):
        if graph.parents[item] == body:
            continue
        if (
            body != ROOT
            and item in graph.blocks
            and (body == BodyId(item) or BodyId(item) in graph.ancestors(ItemId(body)))
        ):
            raise Refused(f"'{title(graph, item)}' cannot stand inside itself.")
        draft.do(MoveItem(item, body, _index_for(draft, item, body)))
    check_bodies(draft.graph, top_items(draft.graph, items))
    if (reason := broken_border(draft.graph)) and not broken_border(graph):
        raise Refused(reason)
    return draft.finish()


def _fresh(draft: Draft, kind: BlockKind, block_title: str = "") -> Block:
    """A block as the Library drops it."""
    loops = kind == "for"
    return Block(
        id=draft.new_id("b"),
        kind=kind,
        title=block_title,
        literals=FRESH_LITERALS.get(kind, {}),
        lengths={"range": 1} if loops else {},
        variable=fresh_name(draft.taken_names(), "i") if loops else "",
    )


def top_items(graph: Graph, items: Iterable[ItemId]) -> list[ItemId]:
    """The chosen items in program order, without those inside a chosen block, lifted to one body."""
    chosen = {item for item in items if item in graph}
    tops = [item for item in chosen if not chosen & {ItemId(body) for body in graph.ancestors(item)}]
    if not tops:
        return []
    body = graph.parents[tops[0]]
    for item in tops[1:]:
        body = _common(graph, body, graph.parents[item])
    lifted = {order.item_in(graph, body, item) for item in tops}
    return [item for item in graph.bodies[body] if item in lifted]


def _common(graph: Graph, first: BodyId, second: BodyId) -> BodyId:
    around = [second, *(graph.ancestors(ItemId(second)) if second != ROOT else ())]
    mine = [first, *(graph.ancestors(ItemId(first)) if first != ROOT else ())]
    return next(body for body in mine if body in around)


def _index_for(draft: Draft, item: ItemId, body: BodyId) -> int:
    """Where in the body the item would stand if the program's order stayed as it is."""
    graph = draft.graph
    place = {other: k for k, other in enumerate(graph.order())}
    members = graph.bodies[body]
    if body in graph.ancestors(item):  # out of a block: directly behind it
        return members.index(order.item_in(graph, body, item)) + 1
    return sum(place[other] < place[item] for other in members)
