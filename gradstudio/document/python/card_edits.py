"""Cards of code that are split, merged or drawn in a document: as one gesture, with places for what is new."""

from collections.abc import Callable

from gradstudio.document.python.merge_edits import edits_to
from gradstudio.graph.difference import edits_between
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.layout.placement.stable_layout import stable_layout
from gradstudio.program import code_cards
from gradstudio.program.merging.whole_merge import draw_code


def split(graph: Graph, item: ItemId) -> Edits:
    """One card for each statement of a card of code; new ones stand where there is room near it.

    Raises:
        Refused: there is nothing to split.
    """
    return _laid_out(code_cards.split, graph, item)


def merge_with_next(graph: Graph, item: ItemId) -> Edits:
    """A card of code and the one behind it as one card, in the place of the first.

    Raises:
        Refused: no card of code follows.
    """
    return _laid_out(code_cards.merge_with_next, graph, item)


def draw(graph: Graph, item: ItemId) -> Edits:
    """What can be drawn of a card of code is, the rest stays code.

    Raises:
        Refused: nothing of it can be drawn.
    """
    target = draw_code(graph, item)
    if target is None:
        raise Refused("Nothing of this card can be drawn: it stays code.")
    return edits_to(graph, target)


def _laid_out(recipe: Callable[[Graph, ItemId], Edits], graph: Graph, item: ItemId) -> Edits:
    target = graph.copy()
    apply_all(target, recipe(graph, item))
    target.places = stable_layout(graph, target)
    return edits_between(graph, target)
