"""Tidy: places for every item of a program, left to right; blocks stay together as frames. No Qt here."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place
from gradstudio.layout.card_sizes import Size, card_size

if TYPE_CHECKING:
    from gradstudio.layout.body_layout import Part, Point
    from gradstudio.layout.placement.occupancy import Occupancy

SPARE = 52.0, 35.0
"""A card that is so many pixels wider or higher than estimated still stands apart from its neighbours."""


def layout(graph: Graph, sizes: Mapping[ItemId, Size] | None = None) -> "dict[str, Point]":
    """Top left corners, pixels, by item and by ``note:<item>``; nothing overlaps, no wire runs back.

    Args:
        graph: the program.
        sizes: of cards, as the canvas draws them; what is missing is estimated.
    """
    from gradstudio.layout.body_layout import Part

    part = Part(graph, sizes or {})
    part.arrange(ROOT)
    places = part.absolute(ROOT, 0.0, 0.0)
    return places | {item: places[home] for item, home in card_groups(graph).insides().items()}


def is_laid_out(graph: Graph, sizes: Mapping[ItemId, Size]) -> bool:
    """Whether everything stands as `layout` puts it from estimated sizes, and no card of the true ones needs more.

    So a program that was just opened stays where it is.
    """
    if any(_is_larger(size, card_size(graph, item)) for item, size in sizes.items() if item in graph.nodes):
        return False
    return all(
        (place := graph.places.get(key)) is not None and (place.x, place.y) == corner
        for key, corner in layout(graph).items()
    )


def _is_larger(size: Size, room: Size) -> bool:
    """Whether a card reaches into what was left free beside or below it."""
    return size[0] > room[0] + SPARE[0] or size[1] > room[1] + SPARE[1]


def layout_part(
    graph: Graph, items: Iterable[ItemId], sizes: Mapping[ItemId, Size] | None = None
) -> "dict[str, Point]":
    """Top left corners of some items, blocks with all they hold, laid out among themselves where they stand.

    The items of each body keep their common corner, but for what stands there and is not of them. What is drawn on the
    card of another item moves with it.
    """
    from gradstudio.layout.body_layout import Part
    from gradstudio.layout.placement.occupancy import Occupancy

    chosen = {item for item in card_groups(graph).cards(items) if item in graph}
    part = Part(graph, sizes or {})
    ground = Occupancy(graph, sizes or {})
    found: dict[str, Point] = {}
    for body in dict.fromkeys(graph.parents[item] for item in sorted(chosen)):
        if chosen.isdisjoint(map(ItemId, (body, *_around(graph, body)))):
            found |= _part_of_body(part, ground, body, [item for item in graph.bodies[body] if item in chosen])
    return found | {item: found[home] for item, home in card_groups(graph).insides().items() if home in found}


def _around(graph: Graph, body: BodyId) -> tuple[BodyId, ...]:
    return graph.ancestors(ItemId(body)) if body != ROOT else ()


def _part_of_body(part: "Part", ground: "Occupancy", body: BodyId, members: list[ItemId]) -> "dict[str, Point]":
    """Places of some items of a body and of all that is in them."""
    from gradstudio.layout.placement.occupancy import around

    before = around([rect for item in members if (rect := ground.whole(item)) is not None])
    part.arrange(body, members)
    x, y = before[:2] if before is not None else (0.0, 0.0)
    rects = [(a + x, b + y, c + x, d + y) for a, b, c, d in part.covers(body)]
    dx, dy = ground.nearest(body, rects, members)
    found = part.absolute(body, x + dx, y + dy)
    ground.put(found)
    return found


def layout_missing(graph: Graph) -> dict[str, Place]:
    """The graph's places, and below them new ones for the nodes that have none."""
    missing = [node for node in graph.nodes if node not in graph.places]
    if not missing:
        return graph.places
    fresh = layout(graph)
    kept = [place for key, place in graph.places.items() if key in graph]
    below = max((place.y for place in kept), default=0.0) + (300.0 if kept else 0.0)
    left = min((place.x for place in kept), default=0.0)
    places = dict(graph.places)
    for key, (x, y) in fresh.items():
        if key not in places:
            places[key] = Place(x + left, y + below)
    return places
