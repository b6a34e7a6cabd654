"""Class numbers for which a model has no score: stored data with more classes than the last layer has outputs."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loop_mistakes import ENUMERATE, LOADER, TUPLE
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import FIRST
from gradstudio.advice.diagnosis.program_view import ProgramView, Stage
from gradstudio.advice.diagnosis.slips.data_slips import given_settings
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALLED
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

STORED, DATASET, SPLIT = "python.stored", "torch.utils.data.TensorDataset", "torch.utils.data.random_split"
KEEPS_LABELS = frozenset("view reshape flatten contiguous squeeze unsqueeze long to clone detach cpu cuda".split())
"""What hands every class number on as it is: a choice of rows may leave the largest out."""
KEEPS_CLASSES = frozenset("relu dropout tanh sigmoid softmax log_softmax logsoftmax gelu leaky_relu identity".split())
"""What may stand between the last layer and a loss: the classes stay as many."""
TARGET = ("inputs.1", "target")
MOST_STEPS = 16


class MissingOutputs(NamedTuple):
    """Scores of fewer classes than a target has.

    Attributes:
        scores: the value; `outputs`: for how many classes, which `layer` says where that is known.
        target: the stored tensor; `classes`: how many it has.
    """

    scores: tuple[ItemId, int]
    target: ItemId
    classes: int
    outputs: int
    layer: Stage | None


def missing_classes(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A stored target whose largest class number has no score: torch refuses it when a batch holds it."""
    missing = missing_outputs(view, item, lookup)
    if missing is None:
        return
    scores, wanted = view.source(item, FIRST), missing.classes
    assert scores is not None
    giver = _called(view, missing.layer.item) if missing.layer is not None else view.source_name(scores)
    yield Finding(
        "missing_classes",
        "warning",
        item,
        f"{view.name(missing.target)} has {wanted} classes, and {giver} gives {missing.outputs}",
        f"{word} takes the score of the right class, and torch refuses a batch that holds one without a score (Target "
        f"{wanted - 1} is out of bounds). Give the last layer {wanted} outputs; classes are counted from 0.",
        tuple(dict.fromkeys((item, scores.item, missing.target))),
    )


def missing_outputs(view: ProgramView, loss: ItemId, lookup: Lookup | None = None) -> MissingOutputs | None:
    """Where a loss has fewer scores than its stored target has classes; None where it has enough, or nobody knows."""
    scores, target = view.source(loss, FIRST), view.source(loss, TARGET)
    stored = stored_target(view, target) if target is not None else None
    if scores is None or stored is None or "ignore_index" in given_settings(view, loss):
        return None
    from gradstudio.document.data.stored_data import count_classes  # numpy: only where data are stored

    classes, (outputs, layer) = count_classes(view.graph, stored), _scores_of(view, scores, lookup or (lambda *_: None))
    if not 1 < outputs < classes:
        return None
    return MissingOutputs((scores.item, scores.output), stored, classes, outputs, layer)


def last_layer(view: ProgramView, item: ItemId, output: int) -> Stage | None:
    """The Linear layer whose outputs a value is, one for each class; None where something else comes first."""
    stages = (stage for stage in view.stages(item, output) if stage.word.lower() not in KEEPS_CLASSES)
    last = next(stages, None)
    return last if last is not None and last.word == "Linear" else None


def stored_target(view: ProgramView, value: Source) -> ItemId | None:
    """The stored tensor that a target is, or that a loader takes all its batches from; None where it is another."""
    step: Source | None = value
    for _ in range(MOST_STEPS):
        if step is None:
            return None
        at, output = view.resolve(step.item, step.output)
        operator = _operator(view, at)
        if operator == STORED:
            return at if at in view.graph.nodes else None
        if operator == TUPLE:
            step = _column(view, at, output)
        else:
            step = view.source(at, ("self", "input", "a")) if view.word(at) in KEEPS_LABELS else None
    return None


def _scores_of(view: ProgramView, scores: Source, lookup: Lookup) -> tuple[int, Stage | None]:
    """How many classes have a score, and the layer that says it; 0 where that is not known, or not in each row."""
    record = lookup(*view.resolve(scores.item, scores.output))
    shape = record.summary.shape if isinstance(record, TensorRecord) else None
    if shape is not None and len(shape) not in (1, 2):
        return 0, None
    layer = last_layer(view, scores.item, scores.output)
    outputs = layer.node.literals.get("out_features", "") if layer is not None else ""
    if outputs.isdigit():
        return int(outputs), layer
    return (shape[-1] if shape else 0), None


def _called(view: ProgramView, call: ItemId) -> str:
    """What a call calls, with the class that it stands in: "Net ▸ fc"."""
    module = view.source(call, (CALLED,))
    around, arrow, own = view.where(call).rpartition(" ▸ ")
    return around + arrow + (view.source_name(module) if module is not None else own)


def _column(view: ProgramView, names: ItemId, output: int) -> Source | None:
    """What a loader takes for one of the names of its batch."""
    batch = view.source(names, ("items",))
    is_counted = batch is not None and _operator(view, batch.item) == TUPLE
    if batch is not None and is_counted:
        batch = view.source(batch.item, ("items",)) if batch.output == 1 else None
    made = _maker(view, batch.item, "over") if batch is not None else None
    if made is not None and is_counted:
        made = _maker(view, made, "iterable") if _operator(view, made) == ENUMERATE else None
    if made is None or _operator(view, made) != LOADER or "collate_fn" in given_settings(view, made):
        return None
    data = _maker(view, made, "dataset")
    if data is not None and _operator(view, data) == TUPLE:
        split = _maker(view, data, "items")
        data = _maker(view, split, "dataset") if split is not None and _operator(view, split) == SPLIT else None
    is_rows = data is not None and _operator(view, data) == DATASET
    return view.source(data, (f"tensors.{output}",)) if data is not None and is_rows else None


def _maker(view: ProgramView, item: ItemId, port: str) -> ItemId | None:
    source = view.source(item, (port,))
    return view.resolve(source.item, source.output)[0] if source is not None else None


def _operator(view: ProgramView, item: ItemId) -> str:
    node = view.node(item)
    return node.operator if node is not None else ""
