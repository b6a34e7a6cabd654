"""The cards of a scene in painting order, and how they follow the graph. No Qt."""

from collections.abc import Iterable

from msgspec.structs import replace

from gradstudio.graph.card_grouping import CardGroups
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.scene.card.card_layout import mode_of
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
    """

    def __init__(self, state: SceneState, maker: CardMaker) -> None:
        """No cards yet."""
        self._state, self._maker = state, maker
        self.cards: dict[ItemId, Card] = {}
        self.ids: list[ItemId] = []
        self.index: dict[ItemId, int] = {}
        self._raised: dict[ItemId, int] = {}

    # -------------------------------------------------------------- which cards there are

    def follow(self) -> None:
        """Cards for all nodes, none for others; those that exist already stay."""
        graph, groups = self._state.graph, self._state.card_groups
        known, nodes = self.cards, graph.nodes
        inside = groups.calls.keys() | groups.switches.keys()
        shown = [item for item in graph.order() if item in nodes and item not in inside]
        self.cards = {item: known.get(item) or self._maker.card(item) for item in shown}
        self._order()

    def follow_card_groups(self, before: CardGroups) -> bool:
        """Forget the cards that other items share than before; whether there are none."""
        old, new = before.insides(), self._state.card_groups.insides()
        if old == new:
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
        if self._raised:
            self.cards = dict(sorted(self.cards.items(), key=lambda pair: self._raised.get(pair[0], 0)))
        self.ids = list(self.cards)
        self.index = {item: k for k, item in enumerate(self.ids)}
        shared = ((item, self.index.get(home)) for item, home in self._state.card_groups.insides().items())
        self.index |= {item: k for item, k in shared if k is not None}

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

    def make_again(self, item: ItemId) -> bool:
        """Make the card of a node that changed anew; whether it has its size and its ports as before."""
        card = self.cards.get(item)
        if card is None or item not in self._state.graph.nodes:
            return True
        made = self.cards[item] = self._maker.again(item, card)
        return stays_in_place(card, made)

    def follow_titles(self) -> None:
        """Cards that are titled with what they write into follow its name."""
        for item, card in self.cards.items():
            if card.layout.title.endswith("=") and item in self._state.graph.nodes:
                layout = self._maker.layout(item)
                if layout != card.layout:
                    card.layout, card.revision = layout, card.revision + 1

    def in_other_modes(self) -> set[ItemId]:
        """Cards whose module is in another mode now, because of a statement about what holds it."""
        graph = self._state.graph
        made = ((item, card.layout) for item, card in self.cards.items() if card.layout.module in graph.nodes)
        return {item for item, layout in made if (layout.mode, layout.frozen) != mode_of(graph, layout.module)}

    def expand(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them again."""
        self._maker.expanded ^= {item}
        card = self.cards[item]
        card.layout, card.revision = self._maker.layout(item), card.revision + 1

    def unfold(self, item: ItemId) -> None:
        """Show all leaves of the module on a card, or fold them again."""
        self._maker.unfolded ^= {item}
        card = self.cards[item]
        card.well = card.leaves = None
        card.result_height, card.drawn = self._maker.well_heights(item, card.layout)
        card.revision += 1

    def leaves(self, item: ItemId) -> ParameterRows:
        """The rows of a module's parameters and buffers on the card of an item."""
        card = self.cards[item]
        if card.leaves is None:
            card.leaves = self._maker.leaves(item, card.layout)
        return card.leaves

    def list_leaves(self) -> None:
        """Remember which leaves have ports where the cards stand now."""
        for item, card in self.cards.items():
            if card.layout.module is not None:
                card.listed = tuple(row.path for row in self.leaves(item).rows)
