"""Steps of a recurrent layer that are taken along the wrong dimension: time and batch are exchanged."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

RECURRENT = frozenset({"RNN", "LSTM", "GRU"})
FULL, LAST = ":", "-1"


def exchanged_time(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """The last of the batch where the last step in time is meant."""
    source, node = view.source(item, ("a",)), view.node(item)
    if source is None or node is None or source.output:
        return
    chosen = [node.literals.get(f"index.{k}", "") for k in range(2)]
    at = 0 if chosen[0] == LAST else 1
    if chosen[at] != LAST or chosen[:at] != [FULL] * at:
        return
    stage = next(view.stages(source.item, source.output), None)
    if stage is None or stage.word not in RECURRENT:
        return
    is_batch_first = stage.node.literals.get("batch_first") == "True"
    record = lookup(source.item, 0)
    if at == is_batch_first or (isinstance(record, TensorRecord) and len(record.summary.shape) != 3):
        return
    layer, taken = stage.word, "[-1]" if at == 0 else "[:, -1]"
    order = "(batch, time, features)" if is_batch_first else "(time, batch, features)"
    out = "Take [:, -1]." if is_batch_first else "Make it with batch_first=True, or take [-1]."
    yield Finding(
        "mixed_dimensions",
        "warning",
        item,
        f"{taken} behind {layer} takes the last example, not the last step: it gives {order} "
        f"{'with' if is_batch_first else 'without'} batch_first",
        f"The results of all examples but one are thrown away, or, where a batch goes in as (batch, time, features), "
        f"the {layer} walks along the batch. {out}",
        tuple(dict.fromkeys((item, source.item))),
    )
