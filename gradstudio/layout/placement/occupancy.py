"""What stands where, and the free place nearest to a wish. No Qt here."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.layout import block_frames
from gradstudio.layout.block_frames import Edges
from gradstudio.layout.card_sizes import WIDEST, Size, card_size, note_size

CLEAR = 24.0
"""Least distance of what is put down from all that stands."""
MOST_TRIES = 240
ASIDE = 1.5
"""A pixel aside counts so much more than one up or down."""
Rect = tuple[float, float, float, float]
"""Left, top, right, bottom, scene pixels."""


class Crowd(Protocol):
    """What a picture knows of its cards, so that not every one of thousands is asked.

    Attributes:
        widest: the width of the widest card.
    """

    widest: float

    def size(self, item: ItemId) -> Size | None:
        """The size of a card that it has."""

    def between(self, left: float, right: float) -> Iterable[ItemId]:
        """The cards that reach between two places, from left to right."""


class Occupancy:
    """The rectangles of cards, notes and frames that have a place.

    Attributes:
        lost: items that do not stand anywhere yet; nobody has to give way to them.
    """

    def __init__(
        self,
        graph: Graph,
        sizes: Mapping[ItemId, Size],
        lost: Collection[ItemId] = (),
        crowd: Crowd | None = None,
    ) -> None:
        """Look at the places of the graph; `sizes` of cards, where they are known, and the `crowd` of the others."""
        self.graph, self.lost = graph, set(lost)
        self._sizes = dict(sizes)
        self._crowd = crowd
        self._put: dict[str, tuple[float, float]] = {}
        self._inside = card_groups(graph).insides()
        self._known: dict[ItemId, list[Rect]] = {}

    def corner(self, key: str) -> tuple[float, float] | None:
        """The upper left corner of an item or note; None of one without a place."""
        place = self.graph.places.get(key)
        return self._put.get(key) or ((place.x, place.y) if place is not None else None)

    def put(self, corners: Mapping[str, tuple[float, float]]) -> None:
        """Items have a place now."""
        self._known.clear()
        self._put.update(corners)
        self.lost.difference_update(ItemId(key) for key in corners)

    def rect(self, item: ItemId) -> Rect | None:
        """Of an item's card or frame; None while it has no place."""
        if item in self.graph.blocks:
            return self._frame(item)
        corner = self.corner(item)
        if item in self.lost or item in self._inside or corner is None:
            return None
        return _at(corner, self._size(item))

    def _size(self, item: ItemId) -> Size:
        size = self._sizes.get(item)
        if size is None:
            seen = self._crowd.size(item) if self._crowd is not None else None
            size = self._sizes[item] = seen or card_size(self.graph, item)
        return size

    def whole(self, item: ItemId) -> Rect | None:
        """Of an item with its note."""
        return around(self._rects(item))

    def members(self, body: BodyId, but: Collection[ItemId] = ()) -> list[Rect]:
        """Of all that stands in a body: cards, notes, and blocks as frames."""
        return self.rects(item for item in self.graph.bodies[body] if item not in but)

    def rects(self, items: Iterable[ItemId]) -> list[Rect]:
        """Of items with their notes."""
        return [rect for item in items for rect in self._rects(item)]

    def is_covered(self, body: BodyId, rects: Sequence[Rect], moving: Collection[ItemId] = ()) -> bool:
        """Whether one of the rectangles lies over something of a body that is not moving."""
        bounds = around(rects)
        taken = self._between(body, bounds[0], bounds[2], moving) if bounds is not None else ()
        return any(_meet(rect, other, 0.0) for other in taken for rect in rects)

    def nearest(self, body: BodyId, rects: Sequence[Rect], moving: Collection[ItemId] = ()) -> tuple[float, float]:
        """How far to move rectangles of a body so that they, and the frames around them, meet nothing.

        Args:
            body: where they stand.
            rects: as they would stand best.
            moving: items of the body that are no obstacle.
        """
        bounds = around(rects)
        if bounds is None:
            return 0.0, 0.0
        taken, grown = self._near(body, bounds, moving), list(self._frames(body))

        def fits(by: tuple[float, float]) -> bool:
            here = [_moved(rect, by) for rect in rects]
            if any(_meet(rect, other, CLEAR) for other in taken for rect in here):
                return False
            return all(_grows_freely(*frame, _moved(bounds, by)) for frame in grown)

        found = next(filter(fits, _moves(bounds, taken)), None)
        return found if found is not None else _below(bounds, self.members(body, moving))

    def _near(self, body: BodyId, bounds: Rect, moving: Collection[ItemId]) -> list[Rect]:
        """Of what may stand in the way of what `_moves` moves."""
        left = bounds[0] - CLEAR
        right = bounds[2] + (bounds[2] - bounds[0]) + self._widest + 3 * CLEAR  # by no more than its width and theirs
        return self._between(body, left, right, moving)

    @property
    def _widest(self) -> float:
        widest = self._crowd.widest if self._crowd is not None else WIDEST
        return max([WIDEST, widest, *[width for width, _ in self._sizes.values()]])

    def _between(self, body: BodyId, left: float, right: float, moving: Collection[ItemId]) -> list[Rect]:
        """Of what may reach between two places, from left to right: how large the other cards are, nobody asks."""
        left -= self._widest
        noted, blocks = index_of(self.graph).noted, self.graph.blocks
        found: list[Rect] = []
        for item in self._members_between(body, left, right):
            corner = self.corner(item)
            is_far = corner is not None and not left <= corner[0] <= right
            if item not in moving and not (is_far and item not in blocks and item not in noted):
                found += self._rects(item)
        return found

    def _members_between(self, body: BodyId, left: float, right: float) -> Iterable[ItemId]:
        """What of a body may be there: the cards that are, and frames and notes, which may be anywhere."""
        if self._crowd is None:
            return self.graph.bodies[body]
        noted = index_of(self.graph).noted
        some = dict.fromkeys((*self._crowd.between(left, right), *self.graph.blocks, *noted))
        return [item for item in some if self.graph.parents.get(item) == body]

    def _frames(self, body: BodyId) -> Iterator[tuple[Rect, Edges, list[Rect]]]:
        """The frames around a body, with their edges and what stands beside each."""
        while body != ROOT:
            block, body = ItemId(body), self.graph.parents[ItemId(body)]
            frame = self._frame(block)
            if frame is not None:
                yield (
                    frame,
                    block_frames.frame_edges(self.graph, block),
                    [one for one in self.members(body, (block,)) if not _meet(one, frame, 0.0)],
                )

    def _rects(self, item: ItemId) -> list[Rect]:
        known = self._known.get(item)
        if known is None:
            known = self._known[item] = self._look_at(item)
        return known

    def _look_at(self, item: ItemId) -> list[Rect]:
        rect = self.rect(item)
        if rect is None:
            return []
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        if not (owner.note or owner.beside):
            return [rect]
        size = note_size(self.graph, item)
        if not size[1]:
            return [rect]
        left, top = self.corner(f"note:{item}") or (rect[0], rect[1] - size[1] - CLEAR)
        return [rect, (left, top, left + size[0], top + size[1])]

    def _frame(self, block: ItemId) -> Rect | None:
        inner = around(self.members(BodyId(block)))
        if inner is not None:
            return _framed(inner, block_frames.frame_edges(self.graph, block))
        corner = self.corner(block)
        return _at(corner, block_frames.EMPTY) if corner is not None and block not in self.lost else None


def _at(corner: tuple[float, float], size: Size) -> Rect:
    return corner[0], corner[1], corner[0] + size[0], corner[1] + size[1]


def around(rects: Sequence[Rect]) -> Rect | None:
    """The smallest rectangle around all of them; None around nothing."""
    if not rects:
        return None
    lefts, tops, rights, bottoms = zip(*rects, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _moves(bounds: Rect, taken: Sequence[Rect]) -> Iterator[tuple[float, float]]:
    """Moves that may bring a rectangle clear of others, the shortest first."""
    left, top, right, bottom = bounds
    across = [0.0]
    for other in taken:
        if (
            other[1] - CLEAR < bottom
            and top < other[3] + CLEAR
            and other[0] - CLEAR < right
            and left < other[2] + CLEAR
        ):
            across.append(other[2] + CLEAR - left)
    found = []
    for dx in sorted(set(across))[:8]:
        column = [rect for rect in taken if rect[0] - CLEAR < right + dx and left + dx < rect[2] + CLEAR]
        down = {0.0, *(rect[3] + CLEAR - top for rect in column), *(rect[1] - CLEAR - bottom for rect in column)}
        found += [(ASIDE * dx + abs(dy) + 0.01 * (dy < 0), dx, dy) for dy in down]
    return ((dx, dy) for _, dx, dy in sorted(found)[:MOST_TRIES])


def _below(bounds: Rect, taken: Sequence[Rect]) -> tuple[float, float]:
    """The move below all others."""
    return 0.0, max((rect[3] for rect in taken), default=bounds[1] - CLEAR) + CLEAR - bounds[1]


def _grows_freely(frame: Rect, edges: Edges, others: Sequence[Rect], inner: Rect) -> bool:
    grown = around([frame, _framed(inner, edges)])
    return grown is None or not any(_meet(grown, other, 0.0) for other in others)


def _framed(inner: Rect, edges: Edges) -> Rect:
    return inner[0] - edges[0], inner[1] - edges[1], inner[2] + edges[2], inner[3] + edges[3]


def _moved(rect: Rect, by: tuple[float, float]) -> Rect:
    return rect[0] + by[0], rect[1] + by[1], rect[2] + by[0], rect[3] + by[1]


def _meet(one: Rect, other: Rect, clear: float) -> bool:
    """Whether two are nearer to each other than that."""
    return (
        one[0] < other[2] + clear
        and other[0] < one[2] + clear
        and one[1] < other[3] + clear
        and other[1] < one[3] + clear
    )
