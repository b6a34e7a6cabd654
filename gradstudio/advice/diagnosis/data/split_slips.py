"""Tests that know more, or less, than they may: rows that were trained on, and scales from the wrong rows."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.data.row_origins import RowOrigins, Rows, Statistic
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.modes import stands_cut
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.protocol.curve_titles import is_apart
from gradstudio.protocol.messages.records import TensorRecord

COMPARING = frozenset(
    "eq ne sub mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits MSELoss L1Loss SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss BCELoss "
    "BCEWithLogitsLoss".split()
)
NEAREST = 6


class _Use(NamedTuple):
    """A call of a model with rows of data; `name` is what a person calls them."""

    item: ItemId
    name: str
    rows: Rows


def split_slips(view: ProgramView, lookup: Lookup, origins: RowOrigins, calls: list[ItemId]) -> Iterator[Finding]:
    """What is wrong with the rows that a model is tested with.

    Args:
        calls: all that is called in the program.
    """
    trained, tested = list[_Use](), list[_Use]()
    for call in calls:
        record = lookup(call, 0)
        given = view.source(call, ("inputs.0",))
        if not isinstance(record, TensorRecord) or given is None or view.statement(call) != call:
            continue
        cut = stands_cut(view, call)
        if not (cut or record.requires_grad) or (cut and not _is_compared(view, call)):
            continue
        rows = origins.of(given.item, given.output)
        if rows is not None:
            (tested if cut else trained).append(_Use(call, view.source_name(given), rows))
    for use in tested:
        others = [one for one in trained if one.rows.made == use.rows.made]
        yield from _of_test(view, use, others)


def _of_test(view: ProgramView, use: _Use, trained: list[_Use]) -> Iterator[Finding]:
    """The first of what is wrong with one test."""
    is_test = is_apart(use.name) and not use.rows.is_whole
    if not is_test and any(one.rows.is_of(use.rows) and one.rows.holds(use.rows) for one in trained):
        return  # what was learnt is looked at, and that is no test
    data = view.name(use.rows.made[0], use.rows.made[1])
    for other in trained:
        if not other.rows.is_of(use.rows):
            continue
        if other.rows.meets(use.rows) and not use.rows.holds(other.rows):
            first, end = max(other.rows.first, use.rows.first), min(other.rows.end, use.rows.end)
            yield Finding(
                "leaked_test",
                "warning",
                use.item,
                f"Rows {first} … {end - 1} of {data} are trained on and tested with: {other.name} and "
                f"{use.name} overlap",
                "What a model has seen it may know by heart, so the test says too much good of it. Let the test begin "
                f"where the training ends: {data}[{other.rows.end}:].",
                (use.item, other.item),
            )
            return
        if other.rows.meets(use.rows):
            continue
        for statistic in use.rows.statistics:
            if _is_over_all(statistic, use.rows):
                yield _over_all(view, use, other, statistic)
                return
            if _is_own(statistic, use.rows) and any(_is_own(one, other.rows) for one in other.rows.statistics):
                yield _own(view, use, other, statistic)
                return


def _is_over_all(statistic: Statistic, rows: Rows) -> bool:
    return statistic.rows.made == rows.made and statistic.rows.is_whole and not rows.is_whole


def _is_own(statistic: Statistic, rows: Rows) -> bool:
    """Whether it was computed over these very rows, a part of the data."""
    return statistic.rows.is_of(rows) and statistic.rows[1:3] == rows[1:3] and not rows.is_whole


def _over_all(view: ProgramView, use: _Use, other: _Use, statistic: Statistic) -> Finding:
    given = view.source(statistic.item)
    data = view.source_name(given) if given is not None else view.name(statistic.item)
    what = view.applied(view.word(statistic.item), statistic.item)
    return Finding(
        "leaked_test",
        "warning",
        statistic.item,
        f"{what} is taken over all rows before the split, those of the test among them: {data} is scaled by what it is "
        "to be tested with",
        f"What the test looks like must not be known while training. Split first, take mean and deviation of the rows "
        f"that are trained on alone ({other.name}), and scale the test ({use.name}) by these.",
        (statistic.item, use.item, other.item),
    )


def _own(view: ProgramView, use: _Use, other: _Use, statistic: Statistic) -> Finding:
    word = view.word(statistic.item)
    return Finding(
        "leaked_test",
        "warning",
        statistic.item,
        f"The test is scaled by its own {word}, and not by that of the training: the same number means one thing in "
        f"{other.name} and another in {use.name}",
        "A model knows the scale it was trained in. Keep mean and deviation of the rows that are trained on, and scale "
        "whatever it is given by them.",
        (statistic.item, use.item),
    )


def _is_compared(view: ProgramView, call: ItemId) -> bool:
    """Whether what a model says is compared with something within the next steps."""
    todo, seen = [(call, 0)], {call}
    while todo:
        at, far = todo.pop(0)
        for user in view.followers(at):
            if view.word(user) in COMPARING:
                return True
            if user not in seen and far < NEAREST:
                seen.add(user)
                todo.append((user, far + 1))
    return False
