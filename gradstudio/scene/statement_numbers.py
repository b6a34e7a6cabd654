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
    nodes = graph.nodes
    for item in graph.order():
        if item in nodes and item not in nested:
            number += 1
            places[item] = number
        else:
            places[item] = number + 1
    return places


class StatementNumbers:
    """Numbers the cards whose statements have an order.

    Attributes:
        left_out: what is muted, and what reads it.
    """

    def __init__(self, state: SceneState, stack: CardStack) -> None:
        """No card is numbered."""
        self._state = state
        self._stack = stack
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
        before = self.left_out
        self.left_out = analysis.validity.muted
        self._number(analysis)
        return self.left_out != before

    def _number(self, analysis: program_analysis.Analysis) -> None:
        graph = self._state.graph
        nested = analysis.nested
        repeated = analysis.gradients.repeated
        operators = analysis.validity.operators
        ordered = {item for item, row in operators.items() if not ORDERED.isdisjoint(row.effects)}
        places = statement_places(graph, nested) if ordered else {}
        left_out = self.left_out
        for item, card in self._stack.cards.items():
            order = places[item] if item in ordered else 0
            set_up = item not in repeated and item not in CARDS
            is_left_out = item in left_out
            if order != card.order or set_up is not card.set_up or is_left_out is not card.left_out:
                card.order, card.set_up, card.left_out = order, set_up, is_left_out
                card.revision += 1
