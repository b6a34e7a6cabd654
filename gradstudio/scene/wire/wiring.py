"""Which wires are drawn, and between which cards. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.muted_wires import muted_wires
from gradstudio.graph.ports.wire_dots import End, end_of
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire.wire_options import WireOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Wiring:
    """The wires between the cards of a scene, in a fixed order until the graph changes.

    Attributes:
        wires: those of the graph that run between cards; the `muted` ones come last.
        index: the place in `wires` of each.
        ends: the place in `wires` of the one that ends in a port.
        view: how they are drawn, and which.
        selection: what is selected; a view may draw the wires of that alone.
    """

    def __init__(self, state: SceneState) -> None:
        """No wires yet."""
        self._state = state
        self.wires: list[Wire] = []
        self.index: dict[Wire, int] = {}
        self.ends: dict[End, int] = {}
        self.muted: frozenset[Wire] = frozenset()
        self.view = WireOptions()
        self.selection: frozenset[ItemId] = frozenset()
        self._touching: tuple[frozenset[str], NDArray[np.bool_]] | None = None

    def follow(self) -> None:
        """List the wires of the graph anew."""
        self.muted = self._muted_now()
        wires = (*self._state.graph.wires.values(), *sorted(self.muted))
        self.wires = [wire for wire in wires if self._has_ends(wire)]
        self.index = {wire: k for k, wire in enumerate(self.wires)}
        self.ends = {(wire.target, wire.port): k for k, wire in enumerate(self.wires)}
        self._touching = None

    def is_muted_as_before(self) -> bool:
        """Whether the same wires are muted as when they were listed."""
        return self._muted_now() == self.muted

    def is_drawn(self, wire: Wire) -> bool:
        """Whether a wire is drawn, as the person wants it; nothing else can be pointed at."""
        if self.view.shown == "selection":
            whole = self._state.card_groups.whole
            return not whole((wire.source, wire.target)).isdisjoint(whole(self.selection))
        return self.view.shown == "all"

    def touching(self, items: frozenset[str]) -> NDArray[np.bool_]:
        """Which wires begin or end at one of these items, or lead through one of these dots."""
        import numpy as np

        if self._touching is None or self._touching[0] != items:
            dotted = _ends_of_dots(items)
            whole = items | self._state.card_groups.whole(ItemId(item) for item in items)
            touches = (
                wire.source in whole or wire.target in whole or (wire.target, wire.port) in dotted
                for wire in self.wires
            )
            self._touching = items, np.fromiter(touches, dtype=np.bool_, count=len(self.wires))
        return self._touching[1]

    def _muted_now(self) -> frozenset[Wire]:
        return frozenset(wire for wire in muted_wires(self._state.graph) if self._has_ends(wire))

    def _has_ends(self, wire: Wire) -> bool:
        """Whether a wire runs between cards: one from a module to the call on its card lies inside."""
        graph = self._state.graph
        return wire.source in graph and wire.target in graph and not self._state.card_groups.is_hidden(wire)


def _ends_of_dots(keys: Iterable[str]) -> frozenset[End]:
    """The ports into which the wires of these dots end; other keys are none."""
    return frozenset(named[0] for key in keys if (named := end_of(key)) is not None)
