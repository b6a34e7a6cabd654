"""What is known of a value now: the newest run's record, else what inference expects."""

from typing import TYPE_CHECKING

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Record
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
