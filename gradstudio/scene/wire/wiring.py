"""Which wires are drawn, and between which cards. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from gradstudio.graph.card_grouping import CALLED, SELF
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.muted_wires import muted_wires
from gradstudio.graph.ports.wire_dots import End, end_of
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire.wire_options import WireOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WITHIN_CARDS: Final = frozenset({CALLED, SELF})
"""The ports whose wires may lie inside a card."""


class Wiring:
    """The wires between the cards of a scene, in a fixed order until the graph changes.

    Attributes:
        wires: those of the graph that run between cards; the `muted` ones come last.
        view: how they are drawn, and which.
        selection: what is selected; a view may draw the wires of that alone.
    """

    def __init__(self, state: SceneState) -> None:
        """No wires yet."""
        self._state = state
        self.wires: list[Wire] = []
        self._index: dict[Wire, int] | None = None
        self._places: dict[End, int] | None = None
        self.muted: frozenset[Wire] = frozenset()
        self.view = WireOptions()
        self.selection: frozenset[ItemId] = frozenset()
        self._touching: tuple[frozenset[str], NDArray[np.bool_]] | None = None

    @property
    def index(self) -> dict[Wire, int]:
        """The place in `wires` of each; made when it is asked for."""
        if self._index is None:
            self._index = {wire: k for k, wire in enumerate(self.wires)}
        return self._index

    @property
    def ends(self) -> dict[End, int]:
        """The place in `wires` of the one that ends in a port; made when it is asked for."""
        if self._places is None:
            self._places = {(wire.target, wire.port): k for k, wire in enumerate(self.wires)}
        return self._places

    def follow(self) -> None:
        """List the wires of the graph anew."""
        self.muted = self._muted_now()
        graph, is_hidden = self._state.graph, self._state.card_groups.is_hidden
        items = graph.nodes.keys() | graph.blocks.keys()
        between = [wire for wire in graph.wires.values() if wire.source in items and wire.target in items]
        within = {wire for wire in between if wire.port in WITHIN_CARDS and is_hidden(wire)}
        drawn = [wire for wire in between if wire not in within] if within else between
        self.wires = [*drawn, *sorted(self.muted)]
        self._index = self._places = self._touching = None

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
