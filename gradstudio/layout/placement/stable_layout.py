"""Where everything stands after an edit of the text: as before, but for what the edit adds and pushes aside. No Qt."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

import msgspec

from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place
from gradstudio.graph.ports.wire_dots import end_of, item_of
from gradstudio.layout.placement.occupancy import Occupancy, Rect
from gradstudio.layout.tidy import layout

MOST_ANEW: Final = 300
"""Nodes; a larger program is not laid out as a whole while somebody types."""


def stable_layout(graph: Graph, target: Graph, *, anew: bool = False) -> dict[str, Place]:
    """The places of the target: nothing covers anything, and what needs not move stays.

    Args:
        graph: the document before the edit.
        target: the document after it, with the places that are left of it.
        anew: nobody has moved a card: where cards come or go or are wired otherwise, all are laid out again.
    """
    if not any(key in graph for key in graph.places):
        return _laid_out(target)
    new = [item for item in target.order() if item not in graph]
    if anew and len(target.nodes) <= MOST_ANEW:
        return _laid_out(target) if new or _differs(graph, target) else target.places
    wrapping = _wrapping(graph, target, new)
    fresh = [item for item in new if item not in wrapping]
    lost = [*fresh, *_displaced(graph, target, wrapping, fresh)]
    if not lost and not wrapping:
        return target.places
    draft = copy_with_index(target)
    if lost:
        from gradstudio.layout.placement.new_item_places import places_for_new

        draft.places |= places_for_new(draft, lost)
    for block in reversed(wrapping):
        _clear(draft, block)
    return draft.places


def _laid_out(graph: Graph) -> dict[str, Place]:
    """Places for all; notes keep their width, dots of wires go."""
    places = {key: place for key, place in graph.places.items() if end_of(key) is None}
    for key, (x, y) in layout(graph).items():
        places[key] = msgspec.structs.replace(places.get(key, Place(0.0, 0.0)), x=round(x), y=round(y))
    return places


def _differs(graph: Graph, target: Graph) -> bool:
    """Whether other items or wires are there, or stand in another order."""
    return graph.bodies != target.bodies or graph.wires != target.wires


def _wrapping(graph: Graph, target: Graph, new: Iterable[ItemId]) -> list[ItemId]:
    """New blocks that were drawn around what stands somewhere, the outermost first."""
    blocks = [item for item in new if item in target.blocks]
    if not blocks:
        return []
    around = {body for item in target.nodes if item in graph for body in target.ancestors(item)}
    return [item for item in blocks if BodyId(item) in around]


def _displaced(graph: Graph, target: Graph, wrapping: list[ItemId], fresh: Iterable[ItemId]) -> list[ItemId]:
    """What came into another block, or out of one, and cannot stay where it stands."""
    moved = [
        item
        for item, body in target.parents.items()
        if graph.parents.get(item, body) != body and ItemId(body) not in wrapping
    ]
    if not moved:
        return []
    ground = Occupancy(target, {}, list(fresh))
    touched = {frame for item in moved for frame in _frames(graph, target, item)}
    return moved if any(_is_covered(ground, target, item) for item in (*moved, *sorted(touched))) else []


def _frames(graph: Graph, target: Graph, item: ItemId) -> Iterator[ItemId]:
    """The frames out of which and into which an item went."""
    for body in chain(graph.ancestors(item), target.ancestors(item)):
        if body != ROOT and ItemId(body) in target.blocks:
            yield ItemId(body)


def _is_covered(ground: Occupancy, graph: Graph, item: ItemId) -> bool:
    """Whether an item's card or frame meets another of its body."""
    rect = ground.rect(item)
    others = ground.members(graph.parents[item], (item,))
    return rect is not None and any(_meet(rect, other) for other in others)


def _clear(graph: Graph, block: ItemId) -> None:
    """Push a block with all that it holds to where its frame covers nothing, as little as can be."""
    ground = Occupancy(graph, {})
    body = graph.parents[block]
    rect = ground.whole(block)
    if rect is None:
        return
    dx, dy = ground.nearest(body, [rect], (block,)) if _is_crowded(ground, graph, block, rect) else (0.0, 0.0)
    inner = {block, *graph.order(BodyId(block))}
    for key, place in graph.places.items():
        if item_of(key) in inner:
            graph.places[key] = msgspec.structs.replace(place, x=place.x + dx, y=place.y + dy)


def _is_crowded(ground: Occupancy, graph: Graph, block: ItemId, rect: Rect) -> bool:
    """Whether a block's frame meets a neighbour, or makes a frame around it do so."""
    if any(_meet(rect, other) for other in ground.members(graph.parents[block], (block,))):
        return True
    around = [ItemId(body) for body in graph.ancestors(block) if body != ROOT]
    return any(_is_covered(ground, graph, frame) for frame in around)


def _meet(one: Rect, other: Rect) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
