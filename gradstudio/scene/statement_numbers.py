"""What cards show of their nodes' places in the program: number, set-up, left out. No Qt."""

from collections.abc import Container

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.model import Effect
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.scene_state import SceneState

ORDERED = frozenset(Effect) - {Effect.MODE, Effect.MODULE_CALL}
"""Effects that give a statement a number on its card."""


def statement_places(graph: Graph, nested: Container[ItemId]) -> dict[ItemId, int]:
    """Which statement of the program every item is, from 1; a block has the number of the first inside.

    Args:
        graph: what is drawn.
        nested: parts that are printed in the statement after them, whose number they have.
    """
    places: dict[ItemId, int] = {}
    number = 0
    for item in graph.order():
        is_statement = item in graph.nodes and item not in nested
        number += is_statement
        places[item] = number + (not is_statement)
    return places


class StatementNumbers:
    """Numbers the cards whose statements have an order.

    Attributes:
        left_out: what is muted, and what reads it.
    """

    def __init__(self, state: SceneState, stack: CardStack) -> None:
        """No card is numbered."""
        self._state, self._stack = state, stack
        self.left_out: frozenset[ItemId] = frozenset()
        self._structure: object = None

    def forget(self) -> None:
        """Number all cards anew next time: there are other ones."""
        self._structure = None

    def follow(self) -> bool:
        """Number the cards when the program has another structure; whether other statements are left out now."""
        analysis = program_analysis.analyse(self._state.graph)
        if self._structure is analysis.structure:
            return False
        self._structure = analysis.structure
        before, self.left_out = self.left_out, analysis.validity.muted
        self._number(analysis)
        return self.left_out != before

    def _number(self, analysis: program_analysis.Analysis) -> None:
        graph, nested = self._state.graph, analysis.nested
        repeated, operators = analysis.gradients.repeated, analysis.validity.operators
        places = statement_places(graph, nested)
        for item, place in places.items():
            card = self._stack.cards.get(item)
            if card is None:
                continue
            operator = operators.get(item)
            ordered = operator is not None and not ORDERED.isdisjoint(operator.effects)
            order, set_up = (place if ordered else 0), item not in repeated and item not in CARDS
            now = order, set_up, item in self.left_out
            if now != (card.order, card.set_up, card.left_out):
                (card.order, card.set_up, card.left_out), card.revision = now, card.revision + 1
