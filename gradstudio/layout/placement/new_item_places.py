"""Places for what an edit of the text adds: beside what it is wired to, and nothing else moves. No Qt here."""

from collections.abc import Collection, Iterable, Mapping

import msgspec

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import AddNode, Edits, SetPlaces, apply_all
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place, Wire
from gradstudio.graph.ports.wire_dots import item_of
from gradstudio.graph.recipes import append_backward
from gradstudio.layout.body_layout import Part, Point
from gradstudio.layout.body_wires import wires_by_body
from gradstudio.layout.card_sizes import Size
from gradstudio.layout.layered.components import connected_components
from gradstudio.layout.placement.occupancy import Occupancy, Rect

GAP = 60.0
"""Pixels between a new card and those it is wired to."""
End = tuple[Wire, ItemId, ItemId]
"""A wire, the item of a body at its end, and the item in or at that in which it ends."""


def places_for_new(
    graph: Graph, new_items: Iterable[ItemId], sizes: Mapping[ItemId, Size] | None = None
) -> dict[str, Place]:
    """Places of new items and of their notes: right of their sources, else left of their users, in their block's frame.

    What is wired together is laid out together. No card covers another, and nothing that stands moves.

    Args:
        graph: the program with the new items in it; places that these may have are not looked at.
        new_items: nodes and blocks; a block's contents are new with it, named or not.
        sizes: of cards, as the canvas draws them; what is missing is estimated.
    """
    new = {item for item in new_items if item in graph}
    for block in [item for item in new if item in graph.blocks]:
        new.update(graph.order(BodyId(block)))
    if not new:
        return {}
    return _Newcomers(graph, new, sizes or {}).settle()


def clear_of(graph: Graph, edits: Edits, items: Collection[ItemId]) -> Edits:
    """The edits that add items, and behind them a move of these, as short as it can be, to where they cover nothing.

    Args:
        graph: the program before them.
        edits: that add the items, with places.
        items: new ones outside of blocks.
    """
    draft = graph.copy()
    apply_all(draft, edits)
    ground = Occupancy(draft, {})
    rects = ground.members(ROOT, frozenset(graph.bodies[ROOT]))
    dx, dy = ground.nearest(ROOT, rects, items)
    new = {*items, *(inner for item in items if item in draft.blocks for inner in draft.order(BodyId(item)))}
    moved = {
        key: msgspec.structs.replace(place, x=place.x + dx, y=place.y + dy)
        for key, place in draft.places.items()
        if item_of(key) in new
    }
    return (*edits, SetPlaces(dict(moved))) if dx or dy else edits


def backward_beside(graph: Graph, item: ItemId | None = None, output: int = 0) -> Edits:
    """``root.backward()`` at the end of the program, its card where it covers nothing.

    Raises:
        Refused: as `append_backward` does.
    """
    edits = append_backward(graph, item, output)
    return clear_of(graph, edits, [edit.node.id for edit in edits if isinstance(edit, AddNode)])


class _Newcomers:
    """New items while they find their places, group by group in program order."""

    def __init__(self, graph: Graph, new: set[ItemId], sizes: Mapping[ItemId, Size]) -> None:
        self.graph, self.new = graph, new
        self.card_groups = card_groups(graph)
        self.cards = self.card_groups.cards(new) & new
        self.part = Part(graph, sizes)
        self.ground = Occupancy(graph, sizes, new)
        near = {item for item in (*self.cards, *new) if item in self.part.graph}
        boxes = self.part.graph
        self.wires = wires_by_body(
            boxes, {wire for item in near for wire in (*boxes.wires_to(item), *boxes.wires_from(item))}
        )

    def settle(self) -> dict[str, Place]:
        """Place all groups."""
        corners: dict[str, tuple[float, float]] = {}
        for body, members in self._groups():
            self.part.arrange(body, members)
            rects = self.part.covers(body)
            x, y = self._wish(body, members)
            dx, dy = self.ground.nearest(body, [(a + x, b + y, c + x, d + y) for a, b, c, d in rects])
            found = self.part.absolute(body, round(x + dx), round(y + dy))
            self.ground.put(found)
            corners |= found
        for item, home in self.card_groups.insides().items():
            corner = self.ground.corner(home) if item in self.new else None
            if corner is not None:
                corners[item] = corner
        return {key: Place(x, y) for key, (x, y) in corners.items()}

    def _within(self, body: BodyId) -> list[End]:
        """The wires of new items between two items of a body, with these."""
        wires = self.wires.get(body)
        return wires.within if wires is not None else []

    def _groups(self) -> list[tuple[BodyId, list[ItemId]]]:
        """What is wired together among the outermost new items of each body, in program order.

        Bodies of blocks come first: their frames have grown when others look for room beside them.
        """
        groups: list[tuple[BodyId, list[ItemId]]] = []
        for body in (*(BodyId(block) for block in self.graph.order() if block in self.graph.blocks), ROOT):
            if body != ROOT and ItemId(body) in self.new:
                continue
            items = [item for item in self.part.graph.bodies[body] if item in self.cards]
            number = {item: k for k, item in enumerate(items)}
            ends = [(number.get(source), number.get(target)) for _, source, target in self._within(body)]
            pairs = [(one, other) for one, other in ends if one is not None and other is not None]
            groups += [(body, [items[k] for k in part]) for part in connected_components(len(items), pairs)]
        return groups

    def _wish(self, body: BodyId, members: list[ItemId]) -> Point:
        """Where a group would begin best."""
        inner = self.part.inner[body]
        sources: list[tuple[Rect, float]] = []
        users: list[tuple[Rect, float]] = []
        for wire, source, target in self._within(body):
            if source in inner and target not in inner and (box := self.ground.rect(target)) is not None:
                users.append((box, self._top(body, inner, (wire, source, wire.source), (wire, target, wire.target))))
            if target in inner and source not in inner and (box := self.ground.rect(source)) is not None:
                sources.append((box, self._top(body, inner, (wire, target, wire.target), (wire, source, wire.source))))
        if sources:
            box, level = max(sources, key=lambda one: one[0][2])
            return box[2] + GAP, box[1] + level
        if users:
            box, level = min(users, key=lambda one: one[0][0])
            return box[0] - GAP - max(right for _, _, right, _ in self.part.covers(body)), box[1] + level
        return self._behind(body, members)

    def _top(self, body: BodyId, inner: dict[ItemId, Point], mine: End, other: End) -> float:
        """Where the group begins, below the top of another card, when the wire between them is level."""
        here = inner[mine[1]][1] + self.part.level(body, mine[0], mine[2])
        return self.part.level(body, other[0], other[2]) - self.part.drop.get(other[1], 0.0) - here

    def _behind(self, body: BodyId, members: list[ItemId]) -> Point:
        """Below the statement before the group, else above the one after it."""
        order = self.part.graph.bodies[body]
        first = order.index(members[0])
        for item in reversed(order[:first]):
            if (box := self.ground.rect(item)) is not None:
                return box[0], box[3] + GAP
        height = max(bottom for _, _, _, bottom in self.part.covers(body))
        for item in order[first:]:
            if (box := self.ground.whole(item)) is not None:
                return box[0], box[1] - GAP - height
        frame = self.ground.rect(ItemId(body)) if body != ROOT else None
        if frame is None:
            return 0.0, 0.0
        edges = self.part.edges[ItemId(body)]
        return frame[0] + edges[0], frame[1] + edges[1]
