"""Activations that are applied to what they cannot mend: to themselves, or to scores that saturate them."""

import math
from collections.abc import Container, Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CHANCES, LOGARITHMS, SIGMOIDS, computing_stage
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.graph.names import value_words
from gradstudio.protocol.messages.records import Record, TensorRecord
from gradstudio.protocol.number_format import format_number

PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum"})
LEAST_WIDTH = 16
APART, FAR_APART, ONE_HOT = 20.0, 60.0, 0.8
"""Scores that reach so far apart make a softmax choose one, and its slope vanishes."""
FIRST = ("inputs.0", "input", "a", "self")
GIVERS = ("a", "input", "self")


def doubled(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A sigmoid of a sigmoid, a softmax of a softmax: the layer before has applied it already."""
    source = view.source(item, FIRST)
    stage = computing_stage(view, source.item, source.output) if source is not None else None
    is_sigmoid = word in SIGMOIDS
    again = SIGMOIDS if is_sigmoid else CHANCES
    if source is None or stage is None or stage.word not in again or _is_one_of_many(view, item, stage.item, again):
        return
    name, before = word.lower().replace("logsoftmax", "log_softmax"), stage.word.lower()
    narrow = "between 0.5 and 0.73" if is_sigmoid else "nearly alike"
    yield Finding(
        "twice_sigmoid" if is_sigmoid else "twice_softmax",
        "warning",
        item,
        f"{name} is applied to the results of a {before} ({view.source_name(source)}): it is taken twice",
        f"What goes in lies between 0 and 1 already, so what comes out is {narrow}, the loss cannot come near 0, and "
        "gradients are small. Take one of the two away.",
        tuple(dict.fromkeys((item, source.item, stage.item))),
    )


def _is_one_of_many(view: ProgramView, item: ItemId, before: ItemId, again: Container[str]) -> bool:
    """Whether three or more stand in a row: a chain that shows how gradients vanish, and nobody's slip."""
    source = view.source(before, FIRST)
    third = computing_stage(view, source.item, source.output) if source is not None else None
    return (third is not None and third.word in again) or any(view.word(one) in again for one in view.followers(item))


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
    if not scores.requires_grad or low is None or high is None or width < LEAST_WIDTH:
        return
    if high - low < (APART if _is_one_hot(lookup(item, 0)) else FAR_APART):
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


def masked_with_zero(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Scores that a mask of zeros and ones multiplies in front of their softmax: 0 is a score like another."""
    source = view.source(item, FIRST)
    product = view.resolve(source.item, source.output)[0] if source is not None else None
    if product is None or view.word(product) != "mul":
        return
    given = [(one, lookup(*view.resolve(one.item, one.output))) for one in view.sources(product)]
    masks = [one for one, record in given if _is_mask(record)]
    learns = any(isinstance(record, TensorRecord) and record.requires_grad for _, record in given)
    if len(masks) != 1 or not learns or any(view.word(user) == "mul" for user in view.followers(item)):
        return
    name = value_words(view.name(masks[0].item))
    yield Finding(
        "masked_with_zero",
        "warning",
        product,
        f"{name} makes masked scores 0, not −inf, in front of {word}: exp(0) is 1, so they still get weight",
        "A softmax leaves out what is −inf alone. Write scores.masked_fill(mask == 0, float('-inf')), and leave at "
        "least one element of each row.",
        (product, item, masks[0].item),
    )


def _is_mask(record: Record | None) -> bool:
    """Whether it holds zeros and ones, and both."""
    if not isinstance(record, TensorRecord) or record.requires_grad or not record.summary.shape:
        return False
    summary = record.summary
    if summary.minimum != 0 or summary.maximum != 1 or not summary.mean or summary.rms is None:
        return False
    return math.isclose(summary.rms**2, summary.mean, rel_tol=1e-4)


def _is_one_hot(record: Record | None) -> bool:
    """Whether a softmax gives nearly all weight of a row to one of its elements."""
    if not isinstance(record, TensorRecord) or not record.summary.shape or record.summary.rms is None:
        return False
    return record.summary.rms**2 * record.summary.shape[-1] > ONE_HOT and record.summary.shape[-1] > 1


DOUBLED = SIGMOIDS | CHANCES | LOGARITHMS
