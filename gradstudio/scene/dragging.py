"""Showing cards elsewhere while they are dragged, without changing the graph: methods of the board. No Qt."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradstudio.graph.model import ItemId, Wire
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.items import Frame


class Dragging:
    """Methods of `Board`; what they need of it is declared here."""

    if TYPE_CHECKING:
        geometry_revision: int
        frames: dict[ItemId, Frame]
        index: dict[ItemId, int]
        bounds: Floats
        wires: list[Wire]
        paths: Floats
        path_bounds: Floats
        _drag: dict[str, tuple[float, float]]
        _frozen: dict[ItemId, Box]
        _carried: frozenset[ItemId]

        def touching(self, items: frozenset[str]) -> NDArray[np.bool_]: ...
        def _place(self) -> None: ...
        def _place_frames(self) -> None: ...
        def _place_notes(self) -> None: ...
        def _route(self) -> None: ...

    def hold(self, items: Iterable[ItemId]) -> None:
        """Frames stay as they are while their members are dragged; those dragged whole move along."""
        self._carried = whole = frozenset(items)
        self._frozen = {item: frame.box for item, frame in self.frames.items() if item not in whole}

    def drag(self, places: Mapping[str, tuple[float, float]]) -> None:
        """Show items (or notes, "note:<item>") elsewhere without changing the graph."""
        self._drag = dict(places)
        self._move_dragged()

    def let_go(self) -> None:
        """Show everything where the graph has it."""
        self._drag.clear()
        self._frozen.clear()
        self._carried = frozenset()
        self._place()

    def _move_dragged(self) -> None:
        self.geometry_revision += 1
        for item in self._drag:
            k = self.index.get(ItemId(item))
            if k is not None:
                x, y = self._drag[item]
                width, height = self.bounds[k, 2] - self.bounds[k, 0], self.bounds[k, 3] - self.bounds[k, 1]
                self.bounds[k] = x, y, x + width, y + height
        if self._carried or any(item in self.frames for item in self._drag):
            self._place_frames()
        if any(key.startswith("note:") for key in self._drag):
            self._place_notes()
        self._route_some(np.nonzero(self.touching(frozenset(self._drag) | self._carried))[0].tolist())

    def _route_some(self, which: list[int]) -> None:
        if not which:
            return
        kept = self.wires, self.paths, self.path_bounds
        self.wires = [kept[0][k] for k in which]
        self._route()
        paths, bounds = self.paths, self.path_bounds
        self.wires, self.paths, self.path_bounds = kept
        self.paths[which], self.path_bounds[which] = paths, bounds
