"""What a field in place offers, and the sizes its dimensions are counted in. No Qt."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports
from gradstudio.operators.model import Kind, Parameter
from gradstudio.protocol.messages.records import ArrayRecord, TensorRecord
from gradstudio.scene.results import Results

TENSORS = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_OR_NUMBER, Kind.ANY})


def sizes_of(graph: Graph, results: Results, item: ItemId) -> tuple[int, ...] | None:
    """Sizes of the tensor in whose dimensions an item counts; None while they are not known.

    It is the first tensor wired into it; its result where that has a dimension more (``unsqueeze``, ``stack``).
    """
    for port in input_ports(graph, item) if item in graph else ():
        wire = graph.wire_into(item, port.path)
        if wire is None or port.parameter.kind not in TENSORS:
            continue
        sizes = _shape(results, wire.source, wire.output)
        made = _shape(results, item, 0)
        return made if sizes is not None and made is not None and len(made) == len(sizes) + 1 else sizes
    return None


def _shape(results: Results, node: ItemId, output: int) -> tuple[int, ...] | None:
    inferred = results.inference(node, output)
    if inferred is not None and inferred.shape is not None:
        return inferred.shape
    records = results.outputs(node) or ()
    if output < len(records):
        match records[output]:
            case TensorRecord(summary=summary):
                return summary.whole_shape
            case ArrayRecord(shape=shape):
                return shape
    return None


def is_switch(parameter: Parameter) -> bool:
    """Whether a click turns it on and off instead of opening a list."""
    return parameter.kind is Kind.BOOL and not parameter.nullable and not parameter.choices


def toggle_literal(literal: str, default: str | None) -> str:
    """The other value of a switch; torch's default is left unsaid."""
    now = literal or default or "False"
    other = "False" if now == "True" else "True"
    return "" if other == default else other
