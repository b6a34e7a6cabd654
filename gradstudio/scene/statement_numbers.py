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
    """Numbers the cards whose statements have an order. Each is asked for when its card is looked at.

    Attributes:
        left_out: what is muted, and what reads it.
    """

    def __init__(self, state: SceneState, stack: CardStack) -> None:
        """No card is numbered."""
        self._state = state
        self._stack = stack
        self.left_out: frozenset[ItemId] = frozenset()
        self._structure: object = None
        self._repeated: Set[ItemId] = _NONE
        self._places: dict[ItemId, int] = {}

    def order(self, item: ItemId) -> int:
        """The place among the statements of a card whose statement has an effect; 0: it shows none."""
        return self._places.get(item, 0)

    def is_set_up(self, item: ItemId) -> bool:
        """Whether what a card shows is made once (semantics §5)."""
        return item not in self._repeated and item not in CARDS

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
        self._stack.renumber(self.left_out ^ before)
        self._number(analysis)
        return self.left_out != before

    def _number(self, analysis: program_analysis.Analysis) -> None:
        """Remember what is said of all cards; those that came, and those of which another thing is said, show it."""
        repeated = analysis.gradients.repeated
        places = statement_places(self._state.graph, analysis.nested, self._ordered(analysis))
        others = {item for item, _ in places.items() ^ self._places.items()}
        self._stack.renumber(self._stack.came, others, repeated ^ self._repeated)
        self._repeated, self._places = repeated, places

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
