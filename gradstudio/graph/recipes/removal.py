"""Recipes that take items away: with their wires, their places on the canvas, and what a block holds or not."""

from collections.abc import Iterable

from gradstudio.graph.edits import Edits, MoveItem, RemoveBlock, RemoveNode, SetPlaces, SetTail
from gradstudio.graph.model import BodyId, Graph, ItemId, Place
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.wiring.list_ports import close_gaps, uncover


def delete(graph: Graph, items: Iterable[ItemId]) -> Edits:
    """Remove items with their wires; a block leaves behind those statements not named too."""
    draft = Draft(graph)
    chosen = dict.fromkeys(item for item in items if item in graph)
    gone = tuple(wire for item in chosen for wire in graph.wires_from(item) if wire.target not in chosen)
    for item in chosen:
        draft.cut((*draft.graph.wires_to(item), *draft.graph.wires_from(item)))
    uncover(draft, gone)
    close_gaps(draft, ((wire.target, wire.port) for wire in gone))
    for item in chosen:
        if item in draft.graph.nodes:
            draft.do(RemoveNode(item))
    blocks = [item for item in chosen if item in graph.blocks]
    for item in sorted(blocks, key=graph.numbers().__getitem__, reverse=True) if blocks else ():
        dissolve(draft, item)
    _forget_places(draft, chosen)
    return draft.finish()


def remove_block(graph: Graph, block: ItemId) -> Edits:
    """Take a block away with everything in it."""
    return delete(graph, (block, *graph.order(BodyId(block))))


def dissolve(draft: Draft, block: ItemId) -> None:
    """Move what a block holds to its place, and remove the block, which has no wires left."""
    inner = BodyId(block)
    outer = draft.graph.parents[block]
    if inner in draft.graph.tails:
        draft.do(SetTail(inner, ""))
    index = draft.graph.bodies[outer].index(block)
    for offset, item in enumerate(draft.graph.bodies[inner]):
        draft.do(MoveItem(item, outer, index + offset))
    draft.do(RemoveBlock(block))


def _forget_places(draft: Draft, items: Iterable[ItemId]) -> None:
    keys = [key for item in items if item not in draft.graph for key in (item, f"note:{item}")]
    gone: dict[str, Place | None] = {key: None for key in keys if key in draft.graph.places}
    if gone:
        draft.do(SetPlaces(gone))
