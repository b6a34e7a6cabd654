"""Layouts of cards, made from one another: a program says the same thing many times, under other names. No Qt."""

from typing import Final

from msgspec.structs import replace

from gradstudio.graph.card_grouping import makes_module
from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.text.item_titles import WRITING
from gradstudio.operators import model
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator
from gradstudio.scene.card.card_layout import CardLayout, Measure, card_layout
from gradstudio.scene.card.undrawn_inputs import STORED

MOST: Final = 4096
"""So many are kept."""
ELSEWHERE: Final = WRITING | {model.Face.ALIAS, model.Face.CALL, model.Face.GROUP}
"""Faces of operators whose cards say what stands elsewhere in the program."""
Likeness = tuple[object, ...]


class CardLayoutCache:
    """Makes layouts; what differs from one that was made before by its node and its name alone is cast from that."""

    def __init__(self, measure: Measure) -> None:
        """Nothing was made yet."""
        self._measure = measure
        self._known: dict[Likeness, tuple[Operator, CardLayout]] = {}

    def layout(self, graph: Graph, item: ItemId, expanded: bool, module: ItemId | None) -> CardLayout:
        """The layout of a node; of a call also that of its `module`, where the two share a card."""
        node = graph.nodes[item]
        operator = load().get(node.operator) if module is None else None
        if operator is None or not _stands_alone(operator, node):
            return card_layout(graph, item, self._measure, expanded, module)
        likeness = _likeness(graph, node, expanded)
        known = self._known.get(likeness)
        if known is not None and known[0] is operator:
            return _cast(known[1], node)
        made = card_layout(graph, item, self._measure, expanded)
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[likeness] = operator, made
        return made


def _stands_alone(operator: Operator, node: Node) -> bool:
    """Whether the card follows from the node and the wires into it, and from nothing else but the header."""
    if operator.face in ELSEWHERE or node.operator == STORED or makes_module(operator):
        return False
    return len(node.names) <= 1 or len(node.names) == len(operator.results)


def _likeness(graph: Graph, node: Node, expanded: bool) -> Likeness:
    """What two nodes have in common whose cards are the same but for one name."""
    return (
        node.operator,
        node.names if len(node.names) > 1 else len(node.names),
        *node.literals.items(),
        None,
        *node.lengths.items(),
        None,
        *[wire.port for wire in graph.incoming.get(node.id, ())],
        expanded,
        node.muted,
        node.bypassed,
        graph.header.device,
    )


def _cast(pattern: CardLayout, node: Node) -> CardLayout:
    item, names = node.id, node.names
    name = names[0] if len(names) == 1 else ""
    inputs = tuple([replace(row, owner=item) for row in pattern.inputs])
    outputs = [replace(row, owner=item) for row in pattern.outputs]
    if name and outputs:
        outputs[0] = replace(outputs[0], name=name)
    shown = name or pattern.names
    if shown == "_":
        shown = ""
    return replace(pattern, item=item, names=shown, inputs=inputs, outputs=tuple(outputs))
