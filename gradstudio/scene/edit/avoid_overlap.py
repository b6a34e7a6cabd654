"""What is added at the cursor steps aside where it would lie over something. No Qt."""

from collections.abc import Collection, Iterable

import msgspec

from gradstudio.graph.edits import AddBlock, AddNode, AddWire, Edits, SetPlaces, apply, apply_all
from gradstudio.graph.errors import EditError
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.ports.wire_dots import item_of
from gradstudio.graph.recipes.fragments import copy_items
from gradstudio.layout.card_sizes import Size
from gradstudio.layout.placement.occupancy import Occupancy
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import PortRef
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene


def avoid_overlap(scene: Scene, edits: Edits, body: BodyId = ROOT) -> Edits:
    """The edits that add items to a body, and behind them a move of these to the nearest free place.

    The edits alone, where what they add lies over no card, note or frame of the body.
    """
    part = _part_of(scene, edits) if body == ROOT else None
    if part is not None:
        draft, new = part, list(part.nodes)
        alone = Scene(part, NoResults(), scene.state.shown, scene.state.meter)
        ground = Occupancy(scene.graph, {}, crowd=_Cards(scene))
        rects = Occupancy(part, _sizes(alone)).rects(new)
        outermost = new
    else:
        draft, new, alone = _alone(scene, edits)
        outermost = [item for item in new if draft.parents[item] == body]
        ground = Occupancy(draft, _sizes(alone), crowd=_Cards(scene))
        rects = ground.rects(outermost)
    if not ground.is_covered(body, rects, outermost):
        return edits
    return _moved(edits, scene, draft, new, *ground.nearest(body, rects, outermost))


def place_output_at(scene: Scene, edits: Edits, item: ItemId, x: float, y: float) -> Edits:
    """The edits that add an item, and behind them a move that brings its first output to a scene point."""
    draft, _, alone = _alone(scene, edits)
    layout = alone.placement.layout(alone.state.card_groups.home(item))
    row = next((row for row in layout.outputs if row.owner == item), None) if layout is not None else None
    if row is None:
        return edits
    at = alone.placement.anchor(PortRef(item, "output", "", row.index))
    return _moved(edits, scene, draft, alone.state.card_groups.whole((item,)), x - at[0], y - at[1])


class _Cards:
    """The cards of a scene, of which those are asked that are near."""

    def __init__(self, scene: Scene) -> None:
        self._stack, self._placement = scene.stack, scene.placement
        self.widest = scene.placement.widest()

    def size(self, item: ItemId) -> Size | None:
        box = self._placement.room(item) if item in self._stack.cards else None
        return (box.width, box.height) if box is not None else None

    def between(self, left: float, right: float) -> Iterable[ItemId]:
        everywhere = self._placement.extent()
        if everywhere is None:
            return ()
        strip = Box(left, everywhere.y, right - left, everywhere.height)
        return (self._stack.ids[k] for k in self._placement.cards_in(strip))


def _sizes(alone: Scene) -> dict[ItemId, Size]:
    return {item: (box.width, box.height) for item in alone.stack.ids if (box := alone.placement.room(item))}


def _part_of(scene: Scene, edits: Edits) -> Graph | None:
    """What edits add to the program, as a graph of its own; None where they touch what was there, or wire it."""
    part, end = Graph(), len(scene.graph.bodies[ROOT])
    part.header, part.definitions, part.tensors = scene.graph.header, scene.graph.definitions, scene.graph.tensors
    try:
        for edit in edits:
            if isinstance(edit, AddNode) and edit.body == ROOT and edit.index == end + len(part.nodes):
                apply(part, AddNode(edit.node, ROOT, len(part.nodes)))
            elif isinstance(edit, AddWire) or (
                isinstance(edit, SetPlaces) and all(item_of(key) in part.nodes for key in edit.places)
            ):
                apply(part, edit)
            else:
                return None
    except EditError:
        return None
    return part


def _alone(scene: Scene, edits: Edits) -> tuple[Graph, list[ItemId], Scene]:
    """The graph after edits, what they add, and a scene with this alone."""
    graph, draft = scene.graph, copy_with_index(scene.graph)
    apply_all(draft, edits)
    added = {edit.node.id for edit in edits if isinstance(edit, AddNode)}
    added |= {edit.block.id for edit in edits if isinstance(edit, AddBlock)}
    new = [item for item in added if item in draft and item not in graph]
    if len(new) > 1:
        new.sort(key=draft.numbers().__getitem__)
    part = copy_items(draft, new)
    part.definitions = draft.definitions
    return draft, new, Scene(part, NoResults(), scene.state.shown, scene.state.meter)


def _moved(edits: Edits, scene: Scene, draft: Graph, items: Collection[ItemId], dx: float, dy: float) -> Edits:
    """The edits, and behind them a move of items by whole pixels."""
    dx, dy = float(round(dx)), float(round(dy))
    put = dict.fromkeys(key for edit in edits if isinstance(edit, SetPlaces) for key in edit.places)
    before, now = scene.graph.places, draft.places
    moved = {
        key: msgspec.structs.replace(now[key], x=now[key].x + dx, y=now[key].y + dy)
        for key in put
        if key in now and before.get(key) is not now[key] and item_of(key) in items
    }
    return (*edits, SetPlaces(dict(moved))) if dx or dy else edits
