"""All ports that can be pointed at, and where they are. No Qt."""

from collections.abc import Iterator

import numpy as np

from gradstudio.scene.card.card_layout import CardLayout
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Floats
from gradstudio.scene.items import PortRef, leaf_offset
from gradstudio.scene.placement import Placement

Point = tuple[float, float]


class PortPoints:
    """Ports of cards, frames and leaves; listed when somebody points at something: most edits are over before."""

    def __init__(self, stack: CardStack, placement: Placement) -> None:
        """Nothing is listed."""
        self._stack, self._placement = stack, placement
        self._listed: tuple[list[PortRef], Floats] | None = None

    @property
    def ports(self) -> list[PortRef]:
        """All ports that can be pointed at; `points` are their places."""
        return self._both()[0]

    @property
    def points(self) -> Floats:
        """Places of the ports, scene pixels, `(ports, 2)`."""
        return self._both()[1]

    def forget(self) -> None:
        """Cards or frames stand elsewhere: list anew when asked."""
        self._listed = None

    def _both(self) -> tuple[list[PortRef], Floats]:
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> tuple[list[PortRef], Floats]:
        ports, points = list[PortRef](), list[Point]()
        frames = [(frame.face, frame.box.x, frame.box.y) for frame in self._placement.frames.values()]
        places = zip(self._stack.cards.values(), self._placement.bounds.tolist(), strict=True)
        cards = ((card.face, corners[0], corners[1]) for card, corners in places)
        for face, x, y in (*frames, *cards):
            for row in face.inputs:
                ports.append(PortRef(row.owner, "input", row.path))
                points.append((x + row.x, y + row.y))
            for output in face.outputs:
                ports.append(PortRef(output.owner, "output", "", output.index))
                points.append((x + output.x, y + output.y))
            if face.module is not None:
                for port, (right, down) in self._leaf_ports(face):
                    ports.append(port)
                    points.append((x + right, y + down))
        return ports, np.array(points, dtype=np.float64).reshape(-1, 2)

    def _leaf_ports(self, face: CardLayout) -> Iterator[tuple[PortRef, Point]]:
        """The ports of a module's leaves, and where they are on its card."""
        leaves = self._stack.leaves(face.item)
        assert face.module is not None
        for row in leaves.rows:
            yield PortRef(face.module, "output", row.path), leaf_offset(face, leaves, row.path)
