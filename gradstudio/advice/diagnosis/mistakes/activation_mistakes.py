"""Activations that are applied to what they cannot mend: to themselves, or to scores that saturate them."""

import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CHANCES, LOGARITHMS, SIGMOIDS, computing_stage
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.number_format import format_number

PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum"})
LEAST_WIDTH = 16
FAR_APART = 60.0
"""Scores that reach so far apart make a softmax choose one, and its slope vanishes."""
FIRST = ("inputs.0", "input", "a", "self")
GIVERS = ("a", "input", "self")


def doubled(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A sigmoid of a sigmoid, a softmax of a softmax: the layer before has applied it already."""
    source = view.source(item, FIRST)
    stage = computing_stage(view, source.item, source.output) if source is not None else None
    is_sigmoid = word in SIGMOIDS
    again = SIGMOIDS if is_sigmoid else CHANCES
    if source is None or stage is None or stage.word not in again:
        return
    name, before = word.lower().replace("logsoftmax", "log_softmax"), stage.word.lower()
    narrow = "between 0.5 and 0.73" if is_sigmoid else "nearly alike"
    yield Finding(
        "twice_sigmoid" if is_sigmoid else "twice_softmax",
        "warning",
        item,
        f"{name} is applied to the results of a {before} ({view.name(source.item)}): it is taken twice",
        f"What goes in lies between 0 and 1 already, so what comes out is {narrow}, the loss cannot come near 0, and "
        "gradients are small. Take one of the two away.",
        tuple(dict.fromkeys((item, source.item, stage.item))),
    )


def unscaled_scores(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A softmax of products of long vectors: they grow with the length, and the softmax saturates."""
    source = view.source(item, FIRST)
    stage = computing_stage(view, source.item, source.output) if source is not None else None
    if source is None or stage is None or stage.word not in PRODUCTS:
        return
    scores = lookup(stage.item, 0)
    given = view.source(stage.item, GIVERS)
    query = lookup(*view.resolve(given.item, given.output)) if given is not None else None
    if not isinstance(scores, TensorRecord) or not isinstance(query, TensorRecord) or not query.summary.shape:
        return
    low, high, width = scores.summary.minimum, scores.summary.maximum, query.summary.shape[-1]
    if not scores.requires_grad or low is None or high is None or width < LEAST_WIDTH or high - low < FAR_APART:
        return
    yield Finding(
        "saturated",
        "warning",
        item,
        f"The scores of this softmax are not divided by √{width}: they reach {format_number(low, 3)} … "
        f"{format_number(high, 3)}, and it saturates",
        f"A product of vectors of {width} numbers grows with √{width} ({format_number(math.sqrt(width), 3)}). Of "
        "scores so far apart a softmax gives one weight 1 and the others 0, and its gradient vanishes. Divide them by "
        f"√{width}.",
        (item, stage.item),
    )


DOUBLED = SIGMOIDS | CHANCES | LOGARITHMS
