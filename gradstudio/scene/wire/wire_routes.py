"""The paths of all drawn wires: around what is in the way, and through their dots. No Qt.

To lead hundreds of wires around hundreds of cards takes longer than a frame. After an edit the first of them are led
at once, `catch_up` leads the rest when there is time; until then a wire whose ends stayed where they were stays too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from gradstudio.graph.model import ItemId, Wire
from gradstudio.scene import geometry
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Box, Corners, Floats, Indices
from gradstudio.scene.items import PortRef, input_offset, output_offset
from gradstudio.scene.placement import Placement, Point
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire.few_wires import FEW_WIRES, Path, bounds_of, few_paths, is_behind
from gradstudio.scene.wire.frame_obstacles import obstacles_of_frames
from gradstudio.scene.wire.many_routes import ManyRoutes
from gradstudio.scene.wire.reroute_dots import Dots
from gradstudio.scene.wire.wire_places import WireChange
from gradstudio.scene.wire.wiring import Wiring

if TYPE_CHECKING:
    from gradstudio.scene.wire.growing_rows import GrowingRows
    from gradstudio.scene.wire.route_memo import RouteMemo

AT_ONCE: Final = 16
"""So many wires are led in the time of a frame; each costs about 0.4 ms among 300 cards."""


class Leading(msgspec.Struct, eq=False):
    """Wires that are led around what is in the way, some already.

    Attributes:
        wires: in the order of the wiring.
        given: the plain paths, the obstacles, and those that each wire leaves and enters.
        paths: as far as they are led.
        rest: leads the next one.
    """

    wires: Sequence[Wire]
    given: tuple[Floats, Floats, Indices, Indices]
    paths: Floats
    rest: Iterator[int] | None

    def go_on(self, count: int | None) -> None:
        """Lead so many more wires; None: all."""
        if self.rest is not None and sum(1 for _ in itertools.islice(self.rest, count)) != count:
            self.rest = None


class WireRoutes:
    """Where wires run, in the order of the wiring.

    Attributes:
        few: points of each wire while they are few and plain, and nothing is in their way; None: see `paths`.
    """

    def __init__(self, state: SceneState, stack: CardStack, placement: Placement, wiring: Wiring, dots: Dots) -> None:
        """No wire runs anywhere yet."""
        self._state, self._stack, self._placement = state, stack, placement
        self._wiring, self._dots = wiring, dots
        self.few: list[Path] | None = []
        self._few_bounds: list[Corners] = []
        self._paths: Floats | None = None
        self._bounds: Floats | None = None
        self._led: Leading | None = None
        self._leading: Leading | None = None
        self._rooms: tuple[GrowingRows, GrowingRows] | None = None
        self._many = ManyRoutes(stack, placement, wiring, dots)
        self._memo: RouteMemo | None = None

    @property
    def paths(self) -> Floats:
        """Points of each wire, `(wires, geometry.PATH_POINTS, 2)`, scene pixels."""
        if self._paths is None:
            import numpy as np

            self._paths = np.array(self.few, dtype=np.float64).reshape(-1, geometry.PATH_POINTS, 2)
        return self._paths

    @property
    def bounds(self) -> Floats:
        """Left, top, right, bottom of each path, `(wires, 4)`."""
        if self._bounds is None:
            import numpy as np

            self._bounds = np.array(self._few_bounds, dtype=np.float64).reshape(-1, 4)
        return self._bounds

    def wires_in(self, view: Box, margin: float = 4.0) -> list[int]:
        """The numbers of the wires that can show in a rectangle of the scene, or so near to it."""
        if self.few is not None:
            return geometry.few_visible(self._few_bounds, view, margin)
        found: list[int] = geometry.visible(self.bounds, view, margin).nonzero()[0].tolist()
        return found

    @property
    def is_behind(self) -> bool:
        """Whether wires wait to be led around what is in their way."""
        return self._leading is not None

    def route(self, moved: frozenset[ItemId] | None = None) -> None:
        """Lead all wires anew, the first of them around what is in the way, too.

        Only these cards were `moved` since; None: any may have been.
        """
        self._leading = None
        self.few = self._few_paths()
        if self.few is not None:
            self._few_bounds = [bounds_of(path) for path in self.few]
            self._paths = self._bounds = None
            if not self._is_led():
                self._many.forget()
                return
            self.few = None
        if not self._route_changed(moved):
            self._paths, self._bounds = self._routed(self._wiring.wires)

    def _route_changed(self, moved: frozenset[ItemId] | None) -> bool:
        """Of many wires, lead only those that are new or whose cards stand elsewhere; whether that was enough."""
        from gradstudio.scene.wire.routing import MOST_WIRES

        wires = self._wiring.wires
        if len(wires) <= MOST_WIRES:
            self._many.forget()
            return False
        changes = self._many.follow(moved)
        if changes is None:
            return False
        kept, anew = changes
        if isinstance(kept, WireChange):
            self._follow(kept)
        elif kept is not None:
            self._paths, self._bounds = self.paths[kept], self.bounds[kept]
        if anew:
            self.paths[anew], self.bounds[anew] = self._routed([wires[k] for k in anew])
        return True

    def _follow(self, change: WireChange) -> None:
        if self._rooms is None:
            from gradstudio.scene.wire.growing_rows import GrowingRows

            self._rooms = GrowingRows(), GrowingRows()
        paths, bounds = self._rooms
        self._paths = paths.follow(self.paths, change.gone, change.came)
        self._bounds = bounds.follow(self.bounds, change.gone, change.came)

    def catch_up(self, count: int | None = AT_ONCE) -> None:
        """Lead so many wires more; None: all that wait. What was led is shown when the last one is."""
        leading = self._leading
        if leading is None:
            return
        leading.go_on(count)
        if leading.rest is None:
            self._led, self._leading = leading, None
            self._state.geometry_revision += 1
            from gradstudio.scene.arrays import path_bounds

            self._paths, self.few = leading.paths.copy(), None
            self._dots.lead(leading.wires, self._paths, self._wiring.view.style)
            self._bounds = path_bounds(self._paths)

    def route_some(self, which: Sequence[int]) -> None:
        """Lead the wires at these places of the wiring anew."""
        if which:
            self._leading = None
            wires = self._wiring.wires
            self.paths[which], self.bounds[which] = self._routed([wires[k] for k in which])
            self._many.distrust(which)
            self.few = None

    def dot_index(self, wire: Wire, x: float, y: float) -> int:
        """Before which dot of a wire a new one at the point comes."""
        import numpy as np

        path = self.paths[self._wiring.ends[wire.target, wire.port]]
        nearest = int(np.argmin(np.hypot(path[:, 0] - x, path[:, 1] - y)))
        places = (np.array(self._dots.place(key)) for key in self._dots.of(wire))
        return sum(int(np.argmin(np.hypot(*(path - place).T))) < nearest for place in places)

    def _routed(self, wires: Sequence[Wire]) -> tuple[Floats, Floats]:
        from gradstudio.scene.arrays import path_bounds
        from gradstudio.scene.wire import wire_styles
        from gradstudio.scene.wire.routing import MOST_WIRES

        style = self._wiring.view.style
        (starts, source), (ends, target) = self._begin(wires), self._end(wires)
        paths = wire_styles.styled_paths(style, starts, ends, source, target)
        if self._stack.cards and len(self._wiring.wires) <= MOST_WIRES and not self._placement.dragged:
            paths = self._around(wires, paths)
        self._dots.lead(wires, paths, style)
        return paths, path_bounds(paths)

    def _few_paths(self) -> list[Path] | None:
        """The paths of a few curved wires without dots; None of others."""
        wires, view = self._wiring.wires, self._wiring.view
        if len(wires) > FEW_WIRES or (wires and (view.style != "curved" or self._dots.by_end)):
            return None
        anchor = self._placement.anchor
        starts = [anchor(PortRef(wire.source, "output", "", wire.output)) for wire in wires]
        return few_paths(starts, [anchor(PortRef(wire.target, "input", wire.port)) for wire in wires])

    def _is_led(self) -> bool:
        """Whether something is in the way of one of the few."""
        if not self._stack.cards or self._placement.dragged or not self.few:
            return False
        wires, index = self._wiring.wires, self._stack.index
        obstacles, open_to = self._obstacles(wires)
        for wire, path, bounds, opened in zip(wires, self.few, self._few_bounds, open_to, strict=True):
            free = {index.get(wire.source, -1), index.get(wire.target, -1), *opened}
            if any(is_behind(path, bounds, one) for k, one in enumerate(obstacles) if k not in free):
                return True
        return False

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
            offsets.append(output_offset(cards[ids[k]].layout, wire.source, wire.output) if k >= 0 else (0.0, 0.0))
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
            offsets.append(input_offset(cards[ids[k]].layout, wire.port) if k >= 0 else (0.0, 0.0))
        return self._anchored(owners, offsets, on_frames)

    def _anchored(
        self, owners: list[int], offsets: list[Point], on_frames: dict[int, PortRef]
    ) -> tuple[Floats, Floats]:
        """Places by card and offset; those of `on_frames` are ports of frames, with nothing around them to avoid."""
        import numpy as np

        bounds = self._placement.bounds
        corners = bounds[owners] if len(bounds) else np.zeros((len(owners), 4))
        points = corners[:, :2] + np.array(offsets)
        for number, port in on_frames.items():
            x, y = self._placement.anchor(port)
            points[number], corners[number] = (x, y), (x, y - 10, x, y + 10)
        return points, corners

    def _around(self, wires: Sequence[Wire], paths: Floats) -> Floats:
        """No wire runs behind a card or a note, through a block it does not belong to, or through ports of one."""
        import numpy as np

        from gradstudio.scene.wire.route_memo import RouteMemo
        from gradstudio.scene.wire.routing import each_routed

        if self._memo is None:
            self._memo = RouteMemo()
        index = self._stack.index
        corners, open_to = self._obstacles(wires)
        obstacles = np.array(corners, dtype=np.float64).reshape(-1, 4)
        source = np.array([index.get(wire.source, -1) for wire in wires])
        target = np.array([index.get(wire.target, -1) for wire in wires])
        given = paths, obstacles, source, target
        if self._led is not None and all(map(np.array_equal, self._led.given, given)):
            return self._led.paths.copy()
        led = paths.copy()
        rest = each_routed(led, obstacles, source, target, open_to, self._wiring.view.style, self._memo)
        leading = Leading(tuple(wires), given, led, rest)
        leading.go_on(AT_ONCE)
        if leading.rest is None:
            self._led = leading
            return led.copy()
        self._leading = leading
        return self._as_before(wires, paths)

    def _obstacles(self, wires: Sequence[Wire]) -> tuple[list[Corners], list[list[int]]]:
        """Cards, notes and what of frames is in the way; for each wire the numbers of those that are not in its."""
        placement, measure = self._placement, self._state.meter.width
        notes = [(box.x, box.y, box.right, box.bottom) for note in placement.notes.values() for box in (note.box,)]
        cards = [*placement.corners, *notes]
        frames, open_to = obstacles_of_frames(self._state.graph, placement.frames, wires, len(cards), measure)
        return [*cards, *frames], open_to

    def _as_before(self, wires: Sequence[Wire], paths: Floats) -> Floats:
        """Plain paths, and those that were led before between the same places."""
        import numpy as np

        shown, led = paths.copy(), self._led
        if led is not None:
            known = {wire: k for k, wire in enumerate(led.wires)}
            for k, wire in enumerate(wires):
                before = known.get(wire)
                if before is not None and np.array_equal(led.given[0][before], paths[k]):
                    shown[k] = led.paths[before]
        return shown
