"""Where cards, frames and notes stand: rectangles in scene pixels. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradstudio.graph.list_change import list_change
from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.graph.text.notes import note_of
from gradstudio.scene import geometry
from gradstudio.scene.card.card_layout import CardLayout
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Box, Corners, Floats
from gradstudio.scene.items import Card, Frame, Note, PortRef, leaf_offset, port_offset
from gradstudio.scene.note.note_layout import NOTE_WIDTH
from gradstudio.scene.note.note_placement import place_notes
from gradstudio.scene.scene_state import SceneState

OUT_OF_FRAME = 28.0
"""Scene pixels between the ports with which a block serves its statements and the first of these."""
MOST_ABOVE = 400.0
BELOW_ANOTHER = 24.0
"""Scene pixels between cards that the graph has no places for."""
Point = tuple[float, float]


class Placement:
    """Places of everything, from those of the graph and from a drag that is under way.

    Attributes:
        corners: left, top, right, bottom of each card with the room for its results, in the order of the stack.
        frames: by block, the outermost first.
        notes: by the item they belong to.
        dragged: places that a drag shows instead of the graph's, by item, note or dot.
        frozen: frames that stay as they are while their members are dragged.
    """

    def __init__(self, state: SceneState, stack: CardStack) -> None:
        """Nothing stands anywhere yet."""
        self._state, self._stack = state, stack
        self.corners: list[Corners] = []
        self._bounds: Floats | None = None
        self.frames: dict[ItemId, Frame] = {}
        self.notes: dict[ItemId, Note] = {}
        self.dragged: dict[str, Point] = {}
        self.frozen: dict[ItemId, Box] = {}
        self._ids: list[ItemId] = []  # whose corners they are
        self._in_column = False
        self._extent: tuple[int, Box | None] | None = None

    @property
    def bounds(self) -> Floats:
        """The corners of the cards as an array, `(cards, 4)`, made when it is asked for: a few cards need none."""
        if self._bounds is None:
            import numpy as np

            self._bounds = np.array(self.corners, dtype=np.float64).reshape(-1, 4)
        return self._bounds

    # -------------------------------------------------------------- placing

    def place(self) -> None:
        """Cards, frames and notes from the graph's places; cards without one stand in a column."""
        spare = 0.0
        rows = list[Corners]()
        for item, card in self._stack.cards.items():
            place = self.where(item)
            if place is None:
                place = 0.0, spare
                spare += card.height + BELOW_ANOTHER
            rows.append(_corners(card, place))
        self._in_column = spare > 0.0
        self._take(rows)
        self.place_frames()
        self.place_notes()

    def place_changed(self, changed: Iterable[str]) -> frozenset[ItemId] | None:
        """Follow the stack where only these cards, frames, notes and dots are new, of another size, or elsewhere.

        Returns:
            the cards among them; None, and nothing is placed: one stands in the column, and so moves others there.
        """
        stack, is_inside = self._stack, self._state.card_groups.is_inside
        shown = [ItemId(key) for key in changed if not is_inside(ItemId(key))]
        cards = {item: place for item in shown if item in stack.cards and (place := self.where(item)) is not None}
        if self._in_column or len(cards) < sum(item in stack.cards for item in shown) or not self._reorder():
            return None
        for item, place in cards.items():
            k = stack.index[item]
            self.corners[k] = corners = _corners(stack.cards[item], place)
            if self._bounds is not None:
                self._bounds[k] = corners
        self.place_frames()
        self.place_notes()
        return frozenset(cards)

    def _reorder(self) -> bool:
        """Take the order of the stack; whether that is known of all cards but those that it made just now."""
        ids, before = self._stack.ids, self._ids
        if ids is before:
            return True
        if not self._stack.came and ids == before:
            self._ids = ids
            return True
        start, old_end, new_end = list_change(before, ids)
        known = dict(zip(before[start:old_end], self.corners[start:old_end], strict=True))
        others = [known.get(item) for item in ids[start:new_end]]
        if others.count(None) > len(self._stack.came):
            return False
        put = [corners if corners is not None else (0.0, 0.0, 0.0, 0.0) for corners in others]
        self.corners = [*self.corners[:start], *put, *self.corners[old_end:]]
        self._put_bounds(start, old_end, put)
        self._ids = ids
        return True

    def _put_bounds(self, start: int, old_end: int, put: list[Corners]) -> None:
        bounds = self._bounds
        if bounds is None or not len(bounds):
            self._bounds = None
            return
        import numpy as np

        middle = np.array(put, dtype=np.float64).reshape(-1, 4)
        self._bounds = np.concatenate((bounds[:start], middle, bounds[old_end:]))

    def _take(self, rows: list[Corners]) -> None:
        """Stand there from now on; the array follows where a few of many moved."""
        before, bounds, self.corners = self.corners, self._bounds, rows
        self._ids = self._stack.ids
        if bounds is None or len(before) != len(rows):
            self._bounds = None
            return
        for k in [k for k, (old, new) in enumerate(zip(before, rows, strict=True)) if old != new]:
            bounds[k] = rows[k]

    def move_dragged(self) -> None:
        """Put the dragged cards where the drag shows them; all others stay."""
        for item, (x, y) in self.dragged.items():
            k = self._stack.index.get(ItemId(item))
            if k is not None:
                left, top, right, bottom = self.corners[k]
                self.corners[k] = corners = x, y, x + right - left, y + bottom - top
                if self._bounds is not None:
                    self._bounds[k] = corners

    def place_frames(self) -> None:
        """Frames around what blocks hold."""
        self.frames = {}
        graph = self._state.graph
        for item in graph.bodies[ROOT] if graph.blocks else ():
            if item in graph.blocks:
                self._place_frame(item, 0)
        self.frames = dict(sorted(self.frames.items(), key=lambda pair: pair[1].depth))

    def _place_frame(self, item: ItemId, depth: int) -> Box:
        from gradstudio.scene.card.frame_layout import frame_layout, stretch_head

        graph, boxes = self._state.graph, list[Box]()
        for member in graph.bodies[BodyId(item)]:
            box = self._place_frame(member, depth + 1) if member in graph.blocks else self.room(member)
            if box is not None:
                boxes += [box, *self._note_above(member, box)]
        layout = frame_layout(graph, item, self._state.meter.width)
        left = max((output.x + OUT_OF_FRAME for output in layout.outputs), default=geometry.FRAME_PADDING)
        rows_height = layout.height - geometry.FRAME_TITLE
        box = self.frozen.get(item) or geometry.frame_box(boxes, rows_height, layout.width, left)
        if box is None:
            x, y = self.where(item) or (0.0, 0.0)
            width, height = geometry.EMPTY_FRAME
            box = Box(x, y, max(width, layout.width), max(height, layout.height + 40))
        room = min((member.y for member in boxes), default=box.bottom) - box.y
        self.frames[item] = Frame(item, stretch_head(layout, box.width), box, depth, room)
        return box

    def _note_above(self, member: ItemId, box: Box) -> Iterator[Box]:
        """The upper edge of a note that was put above its card: the frame's ports are not beside it."""
        graph = self._state.graph
        place, corner = graph.places.get(f"note:{member}"), self.where(f"note:{member}")
        holder = graph.nodes.get(member) or graph.blocks[member]
        if place is None or corner is None or not note_of(holder):
            return
        if abs(corner[0] - box.x) < box.width and 0.0 < box.y - corner[1] < MOST_ABOVE:
            yield Box(*corner, place.width or NOTE_WIDTH, 1.0)

    def place_notes(self) -> None:
        """Notes at their own places, else above their cards."""
        self.notes = place_notes(self._state.graph, self._state.meter, self.where, self.room, self.corners)

    def raise_cards(self, items: Iterable[ItemId]) -> bool:
        """Put cards on top of those that cover them; whether anything lay above them. View state only."""
        stack = self._stack
        homes = dict.fromkeys(self._state.card_groups.homes(items))
        if len(homes) >= len(stack.cards):
            return False  # none of them lies above all others
        covered = [item for item in homes if item in stack.index and self._is_covered(stack.index[item])]
        if covered:
            before = stack.index
            stack.put_on_top(covered)
            self._permute([before[item] for item in stack.ids])
        return bool(covered)

    def _permute(self, order: list[int]) -> None:
        """Stand as before, in another order of painting: the numbers that the cards had."""
        self.corners = [self.corners[k] for k in order]
        self._ids = self._stack.ids
        if self._bounds is not None:
            self._bounds = self._bounds[order]

    def _is_covered(self, k: int) -> bool:
        left, top, right, bottom = self.corners[k]
        return any(above > k for above in self.cards_in(Box(left, top, right - left, bottom - top), 0.0))

    # -------------------------------------------------------------- asking

    def where(self, key: str) -> Point | None:
        """The place of an item, a note ("note:<item>") or a dot: a drag's, else the graph's."""
        if key in self.dragged:
            return self.dragged[key]
        place = self._state.graph.places.get(key)
        return (place.x, place.y) if place is not None else None

    def cards_in(self, view: Box, margin: float = 4.0) -> list[int]:
        """The numbers of the cards that can show in a rectangle of the scene, or so near to it."""
        if len(self.corners) <= geometry.FEW:
            return geometry.few_visible(self.corners, view, margin)
        found: list[int] = geometry.visible(self.bounds, view, margin).nonzero()[0].tolist()
        return found

    def topmost(self, x: float, y: float) -> int | None:
        """The number of the last card that holds the point."""
        if len(self.corners) <= geometry.FEW:
            return max(self.cards_in(Box(x, y, 0.0, 0.0), 0.0), default=None)
        from gradstudio.scene import arrays

        return arrays.topmost_box(self.bounds, x, y)

    def widest(self) -> float:
        """The width of the widest card."""
        if len(self.corners) <= geometry.FEW:
            return max((right - left for left, _, right, _ in self.corners), default=0.0)
        return float((self.bounds[:, 2] - self.bounds[:, 0]).max())

    def box(self, item: ItemId) -> Box | None:
        """Where the card or frame of an item is seen."""
        k = self._stack.index.get(item)
        if k is not None:
            left, top, right, _ = self.corners[k]
            return Box(left, top, right - left, self._stack.cards[self._stack.ids[k]].drawn_height)
        frame = self.frames.get(item)
        return frame.box if frame is not None else None

    def room(self, item: ItemId) -> Box | None:
        """The same with the room that a card has for its results: nothing else is put there."""
        k = self._stack.index.get(item)
        if k is not None:
            left, top, right, bottom = self.corners[k]
            return Box(left, top, right - left, bottom - top)
        frame = self.frames.get(item)
        return frame.box if frame is not None else None

    def layout(self, item: ItemId) -> CardLayout | None:
        """The layout of a node's card or of a block's head."""
        card = self._stack.cards.get(self._state.card_groups.home(item))
        if card is not None:
            return card.layout
        frame = self.frames.get(item)
        return frame.layout if frame is not None else None

    def anchor(self, port: PortRef) -> Point:
        """Where a port is, scene pixels."""
        box, layout = self.box(port.item), self.layout(port.item)
        if box is None or layout is None:
            return 0.0, 0.0
        if port.side == "output" and port.path:
            x, y = leaf_offset(layout, self._stack.leaves(self._state.card_groups.home(port.item)), port.path)
        else:
            x, y = port_offset(layout, port)
        return box.x + x, box.y + y

    def extent(self, items: Iterable[ItemId] | None = None) -> Box | None:
        """The rectangle around these items, or around everything."""
        if items is not None:
            return geometry.union(box for item in items if (box := self.room(item)) is not None)
        if self._extent is None or self._extent[0] != self._state.geometry_revision:
            self._extent = self._state.geometry_revision, self._whole_extent()
        return self._extent[1]

    def _whole_extent(self) -> Box | None:
        boxes = [frame.box for frame in self.frames.values()] + [note.box for note in self.notes.values()]
        if self.corners:
            left, top, right, bottom = self._outermost()
            boxes.append(Box(left, top, right - left, bottom - top))
        return geometry.union(boxes)

    def _outermost(self) -> Corners:
        if self._bounds is not None:
            (left, top, _, _), (_, _, right, bottom) = self._bounds.min(0).tolist(), self._bounds.max(0).tolist()
            return left, top, right, bottom
        lefts, tops, rights, bottoms = zip(*self.corners, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)


def _corners(card: Card, place: Point) -> Corners:
    x, y = place
    return x, y, x + card.layout.width, y + card.height
