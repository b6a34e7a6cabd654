"""Targets that a loss cannot mean: in the wrong place, out of reach, no chances, or known to the model."""

import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import (
    DIFFERENCES,
    FIRST,
    RECTIFIERS,
    REDUCING,
    SECOND,
    SIGMOIDS,
    computing_stage,
    is_choice,
    leads_to_backward,
    order_of,
)
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord
from gradstudio.protocol.number_format import format_number

NEAR = 1e-3
"""By so much rows of chances may miss 1."""
TANHS = frozenset({"tanh", "Tanh"})
MIXING = frozenset("add sub mul lerp cat stack where concat hstack".split())
"""What makes one example of several: then the order is that of both."""
JOINTS = frozenset("cat concat hstack column_stack".split())
FARTHEST = 24
ERROR_STEPS = REDUCING | {"pow", "square", "abs", "norm", "sqrt"}
"""What makes the error of a difference."""
ONES = frozenset({"1", "1.0", "1."})


def swapped(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Targets where the predictions belong: only what stands first is taken as scores."""
    sources, records = _operands(view, item, lookup)
    if records is None or records[0].requires_grad or not records[1].requires_grad:
        return
    first, second = (view.source_name(source) for source in sources)
    yield Finding(
        "swapped_target",
        "warning",
        item,
        f"{word} gets the target first ({first}) and the predictions second ({second}): they are swapped",
        f"{word}(input, target) takes scores first. Swapped, it takes the softmax or sigmoid of the target, and the "
        f"model is asked for the wrong thing, without an error. Write {word}({second}, {first}).",
        tuple(dict.fromkeys((item, *(source.item for source in sources)))),
    )


def no_chances(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A table of numbers as the target of cross_entropy whose rows are no chances."""
    sources, records = _operands(view, item, lookup)
    if records is None or records[1].requires_grad or not records[1].summary.dtype.startswith("float"):
        return
    target, scores = records[1].summary, records[0].summary.shape
    if target.shape != scores or len(scores) < 1 or target.mean is None or target.minimum is None:
        return
    total = target.mean * scores[0 if len(scores) == 1 else 1]
    if target.minimum >= 0 and abs(total - 1) < NEAR:
        return
    if len(scores) > 1 and scores[1] == 1:
        yield _one_class(view, item, word, sources[0], scores)
        return
    name = view.name(sources[1].item)
    yield Finding(
        "no_chances",
        "warning",
        item,
        f"{word} takes {name} as chances of the classes, and its rows do not sum to 1 (on average to "
        f"{format_number(total)})",
        "A float target of the shape of the scores is read as probabilities. Class numbers are whole numbers (long) of "
        "shape (N,); where several labels may be true, use binary_cross_entropy_with_logits.",
        (item, sources[1].item),
    )


def one_class(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A single score for each example, and class numbers as targets: the softmax of one score is 1."""
    sources, records = _scores_and_target(view, item, lookup)
    if records is None or records[1].summary.dtype.startswith("float"):
        return
    shape = records[0].summary.shape
    if not shape or shape[0 if len(shape) == 1 else 1] != 1:
        return
    yield _one_class(view, item, word, sources[0], shape)


def _one_class(view: ProgramView, item: ItemId, word: str, scores: Source, shape: tuple[int, ...]) -> Finding:
    return Finding(
        "one_class",
        "warning",
        item,
        f"{word} gets one score for each example ({view.source_name(scores)} is {list(shape)}): the loss is always 0",
        "Its softmax over a single class is 1 whatever the score is, so no gradient comes of it. Give it a score for "
        "each class (two for yes or no), or use binary_cross_entropy_with_logits with float targets.",
        tuple(dict.fromkeys((item, scores.item))),
    )


def out_of_reach(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Targets that an activation behind the last layer can never give."""
    sources, records = _scores_and_target(view, item, lookup, either_way=word in DIFFERENCES)
    if records is None or (word in DIFFERENCES and not _leads_to_loss(view, item, word)):
        return
    stage = computing_stage(view, sources[0].item, sources[0].output)
    reach = _reach(stage.word) if stage is not None else None
    low, high = records[1].summary.minimum, records[1].summary.maximum
    if stage is None or reach is None or low is None or high is None or (low >= reach[0] and high <= reach[1]):
        return
    beyond = low if low < reach[0] else high
    ends = "nothing below 0" if math.isinf(reach[1]) else f"nothing beyond {reach[0]:g} … {reach[1]:g}"
    yield Finding(
        "out_of_reach",
        "warning",
        item,
        f"{view.name(sources[0].item)} comes out of a {stage.word.lower()}, which gives {ends}, and the target reaches "
        f"{format_number(beyond)}",
        f"{'The loss' if word in DIFFERENCES else word} can never come near 0. Leave the activation behind the last "
        "layer away, or bring the targets into its range.",
        tuple(dict.fromkeys((item, sources[0].item, stage.item))),
    )


def beyond_chances(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Targets of a binary loss that are no chances: −1 and 1, or 1 and 2, where 0 and 1 are wanted."""
    sources, records = _scores_and_target(view, item, lookup)
    if records is None:
        return
    low, high = records[1].summary.minimum, records[1].summary.maximum
    if low is None or high is None or (low >= 0 and high <= 1):
        return
    name = view.name(sources[1].item)
    yield Finding(
        "no_chances",
        "warning",
        item,
        f"{word} wants targets from 0 to 1, and {name} holds {format_number(low)} … {format_number(high)}",
        "The target is the chance of the positive class. Beyond 0 … 1 the loss has no minimum: it falls below 0 and "
        f"the scores grow for ever. Bring the targets to 0 and 1, for −1 and 1 by ({name} + 1) / 2.",
        (item, sources[1].item),
    )


def scores_for_chances(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """The scores of a last layer where probabilities are wanted."""
    source = view.source(item, ("inputs.0", "input"))
    stage = computing_stage(view, source.item, source.output) if source is not None else None
    if source is None or stage is None or stage.word not in ("Linear", "linear"):
        return
    name = view.source_name(source)
    yield Finding(
        "no_chances",
        "warning",
        item,
        f"{word} wants probabilities, and {name} holds scores, as {stage.word} gives them",
        f"Scores are any numbers: beyond 0 … 1 {word} is refused or means nothing. Take the sigmoid in front of it, "
        "or use binary_cross_entropy_with_logits (BCEWithLogitsLoss), which contains it.",
        tuple(dict.fromkeys((item, source.item, stage.item))),
    )


def hinge_of_chances(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A margin loss, max(0, 1 − y · s), whose targets are 0 and 1 instead of −1 and 1."""
    margin = view.source(item, ("input", "self", "inputs.0"))
    product = view.source(margin.item, ("b", "other")) if margin is not None else None
    node = view.node(margin.item) if margin is not None else None
    if margin is None or product is None or node is None or view.word(margin.item) not in ("sub", "rsub"):
        return
    at, _ = view.resolve(product.item, product.output)
    if node.literals.get("a", "") not in ONES or view.word(at) != "mul":
        return
    factors = [(source, lookup(source.item, source.output)) for source in view.sources(at)]
    targets = [(source, record) for source, record in factors if isinstance(record, TensorRecord)]
    for source, record in targets:
        if record.requires_grad or len(targets) != 2 or not any(other.requires_grad for _, other in targets):
            continue
        if record.summary.minimum == 0 and record.summary.maximum == 1:
            name = view.source_name(source)
            yield Finding(
                "no_chances",
                "warning",
                item,
                f"A hinge loss wants targets −1 and 1, and {name} holds 0 and 1",
                "Where the target is 0 the margin is 1 whatever the score is: these examples give no gradient. "
                f"Write 2 * {name} - 1.",
                (item, source.item),
            )


def shuffled_inputs(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Inputs in a random order against targets that stand as they always did."""
    sources, records = _scores_and_target(view, item, lookup, either_way=word in DIFFERENCES)
    if records is None:
        return
    target = records[1].summary
    stages = list(view.stages(sources[0].item, sources[0].output))
    chosen = next((k for k, stage in enumerate(stages) if is_choice(view, stage)), None)
    order = order_of(view, sources[0])
    is_mixed = any(stage.word in MIXING for stage in stages[:chosen])
    if order is None or is_mixed or target.minimum == target.maximum or not _leads_to_loss(view, item, word):
        return
    if any(is_choice(view, stage) for stage in view.stages(sources[1].item, sources[1].output)):
        return
    behind = _behind(view, sources[1])
    if order in behind or any(_learns(lookup(one, 0)) for one in behind):
        return
    name = view.source_name(sources[1])
    who = "The loss" if word in DIFFERENCES else word
    yield Finding(
        "shuffled_apart",
        "warning",
        item,
        f"{who} compares shuffled inputs with targets that are not shuffled: {name} keeps its order",
        f"No example meets its own target, so nothing can be learnt. Take both by one order: x[order], {name}[order].",
        (item, sources[1].item, order),
    )


def leaked_target(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A target that is a column of what the model is given."""
    sources, records = _operands(view, item, lookup)
    if records is None or not records[0].requires_grad or not _is_column(records[1].summary):
        return
    target = view.resolve(sources[1].item, sources[1].output)
    for joint in _behind(view, sources[0]):
        record = lookup(joint, 0)
        if view.word(joint) not in JOINTS or not isinstance(record, TensorRecord) or record.requires_grad:
            continue
        parts = {view.resolve(source.item, source.output) for source in view.sources(joint)}
        if target in parts and len(parts) > 1:
            name = view.name(sources[1].item)
            yield Finding(
                "leaked_target",
                "warning",
                item,
                f"The target {name} is among the inputs: {view.name(joint)} holds it, and {word} compares with it",
                "The model only has to copy it, and cannot where the target is not known. Leave it out of the inputs.",
                (item, joint, target[0]),
            )
            return


# ------------------------------------------------------------------ helpers


def _operands(
    view: ProgramView, item: ItemId, lookup: Lookup
) -> tuple[list[Source], tuple[TensorRecord, TensorRecord] | None]:
    """What a loss compares, and what is known of it; None where that is not two tensors."""
    found = [view.source(item, ports) for ports in (FIRST, SECOND)]
    sources = [source for source in found if source is not None]
    records = [lookup(source.item, source.output) for source in sources]
    tensors = [record for record in records if isinstance(record, TensorRecord)]
    return sources, (tensors[0], tensors[1]) if len(tensors) == 2 else None


def _scores_and_target(
    view: ProgramView, item: ItemId, lookup: Lookup, *, either_way: bool = False
) -> tuple[list[Source], tuple[TensorRecord, TensorRecord] | None]:
    """What `_operands` says, where the first is learnt and the second is given; else None."""
    sources, records = _operands(view, item, lookup)
    if either_way and records is not None and records[1].requires_grad:
        sources, records = sources[::-1], records[::-1]
    is_so = records is not None and records[0].requires_grad and not records[1].requires_grad
    return sources, records if is_so else None


def _leads_to_loss(view: ProgramView, item: ItemId, word: str) -> bool:
    """Whether a backward begins from what is made of it; of a difference, by nothing but an error's steps."""
    return leads_to_backward(view, item, ERROR_STEPS if word in DIFFERENCES else frozenset())


def _learns(record: Record | None) -> bool:
    return isinstance(record, TensorRecord) and record.requires_grad


def _reach(word: str) -> tuple[float, float] | None:
    if word in RECTIFIERS:
        return 0.0, math.inf
    if word in SIGMOIDS:
        return 0.0, 1.0
    return (-1.0, 1.0) if word in TANHS else None


def _is_column(summary: Summary) -> bool:
    return len(summary.shape) == 1 or (len(summary.shape) == 2 and summary.shape[1] == 1)


def _behind(view: ProgramView, value: Source) -> list[ItemId]:
    """What a value is computed from, the nearest first."""
    made, _ = view.resolve(value.item, value.output)
    return [made, *view.behind(made, FARTHEST)]
