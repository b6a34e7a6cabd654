"""Which wires are drawn, and between which cards. No Qt."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, cast

from gradstudio.graph.card_grouping import CALLED, SELF
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.muted_wires import muted_wires
from gradstudio.graph.ports.wire_dots import End, end_of
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.wire.wire_options import WireOptions
from gradstudio.scene.wire.wire_places import WireChange, WirePlaces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEW: Final = -1
"""In place of the place of a wire that was not there before."""
MANY: Final = 200
"""Of more items all wires are asked whether they touch one, instead of each item for its wires."""


class Wiring:
    """The wires between the cards of a scene, in a fixed order until the graph changes.

    Attributes:
        wires: those of the graph that run between cards; the `muted` ones come last.
        change: what became of the list `before`, where that is simple; None: see `kept`.
        kept: for each of them its place among those `before`, or `NEW`; None: see `change`, or the same list was
            followed again.
        view: how they are drawn, and which.
        selection: what is selected; a view may draw the wires of that alone.
    """

    def __init__(self, state: SceneState) -> None:
        """No wires yet."""
        self._state = state
        self.wires: list[Wire] = []
        self.before: list[Wire] = []
        self.change: WireChange | None = None
        self.kept: list[int] | None = None
        self._index: dict[Wire, int] | None = None
        self._places: WirePlaces | None = None
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
    def ends(self) -> WirePlaces:
        """The place in `wires` of the one that ends in a port; made when it is asked for."""
        if self._places is None:
            self._places = WirePlaces(map(_end, self.wires))
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
        return set(self.ends.among(map(_end, wires)))

    def leaving(self, item: ItemId) -> list[int]:
        """The places in `wires` of those that begin at an item."""
        wires: Iterable[Wire] = self._state.graph.outgoing.get(item, ())
        if self.muted:
            wires = (*wires, *[wire for wire in self.muted if wire.source == item])
        return self.ends.among([(wire.target, wire.port) for wire in wires])

    def on_cards(self, cards: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items that stand on these cards."""
        return self._state.card_groups.whole(cards)

    def follow(self, removed: Iterable[End] = ()) -> None:
        """List the wires of the graph anew; the same list where it holds the same.

        `removed` are the ports whose wires were taken away, as far as that is known.
        """
        were_muted, self.muted = self.muted, self._muted_now()
        before = self.wires
        wires = [*self._between_cards(), *sorted(self.muted)]
        as_muted = self.muted == were_muted  # a wire that is not muted any more is equal to what it was
        self.change = self.kept = None
        if as_muted and wires == before:
            return
        is_simple = not self.muted and not were_muted
        self.change = self._change_to(wires, removed) if is_simple else None
        self.wires, self.before = wires, before
        self._index = self._touching = None
        if self.change is None:
            self._places = None
            known = dict(zip(map(id, before), range(len(before)), strict=True))
            self.kept = list(map(known.get, map(id, wires), itertools.repeat(NEW)))
        elif self._places is not None:
            came = wires[len(wires) - self.change.came :]
            self._places.follow(self.change, (_end(before[k]) for k in self.change.gone), map(_end, came))

    def _change_to(self, wires: list[Wire], removed: Iterable[End]) -> WireChange | None:
        """What went, and what came behind the rest: a dictionary keeps its order; None where it was more than that."""
        gone = tuple(sorted({k for end in removed if (k := self.ends.get(end)) is not None}))
        count = len(self.wires) - len(gone)
        change = WireChange(gone, len(wires) - count)
        return change if change.came >= 0 and change.kept(self.wires) == wires[:count] else None

    def _between_cards(self) -> Iterable[Wire]:
        """The wires of the graph that do not lie inside a card, or end at the edge of a definition."""
        graph, groups = self._state.graph, self._state.card_groups
        if graph.edges is None and not groups.modules and not groups.switches:
            return graph.wires.values()
        drawn = graph.wires.copy()
        for call, module in groups.modules.items():
            _take_away(drawn, (call, CALLED), module)
        for switch, module in groups.switches.items():
            _take_away(drawn, (switch, SELF), module)
        if graph.edges is None:
            return drawn.values()
        return [wire for wire in drawn.values() if wire.source in graph and wire.target in graph]

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
            touches = np.zeros(len(self.wires), dtype=np.bool_)
            if len(items) > MANY:
                touches[self.lit_among(items, range(len(self.wires)))] = True
            else:
                dotted = (self.ends.get(end) for end in self._ends_of_dots(items))
                touches[[*self.at(self.on_cards(map(ItemId, items))), *(k for k in dotted if k is not None)]] = True
            self._touching = items, touches
        return self._touching[1]

    def _ends_of_dots(self, keys: frozenset[str]) -> frozenset[End]:
        """The ports into which the wires of these dots end; other keys are none."""
        dots = index_of(self._state.graph).dots.keys() & keys
        return frozenset(named[0] for key in dots if (named := end_of(key)) is not None)

    def lit_among(self, items: frozenset[str], places: Iterable[int]) -> list[int]:
        """Those of some places of wires that begin or end at one of these items, or lead through one of these dots."""
        whole, dotted, wires = self.on_cards(cast(frozenset[ItemId], items)), self._ends_of_dots(items), self.wires
        return [
            k
            for k in places
            if (wire := wires[k]).source in whole or wire.target in whole or (dotted and _end(wire) in dotted)
        ]

    def _muted_now(self) -> frozenset[Wire]:
        return frozenset(wire for wire in muted_wires(self._state.graph) if self._has_ends(wire))

    def _has_ends(self, wire: Wire) -> bool:
        """Whether a wire runs between cards: one from a module to the call on its card lies inside."""
        graph = self._state.graph
        return wire.source in graph and wire.target in graph and not self._state.card_groups.is_hidden(wire)


def _end(wire: Wire) -> End:
    return wire.target, wire.port


def _take_away(drawn: dict[End, Wire], end: End, source: ItemId) -> None:
    wire = drawn.get(end)
    if wire is not None and wire.source == source:
        del drawn[end]
