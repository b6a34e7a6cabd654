"""The one number that a result is, such as a loss or an accuracy."""

from collections.abc import Sequence

from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.records import PlainRecord, Record, TensorRecord


def number_of(record: Record | None) -> float | None:
    """The number of a tensor without dimensions or of Python's own; None of everything else."""
    value: object = None
    if isinstance(record, TensorRecord) and not record.summary.shape:
        value = record.summary.value
    elif isinstance(record, PlainRecord):
        value = record.value
    return value if isinstance(value, float) else None


def result_numbers(graph: Graph, item: ItemId, outputs: Sequence[Record | None]) -> dict[str, float]:
    """What a node has computed that is one number, by name."""
    node = graph.nodes.get(item)
    names = node.names if node is not None and item in graph.incoming else ()
    numbers = {name: number_of(output) for name, output in zip(names, outputs, strict=False)}
    return {name: value for name, value in numbers.items() if value is not None}
