"""Steps of a recurrent layer that are taken along the wrong dimension: time and batch are exchanged."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView, Stage
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import TUPLE
from gradstudio.graph.model import ItemId, Node
from gradstudio.protocol.messages.records import TensorRecord, TupleRecord

RECURRENT = frozenset({"RNN", "LSTM", "GRU"})
FULL, LAST = ":", "-1"
PADDING, PACKING, TURNING = "pad_sequence", "pack_padded_sequence", frozenset({"flip", "roll"})
WRITING = "setitem"


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


def read_padding(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """The last step of a recurrent layer that was given sequences of several lengths, filled up at their ends."""
    stages = list(view.stages(item, 0))
    words = [stage.word for stage in stages]
    if PACKING in words or TURNING.intersection(words) or not stages or stages[0].word != word:
        return
    padded = next((stage.item for stage in stages if _is_padded(view, stage, lookup)), None)
    if padded is None or stages[0].node.literals.get("bidirectional") == "True":
        return
    taken = next((one for one in _readers(view, item) if _is_last_step(view, one, stages[0].node)), None)
    if taken is None:
        return
    yield Finding(
        "counted_padding",
        "warning",
        taken,
        f"The last step of {word} is padding where a sequence is shorter: {view.name(padded)} is filled up at the end",
        f"The {word} goes on over the padding, and forgets. Give it pack_padded_sequence(x, lengths, "
        "enforce_sorted=False) and take its last state, or pick each sequence's own last step: "
        "out[torch.arange(n), lengths - 1].",
        tuple(dict.fromkeys((taken, item, padded))),
    )


def _is_padded(view: ProgramView, stage: Stage, lookup: Lookup) -> bool:
    """Whether a step of a computation fills up sequences of several lengths with something at their end."""
    if stage.word == PADDING:
        listed = view.source(stage.item, ("sequences",))
        record = lookup(listed.item, listed.output) if listed is not None else None
        items = record.items if isinstance(record, TupleRecord) else ()
        lengths = {one.summary.shape[:1] for one in items if isinstance(one, TensorRecord)}
        return len(lengths) != 1 and "left" not in stage.node.literals.get("padding_side", "")
    if stage.word != "zeros":
        return False
    writes = (user for user in view.followers(stage.item) if view.word(user) == WRITING)
    return any(_is_beginning(view, one) for one in writes)


def _is_beginning(view: ProgramView, write: ItemId) -> bool:
    """Whether as many steps of one row are written as there are: ``x[i, :n] = …``."""
    given = {source.port for source in view.sources(write)}
    return {"index.0", "index.1.stop"} <= given and "index.1.start" not in given


def _readers(view: ProgramView, layer: ItemId) -> Iterator[ItemId]:
    """What takes a result of a layer, also of those that were unpacked."""
    for user in view.followers(layer):
        node = view.node(user)
        yield from view.followers(user) if node is not None and node.operator == TUPLE else (user,)


def _is_last_step(view: ProgramView, user: ItemId, node: Node) -> bool:
    """Whether it takes the newest step of the results, or of the last state."""
    source, taken = view.source(user, ("a",)), view.node(user)
    if source is None or taken is None or view.word(user) != "getitem":
        return False
    at = 1 if source.output == 0 and node.literals.get("batch_first") == "True" else 0
    chosen = [taken.literals.get(f"index.{k}", "") for k in range(at + 1)]
    return chosen == [*[FULL] * at, LAST]
