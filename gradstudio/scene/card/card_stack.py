"""The cards of a scene in painting order, and how they follow the graph. No Qt."""

import itertools
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from gradstudio.graph.analysis.module_modes import mode_of
from gradstudio.graph.card_grouping import CardGroups
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.list_change import list_change
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import ELSEWHERE_NAMED
from gradstudio.graph.text.loop_targets import SECOND_NAME
from gradstudio.scene.card.card_maker import CardMaker
from gradstudio.scene.card.display_flags import display_flags_of
from gradstudio.scene.card.parameter_rows import ParameterRows
from gradstudio.scene.items import Card, stays_in_place
from gradstudio.scene.scene_state import SceneState


class CardStack:
    """One card a node, or one for a module and its call; where they stand is another's business.

    Attributes:
        cards: by node, in painting order (the last lies on top).
        ids: the nodes in that order.
        index: the place in `ids` of a node's card, also of nodes that share the card of another.
        came: the cards that were made when the graph was followed last.
    """

    def __init__(self, state: SceneState, maker: CardMaker) -> None:
        """No cards yet."""
        self._state, self._maker = state, maker
        self.cards: dict[ItemId, Card] = {}
        self.ids: list[ItemId] = []
        self.index: dict[ItemId, int] = {}
        self.came: frozenset[ItemId] = frozenset()
        self._listed: list[ItemId] = []  # the cards in program order
        self._raised: dict[ItemId, int] = {}
        self._modules: dict[ItemId, None] = {}
        self._written: dict[ItemId, None] = {}
        self._unread: set[ItemId] = set()  # whose results changed since somebody looked
        self._renumbered: set[ItemId] = set()  # of whose statement another thing is said since then

    # -------------------------------------------------------------- which cards there are

    def follow(self) -> None:
        """Cards for all nodes, none for others; those that exist already stay."""
        graph, groups = self._state.graph, self._state.card_groups
        shown: Iterable[ItemId] = graph.order()
        if graph.blocks:
            shown = filter(graph.nodes.__contains__, shown)
        inside = groups.calls.keys() | groups.switches.keys()
        if inside:
            shown = itertools.filterfalse(inside.__contains__, shown)
        ids = list(shown)
        known = self.cards
        if ids == self._listed and len(known) == len(ids):
            self.came = frozenset()
            return
        listed, self._listed = self._listed, ids
        start, old_end, new_end = list_change(listed, ids) if len(known) == len(listed) else (0, len(known), len(ids))
        gone, others = listed[start:old_end], ids[start:new_end]
        self.came = frozenset(others) - known.keys()
        made = {item: self._maker.card(item) for item in self.came}
        if not others or (not gone and new_end == len(ids) and len(made) == len(others)):  # the rest keeps its order
            for item in gone:
                del known[item]
            known.update((item, made[item]) for item in others)
        else:
            self.cards = dict(zip(ids, map((known | made).__getitem__, ids), strict=True))
        for item in self.came:
            self._sort_out(item)
        self._order()

    def _sort_out(self, item: ItemId) -> None:
        """Remember what is asked of few cards: which show a module, and which are titled with what stands elsewhere."""
        layout = self.cards[item].layout
        is_alias = self._state.graph.nodes[item].operator == SECOND_NAME
        is_named_elsewhere = is_alias or layout.title.endswith(ELSEWHERE_NAMED)
        for holds, found in ((layout.module is not None, self._modules), (is_named_elsewhere, self._written)):
            if holds:
                found[item] = None
            else:
                found.pop(item, None)

    def follow_card_groups(self, before: CardGroups) -> bool:
        """Forget the cards that other items share than before; whether there are none."""
        old, new = before.insides(), self._state.card_groups.insides()
        if old is new or old == new:
            return True
        for item, home in old.items() ^ new.items():
            self.cards.pop(item, None)
            self.cards.pop(home, None)
        return False

    def put_on_top(self, items: Iterable[ItemId]) -> None:
        """Paint these cards after all others, the last of them last."""
        highest = max(self._raised.values(), default=0)
        self._raised |= {item: highest + k for k, item in enumerate(items, start=1)}
        self._order()

    def _order(self) -> None:
        """Painting order: program order, above it what was raised, the latest on top."""
        raised = sorted(self._raised.keys() & self.cards.keys(), key=self._raised.__getitem__)
        for item in raised:
            self.cards[item] = self.cards.pop(item)
        before, self.ids = self.ids, list(self.cards)
        if self.ids[: len(before)] == before and len(self.index) == len(before):  # all that came stands behind
            self.index.update(zip(self.ids[len(before) :], range(len(before), len(self.ids)), strict=True))
        else:
            self.index = dict(zip(self.ids, range(len(self.ids)), strict=True))
        shared = ((item, self.index.get(home)) for item, home in self._state.card_groups.insides().items())
        self.index |= {item: k for item, k in shared if k is not None}

    # -------------------------------------------------------------- what they show

    def distrust(self, items: Iterable[ItemId]) -> None:
        """Results on these cards changed: what was read counts no more; nothing is done before they are read."""
        self._unread.update(items)

    def renumber(self, *items: Iterable[ItemId]) -> None:
        """Another thing is said of these statements; nothing is done before their cards are read."""
        self._renumbered.update(*items)

    def read(self, item: ItemId) -> Card:
        """A card without what was read of results that changed since, in another revision then."""
        card = self.cards[item]
        if item in self._renumbered:
            self._renumbered.discard(item)
            card.revision += 1
        if item in self._unread:
            self._unread.discard(item)
            card.well = card.leaves = None
            card.revision += 1
        return card

    def revisions(self, items: Sequence[ItemId]) -> list[int]:
        """Those of cards as they are when they are read."""
        for item in self._unread.intersection(items) | self._renumbered.intersection(items):
            self.read(item)
        return [self.cards[item].revision for item in items]

    # -------------------------------------------------------------- how they look

    def follow_flags(self, edits: Edits) -> None:
        """Make cards anew that were collapsed, tucked or pinned, or no longer are."""
        graph = self._state.graph
        keys = {key for edit in edits if isinstance(edit, SetPlaces) for key in edit.places}
        for item in {self._state.card_groups.home(ItemId(key)) for key in keys}:
            card = self.cards.get(item)
            if (
                card is not None
                and item in graph.nodes
                and card.layout.display_flags != display_flags_of(graph.places.get(item))
            ):
                self.cards[item] = replace(self._maker.again(item, card), listed=())
                self._sort_out(item)

    def make_again(self, item: ItemId) -> bool:
        """Make the card of a node that changed anew; whether it has its size and its ports as before."""
        card = self.cards.get(item)
        if card is None or item not in self._state.graph.nodes:
            return True
        made = self.cards[item] = self._maker.again(item, card)
        self._sort_out(item)
        return stays_in_place(card, made)

    def follow_titles(self) -> set[ItemId]:
        """Cards that are titled with what they write into follow its name; those that do."""
        changed = set[ItemId]()
        for item in self._written.keys() & self.cards.keys() & self._state.graph.nodes.keys():
            card = self.cards[item]
            layout = self._maker.layout(item)
            if layout != card.layout:
                card.layout, card.revision = layout, card.revision + 1
                self._sort_out(item)
                changed.add(item)
        return changed

    def in_other_modes(self) -> set[ItemId]:
        """Cards whose module is in another mode now, because of a statement about what holds it."""
        graph = self._state.graph
        shown = ((item, self.cards[item].layout) for item in self._modules.keys() & self.cards.keys())
        made = ((item, layout) for item, layout in shown if layout.module in graph.nodes)
        return {item for item, layout in made if (layout.mode, layout.frozen) != mode_of(graph, layout.module)}

    def expand(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them again."""
        self._maker.expanded ^= {item}
        card = self.cards[item]
        card.layout, card.revision = self._maker.layout(item), card.revision + 1
        self._sort_out(item)

    def unfold(self, item: ItemId) -> None:
        """Show all leaves of the module on a card, or fold them again."""
        self._maker.unfolded ^= {item}
        card = self.cards[item]
        card.well = card.leaves = None
        card.result_height, card.drawn = self._maker.well_heights(item, card.layout)
        card.revision += 1

    def fold_all(self) -> None:
        """Forget what was unfolded: the cards that are made next are of another program, whatever their ids."""
        self._maker.expanded.clear()
        self._maker.unfolded.clear()

    def leaves(self, item: ItemId) -> ParameterRows:
        """The rows of a module's parameters and buffers on the card of an item."""
        card = self.read(item)
        if card.leaves is None:
            card.leaves = self._maker.leaves(item, card.layout)
        return card.leaves

    def list_leaves(self) -> None:
        """Remember which leaves have ports where the cards stand now."""
        for item in self._modules.keys() & self.cards.keys():
            self.cards[item].listed = tuple(row.path for row in self.leaves(item).rows)
