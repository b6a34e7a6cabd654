"""Mistakes that torch runs without a word: seen in the graph and the known shapes, before a run and after."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.names import title
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.ports.module_calls import maker_of, origin
from gradstudio.protocol.messages.records import TensorRecord

ELEMENTWISE = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss MSELoss L1Loss SmoothL1Loss HuberLoss".split())
DIFFERENCES = frozenset({"operator.sub", "torch.sub", "torch.Tensor.sub"})
MEANT = frozenset("unsqueeze getitem expand expand_as view reshape sum mean amax amin max min".split())
"""What makes a dimension of size 1 on purpose, to let two tensors broadcast."""
SCORES, CHANCES = frozenset({"Linear", "linear", "relu", "ReLU", "matmul"}), frozenset({"softmax", "Softmax"})
OPTIMIZERS = "torch.optim."
CROSS, NLL = frozenset({"cross_entropy", "CrossEntropyLoss"}), frozenset({"nll_loss", "NLLLoss"})
FIRST, SECOND = ("inputs.0", "input", "a", "self"), ("inputs.1", "target", "b", "other")


def silent_mistakes(graph: Graph, lookup: Lookup) -> tuple[Finding, ...]:
    """All of them, in program order.

    Args:
        lookup: what is known of a value: its record, or what inference expects.
    """
    found = list[Finding]()
    suspects = {key for key in {node.operator for node in graph.nodes.values()} if _may_be_one(key)}
    for item, node in graph.nodes.items() if suspects else ():
        if node.operator in suspects and not node.bypassed:
            found += _of_node(graph, item, node, lookup)
    place = {item: k for k, item in enumerate(graph.order())} if found else {}
    return tuple(sorted(found, key=lambda finding: place[finding.node]))


def _may_be_one(key: str) -> bool:
    """Whether a node of an operator is looked at; of a called module, its class decides."""
    word = _word_of(key)
    is_loss = word in ELEMENTWISE or word in CROSS or word in NLL
    return is_loss or key == CALL or key in DIFFERENCES or key.startswith(OPTIMIZERS)


def _of_node(graph: Graph, item: ItemId, node: Node, lookup: Lookup) -> Iterator[Finding]:
    if node.operator.startswith(OPTIMIZERS):
        yield from _frozen(graph, item, lookup)
        return
    word = _word(graph, node)
    if word in ELEMENTWISE or node.operator in DIFFERENCES:
        yield from _broadcasts(graph, item, word, lookup)
    elif word in CROSS:
        yield from _twice_softmax(graph, item, word)
    elif word in NLL:
        yield from _no_logarithm(graph, item, word)


def _broadcasts(graph: Graph, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A column and a vector of one length: every element meets every other."""
    wires = [_wire(graph, item, ports) for ports in (FIRST, SECOND)]
    records = [lookup(wire.source, wire.output) if wire is not None else None for wire in wires]
    first, second = records
    if wires[0] is None or wires[1] is None:
        return
    if not isinstance(first, TensorRecord) or not isinstance(second, TensorRecord):
        return
    shapes = [first.summary.shape, second.summary.shape]
    if not _column_and_vector(*shapes) or (word not in ELEMENTWISE and first.requires_grad == second.requires_grad):
        return  # a difference of two tensors of one kind is as a rule meant: all pairs
    if word not in ELEMENTWISE and any(_is_meant(graph, wire) for wire in wires if wire is not None):
        return
    turned = wires[0] if second.requires_grad and not first.requires_grad else wires[1]
    name, many = title(graph, item), max(map(max, shapes))
    yield Finding(
        "broadcasts",
        "warning",
        item,
        f"{list(shapes[0])} and {list(shapes[1])} broadcast to {[many, many]} in {name}",
        f"A column and a vector of {many} elements do not meet element by element: each of one meets each of the "
        "other, so what is reduced later is the mean or sum of another table. torch does it without an error; "
        "both sides in one shape is what is nearly always meant.",
        (item, turned.source),
    )


def _twice_softmax(graph: Graph, item: ItemId, word: str) -> Iterator[Finding]:
    wire = _wire(graph, item, FIRST)
    if wire is not None and _word_at(graph, wire.source) in CHANCES:
        before = title(graph, wire.source)
        yield Finding(
            "twice_softmax",
            "warning",
            item,
            f"{word} gets probabilities ({before}), and takes their softmax once more",
            f"{word} contains log_softmax: it wants the scores as the last layer gives them. Of probabilities the loss "
            "stays large and its gradient small, and training is slow, without an error.",
            (item, wire.source),
        )


def _no_logarithm(graph: Graph, item: ItemId, word: str) -> Iterator[Finding]:
    wire = _wire(graph, item, FIRST)
    if wire is not None and _word_at(graph, wire.source) in SCORES | CHANCES:
        before = title(graph, wire.source)
        yield Finding(
            "no_logarithm",
            "warning",
            item,
            f"{word} wants logarithms of probabilities, and {before} gives none",
            f"{word} only picks the element of the right class and turns its sign. Put log_softmax in front of it, or "
            "use cross_entropy, which contains both.",
            (item, wire.source),
        )


def _frozen(graph: Graph, item: ItemId, lookup: Lookup) -> Iterator[Finding]:
    """A leaf that an optimizer is given and that never gets a gradient."""
    for wire in graph.wires_to(item):
        record = lookup(wire.source, wire.output) if wire.port.partition(".")[0] == "params" else None
        if isinstance(record, TensorRecord) and not record.requires_grad and not graph.wires_to(wire.source):
            name = title(graph, wire.source)
            yield Finding(
                "frozen_parameter",
                "warning",
                item,
                f"{title(graph, item)} is to update {name}, which does not require grad",
                f"{name} never gets a gradient, so a step leaves it as it is. Set its requires_grad to True, or do not "
                "give it to the optimizer.",
                (item, wire.source),
            )


# ------------------------------------------------------------------ helpers


def _wire(graph: Graph, item: ItemId, ports: tuple[str, ...]) -> Wire | None:
    return next((wire for port in ports if (wire := graph.wire_into(item, port)) is not None), None)


def _word(graph: Graph, node: Node) -> str:
    """The operator's word; of a called module, that of its class."""
    if node.operator != CALL:
        return _word_of(node.operator)
    made = maker_of(graph, node)
    return made.word if made is not None else ""


def _word_of(key: str) -> str:
    return key.partition(":")[0].rpartition(".")[2]


def _word_at(graph: Graph, item: ItemId) -> str:
    node = graph.nodes.get(item)
    node = origin(graph, node) if node is not None else None
    return _word(graph, node) if node is not None and not node.bypassed else ""


def _column_and_vector(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    column, vector = sorted((one, other), key=len, reverse=True)
    return len(column) == 2 and len(vector) == 1 and column == (vector[0], 1) and vector[0] > 1


def _is_meant(graph: Graph, wire: Wire) -> bool:
    operator = operator_of(graph, wire.source) if wire.source in graph.nodes else None
    return operator is not None and operator.word in MEANT
