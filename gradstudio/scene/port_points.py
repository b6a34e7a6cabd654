"""All ports that can be pointed at, and where they are. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from gradstudio.scene.card.card_layout import CardLayout
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Floats
from gradstudio.scene.items import PortRef, leaf_offset
from gradstudio.scene.placement import Placement

FEW_PORTS: Final = 256
"""So many are asked one by one; more at once."""
Point = tuple[float, float]


class PortPoints:
    """Ports of cards, frames and leaves; listed when somebody points at something: most edits are over before."""

    def __init__(self, stack: CardStack, placement: Placement) -> None:
        """Nothing is listed."""
        self._stack, self._placement = stack, placement
        self._listed: tuple[list[PortRef], list[Point]] | None = None
        self._points: Floats | None = None

    @property
    def ports(self) -> list[PortRef]:
        """All ports that can be pointed at; `points` are their places."""
        return self._both()[0]

    @property
    def points(self) -> Floats:
        """Places of the ports, scene pixels, `(ports, 2)`."""
        if self._points is None:
            import numpy as np

            self._points = np.array(self._both()[1], dtype=np.float64).reshape(-1, 2)
        return self._points

    def nearest(self, x: float, y: float, reach: float) -> PortRef | None:
        """The nearest port, not farther than `reach` scene pixels; the later wins a tie."""
        ports, places = self._both()
        if len(places) > FEW_PORTS:
            from gradstudio.scene import arrays

            k = arrays.nearest_point(self.points, x, y, reach)
            return ports[k] if k is not None else None
        found = None
        for port, (at_x, at_y) in zip(ports, places, strict=True):
            if abs(at_x - x) <= reach and (away := math.hypot(at_x - x, at_y - y)) <= reach:
                reach, found = away, port
        return found

    def forget(self) -> None:
        """Cards or frames stand elsewhere: list anew when asked."""
        self._listed = self._points = None

    def _both(self) -> tuple[list[PortRef], list[Point]]:
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> tuple[list[PortRef], list[Point]]:
        ports, points = list[PortRef](), list[Point]()
        frames = [(frame.layout, frame.box.x, frame.box.y) for frame in self._placement.frames.values()]
        places = zip(self._stack.cards.values(), self._placement.corners, strict=True)
        cards = ((card.layout, corners[0], corners[1]) for card, corners in places)
        for layout, x, y in (*frames, *cards):
            for row in layout.inputs:
                ports.append(PortRef(row.owner, "input", row.path))
                points.append((x + row.x, y + row.y))
            for output in layout.outputs:
                ports.append(PortRef(output.owner, "output", "", output.index))
                points.append((x + output.x, y + output.y))
            if layout.module is not None:
                for port, (right, down) in self._leaf_ports(layout):
                    ports.append(port)
                    points.append((x + right, y + down))
        return ports, points

    def _leaf_ports(self, layout: CardLayout) -> Iterator[tuple[PortRef, Point]]:
        """The ports of a module's leaves, and where they are on its card."""
        leaves = self._stack.leaves(layout.item)
        assert layout.module is not None
        for row in leaves.rows:
            yield PortRef(layout.module, "output", row.path), leaf_offset(layout, leaves, row.path)
