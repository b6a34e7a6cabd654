"""Which items stand left to right though no wire joins them: what happens before and after a backward."""

from collections.abc import Iterable, Sequence

from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.operator_rows import row_of
from gradstudio.operators.model import Effect

_TURNS = frozenset({Effect.BACKWARD, Effect.OPTIMIZER})
_CHANGES = frozenset({Effect.BACKWARD, Effect.OPTIMIZER, Effect.IN_PLACE})
_FOLLOWS = frozenset({Effect.BACKWARD, Effect.OPTIMIZER, Effect.GRAD, Effect.CODE})
"""Code and files too: what is done with a model that was trained, and what is cleared away at the end."""


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


def loop_pairs(graph: Graph, order: Sequence[ItemId], wires: Iterable[tuple[ItemId, ItemId]]) -> list[tuple[int, int]]:
    """Pairs of positions in `order`: a loop that changes what it reads, and what reads the same after it.

    Args:
        graph: the program.
        order: items of one body.
        wires: items of that body between which wires run, from and to.
    """
    number = {item: k for k, item in enumerate(order)}
    changing = [item for item in order if _is_loop(graph, item) and _effects(graph, item) & _CHANGES]
    if not changing:
        return []
    sources: dict[ItemId, set[ItemId]] = {}
    for source, target in wires:
        sources.setdefault(target, set()).add(source)
    pairs = []
    for loop in changing:
        read = sources.get(loop, set())
        later = order[number[loop] + 1 :]
        pairs += [(number[loop], number[item]) for item in later if not read.isdisjoint(sources.get(item, ()))]
    return pairs


def _is_loop(graph: Graph, item: ItemId) -> bool:
    return item in graph.blocks and graph.blocks[item].kind == "for"


def _effects(graph: Graph, item: ItemId) -> frozenset[Effect]:
    """The effects of a node, or of all that is inside a block."""
    inside = graph.order(BodyId(item)) if item in graph.blocks else iter((item,))
    rows = (row_of(graph, graph.nodes[one]) for one in inside if one in graph.nodes)
    return frozenset(effect for row in rows if row is not None for effect in row.effects)
