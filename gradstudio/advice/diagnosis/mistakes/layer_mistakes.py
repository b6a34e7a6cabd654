"""Layers that are made where they cannot learn, that are one where two were meant, or that drop out always."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import CONTAINER, ProgramView, layers_of
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.module_modes import has_parameters
from gradstudio.graph.analysis.program_analysis import effects
from gradstudio.graph.card_grouping import EVAL, TRAIN, makes_module
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.names import title
from gradstudio.graph.operator_rows import row_of
from gradstudio.operators.model import Effect

DROPOUTS = frozenset("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split())
OPTIMIZERS = "torch.optim."
FUNCTIONAL = "torch.nn.functional."


def always_drops(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A dropout as a function that is not told of the mode, in a program that evaluates."""
    node, place = view.node(item), view.place(item)
    if node is None or place is None or not node.operator.startswith(FUNCTIONAL):
        return
    is_told = "training" in node.literals or place.graph.wire_into(place.item, "training") is not None
    evaluates = any(one.operator in (EVAL, TRAIN) for one in view.graph.nodes.values())
    if is_told or not evaluates:
        return
    yield Finding(
        "always_drops",
        "warning",
        item,
        f"{word} in {view.name(item)} drops out in evaluation, too: as a function it does not know of eval()",
        "Its argument `training` is True unless it is given. Write training=self.training, or use nn.Dropout, which "
        "follows the mode of the model.",
        (item,),
    )


def of_layers(graph: Graph) -> Iterator[Finding]:
    """Layers and optimizers that are made anew in each turn of training, and layers that a container has twice."""
    training = _training_loops(graph)
    for item, node in graph.nodes.items():
        if node.muted or node.bypassed:
            continue
        if node.operator == CONTAINER:
            yield from _shared(graph, item)
        operator = row_of(graph, node) if training else None
        if operator is not None and operator.constructs:
            around = graph.ancestors(item)
            loop = next((ItemId(body) for body in around if ItemId(body) in training), None)
            if loop is not None:
                yield from _made_each_turn(graph, item, loop)


def _made_each_turn(graph: Graph, item: ItemId, loop: ItemId) -> Iterator[Finding]:
    node, name = graph.nodes[item], title(graph, item)
    if node.operator.startswith(OPTIMIZERS) and "lr_scheduler" not in node.operator:
        why = "What it keeps from step to step (momentum, Adam's averages) begins from nothing each time."
    elif makes_module(row_of(graph, node)) and has_parameters(graph, item):
        why = "Its weights begin at random each time, so nothing is learnt from one turn to the next."
    else:
        return
    yield Finding(
        "made_each_turn",
        "warning",
        item,
        f"{name} is made anew in each turn of {title(graph, loop)}",
        f"{why} Make it once, before the loop.",
        (item, loop),
    )


def _shared(graph: Graph, container: ItemId) -> Iterator[Finding]:
    """A layer with weights that stands twice in one container."""
    layers = [layer.id for layer in layers_of(graph, container)]
    twice = [layer for layer in dict.fromkeys(layers) if layers.count(layer) > 1 and has_parameters(graph, layer)]
    for layer in twice:
        name = title(graph, layer)
        yield Finding(
            "shared_layer",
            "warning",
            container,
            f"{name} is in {title(graph, container)} {layers.count(layer)} times: the same weights, not copies",
            "Every place of a container that is given one layer shares it, and its gradients add up. Make a layer for "
            "each place where they are to learn different things.",
            (container, layer),
        )


def _training_loops(graph: Graph) -> frozenset[ItemId]:
    """Loops with a backward in them, at whatever depth."""
    found: set[ItemId] = set()
    loops = [block for block in graph.blocks.values() if block.kind == "for"]
    for item in graph.nodes if loops else ():
        if Effect.BACKWARD in effects(graph, item):
            found.update(ItemId(body) for body in graph.ancestors(item) if body != ROOT)
    return frozenset(loop.id for loop in loops if loop.id in found and BodyId(loop.id) in graph.bodies)
