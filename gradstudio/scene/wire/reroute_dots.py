"""Dots through which wires are led: where they are on the board. Methods of the board; no Qt."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from gradstudio.graph.model import Graph, Wire
from gradstudio.graph.ports.wire_dots import End, Point, dots_by_end, end_of
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.wire import wire_styles
from gradstudio.scene.wire.wire_options import WireView


class Dotted:
    """Methods of `Board`; what they need of it is declared here."""

    if TYPE_CHECKING:
        graph: Graph
        wires: list[Wire]
        paths: Floats
        wire_index: dict[Wire, int]
        wire_view: WireView
        end_index: dict[End, int]

        def _where(self, key: str) -> tuple[float, float] | None: ...

    dots: dict[End, list[str]]
    """The keys of the dots of each wire that has some, from its source on."""

    def _list_dots(self) -> None:
        self.dots = dots_by_end(self.graph)

    def dot_place(self, key: str) -> Point:
        """Where a dot is shown, scene pixels."""
        return self._where(key) or (0.0, 0.0)

    def dots_of(self, wire: Wire) -> list[str]:
        """The keys of the dots of a wire, from its source on."""
        return self.dots.get((wire.target, wire.port), [])

    def dot_at(self, x: float, y: float, reach: float) -> tuple[str, Wire] | None:
        """The nearest dot that is not farther away than `reach`, and its wire."""
        near = None
        for wire, key, (at_x, at_y) in self._drawn_dots():
            away = float(np.hypot(at_x - x, at_y - y))
            if away <= reach:
                reach, near = away, (key, wire)
        return near

    def dots_in(self, box: Box) -> frozenset[str]:
        """The dots within a rectangle."""
        return frozenset(key for _, key, place in self._drawn_dots() if box.contains(*place))

    def dots_between(self, items: Iterable[str]) -> frozenset[str]:
        """The dots of wires that begin and end at these items: they move along with them."""
        whole = frozenset(items)
        return frozenset(key for wire, key, _ in self._drawn_dots() if wire.source in whole and wire.target in whole)

    def dot_index(self, wire: Wire, x: float, y: float) -> int:
        """Before which dot of a wire a new one at the point comes."""
        path = self.paths[self.wire_index[wire]]
        nearest = int(np.argmin(np.hypot(path[:, 0] - x, path[:, 1] - y)))
        places = (np.array(self.dot_place(key)) for key in self.dots_of(wire))
        return sum(int(np.argmin(np.hypot(*(path - place).T))) < nearest for place in places)

    def _drawn_dots(self) -> list[tuple[Wire, str, Point]]:
        if not self.dots:
            return []
        drawn = ((self.end_index.get(end), keys) for end, keys in self.dots.items())
        return [(self.wires[k], key, self.dot_place(key)) for k, keys in drawn if k is not None for key in keys]

    def _lead_through_dots(self) -> None:
        """The paths of wires that have dots, of those in `wires`."""
        if not self.dots:
            return
        style, led = self.wire_view.style, dict[int, Floats]()
        for k, wire in enumerate(self.wires):
            keys = self.dots_of(wire)
            if keys:
                points = [self.paths[k, 0], *(self.dot_place(key) for key in keys), self.paths[k, -1]]
                led[k] = np.array(points, dtype=np.float64)
        onward = self._onward(led) if style == "curved" else {}
        for k, through in led.items():
            ways = [onward[self._spot(k, at)] for at in through[1:-1]] if onward else ()
            self.paths[k] = wire_styles.dotted_path(style, through, ways)

    def _onward(self, led: Mapping[int, Floats]) -> dict[object, Floats]:
        """By output and place, the directions in which wires go on from a dot, summed up: some share one."""
        found: dict[object, Floats] = {}
        for k, points in led.items():
            for at, way in zip(points[1:-1], wire_styles.directions(points)[1:], strict=True):
                spot = self._spot(k, at)
                found[spot] = found.get(spot, np.zeros(2)) + way
        return found

    def _spot(self, k: int, at: Floats) -> object:
        wire = self.wires[k]
        return wire.source, wire.output, float(at[0]), float(at[1])


def ends_of(keys: Iterable[str]) -> frozenset[End]:
    """The ports into which the wires of these dots end; other keys are none."""
    return frozenset(named[0] for key in keys if (named := end_of(key)) is not None)
