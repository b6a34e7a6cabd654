"""Recipes that give a layer the size of what is wired into it, as long as nobody chose another."""

import msgspec

from gradstudio.graph.card_grouping import CALL, CALLED, card_groups
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.defaults import default_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.wiring.connection import connect
from gradstudio.operators.search.fitting_literals import Shape, layer_literals


def connect_fitting(graph: Graph, source: ItemId, output: int, target: ItemId, port: str, shape: Shape | None) -> Edits:
    """A wire; a layer that is called with it takes its size from the `shape` that flows, if it is known.

    Raises:
        WireRefused: the rule-book forbids it; the message says why.
        Refused: no order of the statements allows it.
    """
    edits = connect(graph, source, output, target, port)
    node = graph.nodes.get(target)
    if shape is None or port == CALLED or node is None or node.operator != CALL:
        return edits
    trial = copy_with_index(graph)
    apply_all(trial, edits)
    return (*edits, *size_edits(trial, target, shape))


def size_edits(graph: Graph, call: ItemId, shape: Shape) -> Edits:
    """The sizes of a layer whose call is given that shape; none that a person chose, or that fits."""
    module = card_groups(graph).modules.get(call)
    if module is None:
        return ()
    node = graph.nodes[module]
    literals = {
        argument: literal
        for argument, literal in layer_literals(node.operator, shape).items()
        if node.literals.get(argument, "") == default_of(graph, module, argument)
        and graph.wire_into(module, argument) is None
    }
    if all(node.literals.get(argument, "") == literal for argument, literal in literals.items()):
        return ()
    draft = Draft(graph)
    draft.put(msgspec.structs.replace(node, literals={**node.literals, **literals}))
    return draft.finish()
