"""How cards follow results. No Qt.

Another moment, or a run, changes hundreds of cards at once. What they hold is read when they are seen; until then
they keep the room they had, and `catch_up` measures the rest when there is time.
"""

import sys
from collections.abc import Callable, Collection, Iterable
from typing import Final

from msgspec.structs import replace

from gradstudio.graph.memo_table import KeyedMemo
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.scene.card.card_maker import CardMaker
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.card.parameter_rows import leaf_paths
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import Card
from gradstudio.scene.placement import Placement
from gradstudio.scene.scene_state import SceneState

AT_ONCE: Final = 16
"""So many cards are measured when their results change; of more only those in view, the rest when there is time."""


class ResultUpdates:
    """Measures the cards whose results changed, and places everything when one is of another height.

    Attributes:
        changed_at: the scene's revision at which the results of each item changed last.
        all_changed_at: that at which those of all did.
        on_growth: told when cards need more room for what they show now: `take_growth` says which.
    """

    def __init__(
        self,
        state: SceneState,
        stack: CardStack,
        maker: CardMaker,
        placement: Placement,
        place: Callable[[], None],
    ) -> None:
        """Nothing was read. `place` puts everything where it belongs when a card is of another height."""
        self._state = state
        self._stack = stack
        self._maker = maker
        self._placement = placement
        self._place = place
        self.changed_at: dict[ItemId, int] = {}
        self.all_changed_at = 0
        self._rows = KeyedMemo[ItemId, Row | None](state.results.row)
        self._unmeasured: set[ItemId] = set()
        self._grown: set[ItemId] = set()
        self._moved = False  # a card is of another height, and nothing was placed since
        self._growth: dict[ItemId, float] = {}
        self.on_growth: Callable[[], None] = _ignore

    @property
    def has_growth(self) -> bool:
        """Whether a card is higher than when it was asked last."""
        return bool(self._growth)

    def put_back(self, growth: dict[ItemId, float]) -> None:
        """Nothing was done about what was taken."""
        for item, by in growth.items():
            self._note_growth(item, by)

    def take_growth(self) -> dict[ItemId, float]:
        """By how many scene pixels each card is higher than when it was asked last, looking back left out."""
        growth, self._growth = self._growth, {}
        return growth

    def note_known(self) -> None:
        """Cards of another program have come with what is known of them: room was kept for none of it."""
        results = self._state.results
        for item, card in self._stack.cards.items():
            if card.result_height and results.inference(item, 0) is not None:
                self._note_growth(item, card.result_height)

    def follow(self, items: Collection[ItemId], resized: Collection[ItemId] | None = None) -> Collection[ItemId]:
        """Results of these nodes changed; of all when none is named. The cards that show them; none when all may.

        Only `resized` are measured again; None: all that changed. While looking back, that is done later.
        """
        groups, cards, revision = self._state.card_groups, self._stack.cards, self._state.revision
        self.changed_at.update(dict.fromkeys(groups.whole(items), revision))
        named = self._homes(items)
        if not named:
            self._rows.clear()
            self.all_changed_at = revision
        for item in self._rows.keys() & named:
            del self._rows[item]
        self._stack.distrust(named or cards)
        if resized is None or resized is items:
            self._unmeasured.update(named or cards)
        else:
            self._unmeasured.update(self._homes(resized))
        return named

    def measure_few(self) -> None:
        """Measure what waits when it is little; what grew while looking back may shrink again."""
        if self._state.results.moment is None:
            self._unmeasured |= self._grown
            self._grown.clear()
            if len(self._unmeasured) <= AT_ONCE:
                self.catch_up()

    def forget(self) -> None:
        """Ask for all rows anew: the graph is another one."""
        self._rows.clear()
        self._growth.clear()
        self._moved = False

    @property
    def is_behind(self) -> bool:
        """Whether cards out of view wait to be measured."""
        return bool(self._unmeasured)

    def catch_up(self, seen: Box | None = None, most: int = sys.maxsize) -> bool:
        """Measure the cards in `seen` (scene pixels; None: all) that may be of another height; whether any moved.

        Of more than `most` only so many are measured; everything is placed when the last of them were.
        """
        placed, waiting = False, self._waiting_in(seen)
        while waiting or self._moved:
            self._moved = self._measure(waiting[:most]) or self._moved
            if len(waiting) > most or not self._moved:
                break
            self._moved, placed = False, True
            self._place()
            waiting = self._waiting_in(seen)
        return placed

    def well(self, item: ItemId) -> ResultSections:
        """What is written on a card below its ports."""
        item = self._state.card_groups.home(item)
        if item in self._unmeasured and self._measure([item]):
            self._place()
        card = self._stack.read(item)
        if card.well is None:
            well = self._maker.well(item, card)
            card.leaves = well.leaves
            card.well = replace(well, height=card.drawn)
        return card.well

    def row(self, item: ItemId) -> Row | None:
        """When and how a node last ran at the moment that is looked at: `results.row`, asked once a moment."""
        return self._rows[item]

    def rows(self, items: Iterable[ItemId]) -> list[Row | None]:
        """The same of thousands, those that are known without a call for each."""
        return list(map(self._rows.__getitem__, items))

    def _homes(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The cards on which these items stand."""
        shown = frozenset(self._state.card_groups.homes(items))
        return shown - shown.difference(self._stack.cards)  # mostly there is none that has no card

    def _waiting_in(self, seen: Box | None) -> list[ItemId]:
        if not self._unmeasured:
            return []
        if seen is None:
            return list(self._unmeasured)
        ids = self._stack.ids
        return [ids[k] for k in self._placement.cards_in(seen) if ids[k] in self._unmeasured]

    def _measure(self, items: Iterable[ItemId]) -> bool:
        """Whether one of these cards is of another height, or has ports at other leaves."""
        moved = False
        for item in items:
            self._unmeasured.discard(item)
            card = self._stack.cards.get(item)
            if card is not None:
                extras_moved = self._measure_extras(item, card)
                results_moved = self._measure_results(item, card)
                moved = moved or extras_moved or results_moved or self._lists_other_leaves(item, card)
        return moved

    def _measure_extras(self, item: ItemId, card: Card) -> bool:
        extras = self._maker.extras(item)
        if extras is card.extras:
            return False
        moved = extras.height != card.extras.height
        card.extras, card.well = extras, None
        return moved

    def _measure_results(self, item: ItemId, card: Card) -> bool:
        """Measure the results on a card. While looking back it does not shrink."""
        past = self._state.results.moment is not None
        if past and self.row(item) is None:
            return False
        height, drawn = self._maker.well_heights(item, card.layout)
        if past:
            height, drawn = max(height, card.result_height), max(drawn, card.drawn)
        if drawn != card.drawn:
            card.drawn, card.well = drawn, None
            card.revision += 1
        if height == card.result_height:
            return False
        if not past:
            self._note_growth(item, height - card.result_height)
        card.result_height, card.well = height, None
        card.revision += 1
        if past:
            self._grown.add(item)
        return True

    def _note_growth(self, item: ItemId, by: float) -> None:
        total = self._growth.pop(item, 0.0) + by
        if total > 0.0:
            self._growth[item] = total
            self.on_growth()

    def _lists_other_leaves(self, item: ItemId, card: Card) -> bool:
        module = card.layout.module
        if module is None or card.layout.display_flags.collapsed:
            return False
        unfolded = item in self._maker.unfolded
        return leaf_paths(self._state.results, module, unfolded=unfolded) != card.listed


def _ignore() -> None:
    """Nobody makes room: what is drawn stays where it is."""
