"""Decision boundaries as the engine drew them: of which cards, and what each was at any moment of the record."""

from bisect import bisect_right
from typing import Final

from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.boundary import BoundaryDrawn

MOST: Final = 128
"""Pictures kept of a card; of more, every second goes."""
WAITING: Final = "The boundary is drawn when this has run."


class BoundaryStore:
    """Pictures by node, in the order of the run; which of them are shown, the places of cards say.

    Attributes:
        wanted: the nodes that the next verb draws.
    """

    def __init__(self) -> None:
        """None was drawn."""
        self.wanted: tuple[ItemId, ...] = ()
        self._pictures: dict[ItemId, list[BoundaryDrawn]] = {}

    def add(self, drawn: BoundaryDrawn) -> None:
        """A picture came; one of the same place in the run, or of a later one, gives way."""
        known = self._pictures.setdefault(drawn.node, [])
        while known and known[-1].step >= drawn.step:
            known.pop()
        known.append(drawn)
        if len(known) > MOST:
            self._pictures[drawn.node] = [*known[:-1:2], known[-1]]

    def at(self, node: ItemId, step: int | None) -> BoundaryDrawn:
        """What it was when so many statements had run; None: now."""
        known = self._pictures.get(node, [])
        place = len(known) if step is None else bisect_right(known, step, key=lambda one: one.step)
        return known[place - 1] if place else BoundaryDrawn(node=node, why_none=WAITING)

    def clear(self) -> None:
        """A start from nothing."""
        self._pictures.clear()


def shown_in(graph: Graph) -> tuple[ItemId, ...]:
    """The nodes whose cards show a boundary."""
    return tuple(ItemId(key) for key in index_of(graph).boundaries if key in graph.nodes)
