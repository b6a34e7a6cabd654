"""Arguments whose numbers are none that the operator means: measured, wherever they come from."""

import itertools
import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CHANCES, LOGARITHMS
from gradstudio.advice.diagnosis.program_view import ProgramView, is_call
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.card_grouping import CALLED
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Record, TensorRecord
from gradstudio.protocol.number_format import format_number

SIGNED = {
    "cosine_embedding_loss": ("target", "of two that differ"),
    "CosineEmbeddingLoss": ("inputs.2", "of two that differ"),
    "margin_ranking_loss": ("target", "where the second is to rank higher"),
    "MarginRankingLoss": ("inputs.2", "where the second is to rank higher"),
    "hinge_embedding_loss": ("target", "of two that differ"),
    "HingeEmbeddingLoss": ("inputs.1", "of two that differ"),
    "soft_margin_loss": ("target", "of the other class"),
    "SoftMarginLoss": ("inputs.1", "of the other class"),
}
"""Losses that take 1 and −1: where the target comes in, and what −1 says."""
WEIGHED = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})
COUNTS = frozenset({"bincount", "histc"})
CUTTING = frozenset("long int short byte to type floor trunc".split())
PASSING = frozenset("truediv div mul add float to getitem".split())
GUARDS = frozenset({"add", "clamp", "clip", "clamp_min"})
LEAST, FEW = 1e-3, 4
SMALLEST = {"float16": 2.0**-25}
"""By dtype, what becomes 0 with all that is smaller."""
MOST = 12


def signed_target(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Targets 1 and 0 for a loss that takes 1 and −1."""
    port, says = SIGNED[word]
    source = view.source(item, (port,))
    record = lookup(source.item, source.output) if source is not None else None
    if source is None or not isinstance(record, TensorRecord) or record.summary.minimum != 0:
        return
    if record.summary.maximum != 1:
        return
    yield Finding(
        "unsigned_target",
        "warning",
        item,
        f"{word} wants targets 1 and −1, and {view.source_name(source)} holds 1 and 0",
        f"−1 is the target {says}; of 0 the loss is something else, or nothing. Write 2 * target - 1.",
        (item, source.item),
    )


def places_for_mask(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """Whole numbers 0 and 1, as many as there are rows, where a mask is meant: they are taken as places."""
    node, data = view.node(item), view.source(item, ("a",))
    whole = lookup(data.item, data.output) if data is not None else None
    if node is None or not isinstance(whole, TensorRecord):
        return
    for source in view.sources(item):
        name, _, place = source.port.partition(".")
        record = lookup(source.item, source.output)
        if name != "index" or not isinstance(record, TensorRecord) or not place.isdigit():
            continue
        at, shape, numbers = int(place), whole.summary.shape, record.summary
        is_first = all(node.literals.get(f"index.{k}") == ":" for k in range(at))
        if not is_first or at >= len(shape) or numbers.shape != (shape[at],) or shape[at] < FEW:
            continue
        if "int" in numbers.dtype and numbers.minimum == 0 and numbers.maximum == 1 and shape[at] > FEW:
            called = view.source_name(source)
            yield Finding(
                "places_for_mask",
                "warning",
                item,
                f"{called} is no mask but places: [{called}] takes row 0 or row 1 for each of its {shape[at]} numbers",
                f"Only a tensor of bool chooses; whole numbers say which row is taken. Write {called}.bool().",
                (item, source.item),
            )


def filled_with_zero(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Scores that are filled with about 0 in front of their softmax."""
    node = view.node(item)
    texts = [node.literals.get(port, "") for port in ("value", "other", "self", "input")] if node is not None else []
    filling = next((text for text in texts if _is_small(text)), None)
    if filling is None:
        return
    todo, seen = [item], {item}
    while todo and len(seen) < MOST:
        for user in view.followers(todo.pop(0)):
            if view.word(user) in CHANCES | LOGARITHMS:
                yield _filled(view, item, user, word, filling)
                return
            if user not in seen and view.word(user) in PASSING:
                todo.append(user)
            seen.add(user)


def _filled(view: ProgramView, item: ItemId, user: ItemId, word: str, filling: str) -> Finding:
    chances = view.word(user)
    return Finding(
        "masked_with_zero",
        "warning",
        item,
        f"{view.applied(word, item)} makes masked scores {filling}, not −inf, in front of {chances}: exp({filling}) is "
        "1, so they still get weight",
        "A softmax leaves out what is −inf alone. Fill with float('-inf'), and leave at least one element of each row.",
        (item, user),
    )


def nothing_left(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Data of which a cast leaves one and the same number."""
    source = view.source(item, ("self", "input"))
    before, after = (lookup(source.item, source.output) if source is not None else None), lookup(item, 0)
    if source is None or not isinstance(before, TensorRecord) or not isinstance(after, TensorRecord):
        return
    old, new = before.summary, after.summary
    if before.requires_grad or "float" not in old.dtype or new.minimum is None or new.minimum != new.maximum:
        return
    if old.minimum is None or old.maximum is None or old.minimum == old.maximum or math.prod(old.shape) < FEW:
        return
    if old.nan or any(is_call(view, one) for one in view.behind(item, MOST)):
        return
    name = view.source_name(source)
    reach = f"{format_number(old.minimum, 3)} … {format_number(old.maximum, 3)}"
    yield Finding(
        "rounds_down",
        "warning",
        item,
        f"{view.applied(word, item)} makes all of {name} the number {new.minimum:g}: it lies in {reach}, and what is "
        "behind the point is cut off",
        "Nothing is left to learn from. Leave it a float, or scale it before.",
        (item, source.item),
    )


def weighs_the_frequent(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Weights of classes that grow with how often they are there."""
    called, at = view.source(item, (CALLED,)), item
    if called is not None:
        at, _ = view.resolve(called.item, called.output)
    source = view.source(at, ("weight",))
    weights = _numbers(lookup(source.item, source.output)) if source is not None else None
    if source is None or weights is None:
        return
    made, _ = view.resolve(source.item, source.output)
    for one in (made, *view.behind(made, MOST)):
        counts = _numbers(lookup(one, 0)) if view.word(one) in COUNTS else None
        if counts is None or len(counts) != len(weights) or len(set(counts)) < 2:
            continue
        pairs = itertools.combinations(zip(counts, weights, strict=True), 2)
        if all((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs if a[0] != b[0]):
            yield Finding(
                "weighs_the_frequent",
                "warning",
                source.item,
                f"{view.source_name(source)} weighs a class the more the more often it is there: {word} is to weigh "
                "the rare ones more",
                "With weights that grow with the counts the rare class counts less still. Take their inverse: "
                "counts.sum() / (len(counts) * counts).",
                (source.item, item),
            )
            return


def lost_guard(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A small number that is to keep a value from 0, and is 0 itself in the dtype of the value."""
    node, record = view.node(item), lookup(item, 0)
    smallest = SMALLEST.get(record.summary.dtype) if isinstance(record, TensorRecord) else None
    if node is None or smallest is None or not isinstance(record, TensorRecord):
        return
    text = next((node.literals[port] for port in ("b", "other", "min") if port in node.literals), "")
    if not _is_small(text) or not 0 < abs(float(text)) <= smallest:
        return
    dtype = record.summary.dtype
    yield Finding(
        "lost_guard",
        "warning",
        item,
        f"{text} is 0 in {dtype}: {view.applied(word, item)} keeps nothing away from 0",
        f"The smallest number of {dtype} above 0 is {2 * smallest:.1g}. Take a larger one, 1e-4 say, or compute this "
        "in float32.",
        (item,),
    )


def _numbers(record: Record | None) -> list[float] | None:
    """The numbers of a vector, where all of them are known."""
    if not isinstance(record, TensorRecord) or len(record.summary.shape) != 1:
        return None
    value = record.summary.value
    if not isinstance(value, list | tuple) or not all(isinstance(one, int | float) for one in value):
        return None
    return [float(one) for one in value]


def _is_small(text: str) -> bool:
    try:
        return abs(float(text)) < LEAST
    except ValueError:
        return False
