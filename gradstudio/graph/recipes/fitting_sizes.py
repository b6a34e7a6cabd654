"""Recipes that give a layer the size of what is wired into it, as long as nobody chose another."""

import msgspec

from gradstudio.graph.card_grouping import CALLED, card_groups
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.defaults import default_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.wiring.connection import connect
from gradstudio.operators.search.fitting_literals import Shape, layer_size


def connect_fitting(graph: Graph, source: ItemId, output: int, target: ItemId, port: str, shape: Shape | None) -> Edits:
    """A wire; a layer that is called with it takes its size from the `shape` that flows, if it is known.

    Raises:
        WireRefused: the rule-book forbids it; the message says why.
        Refused: no order of the statements allows it.
    """
    edits = connect(graph, source, output, target, port)
    if shape is None or port == CALLED:
        return edits
    trial = copy_with_index(graph)
    apply_all(trial, edits)
    return (*edits, *size_edits(trial, target, shape))


def size_edits(graph: Graph, call: ItemId, shape: Shape) -> Edits:
    """The size of a layer whose call is given that shape; nothing where a person chose one, or where it fits."""
    module = card_groups(graph).modules.get(call)
    if module is None:
        return ()
    node = graph.nodes[module]
    size = layer_size(node.operator, shape)
    if size is None:
        return ()
    argument, literal = size
    now = node.literals.get(argument, "")
    if now == literal or now != default_of(graph, module, argument) or graph.wire_into(module, argument) is not None:
        return ()
    draft = Draft(graph)
    draft.put(msgspec.structs.replace(node, literals={**node.literals, argument: literal}))
    return draft.finish()
