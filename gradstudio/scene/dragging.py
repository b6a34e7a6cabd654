"""Showing cards elsewhere while they are dragged, without changing the graph. No Qt."""

from collections.abc import Callable, Iterable, Mapping

from gradstudio.graph.model import ItemId
from gradstudio.scene.placement import Placement
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire.wire_routes import WireRoutes
from gradstudio.scene.wire.wiring import Wiring


class Drag:
    """Items, notes and dots that are shown elsewhere, and the wires that follow them."""

    def __init__(
        self,
        state: SceneState,
        placement: Placement,
        wiring: Wiring,
        routes: WireRoutes,
        place: Callable[[frozenset[str]], None],
    ) -> None:
        """Nothing is dragged. `place` shows what was dragged where the graph has it."""
        self._state = state
        self._placement = placement
        self._wiring = wiring
        self._routes = routes
        self._place = place
        self._whole: frozenset[ItemId] = frozenset()

    def hold(self, items: Iterable[ItemId]) -> None:
        """Frames stay as they are while their members are dragged; those dragged whole move along."""
        self._whole = whole = frozenset(items)
        frames = self._placement.frames
        self._placement.frozen = {item: frame.box for item, frame in frames.items() if item not in whole}

    def show(self, places: Mapping[str, tuple[float, float]]) -> None:
        """Show items (or notes, "note:<item>") elsewhere without changing the graph."""
        self._state.geometry_revision += 1
        placement = self._placement
        placement.dragged = dict(places)
        placement.move_dragged()
        if self._whole or any(item in placement.frames for item in places):
            placement.place_frames()
        if any(key.startswith("note:") for key in places):
            placement.place_notes()
        moved = self._wiring.touching(frozenset(places) | self._whole)
        self._routes.route_some(moved.nonzero()[0].tolist())

    def let_go(self) -> None:
        """Show everything where the graph has it."""
        moved = frozenset(self._placement.dragged)
        self.forget()
        self._place(moved)

    def forget(self) -> None:
        """Nothing is dragged any more; whoever calls this places everything."""
        self._placement.dragged.clear()
        self._placement.frozen.clear()
        self._whole = frozenset()
