"""Which items stand left to right though no wire joins them: what happens before and after a backward."""

from collections.abc import Sequence

from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.operators.catalogue import load
from gradstudio.operators.model import Effect

_TURNS = frozenset({Effect.BACKWARD, Effect.OPTIMIZER})
_FOLLOWS = frozenset({Effect.BACKWARD, Effect.OPTIMIZER, Effect.GRAD})


def effect_pairs(graph: Graph, order: Sequence[ItemId]) -> list[tuple[int, int]]:
    """Pairs of positions in `order`: a backward or an optimizer's step, and what reads its outcome."""
    pairs: list[tuple[int, int]] = []
    last: int | None = None
    for number, item in enumerate(order):
        effects = _effects(graph, item)
        if last is not None and effects & _FOLLOWS:
            pairs.append((last, number))
        if effects & _TURNS:
            last = number
    return pairs


def _effects(graph: Graph, item: ItemId) -> frozenset[Effect]:
    """The effects of a node, or of all that is inside a block."""
    inside = graph.order(BodyId(item)) if item in graph.blocks else iter((item,))
    operators = (load().get(graph.nodes[one].operator) for one in inside if one in graph.nodes)
    return frozenset(effect for operator in operators if operator is not None for effect in operator.effects)
