"""Which statement has written since into the memory of a value that is shown as it was. No Qt, no torch."""

from collections.abc import Iterable

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.shared_storage import storage_of, written_values
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.timeline.leaf_states import learns


def overwritten_by(graph: Graph, row: Row, output: int, later: Iterable[Row]) -> ItemId | None:
    """The last statement that wrote into a result's memory after it was recorded; None when it is as it was, or a leaf.

    A writer is told by its record, which shares the storage and is the first at a higher version; one that gives
    no result (``x[0] = 1``) by the program's text.

    Args:
        row: the execution whose result is shown.
        later: the executions behind it, in order, up to the moment that is looked at.
    """
    record = row.outputs[output] if output < len(row.outputs) else None
    if not isinstance(record, TensorRecord) or not record.storage or row.node not in graph or learns(record):
        return None
    base, version, writer = storage_of(graph, row.node, output), record.version or 0, None
    for other in later:
        now = max(
            (
                each.version or 0
                for each in other.outputs
                if isinstance(each, TensorRecord) and each.storage == record.storage
            ),
            default=-1,
        )
        is_writer = now > version or (
            not other.outputs and other.node in graph and base in written_values(graph, other.node)
        )
        if is_writer:
            writer, version = other.node, max(version, now)
    return writer
