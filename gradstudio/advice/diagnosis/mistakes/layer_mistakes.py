"""Layers that are one where two were meant, or that drop out always."""

import itertools
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import ELEMENTWISE
from gradstudio.advice.diagnosis.program_view import CONTAINER, ProgramView, layers_of, written_nodes
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import prefix_of
from gradstudio.graph.analysis.module_modes import has_parameters
from gradstudio.graph.card_grouping import CALLED, EVAL, TRAIN
from gradstudio.graph.model import ItemId, Node
from gradstudio.graph.text.item_titles import title

DROPOUTS = frozenset("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split())
DROPPING = frozenset({"dropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"})
CONTAINERS = frozenset({CONTAINER, "torch.nn.ModuleList"})
LAST = frozenset({"Linear", "linear"})
FUNCTIONAL = "torch.nn.functional."


def always_drops(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A dropout as a function that is not told of the mode, in a program that evaluates."""
    node, place = view.node(item), view.place(item)
    if node is None or place is None or not node.operator.startswith(FUNCTIONAL):
        return
    is_told = "training" in node.literals or place.graph.wire_into(place.item, "training") is not None
    evaluates = any(one.operator in (EVAL, TRAIN) for one in written_nodes(view.graph))
    if is_told or not evaluates:
        return
    yield Finding(
        "always_drops",
        "warning",
        item,
        f"{view.applied(word, item)} drops out in evaluation, too: as a function it does not know of eval()",
        "Its argument `training` is True unless it is given. Write training=self.training, or use nn.Dropout, which "
        "follows the mode of the model.",
        (item,),
    )


def drops_all(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A dropout whose chance to drop is 1."""
    here = itertools.takewhile(lambda one: one.item == item, view.stages(item, 0))
    dropping = next((one for one in here if one.word in DROPPING and _drops_all(one.node.literals)), None)
    if dropping is None:
        return
    yield Finding(
        "always_drops",
        "warning",
        item,
        f"{dropping.word} with p={dropping.node.literals['p']} drops everything: p is the chance to drop, not to keep",
        "While training nothing passes it, and no gradient comes back through it. Usual are 0.1 … 0.5.",
        (item,),
    )


def drops_scores(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A dropout between the last layer and a loss."""
    source = view.source(item, ("inputs.0", "input"))
    stages = list(itertools.islice(view.stages(source.item, source.output), 2)) if source is not None else []
    if (
        source is None
        or [one.word in group for one, group in zip(stages, (DROPPING, LAST), strict=False)] != [True] * 2
    ):
        return
    yield Finding(
        "always_drops",
        "warning",
        item,
        f"{word} gets scores behind a {stages[0].word}: it sets scores of classes to 0 at random"
        if word not in ELEMENTWISE
        else f"{word} gets predictions behind a {stages[0].word}: it sets predicted numbers to 0 at random",
        "What is dropped says nothing of the input, whatever it is: the loss stays large. Dropout belongs between "
        "layers, not behind the last one.",
        (item, source.item),
    )


def _drops_all(literals: dict[str, str]) -> bool:
    try:
        return float(literals.get("p", "0")) >= 1
    except ValueError:
        return False


def linear_upon_linear(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Two linear layers of a container with nothing between them, and no bottleneck either."""
    source = view.source(item, (CALLED,))
    maker = view.resolve(source.item, source.output)[0] if source is not None else item
    place = view.place(maker)
    layers = layers_of(place.graph, place.item) if place is not None else []
    for first, second in itertools.pairwise(layers):
        sizes = [_sizes(layer) for layer in (first, second)]
        if sizes[0] is None or sizes[1] is None or sizes[0][1] < min(sizes[0][0], sizes[1][1]):
            continue
        yield Finding(
            "linear_upon_linear",
            "warning",
            maker,
            f"{view.name(maker)} has Linear upon Linear without an activation between: together they are one Linear",
            "A product of matrices is a matrix, so the second one adds nothing that can be learnt. Put a ReLU "
            "between them.",
            (maker, item),
        )
        return


def _sizes(layer: Node) -> tuple[int, int] | None:
    """What goes into a Linear and comes out of it, where the text says so in numbers."""
    sizes = [layer.literals.get(name, "") for name in ("in_features", "out_features")]
    if not layer.operator.endswith(".Linear") or not all(size.isdigit() for size in sizes):
        return None
    return int(sizes[0]), int(sizes[1])


def shared_layers(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A layer with weights that stands twice in one container."""
    place, node = view.place(item), view.node(item)
    if place is None or node is None or node.operator not in CONTAINERS:
        return
    graph = place.graph
    layers = [layer.id for layer in layers_of(graph, place.item)]
    twice = [layer for layer in dict.fromkeys(layers) if layers.count(layer) > 1 and has_parameters(graph, layer)]
    for layer in twice:
        name = title(graph, layer)
        yield Finding(
            "shared_layer",
            "warning",
            item,
            f"{name} is in {title(graph, place.item)} {layers.count(layer)} times: the same weights, not copies",
            "Every place of a container that is given one layer shares it, and its gradients add up. Make a layer for "
            "each place where they are to learn different things.",
            (item, ItemId(prefix_of(item) + layer)),
        )
