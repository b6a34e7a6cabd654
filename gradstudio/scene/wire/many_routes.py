"""Of many wires, those that run elsewhere than when they were led last. No Qt.

Many wires are not led around cards: where one runs follows from its ends, what stands there, and its dots.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.wire_dots import End
from gradstudio.scene.card.card_layout import CardLayout
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.geometry import Corners
from gradstudio.scene.placement import Placement
from gradstudio.scene.wire.reroute_dots import Dots
from gradstudio.scene.wire.wire_options import WireStyle
from gradstudio.scene.wire.wire_places import WireChange
from gradstudio.scene.wire.wiring import NEW, Wiring

Standing = tuple[Corners, CardLayout]
Kept = WireChange | list[int] | None
"""What became of a list of wires, or where each stood, `NEW` for one that was not there; None: they are the same."""


class ManyRoutes:
    """Remembers what stood where when the wires were led."""

    def __init__(self, stack: CardStack, placement: Placement, wiring: Wiring, dots: Dots) -> None:
        """No wire was led."""
        self._stack = stack
        self._placement = placement
        self._wiring = wiring
        self._dots = dots
        self._style: WireStyle | None = None
        self._wires: list[Wire] = []
        self._standing: dict[ItemId, Standing] = {}
        self._dotted: set[End] = set()
        self._elsewhere: set[int] = set()

    def forget(self) -> None:
        """Nothing is known of where wires run."""
        self._style = None
        self._standing = {}

    def distrust(self, which: Iterable[int]) -> None:
        """The wires at these places were led to where something is dragged."""
        self._elsewhere.update(which)

    def follow(self, moved: frozenset[ItemId] | None) -> tuple[Kept, list[int]] | None:
        """Take over what stands where now; only these cards were `moved` since; None: any may have been.

        Returns:
            what became of the places of those that were led last, and the places of those that are to be led anew;
            None: all of them.
        """
        before = self._wires
        style = self._style
        self._wires = self._wiring.wires
        self._style = self._wiring.view.style
        elsewhere_now = self._moved() if moved is None or style is None else self._moved_of(moved)
        dotted = set(self._dots.by_end)
        dots = dotted | self._dotted
        self._dotted = dotted
        elsewhere = self._elsewhere
        self._elsewhere = set()
        if style != self._style or not before:
            return None
        kept = _kept(before, self._wiring)
        changed = _changed(kept, elsewhere, len(self._wires))
        return kept, sorted(changed | self._touching(elsewhere_now, dots))

    def _moved(self) -> set[ItemId]:
        """The cards that stand elsewhere, or have their ports elsewhere, than last time."""
        before = self._standing
        cards = self._stack.cards
        corners = self._placement.corners
        self._standing = {
            item: (place, card.layout) for (item, card), place in zip(cards.items(), corners, strict=True)
        }
        return {item for item, now in self._standing.items() if not _is_same(before.get(item), now)}

    def _moved_of(self, cards: frozenset[ItemId]) -> set[ItemId]:
        """Those of some cards."""
        found = set[ItemId]()
        before = self._standing
        for item in cards:
            now = self._placement.corners[self._stack.index[item]], self._stack.cards[item].layout
            if not _is_same(before.get(item), now):
                before[item] = now
                found.add(item)
        return found

    def _touching(self, moved: set[ItemId], dots: set[End]) -> set[int]:
        """The wires of these cards, of frames, and of these dots."""
        wiring, frames = self._wiring, self._placement.frames
        if not moved and not dots and not frames:
            return set()
        dotted = {k for end in dots if (k := wiring.ends.get(end)) is not None}
        return dotted | wiring.at((*wiring.on_cards(moved), *frames))


def _is_same(before: Standing | None, now: Standing) -> bool:
    return before is not None and before[1] is now[1] and before[0] == now[0]


def _changed(kept: Kept, elsewhere: set[int], count: int) -> set[int]:
    """The wires that are new, or that were led to where something was dragged."""
    if kept is None:
        return elsewhere
    if isinstance(kept, WireChange):
        stays = {k - bisect_left(kept.gone, k) for k in elsewhere.difference(kept.gone)}
        return stays.union(range(count - kept.came, count))
    return {k for k, old in enumerate(kept) if old == NEW or old in elsewhere}


def _kept(before: list[Wire], wiring: Wiring) -> Kept:
    if before is wiring.wires:
        return None
    if before is wiring.before and (wiring.change is not None or wiring.kept is not None):
        return wiring.change if wiring.change is not None else wiring.kept
    places = {id(wire): k for k, wire in enumerate(before)}
    return [places.get(id(wire), NEW) for wire in wiring.wires]
