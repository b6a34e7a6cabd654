"""Recipe that changes a layer's width together with those of the layers that take what it gives."""

from collections.abc import Iterator
from typing import Final

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.recipes.nodes import set_literal

GIVEN: Final = frozenset({"out_features", "out_channels", "embedding_dim", "hidden_size"})
"""Arguments that say how wide a layer's result is."""
TAKEN: Final = ("in_features", "in_channels", "num_features", "num_channels", "normalized_shape", "input_size")
"""Arguments that say how wide is what a layer is called with."""
MEMBER: Final = "args."
RESHAPING: Final = frozenset({"Flatten", "Unflatten", "PixelShuffle", "Fold", "Unfold"})
KEEPING: Final = frozenset(
    "relu relu_ relu6 leaky_relu elu selu celu gelu silu mish sigmoid tanh softplus hardtanh hardswish softmax dropout "
    "dropout2d batch_norm layer_norm normalize max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool2d add sub "
    "mul truediv add_ mul_ clamp sin cos exp square detach clone contiguous log_softmax".split()
)
"""Operators whose result is as wide as what they are given."""


def set_literal_and_widths(graph: Graph, item: ItemId, path: str, text: str) -> Edits:
    """Set an argument; where it is a layer's width, so do the layers that take its result at that width.

    Raises:
        Refused: an argument does not take its value.
    """
    edits = set_literal(graph, item, path, text)
    node = graph.nodes.get(item)
    if node is None or path not in GIVEN or not node.operator.startswith("torch.nn."):
        return edits
    trial = graph.copy()
    apply_all(trial, edits)
    for taker, argument in dict.fromkeys(_takers(graph, item, node.literals.get(path, ""))):
        more = set_literal(trial, taker, argument, text)
        apply_all(trial, more)
        edits = (*edits, *more)
    return edits


def _takers(graph: Graph, layer: ItemId, width: str) -> Iterator[tuple[ItemId, str]]:
    """The layers, and which argument of them, that take what a layer gives, through all that keeps its width."""
    ways, seen = list(graph.wires_from(layer)), set[Wire]()
    while ways:
        wire = ways.pop()
        if wire in seen or wire.target not in graph.nodes:
            continue
        seen.add(wire)
        taker, gives = _at(graph, wire)
        if taker is not None:
            yield from _taken(graph, taker, width)
        if gives is not None and (taker is None or _keeps(taker)):
            ways += graph.wires_from(gives)


def _at(graph: Graph, wire: Wire) -> tuple[Node | None, ItemId | None]:
    """The layer that takes what comes by a wire, and the node that gives what it makes of it; None: nobody knows."""
    target = graph.nodes[wire.target]
    if wire.port.startswith(MEMBER):
        member = _member_behind(graph, wire)
        return (member, member.id) if member is not None else (None, target.id)
    if wire.port != CALLED and target.operator == CALL:
        called = graph.wire_into(target.id, CALLED)
        maker = graph.nodes.get(called.source) if called is not None else None
        if maker is None:
            return None, None
        first = _first_member(graph, maker)
        return first, target.id if first is maker else first.id
    is_kept = wire.port == CALLED or target.operator.rpartition(".")[2] in KEEPING
    return None, target.id if is_kept else None


def _keeps(layer: Node) -> bool:
    """Whether what a layer gives is as wide as what it takes."""
    name = layer.operator.removeprefix("torch.nn.")
    return name != layer.operator and name not in RESHAPING and not GIVEN & layer.literals.keys()


def _member_behind(graph: Graph, wire: Wire) -> Node | None:
    """The member of a Sequential that comes behind another; None behind the last one."""
    number = int(wire.port.removeprefix(MEMBER)) + 1
    following = graph.wire_into(wire.target, f"{MEMBER}{number}")
    return _first_member(graph, graph.nodes[following.source]) if following is not None else None


def _first_member(graph: Graph, module: Node) -> Node:
    """The first member of a Sequential; another module itself."""
    first = graph.wire_into(module.id, f"{MEMBER}0")
    return graph.nodes.get(first.source, module) if first is not None else module


def _taken(graph: Graph, layer: Node, width: str) -> Iterator[tuple[ItemId, str]]:
    for argument in TAKEN:
        if layer.literals.get(argument) == width and graph.wire_into(layer.id, argument) is None:
            yield layer.id, argument
