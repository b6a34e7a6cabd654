"""Which wires are drawn, and between which cards. No Qt."""

from __future__ import annotations

import itertools
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

NEW: Final = -1
"""In place of the place of a wire that was not there before."""


class Wiring:
    """The wires between the cards of a scene, in a fixed order until the graph changes.

    Attributes:
        wires: those of the graph that run between cards; the `muted` ones come last.
        kept: for each of them its place among those `before`, or `NEW`; None: the same list was followed again.
        view: how they are drawn, and which.
        selection: what is selected; a view may draw the wires of that alone.
    """

    def __init__(self, state: SceneState) -> None:
        """No wires yet."""
        self._state = state
        self.wires: list[Wire] = []
        self.before: list[Wire] = []
        self.kept: list[int] | None = None
        self._drawn: dict[End, Wire] = {}
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
            muted = ((wire.target, wire.port) for wire in self.wires[len(self._drawn) :])
            self._places = dict(zip((*self._drawn, *muted), range(len(self.wires)), strict=True))
        return self._places

    def place_of(self, wire: Wire) -> int | None:
        """The place in `wires` of one; None when it is not drawn."""
        k = self.ends.get((wire.target, wire.port))
        return k if k is not None and self.wires[k] == wire else None

    def at(self, items: Iterable[ItemId]) -> set[int]:
        """The places in `wires` of those that begin or end at these items."""
        graph, some = self._state.graph, frozenset(items)
        wires = [wire for item in some for table in (graph.outgoing, graph.incoming) for wire in table.get(item, ())]
        wires += [wire for wire in self.muted if wire.source in some or wire.target in some]
        ends = self.ends
        return {ends[end] for wire in wires if (end := (wire.target, wire.port)) in ends}

    def leaving(self, item: ItemId) -> list[int]:
        """The places in `wires` of those that begin at an item."""
        muted = [wire for wire in self.muted if wire.source == item]
        wires = (*self._state.graph.outgoing.get(item, ()), *muted)
        ends = self.ends
        return [ends[end] for wire in wires if (end := (wire.target, wire.port)) in ends]

    def on_cards(self, cards: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items that stand on these cards."""
        return self._state.card_groups.whole(cards)

    def follow(self, removed: Iterable[End] = ()) -> None:
        """List the wires of the graph anew; the same list where it holds the same.

        `removed` are the ports whose wires were taken away, as far as that is known.
        """
        were_muted, self.muted = self.muted, self._muted_now()
        before, drawn = self.wires, self._between_cards()
        wires = [*drawn.values(), *sorted(self.muted)]
        as_muted = self.muted == were_muted  # a wire that is not muted any more is equal to what it was
        self.kept = None
        if as_muted and wires == before:
            return
        likely = self._without(removed) if as_muted else []
        is_longer = len(likely) == len(before) and not self.muted
        places = self._places if is_longer and wires[: len(before)] == before else None
        self._drawn, self.wires, self.before = drawn, wires, before
        self._index = self._places = self._touching = None
        if places is not None:
            places.update(((wire.target, wire.port), k) for k, wire in enumerate(wires[len(before) :], len(before)))
            self._places = places
        if list(map(before.__getitem__, likely)) == wires[: len(likely)] and likely:
            self.kept = [*likely, *[NEW] * (len(wires) - len(likely))]
        else:
            known = dict(zip(map(id, before), range(len(before)), strict=True))
            self.kept = list(map(known.get, map(id, wires), itertools.repeat(NEW)))

    def _without(self, removed: Iterable[End]) -> list[int]:
        """The places of all wires but these: what a dictionary keeps keeps its order, and what comes stands last."""
        kept = list(range(len(self.wires)))
        gone = {k for end in removed if (k := self.ends.get(end)) is not None}
        for k in sorted(gone, reverse=True):
            del kept[k]
        return kept

    def _between_cards(self) -> dict[End, Wire]:
        """The wires of the graph that do not lie inside a card, or end at the edge of a definition."""
        graph, groups = self._state.graph, self._state.card_groups
        drawn = graph.wires.copy()
        for call, module in groups.modules.items():
            _take_away(drawn, (call, CALLED), module)
        for switch, module in groups.switches.items():
            _take_away(drawn, (switch, SELF), module)
        if graph.edges is not None:
            drawn = {end: wire for end, wire in drawn.items() if wire.source in graph and wire.target in graph}
        return drawn

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
            dotted = (self.ends.get(end) for end in _ends_of_dots(items))
            touches = np.zeros(len(self.wires), dtype=np.bool_)
            touches[[*self.at(self.on_cards(map(ItemId, items))), *(k for k in dotted if k is not None)]] = True
            self._touching = items, touches
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


def _take_away(drawn: dict[End, Wire], end: End, source: ItemId) -> None:
    wire = drawn.get(end)
    if wire is not None and wire.source == source:
        del drawn[end]
