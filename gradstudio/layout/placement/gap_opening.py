"""Room for cards that a recipe adds between others: what stands to their right moves on. No Qt here."""

import math
from collections.abc import Iterator

import msgspec

from gradstudio.graph.edits import AddNode, Edits, SetPlaces, apply_all
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import ROOT, Graph, ItemId, Place
from gradstudio.layout.card_sizes import card_size, note_size

GAP = 48.0
"""Pixels between a card and those it is wired to."""
CLEAR = 16.0
"""Least distance to all others."""
STEP = 24.0
MOST_STEPS = 400
Rect = tuple[float, float, float, float]


def open_gap(graph: Graph, edits: Edits) -> Edits:
    """The edits, and behind them places where no card they add covers another; what is in the way moves right.

    A card in a wire stands right of where the wire comes from; one that only reads a value stands below its source.
    """
    if not any(isinstance(edit, AddNode) for edit in edits):
        return edits
    draft = copy_with_index(graph)
    apply_all(draft, edits)
    fresh = [edit.node.id for edit in edits if isinstance(edit, AddNode) and edit.node.id in draft.nodes]
    if not fresh:
        return edits
    room = _Room(draft, fresh)
    for item in sorted(fresh, key=lambda item: not draft.wires_to(item)):  # what reads nothing follows its reader
        room.place(item)
    moved = {key: place for key, place in room.places.items() if draft.places.get(key) != place}
    return (*edits, SetPlaces(dict(moved))) if moved else edits


class _Room:
    """Places while cards are put among them, one after another."""

    def __init__(self, graph: Graph, fresh: list[ItemId]) -> None:
        self.graph = graph
        self.waiting = set(fresh)
        self.places: dict[str, Place] = dict(graph.places)

    def place(self, item: ItemId) -> None:
        """Put one card where it is wired to, push its readers away, and slide it down past all that is left."""
        width, height = card_size(self.graph, item)
        readers = [box for box in map(self._box, self._readers(item)) if box is not None]
        sources = [box for wire in self.graph.wires_to(item) if (box := self._box(wire.source)) is not None]
        left, top = self._wish(item, width, sources, readers)
        ahead = [box for box in readers if box[2] > left and sources]
        if ahead:
            self._push(min(box[0] for box in ahead), left + width + GAP)
        self.waiting.discard(item)
        self.places[item] = Place(left, self._free_top(item, (left, top, left + width, top + height)))

    def _wish(self, item: ItemId, width: float, sources: list[Rect], readers: list[Rect]) -> tuple[float, float]:
        if sources and readers:
            nearest = max(sources, key=lambda box: box[2])
            return math.ceil((nearest[2] + GAP) / STEP) * STEP, nearest[1]
        if sources and self.graph.parents[item] == ROOT:
            return sources[0][0] + STEP, sources[0][3] + STEP
        if sources:  # in a block: below what it stands before, so that the frame need not reach to the source
            order = self.graph.bodies[self.graph.parents[item]]
            near = [box for other in order if other != item and (box := self._box(other)) is not None]
            after = [box for other in order[order.index(item) + 1 :] if (box := self._box(other)) is not None]
            chosen = (after or near[-1:] or sources)[0]
            return chosen[0], chosen[3] + STEP
        if readers:
            return readers[0][0] - width - GAP, readers[0][3] + STEP
        place = self.places.get(item, Place(0.0, 0.0))
        return place.x, place.y

    def _push(self, from_x: float, to_x: float) -> None:
        """Move all that begins at `from_x` or right of it, so that it begins at `to_x`."""
        by = math.ceil((to_x - from_x) / STEP) * STEP
        if by > 0:
            for key, place in self.places.items():
                if place.x >= from_x:
                    self.places[key] = msgspec.structs.replace(place, x=place.x + by)

    def _free_top(self, item: ItemId, wish: Rect) -> float:
        left, top, right, bottom = wish
        others = [box for key in self.places if key != item and (box := self._any_box(key)) is not None]
        for step in range(MOST_STEPS):
            by = step * STEP
            if not any(_meet((left, top + by, right, bottom + by), other) for other in others):
                return top + by
        return top

    def _readers(self, item: ItemId) -> Iterator[ItemId]:
        return (wire.target for wire in self.graph.wires_from(item))

    def _box(self, item: ItemId) -> Rect | None:
        """Of a card that has its place already."""
        place = self.places.get(item)
        if place is None or item not in self.graph.nodes or item in self.waiting:
            return None
        width, height = card_size(self.graph, item)
        return place.x, place.y, place.x + width, place.y + height

    def _any_box(self, key: str) -> Rect | None:
        """Of a card or of a note (``note:<item>``)."""
        item = ItemId(key.removeprefix("note:"))
        if key == item:
            return self._box(item)
        if item not in self.graph:
            return None
        width, height = note_size(self.graph, item)
        place = self.places[key]
        return place.x, place.y, place.x + width, place.y + height


def _meet(one: Rect, other: Rect) -> bool:
    return (
        one[0] < other[2] + CLEAR
        and other[0] < one[2] + CLEAR
        and one[1] < other[3] + CLEAR
        and other[1] < one[3] + CLEAR
    )
