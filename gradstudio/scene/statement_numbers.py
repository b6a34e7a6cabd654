"""What a card shows of its node's place in the program: number, set-up, left out; how it is worn. Methods of the board.

No Qt.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.card_grouping import Joining
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.model import Effect
from gradstudio.scene.card.card_layout import Face
from gradstudio.scene.card.debug_sections import Extras
from gradstudio.scene.card.display_flags import worn_at
from gradstudio.scene.items import Card

ORDERED = frozenset(Effect) - {Effect.MODE, Effect.MODULE_CALL}
"""Effects that give a statement a number on its card."""


class Wearing:
    """Methods of `Board`; what they need of it is declared here."""

    if TYPE_CHECKING:
        graph: Graph
        joining: Joining
        cards: dict[ItemId, Card]
        left_out: frozenset[ItemId]
        _numbered: object

        def _face(self, item: ItemId) -> Face: ...
        def _facts_height(self, item: ItemId, face: Face) -> float: ...
        def _extras(self, item: ItemId) -> Extras: ...

    def _wear_anew(self, edits: Edits) -> None:
        """Cards that were collapsed, tucked or pinned, or no longer, are made anew."""
        keys = {key for edit in edits if isinstance(edit, SetPlaces) for key in edit.places}
        for item in {self.joining.home(ItemId(key)) for key in keys}:
            card = self.cards.get(item)
            if card is not None and item in self.graph.nodes and card.face.worn != worn_at(self.graph.places.get(item)):
                face = self._face(item)
                self.cards[item] = replace(
                    card, face=face, facts_height=self._facts_height(item, face), extras=self._extras(item),
                    revision=card.revision + 1, facts=None, leaves=None, listed=(),
                )  # fmt: skip

    def _number_statements(self) -> None:
        known = program_analysis.analyse(self.graph)
        if self._numbered is known.structure:
            return
        self._numbered = known.structure
        repeated, nested, operators = known.gradients.repeated, known.nested, known.soundness.operators
        self.left_out = known.soundness.muted
        number = 0
        for item in self.graph.order():
            number += item not in nested and item in self.graph.nodes
            card = self.cards.get(item)
            if card is None:
                continue
            operator = operators.get(item)
            ordered = operator is not None and not ORDERED.isdisjoint(operator.effects)
            place = number + (item in nested)  # a part is printed in the statement after it
            order, set_up = (place if ordered else 0), item not in repeated and item not in CARDS
            now = order, set_up, item in self.left_out
            if now != (card.order, card.set_up, card.left_out):
                (card.order, card.set_up, card.left_out), card.revision = now, card.revision + 1
