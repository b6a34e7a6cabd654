"""The paths of all drawn wires: around what is in the way, and through their dots. No Qt."""

from collections.abc import Sequence

import numpy as np

from gradstudio.graph.model import Wire
from gradstudio.scene import geometry
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Floats, Indices
from gradstudio.scene.items import PortRef, input_offset, output_offset
from gradstudio.scene.placement import Placement, Point
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire import wire_styles
from gradstudio.scene.wire.frame_obstacles import obstacles_of_frames
from gradstudio.scene.wire.reroute_dots import Dots
from gradstudio.scene.wire.routing import MOST_WIRES, route_around
from gradstudio.scene.wire.wiring import Wiring

Led = tuple[tuple[Floats, Floats, Indices, Indices], Floats]


class WireRoutes:
    """Where wires run, in the order of the wiring.

    Attributes:
        paths: points of each wire, `(wires, geometry.PATH_POINTS, 2)`, scene pixels.
        bounds: left, top, right, bottom of each path, `(wires, 4)`.
    """

    def __init__(self, state: SceneState, stack: CardStack, placement: Placement, wiring: Wiring, dots: Dots) -> None:
        """No wire runs anywhere yet."""
        self._state, self._stack, self._placement = state, stack, placement
        self._wiring, self._dots = wiring, dots
        self.paths: Floats = np.empty((0, geometry.PATH_POINTS, 2))
        self.bounds: Floats = np.empty((0, 4))
        self._led: Led | None = None

    def route(self) -> None:
        """Lead all wires anew."""
        self.paths, self.bounds = self._routed(self._wiring.wires)

    def route_some(self, which: Sequence[int]) -> None:
        """Lead the wires at these places of the wiring anew."""
        if which:
            wires = self._wiring.wires
            self.paths[which], self.bounds[which] = self._routed([wires[k] for k in which])

    def dot_index(self, wire: Wire, x: float, y: float) -> int:
        """Before which dot of a wire a new one at the point comes."""
        path = self.paths[self._wiring.index[wire]]
        nearest = int(np.argmin(np.hypot(path[:, 0] - x, path[:, 1] - y)))
        places = (np.array(self._dots.place(key)) for key in self._dots.of(wire))
        return sum(int(np.argmin(np.hypot(*(path - place).T))) < nearest for place in places)

    def _routed(self, wires: Sequence[Wire]) -> tuple[Floats, Floats]:
        if not wires:
            return np.empty((0, geometry.PATH_POINTS, 2)), np.empty((0, 4))
        style = self._wiring.view.style
        (starts, source), (ends, target) = self._begin(wires), self._end(wires)
        paths = wire_styles.styled_paths(style, starts, ends, source, target)
        if self._stack.cards and len(wires) <= MOST_WIRES and not self._placement.dragged:
            paths = self._around(wires, paths)
        self._dots.lead(wires, paths, style)
        return paths, geometry.path_bounds(paths)

    def _begin(self, wires: Sequence[Wire]) -> tuple[Floats, Floats]:
        """Where each wire begins, `(wires, 2)`, and the corners of what it leaves, `(wires, 4)`."""
        index, ids, cards = self._stack.index, self._stack.ids, self._stack.cards
        owners, offsets = list[int](), list[Point]()
        on_frames: dict[int, PortRef] = {}
        for number, wire in enumerate(wires):
            k = index.get(wire.source, -1)
            if k < 0:
                on_frames[number] = PortRef(wire.source, "output", "", wire.output)
            owners.append(k)
            offsets.append(output_offset(cards[ids[k]].face, wire.source, wire.output) if k >= 0 else (0.0, 0.0))
        return self._anchored(owners, offsets, on_frames)

    def _end(self, wires: Sequence[Wire]) -> tuple[Floats, Floats]:
        """Where each wire ends, `(wires, 2)`, and the corners of what it enters, `(wires, 4)`."""
        index, ids, cards = self._stack.index, self._stack.ids, self._stack.cards
        owners, offsets = list[int](), list[Point]()
        on_frames: dict[int, PortRef] = {}
        for number, wire in enumerate(wires):
            k = index.get(wire.target, -1)
            if k < 0:
                on_frames[number] = PortRef(wire.target, "input", wire.port)
            owners.append(k)
            offsets.append(input_offset(cards[ids[k]].face, wire.port) if k >= 0 else (0.0, 0.0))
        return self._anchored(owners, offsets, on_frames)

    def _anchored(
        self, owners: list[int], offsets: list[Point], on_frames: dict[int, PortRef]
    ) -> tuple[Floats, Floats]:
        """Places by card and offset; those of `on_frames` are ports of frames, with nothing around them to avoid."""
        bounds = self._placement.bounds
        corners = bounds[owners] if len(bounds) else np.zeros((len(owners), 4))
        points = corners[:, :2] + np.array(offsets)
        for number, port in on_frames.items():
            x, y = self._placement.anchor(port)
            points[number], corners[number] = (x, y), (x, y - 10, x, y + 10)
        return points, corners

    def _around(self, wires: Sequence[Wire], paths: Floats) -> Floats:
        """No wire runs behind a card or a note, through a block it does not belong to, or through ports of one."""
        placement, index, measure = self._placement, self._stack.index, self._state.meter.width
        notes = [(box.x, box.y, box.right, box.bottom) for note in placement.notes.values() for box in (note.box,)]
        cards = np.concatenate([placement.bounds, np.array(notes, dtype=np.float64).reshape(-1, 4)])
        frames, open_to = obstacles_of_frames(self._state.graph, placement.frames, wires, len(cards), measure)
        obstacles = np.concatenate([cards, frames])
        source = np.array([index.get(wire.source, -1) for wire in wires])
        target = np.array([index.get(wire.target, -1) for wire in wires])
        before, now = self._led, (paths, obstacles, source, target)
        if before is not None and all(map(np.array_equal, before[0], now)):
            return before[1].copy()
        straight = paths.copy()
        route_around(paths, obstacles, source, target, open_to, self._wiring.view.style)
        self._led = (straight, *now[1:]), paths.copy()
        return paths
