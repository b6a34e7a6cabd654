"""How the board follows results: methods of the board. No Qt.

Another moment, or a run, changes hundreds of cards at once. What they hold is read when they are seen; until then
they keep the room they had, and `catch_up` measures the rest when there is time.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from gradstudio.graph.card_grouping import Joining
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.protocol.messages.events import Row
from gradstudio.scene import geometry
from gradstudio.scene.card.card_layout import Face
from gradstudio.scene.card.debug_sections import Extras
from gradstudio.scene.card.parameter_rows import leaf_paths
from gradstudio.scene.card.port_style import MUTED, PortLook, port_look
from gradstudio.scene.colour_scale import Colouring, colouring
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.items import Card
from gradstudio.scene.results import Results

AT_ONCE: Final = 64
"""So many cards are measured when their results change; of more only those in view, the rest when there is time."""


class Reading:
    """Methods of `Board`; what they need of it is declared here."""

    if TYPE_CHECKING:
        graph: Graph
        joining: Joining
        results: Results
        cards: dict[ItemId, Card]
        unfolded: set[ItemId]
        ids: list[ItemId]
        bounds: Floats
        colouring: Colouring | None
        revision: int
        wires: list[Wire]
        wire_codes: NDArray[np.intp]
        wire_looks: list[PortLook]
        wire_index: dict[Wire, int]
        muted: frozenset[Wire]
        left_out: frozenset[ItemId]

        def _facts_height(self, item: ItemId, face: Face) -> float: ...
        def _extras(self, item: ItemId) -> Extras: ...
        def _place(self) -> None: ...

    color_revision = 0
    """Another one when wires are to be drawn in other colours."""

    def __init__(self) -> None:
        """Nothing was read. `told` is the revision at which each item changed last, `told_all` when all did."""
        self._rows: dict[ItemId, Row | None] = {}
        self._looks: dict[ItemId, dict[int, PortLook]] = {}
        self._unmeasured: set[ItemId] = set()
        self.told: dict[ItemId, int] = {}
        self.told_all = 0
        self._grown: set[ItemId] = set()
        self._unread: set[ItemId] = set()
        self._codes: dict[PortLook, int] = {}
        self._leaving: dict[ItemId, list[int]] = {}
        self._entering: dict[ItemId, list[int]] = {}

    # -------------------------------------------------------------- what is told

    def results_changed(self, items: Iterable[ItemId] = ()) -> None:
        """Results of these nodes changed; of all when none is named. While looking back, cards are measured later."""
        items = tuple(items)
        self.revision += 1
        self.told.update(dict.fromkeys(self.joining.whole(items), self.revision))
        named = [home for home in dict.fromkeys(self.joining.home(item) for item in items) if home in self.cards]
        if not named:
            self._rows.clear()
            self.told_all = self.revision
        for item in named or self.cards:
            card = self.cards[item]
            card.facts = card.leaves = None
            card.revision += 1
            self._rows.pop(item, None)
        self._unmeasured.update(named or self.cards)
        self._unread.update(self._looks.keys() & self.joining.whole(named) if named else self._looks)
        if self.results.moment is None:
            self._unmeasured |= self._grown
            self._grown.clear()
            if len(self._unmeasured) <= AT_ONCE:
                self.catch_up()
        if self.colouring is not None:
            self.colour_by(self.colouring.metric.name)

    def colour_by(self, name: str) -> None:
        """Colour the cards by a metric of `advice.metrics`; "": by category."""
        old = self.colouring
        self.colouring = colouring(name, self.results, self.cards) if name else None
        if old != self.colouring:
            for card in self.cards.values():
                card.revision += 1

    # -------------------------------------------------------------- cards

    @property
    def is_behind(self) -> bool:
        """Whether cards out of view wait to be measured."""
        return bool(self._unmeasured)

    def catch_up(self, seen: Box | None = None) -> bool:
        """Measure the cards in `seen` (scene pixels; None: all) that may be of another height; whether any moved."""
        moved = False
        while waiting := self._waiting_in(seen):
            if not self._measure(waiting):
                break
            moved = True
            self._place()
        return moved

    def _waiting_in(self, seen: Box | None) -> list[ItemId]:
        if not self._unmeasured:
            return []
        if seen is None:
            return list(self._unmeasured)
        inside = np.nonzero(geometry.visible(self.bounds, seen))[0].tolist()
        return [self.ids[k] for k in inside if self.ids[k] in self._unmeasured]

    def _measure(self, items: Iterable[ItemId]) -> bool:
        """Whether one of these cards is of another height. While looking back they do not shrink."""
        moved, past = False, self.results.moment is not None
        for item in items:
            self._unmeasured.discard(item)
            card = self.cards.get(item)
            if card is None:
                continue
            height, more = self._facts_height(item, card.face), self._extras(item)
            if past:
                height = max(height, card.facts_height) if self.row(item) is not None else card.facts_height
            if more is not card.extras:
                moved = moved or more.height != card.extras.height
                card.extras, card.facts = more, None
            module = card.face.module if not card.face.worn.collapsed else None
            if module is not None and leaf_paths(self.results, module, unfolded=item in self.unfolded) != card.listed:
                moved = True
            if height != card.facts_height:
                moved, card.facts_height, card.facts = True, height, None
                card.revision += 1
                if past:
                    self._grown.add(item)
        return moved

    def row(self, item: ItemId) -> Row | None:
        """When and how a node last ran at the moment that is looked at: `results.row`, asked once a moment."""
        try:
            return self._rows[item]
        except KeyError:
            found = self._rows[item] = self.results.row(item)
            return found

    # -------------------------------------------------------------- wires

    def look_of(self, item: ItemId, output: int) -> PortLook:
        """How an output's port and its wires are drawn."""
        if item in self._unread:
            self._read_looks(item)
        return self._known_look(item, output)

    def _known_look(self, item: ItemId, output: int) -> PortLook:
        """How an output was drawn when it was last read."""
        looks = self._looks.setdefault(item, {})
        found = looks.get(output)
        if found is None:
            found = looks[output] = port_look(self.graph, self.results, item, output)
        return found

    def wires_of(self, item: ItemId) -> list[Wire]:
        """The drawn wires that begin or end at an item's card."""
        ends = self.joining.whole((item,))
        return [self.wires[k] for end in ends for k in (*self._leaving.get(end, ()), *self._entering.get(end, ()))]

    def read_wires(self, which: NDArray[np.bool_]) -> None:
        """Bring the colours of these wires up to date."""
        if self._unread:
            sources = {self.wires[k].source for k in np.nonzero(which)[0].tolist()}
            for item in sources & self._unread:
                self._read_looks(item)

    def _read_looks(self, item: ItemId) -> None:
        """Ask anew how a node's outputs are drawn, and colour its wires, and the inputs where they end, so."""
        self._unread.discard(item)
        old = self._looks.pop(item, {})
        new = {output: port_look(self.graph, self.results, item, output) for output in old}
        self._looks[item] = new
        if new != old:
            for k in self._leaving.get(item, ()):
                self._color_wire(k)
            ends = {self.joining.home(self.wires[k].target) for k in self._leaving.get(item, ())}
            for end in ends & self.cards.keys():
                self.cards[end].revision += 1

    def _color_wire(self, k: int) -> None:
        wire = self.wires[k]
        code = self._code(MUTED if wire in self.muted else self._of_wire(wire, self.look_of(wire.source, wire.output)))
        if self.wire_codes[k] != code:
            self.wire_codes[k] = code
            self.color_revision += 1

    def _of_wire(self, wire: Wire, look: PortLook) -> PortLook:
        """The look of an output along one of its wires."""
        idle = bool(self.left_out) and (wire.source in self.left_out or wire.target in self.left_out)
        return replace(look, idle=True) if idle else look

    def _code(self, look: PortLook) -> int:
        code = self._codes.setdefault(look, len(self._codes))
        if code == len(self.wire_looks):
            self.wire_looks.append(look)
        return code

    def _color_wires(self) -> None:
        """Colours of all wires, from the looks of their sources; what results changed is read when it is seen."""
        self._leaving, self._entering = {}, {}
        for k, wire in enumerate(self.wires):
            self._leaving.setdefault(wire.source, []).append(k)
            self._entering.setdefault(wire.target, []).append(k)
        codes = [self._code(self._of_wire(wire, self._known_look(wire.source, wire.output))) for wire in self.wires]
        for wire in self.muted:
            codes[self.wire_index[wire]] = self._code(MUTED)
        self.wire_codes = np.array(codes, dtype=np.intp)
        self.color_revision += 1
