"""Dots through which wires are led: where they are, and the paths through them. No Qt."""

import math
from collections.abc import Iterable, Mapping, Sequence

from gradstudio.graph.model import Wire
from gradstudio.graph.ports.wire_dots import End, Point, dots_by_end
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.placement import Placement
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire.wire_options import WireStyle
from gradstudio.scene.wire.wiring import Wiring


class Dots:
    """The dots of all wires; a dot is named by its key.

    Attributes:
        by_end: the keys of the dots of each wire that has some, from its source on.
    """

    def __init__(self, state: SceneState, placement: Placement, wiring: Wiring) -> None:
        """No dots yet."""
        self._state, self._placement, self._wiring = state, placement, wiring
        self.by_end: dict[End, list[str]] = {}

    def follow(self) -> None:
        """List the dots of the graph anew."""
        self.by_end = dots_by_end(self._state.graph)

    def place(self, key: str) -> Point:
        """Where a dot is shown, scene pixels."""
        return self._placement.where(key) or (0.0, 0.0)

    def of(self, wire: Wire) -> list[str]:
        """The keys of the dots of a wire, from its source on."""
        return self.by_end.get((wire.target, wire.port), [])

    def at(self, x: float, y: float, reach: float) -> tuple[str, Wire] | None:
        """The nearest dot that is not farther away than `reach`, and its wire."""
        near = None
        for wire, key, (at_x, at_y) in self._listed():
            away = math.hypot(at_x - x, at_y - y)
            if away <= reach:
                reach, near = away, (key, wire)
        return near

    def inside(self, box: Box) -> frozenset[str]:
        """The dots within a rectangle."""
        return frozenset(key for _, key, place in self._listed() if box.contains(*place))

    def between(self, items: Iterable[str]) -> frozenset[str]:
        """The dots of wires that begin and end at these items: they move along with them."""
        whole = frozenset(items)
        return frozenset(key for wire, key, _ in self._listed() if wire.source in whole and wire.target in whole)

    def _listed(self) -> list[tuple[Wire, str, Point]]:
        if not self.by_end:
            return []
        wires = self._wiring.wires
        numbered = ((self._wiring.ends.get(end), keys) for end, keys in self.by_end.items())
        return [(wires[k], key, self.place(key)) for k, keys in numbered if k is not None for key in keys]

    def lead(self, wires: Sequence[Wire], paths: Floats, style: WireStyle) -> None:
        """Change the paths of those of the wires that have dots, `(wires, points, 2)`."""
        if not self.by_end:
            return
        import numpy as np

        from gradstudio.scene.wire import wire_styles

        led = dict[int, Floats]()
        for k, wire in enumerate(wires):
            keys = self.of(wire)
            if keys:
                points = [paths[k, 0], *(self.place(key) for key in keys), paths[k, -1]]
                led[k] = np.array(points, dtype=np.float64)
        onward = _onward(wires, led) if style == "curved" else {}
        for k, through in led.items():
            ways = [onward[_spot(wires[k], at)] for at in through[1:-1]] if onward else ()
            paths[k] = wire_styles.dotted_path(style, through, ways)


def _onward(wires: Sequence[Wire], led: Mapping[int, Floats]) -> dict[object, Floats]:
    """By output and place, the directions in which wires go on from a dot, summed up: some share one."""
    import numpy as np

    from gradstudio.scene.wire import wire_styles

    found: dict[object, Floats] = {}
    for k, points in led.items():
        for at, way in zip(points[1:-1], wire_styles.directions(points)[1:], strict=True):
            spot = _spot(wires[k], at)
            found[spot] = found.get(spot, np.zeros(2)) + way
    return found


def _spot(wire: Wire, at: Floats) -> object:
    return wire.source, wire.output, float(at[0]), float(at[1])
