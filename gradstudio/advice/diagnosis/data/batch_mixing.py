"""Examples that are mixed on their way to a loss which compares each with its own target: by where rows come from."""

import ast
from collections.abc import Iterator

from gradstudio.advice.diagnosis.data.row_origins import REDUCTIONS, RowOrigins, Rows
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CROSS, DIFFERENCES, ELEMENTWISE, LOGITS, NLL, SECOND
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

READERS = frozenset({"RNN", "LSTM", "GRU", "MultiheadAttention", "TransformerEncoderLayer"})
"""Layers that go along dimension 0 unless they are told that the batch comes first."""
MIXING = (REDUCTIONS - {"norm"}) | READERS
LOSSES = CROSS | NLL | LOGITS | ELEMENTWISE | DIFFERENCES
FARTHEST, STACKED = 24, 3


def mixed_examples(view: ProgramView, lookup: Lookup, origins: RowOrigins, items: list[ItemId]) -> Iterator[Finding]:
    """Operators and layers that go over the rows of the data.

    Args:
        items: what may be one, by the words of `MIXING`.
    """
    for item in items:
        source = view.source(item, ("inputs.0", "self", "input", "query"))
        given = lookup(source.item, source.output) if source is not None else None
        if source is None or not isinstance(given, TensorRecord) or not _goes_over_rows(view, item, given):
            continue
        rows = origins.of(source.item, source.output)
        if rows is not None and _meets_own_targets(view, lookup, origins, item, rows):
            yield _finding(view, item, view.source_name(source))


def _finding(view: ProgramView, item: ItemId, name: str) -> Finding:
    word = view.word(item)
    if word in READERS:
        title = f"{word} goes along the examples: dimension 0 of {name} is the batch, and batch_first=True is missing"
        out = "Make the layer with batch_first=True, or give it (time, batch, features)."
    else:
        title = f"{view.applied(word, item)} goes over dimension 0, over the examples: every prediction is made of all"
        out = "Dimension 0 is the batch. To sum up the steps or places of each example, take dim=1."
    why = f"The loss behind it compares each prediction with the target of one example. {out}"
    return Finding("mixed_dimensions", "warning", item, title, why, (item,))


def _goes_over_rows(view: ProgramView, item: ItemId, given: TensorRecord) -> bool:
    """Whether it goes along dimension 0 of what it is given."""
    shape = given.summary.shape
    if view.word(item) in READERS:
        stage = next(view.stages(item, 0), None)
        is_table = len(shape) == STACKED and shape[1] > 1
        return stage is not None and is_table and "batch_first" not in stage.node.literals and _is_plain(view, item)
    node = view.node(item)
    if node is None or not given.requires_grad or len(shape) < STACKED:
        return False
    try:
        return bool(ast.literal_eval(node.literals.get("dim", "None")) in (0, -len(shape), (0,), [0]))
    except (ValueError, SyntaxError):
        return False


def _is_plain(view: ProgramView, item: ItemId) -> bool:
    """Whether no step is taken of its results at once: what is taken along the wrong dimension is told there."""
    return all(view.word(user) != "getitem" for user in view.followers(item, 0))


def _meets_own_targets(view: ProgramView, lookup: Lookup, origins: RowOrigins, item: ItemId, rows: Rows) -> bool:
    """Whether a loss compares what comes of it with one target for each of the rows."""
    todo, seen = [item], {item}
    while todo and len(seen) < FARTHEST:
        at = todo.pop(0)
        for user in view.followers(at):
            if user in seen:
                continue
            seen.add(user)
            target = origins.source(user, SECOND) if view.word(user) in LOSSES else None
            if target is not None and _is_paired(rows, target) and _is_one_each(view, lookup, user):
                return True
            others = (origins.of(one.item, one.output) for one in view.sources(user) if one.item != at)
            if not any(one is not None and _is_paired(rows, one) for one in others):
                todo.append(user)
    return False


def _is_one_each(view: ProgramView, lookup: Lookup, loss: ItemId) -> bool:
    """Whether a target is one number, or one row of few, for an example."""
    source = view.source(loss, SECOND)
    record = lookup(source.item, source.output) if source is not None else None
    return isinstance(record, TensorRecord) and 0 < len(record.summary.shape) < STACKED


def _is_paired(rows: Rows, target: Rows) -> bool:
    """Whether a row of one belongs to the row of the other at its place."""
    is_loaded = rows.loaded is not None and rows.loaded == target.loaded
    return is_loaded or (rows.made == target.made and rows.order == target.order)
