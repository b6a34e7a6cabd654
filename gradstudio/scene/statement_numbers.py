"""What cards show of their nodes' places in the program: number, set-up, left out. No Qt."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Set
from typing import Final

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import row_of_key
from gradstudio.operators.model import Effect, Face
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.scene_state import SceneState

ORDERED = frozenset(Effect) - {Effect.MODE, Effect.MODULE_CALL}
"""Effects that give a statement a number on its card."""
_NONE: Final = frozenset[ItemId]()


def statement_places(
    graph: Graph, nested: Collection[ItemId], items: Iterable[ItemId] | None = None
) -> dict[ItemId, int]:
    """Which statement of the program items are, from 1; a block has the number of the first inside.

    Args:
        graph: what is drawn.
        nested: parts that are printed in the statement after them, whose number they have.
        items: those that are asked about; None: all.
    """
    numbers = graph.numbers()
    passed = sorted(numbers[item] for item in (*nested, *graph.blocks))
    return {
        item: 1 + numbers[item] - bisect_left(passed, numbers[item]) for item in (numbers if items is None else items)
    }


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
        self._numbered: tuple[Set[ItemId], frozenset[ItemId], frozenset[ItemId]] = (_NONE, _NONE, _NONE)

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
        """Look at the cards that came, and at those of which another thing is said than before."""
        cards, left_out, before = self._stack.cards, self.left_out, self._numbered
        repeated, ordered = analysis.gradients.repeated, self._ordered(analysis)
        self._numbered = repeated, left_out, ordered
        places = statement_places(self._state.graph, analysis.nested, ordered)
        changed = self._stack.came.union(ordered, before[2], repeated ^ before[0], left_out ^ before[1])
        for item in changed & cards.keys():
            card = cards[item]
            order = places[item] if item in ordered else 0
            set_up = item not in repeated and item not in CARDS
            is_left_out = item in left_out
            if order != card.order or set_up is not card.set_up or is_left_out is not card.left_out:
                card.order, card.set_up, card.left_out = order, set_up, is_left_out
                card.revision += 1

    def _ordered(self, analysis: program_analysis.Analysis) -> frozenset[ItemId]:
        """The nodes that are numbered."""
        graph, rows = self._state.graph, analysis.validity.operators
        by_operator = index_of(graph).by_operator
        asked = [item for key, items in by_operator.items() if _may_be_ordered(graph, key) for item in items]
        return frozenset(item for item in asked if item in rows and not ORDERED.isdisjoint(rows[item].effects))


def _may_be_ordered(graph: Graph, key: str) -> bool:
    """Whether nodes of an operator may be numbered; of a call that is for its module to say."""
    row = row_of_key(graph, key)
    return row is None or row.face is Face.CALL or not ORDERED.isdisjoint(row.effects)
