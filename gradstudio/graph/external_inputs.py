"""What flowed into a copied part from outside of it: remembered with the copy, found again where it is pasted."""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.model import DEFINITION_INPUTS, BodyId, Graph, ItemId, Wire
from gradstudio.graph.text.item_titles import title


class ExternalInput(msgspec.Struct, frozen=True):
    """A wire into a part from outside.

    Attributes:
        source, output: where it began; `name` and `operator` of that tell it again elsewhere.
        target, port: where it ends, in the part.
    """

    source: ItemId
    output: int
    name: str
    operator: str
    target: ItemId
    port: str


def external_inputs(graph: Graph, items: Iterable[ItemId]) -> tuple[ExternalInput, ...]:
    """The wires from outside into these items, and into what their blocks hold."""
    chosen = dict.fromkeys(item for item in items if item in graph)
    for block in [item for item in chosen if item in graph.blocks]:
        chosen |= dict.fromkeys(graph.order(BodyId(block)))
    wires = (wire for item in chosen for wire in graph.wires_to(item) if wire.source not in chosen)
    return tuple(
        ExternalInput(wire.source, wire.output, *_known_by(graph, wire.source, wire.output), wire.target, wire.port)
        for wire in wires
    )


def reconnecting_wires(graph: Graph, outside: Iterable[ExternalInput]) -> tuple[Wire, ...]:
    """The wires of which the beginning is here: the same node or input, else the last that binds the name."""
    last = {
        name: (DEFINITION_INPUTS, k) for k, name in enumerate(graph.edges.inputs if graph.edges is not None else ())
    }
    for item in graph.order():
        if (node := graph.nodes.get(item)) is not None:
            last |= {name: (item, k) for k, name in enumerate(node.names) if name != "_"}
    wires = []
    for one in outside:
        source = (one.source, one.output) if _is_same(graph, one) else last.get(one.name)
        if source is not None:
            wires.append(Wire(*source, one.target, one.port))
    return tuple(wires)


def _is_same(graph: Graph, outside: ExternalInput) -> bool:
    """Whether what it began at is here: a node of that operator, or the group's input of that name."""
    name, operator = _known_by(graph, outside.source, outside.output)
    if outside.source == DEFINITION_INPUTS:
        return bool(name) and name == outside.name
    return outside.source in graph and operator == outside.operator


def end_words(part: Graph, outside: ExternalInput) -> str:
    """The input at which it ended."""
    return f"'{outside.port}' of {title(part, outside.target)}"


def _known_by(graph: Graph, source: ItemId, output: int) -> tuple[str, str]:
    """Name of the result, and the operator (or the kind of the block; none of an input of a group)."""
    if source == DEFINITION_INPUTS and graph.edges is not None:
        return (graph.edges.inputs[output] if output < len(graph.edges.inputs) else ""), ""
    if (block := graph.blocks.get(source)) is not None:
        names = (block.variable, *block.carried)
        return (names[output] if output < len(names) else ""), block.kind
    node = graph.nodes.get(source)
    if node is None:
        return "", ""
    name = node.names[output] if output < len(node.names) else ""
    return ("" if name == "_" else name), node.operator
