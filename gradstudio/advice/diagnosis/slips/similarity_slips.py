"""Similarities as the scores of a loss: too narrow a range to tell classes apart, and each example with itself."""

import math
from collections.abc import Iterator, Set

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import PlainRecord, TensorRecord

PRODUCTS = frozenset("matmul mm bmm".split())
NORMALISING = frozenset({"normalize"})
COSINES = frozenset("cosine_similarity CosineSimilarity".split())
BOUNDED = frozenset("tanh Tanh".split())
TURNED = frozenset("T mT t transpose permute".split())
LAYOUT = frozenset("squeeze unsqueeze view reshape flatten contiguous float transpose permute T t".split())
SCALES = frozenset("mul div truediv".split())
FIRST, SECOND = ("a", "self", "input", "x1", "inputs.0"), ("b", "other", "mat2", "x2", "inputs.1")
TABLE, FAR = 2, 12
WIDE_ENOUGH = 0.6
"""Of the loss of a guess, what is to be within reach."""


def narrow_scores(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Scores that are bound so narrowly that the loss cannot fall to much less than that of a guess."""
    source = view.source(item, ("inputs.0", "input"))
    scores = lookup(source.item, source.output) if source is not None else None
    if source is None or not isinstance(scores, TensorRecord) or len(scores.summary.shape) != TABLE:
        return
    count, bound = scores.summary.shape[1], _bound(view, source, lookup)
    if bound is None or count < TABLE or not scores.requires_grad:
        return
    least, guess = math.log1p((count - 1) * math.exp(-2 * bound)), math.log(count)
    if least < WIDE_ENOUGH * guess:
        return
    name = view.source_name(source)
    yield Finding(
        "unscaled",
        "warning",
        item,
        f"The scores {name} lie within ±{bound:.3g}: with {count} classes {word} cannot fall below {least:.3g} "
        f"(a guess has {guess:.3g})",
        "A softmax of numbers that are nearly the same is nearly flat. Cosines are divided by a temperature below 1 "
        "(0.05 … 0.5), not multiplied by it; other scores have no bound.",
        (item, source.item),
    )


def scores_of_itself(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A table of every example with every other in which each meets itself, and is most like itself."""
    given = view.source(item, ("inputs.0", "input"))
    table = _before(view, given, SCALES | {"float", "contiguous"})
    if given is None or table is None or view.word(table[0]) not in PRODUCTS | COSINES:
        return  # masked, or some were chosen
    record = lookup(*table)
    if not isinstance(record, TensorRecord) or not record.requires_grad:
        return
    shape = record.summary.shape
    if len(shape) != TABLE or shape[0] != shape[1] or shape[0] <= TABLE or not _is_with_itself(view, table[0]):
        return
    name = view.source_name(given)
    yield Finding(
        "wrong_choice",
        "warning",
        item,
        f"{name} compares each example with itself, too: its diagonal is the largest score of each row, and {word} "
        "takes it for one of the others",
        "An example is most like itself, whatever is learnt. Leave the diagonal out: "
        "scores.fill_diagonal_(float('-inf')), or masked_fill with torch.eye(n, dtype=torch.bool).",
        (item, table[0]),
    )


def _is_with_itself(view: ProgramView, product: ItemId) -> bool:
    """Whether a product is of a value with its own transpose, or a table of cosines of all pairs."""
    sides = [view.source(product, ports) for ports in (FIRST, SECOND)]
    first, second = (_before(view, side, TURNED | {"unsqueeze"}) for side in sides)
    return first is not None and first == second


def _before(view: ProgramView, source: Source | None, words: Set[str]) -> tuple[ItemId, int] | None:
    """The output that a value is of, before these were applied to it; None where nothing computes it."""
    for _ in range(FAR):
        if source is None:
            return None
        at, output = view.resolve(source.item, source.output)
        if view.word(at) not in words:
            return at, output
        source = view.source(at, FIRST)
    return None


def _bound(view: ProgramView, source: Source, lookup: Lookup) -> float | None:
    """The largest magnitude that scores can have by how they are made; None where there is no such bound."""
    factor = 1.0
    for _ in range(FAR):
        at, output = view.resolve(source.item, source.output)
        word = next((stage.word for stage in view.stages(at, output)), "")
        if word in COSINES | BOUNDED:
            return factor
        if word in PRODUCTS:
            sides = [view.source(at, ports) for ports in (FIRST, SECOND)]
            return factor if all(one is not None and _is_unit(view, one) for one in sides) else None
        if word in SCALES and (scale := _scale(view, at, word, lookup)) is not None:
            factor *= scale
        elif word not in LAYOUT:
            return None
        given = (one for ports in (FIRST, SECOND) if (one := view.source(at, ports)) is not None)
        before = next((one for one in given if not _is_number(view, one, lookup)), None)
        if before is None:
            return None
        source = before
    return None


def _is_unit(view: ProgramView, source: Source) -> bool:
    """Whether its rows are of length 1."""
    made = _before(view, source, LAYOUT)
    return made is not None and view.word(made[0]) in NORMALISING


def _scale(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> float | None:
    """By what a product or a quotient scales, where that is one number that does not learn."""
    sides = [_number(view, item, ports, lookup) for ports in (FIRST, SECOND)]
    if word == "mul":
        return next((abs(one) for one in sides if one is not None), None)
    return abs(1 / sides[1]) if sides[1] else None


def _is_number(view: ProgramView, source: Source, lookup: Lookup) -> bool:
    return isinstance(lookup(*view.resolve(source.item, source.output)), PlainRecord)


def _number(view: ProgramView, item: ItemId, ports: tuple[str, ...], lookup: Lookup) -> float | None:
    source, node = view.source(item, ports), view.node(item)
    if source is not None:
        record = lookup(*view.resolve(source.item, source.output))
        if isinstance(record, PlainRecord) and isinstance(record.value, int | float):
            return float(record.value)
        return None
    text = next((node.literals[port] for port in ports if port in node.literals), "") if node is not None else ""
    try:
        return float(text)
    except ValueError:
        return None
