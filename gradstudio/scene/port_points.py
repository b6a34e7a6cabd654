"""All ports that can be pointed at, and where they are. No Qt."""

import math
from collections.abc import Iterator

from gradstudio.scene.card.card_layout import CardLayout
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import PortRef, leaf_offset
from gradstudio.scene.placement import Placement

Point = tuple[float, float]


class PortPoints:
    """Ports of cards, frames and leaves; only those near to a place are looked at."""

    def __init__(self, stack: CardStack, placement: Placement) -> None:
        """The ports of these cards, and of the frames around them."""
        self._stack, self._placement = stack, placement

    def nearest(self, x: float, y: float, reach: float) -> PortRef | None:
        """The nearest port, not farther than `reach` scene pixels; the later wins a tie."""
        found = None
        for port, (at_x, at_y) in self.near(Box(x, y, 0.0, 0.0), reach):
            if abs(at_x - x) <= reach and (away := math.hypot(at_x - x, at_y - y)) <= reach:
                reach, found = away, port
        return found

    def near(self, place: Box, reach: float) -> Iterator[tuple[PortRef, Point]]:
        """The ports of the frames, and of the cards so near to a place, with theirs: none lies beside its card."""
        for frame in self._placement.frames.values():
            yield from self._ports(frame.layout, frame.box.x, frame.box.y)
        for k in self._placement.cards_in(place, reach):
            left, top, _, _ = self._placement.corners[k]
            yield from self._ports(self._stack.cards[self._stack.ids[k]].layout, left, top)

    def _ports(self, layout: CardLayout, x: float, y: float) -> Iterator[tuple[PortRef, Point]]:
        for row in layout.inputs:
            yield PortRef(row.owner, "input", row.path), (x + row.x, y + row.y)
        for output in layout.outputs:
            yield PortRef(output.owner, "output", "", output.index), (x + output.x, y + output.y)
        if layout.module is not None:
            for port, (right, down) in self._leaf_ports(layout):
                yield port, (x + right, y + down)

    def _leaf_ports(self, layout: CardLayout) -> Iterator[tuple[PortRef, Point]]:
        """The ports of a module's leaves, and where they are on its card."""
        leaves = self._stack.leaves(layout.item)
        assert layout.module is not None
        for row in leaves.rows:
            yield PortRef(layout.module, "output", row.path), leaf_offset(layout, leaves, row.path)
