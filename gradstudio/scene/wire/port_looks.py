"""How outputs and the wires from them are drawn: as what flows there. No Qt.

What results changed is read again when somebody asks for it: another moment changes hundreds of ports at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.records import Record
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.card.port_style import MUTED, PortStyle, port_style
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.statement_numbers import StatementNumbers
from gradstudio.scene.wire.wire_places import WireChange
from gradstudio.scene.wire.wiring import NEW, Wiring

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

A_LOOK: Final = 16
"""To ask an item for its wires costs as much as to ask so many wires for their sources."""


class PortLooks:
    """Looks of outputs, and by them the colour of each wire.

    Attributes:
        code_list: for each wire, in the order of the wiring, the place of its look in `by_code`.
        by_code: every look that a wire had so far.
        revision: another one when wires are to be drawn in other colours.
    """

    def __init__(self, state: SceneState, stack: CardStack, wiring: Wiring, numbers: StatementNumbers) -> None:
        """Nothing was read."""
        self._state = state
        self._stack = stack
        self._wiring = wiring
        self._numbers = numbers
        self.code_list: list[int] = []
        self._codes: NDArray[np.intp] | None = None
        self.by_code: list[PortStyle] = []
        self.revision = 0
        self._code_of: dict[PortStyle, int] = {}
        self._looks: dict[ItemId, dict[int, PortStyle]] = {}
        self._told: dict[ItemId, tuple[Record, ...] | None] = {}
        self._unread: set[ItemId] = set()
        self._coloured: list[Wire] = []
        self._left_out: frozenset[ItemId] | None = None

    @property
    def codes(self) -> NDArray[np.intp]:
        """`code_list` as an array."""
        if self._codes is None:
            import numpy as np

            self._codes = np.array(self.code_list, dtype=np.intp)
        return self._codes

    # -------------------------------------------------------------- asking

    def look_of(self, item: ItemId, output: int) -> PortStyle:
        """How an output's port and its wires are drawn."""
        if item in self._unread:
            self._read(item)
        return self._last_look(item, output)

    def input_looks(self, item: ItemId) -> tuple[tuple[str, PortStyle], ...]:
        """How wired inputs are drawn: as what flows into them."""
        graph, groups = self._state.graph, self._state.card_groups
        wires = graph.wires_to(item)
        module = groups.modules.get(item)
        if module is not None:
            wires = (*graph.wires_to(module), *(wire for wire in wires if not groups.is_hidden(wire)))
        return tuple((wire.port, self.look_of(wire.source, wire.output)) for wire in wires)

    def wires_of(self, item: ItemId) -> list[Wire]:
        """The drawn wires that begin or end at an item's card."""
        wiring = self._wiring
        return [wiring.wires[k] for k in sorted(wiring.at(wiring.on_cards((item,))))]

    # -------------------------------------------------------------- following

    def forget(self) -> None:
        """Read all looks anew when they are asked for: the graph is another one."""
        self._looks.clear()
        self._told.clear()
        self._left_out = None

    def distrust(self, items: Iterable[ItemId] | None = None) -> None:
        """Read these items' looks again when they are asked for; those of all when none is named."""
        self._unread.update(self._looks if items is None else items)

    def read_wires(self, which: Sequence[int]) -> None:
        """Bring the colours of these wires up to date."""
        if not self._unread:
            return
        wires = self._wiring.wires
        if len(self._unread) * A_LOOK < len(which):
            shown = set(which)
            sources = {item for item in self._unread if not shown.isdisjoint(self._wiring.leaving(item))}
        else:
            sources = {wires[k].source for k in which} & self._unread
        for item in sources:
            self._read(item)

    def color_wires(self) -> None:
        """Colours of all wires, from the last looks of their sources; what results changed is read when it is seen.

        A wire that was there has the colour that it had, unless other statements are left out now.
        """
        left_out = self._numbers.left_out
        is_new = left_out != self._left_out
        if self._coloured is self._wiring.wires and not is_new:
            return
        change = self._wiring.change
        if change is not None and not is_new and self._coloured is self._wiring.before:
            codes = [
                *change.kept(self.code_list),
                *self._codes_of(self._wiring.wires[-change.came :] if change.came else []),
            ]
            self._follow_array(change, codes)
        else:
            codes = self._all_codes(is_new)
            self._codes = None
        self.code_list = codes
        self._coloured, self._left_out = self._wiring.wires, left_out
        self.revision += 1

    def _follow_array(self, change: WireChange, codes: list[int]) -> None:
        if self._codes is not None:
            import numpy as np

            news = np.array(codes[len(codes) - change.came :], dtype=np.intp)
            self._codes = np.concatenate((np.delete(self._codes, list(change.gone)), news))

    def _all_codes(self, is_new: bool) -> list[int]:
        """The codes of all wires: those that they had, and of the others new ones; `is_new`: of all."""
        wires = self._wiring.wires
        codes = [NEW] * len(wires) if is_new else self._codes_before()
        came = [k for k, code in enumerate(codes) if code == NEW]
        for k, code in zip(came, self._codes_of([wires[k] for k in came]), strict=True):
            codes[k] = code
        for wire in self._wiring.muted:
            codes[self._wiring.ends[wire.target, wire.port]] = self._code(MUTED)
        return codes

    def _codes_of(self, wires: Sequence[Wire]) -> list[int]:
        return [self._code(self._along(wire, self._last_look(wire.source, wire.output))) for wire in wires]

    def _codes_before(self) -> list[int]:
        """What each wire has already; `NEW` for those that have none."""
        wiring = self._wiring
        if self._coloured is wiring.before and wiring.kept is not None:
            return list(map((*self.code_list, NEW).__getitem__, wiring.kept))
        known = dict(zip(map(id, self._coloured), self.code_list, strict=True))
        return [known.get(id(wire), NEW) for wire in wiring.wires]

    def _last_look(self, item: ItemId, output: int) -> PortStyle:
        """How an output was drawn when it was last read."""
        looks = self._looks.setdefault(item, {})
        look = looks.get(output)
        if look is None:
            self._told.pop(item, None)  # of those it was not read from
            graph, results = self._state.graph, self._state.results
            look = looks[output] = port_style(graph, results, item, output, results.outputs(item))
        return look

    def _read(self, item: ItemId) -> None:
        """Ask anew how a node's outputs are drawn, and colour its wires, and the inputs where they end, so.

        What a run said of them is asked for alone where it is what it was: another gradient draws no output otherwise.
        """
        self._unread.discard(item)
        old = self._looks.get(item)
        if not old:
            return
        graph, results = self._state.graph, self._state.results
        records = results.outputs(item)
        before, self._told[item] = self._told.get(item), records
        if records is not None and records is before and max(old) < len(records):
            return
        new = {output: port_style(graph, results, item, output, records) for output in old}
        if new != old:
            self._looks[item] = new
            self._color_leaving(item)

    def _color_leaving(self, item: ItemId) -> None:
        """Colour the wires from an item as it was read, and the inputs where they end."""
        leaving, cards, wires = self._wiring.leaving(item), self._stack.cards, self._wiring.wires
        codes: dict[int, int] = {}
        for k in leaving:
            wire = wires[k]
            code = codes.get(wire.output)
            if code is None or self._wiring.muted or self._numbers.left_out:
                look = MUTED if wire in self._wiring.muted else self._along(wire, self._last_look(item, wire.output))
                code = codes[wire.output] = self._code(look)
            self._color_wire(k, code)
        ends = self._state.card_groups.cards([wires[k].target for k in leaving])
        for end in ends & cards.keys():
            cards[end].revision += 1

    def _color_wire(self, k: int, code: int) -> None:
        if self.code_list[k] != code:
            self.code_list[k] = code
            if self._codes is not None:
                self._codes[k] = code
            self.revision += 1

    def _along(self, wire: Wire, look: PortStyle) -> PortStyle:
        """The look of an output along one of its wires."""
        left_out = self._numbers.left_out
        idle = bool(left_out) and (wire.source in left_out or wire.target in left_out)
        return replace(look, idle=True) if idle else look

    def _code(self, look: PortStyle) -> int:
        code = self._code_of.setdefault(look, len(self._code_of))
        if code == len(self.by_code):
            self.by_code.append(look)
        return code
