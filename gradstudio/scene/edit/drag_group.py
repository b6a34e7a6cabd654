"""What moves with what: the cards of a block, the notes of a card; what is pinned stays. No Qt."""

from collections.abc import Iterable

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.wire_dots import end_of
from gradstudio.scene.scene import Scene

Corners = dict[str, tuple[float, float]]


def with_members(scene: Scene, items: Iterable[ItemId]) -> frozenset[ItemId]:
    """The items, all that their blocks hold, and what shares their cards."""
    found = set(items)
    for item in tuple(found):
        if item in scene.placement.frames:
            found |= scene.state.members(item)
    return scene.state.card_groups.whole(found)


def drag_group(scene: Scene, items: Iterable[ItemId], keys: frozenset[str] = frozenset()) -> Corners:
    """Where everything stands that moves when these are moved: cards, empty frames, notes, dots of wires between them.

    `keys` are notes ("note:<item>") and dots that are moved for themselves.
    """
    whole, graph = with_members(scene, items), scene.graph
    corners: Corners = {}
    for item in sorted(whole):
        box = scene.placement.room(item)
        if box is None or is_pinned(graph, item) or (item in scene.placement.frames and scene.state.members(item)):
            continue
        corners[item] = box.x, box.y
    for item, note in scene.placement.notes.items():
        with_card = item in whole and note.key in graph.places and not is_pinned(graph, item)
        if (note.key in keys or with_card) and not is_pinned(graph, note.key):
            corners[note.key] = note.box.x, note.box.y
    chosen = {key for key in keys if end_of(key) is not None and key in graph.places}
    corners |= {key: scene.dots.place(key) for key in sorted(chosen | scene.dots.between(corners))}
    return corners


def is_pinned(graph: Graph, key: str) -> bool:
    """Whether an item or a note ("note:<item>") stays where it is."""
    place = graph.places.get(key)
    return place is not None and place.pinned


def units(scene: Scene, items: Iterable[ItemId]) -> list[ItemId]:
    """The cards and frames among the items, without what stands in a frame among them."""
    homes = {scene.state.card_groups.home(item) for item in items if item in scene.graph}
    return sorted(item for item in homes if not any(ItemId(body) in homes for body in scene.graph.ancestors(item)))
