"""What is known of a value now: the newest run's record, else what inference expects; and what is as it was then."""

from typing import TYPE_CHECKING

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord
from gradstudio.protocol.timeline.leaf_states import learns
from gradstudio.ui.state.results.result_store import ResultStore

if TYPE_CHECKING:
    from gradstudio.advice.failure_case import Lookup


def latest_values(results: ResultStore) -> "Lookup":
    """Asks the results of an item's output, whatever moment is looked at.

    Of a run that is stale, only what inference says counts.
    """

    def look(item: ItemId, output: int) -> Record | None:
        row = results.timeline.row(results.ids.full(item)) if not results.tables.is_stale else None
        outputs = row.outputs if row is not None else None
        if outputs is not None and output < len(outputs):
            return outputs[output]
        from gradstudio.advice.explanation import expected_record

        return expected_record(results.inference(item, output))

    return look


def is_as_now(results: ResultStore, node: ItemId, output: int, path: str, grad: bool) -> bool:
    """Whether a value, or its gradient, is at the moment what the run holds now: its numbers can be had."""
    full, line = results.ids.full(node), results.timeline
    if results.moment is None:
        return True
    if grad:
        return results.grad(node, output, path) == line.grad(full, output, path)
    row = results.row(node)
    if row is None or row is not line.row(full) or output >= len(row.outputs):
        return False
    made: Record | None = row.outputs[output]
    if isinstance(made, ModuleRecord):
        made = made.parameters.get(path)
    if not isinstance(made, TensorRecord):
        return False
    if learns(made):
        left = results.left_by(node, output, path)
        return (left.index if left is not None else -1) == line.leaf_since(made)
    return not path and not _is_written_later(results, row, made.storage)


def _is_written_later(results: ResultStore, row: Row, storage: int) -> bool:
    """Whether a statement behind that of the row gave something that lies in a storage."""
    newest = [line for holder in results.timeline.holders(storage) if (line := results.timeline.row(holder))]
    return any(one.step > row.step and _holds(one, storage) for one in newest)


def _holds(row: Row, storage: int) -> bool:
    return any(isinstance(record, TensorRecord) and record.storage == storage for record in row.outputs)
