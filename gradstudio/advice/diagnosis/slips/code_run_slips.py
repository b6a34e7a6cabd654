"""Slips in what is kept as code, seen in what it called of torch: its backwards tell which result went into which loss.

Ids of such calls are those of `graph.groups.code_ids`. What is drawn is judged by its wires, not here.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding, FindingKind
from gradstudio.advice.diagnosis.mistakes import loss_mistakes
from gradstudio.advice.diagnosis.nan_reasons import INFINITIES, NANS, kind_of_records, way_out, worst
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.reduction_origins import spoilt_by_others
from gradstudio.advice.diagnosis.run_facts import Gap, RunFacts, is_zero
from gradstudio.advice.diagnosis.slips import code_order_slips, code_slips
from gradstudio.advice.diagnosis.slips.objective_slips import word_of
from gradstudio.graph.groups.code_ids import CodeCall, code_call
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row

LEAF = "AccumulateGrad"
UNCHANGING = frozenset(
    "View UnsafeView Reshape ReshapeAlias Squeeze Unsqueeze Permute Transpose T Clone Alias Expand ToCopy".split()
)
"""Autograd nodes of what leaves numbers as they are."""
SOFTMAX, SIGMOID = "Softmax", "Sigmoid"
CHOSEN = "NllLoss"
SCORES = frozenset({"Addmm", "Mm", "Bmm", "Relu", "Convolution", SOFTMAX})
"""What gives no logarithms of probabilities."""
DIFFERENCES = frozenset({"Sub", "Rsub"})
LEAST_SUMS = 2
"""So many steps in a row go by old gradients before it is told."""


class _Contained(NamedTuple):
    """A loss that contains an activation: its autograd node, the activation's, and what is told."""

    loss: str
    words: frozenset[str]
    given: str
    kind: FindingKind
    title: str
    why: str


CONTAINED = (
    _Contained(
        "LogSoftmax",
        loss_mistakes.CROSS,
        SOFTMAX,
        "twice_softmax",
        "{0} gets probabilities (of a softmax), and takes their softmax once more",
        "{0} contains log_softmax: it wants the scores as the last layer gives them. Take the softmax only where "
        "probabilities are shown.",
    ),
    _Contained(
        "BinaryCrossEntropyWithLogits",
        loss_mistakes.LOGITS,
        SIGMOID,
        "twice_sigmoid",
        "{0} gets the results of a sigmoid, and takes their sigmoid once more",
        "{0} contains the sigmoid: it wants scores. Give it the scores, or use binary_cross_entropy, which wants "
        "probabilities.",
    ),
)


def of_calls_in_code(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """All that is seen in them; each of it once."""
    calls = {row.node: call for row in facts.rows if (call := code_call(row.node)) is not None}
    if not calls:
        return
    found: dict[tuple[str, str, int], Finding] = {}
    for traced in facts.backwards():
        for finding in _of_backward(view, traced, calls):
            call = calls.get(finding.node)
            place = (call.file, call.line) if call is not None else (finding.node, 0)
            found.setdefault((finding.kind, *place), finding)
    yield from found.values()
    yield from _never_zeroed(view, facts, calls)
    yield from _not_finite(facts, calls)
    yield from code_order_slips.of_modes(view.graph, facts)


def _of_backward(view: ProgramView, traced: BackwardTraced, calls: Mapping[ItemId, CodeCall]) -> Iterator[Finding]:
    rows = {row.id: row for row in traced.rows}
    for row in traced.rows:
        given = _given(row, rows)
        if given is None or row.order != 1 or not (row.node in calls or given.node in calls):
            continue
        word = calls[row.node].word if row.node in calls else view.word(row.node)
        yield from _activation_in_loss(row, word, given)
        yield from _no_logarithm(row, word, given)
        yield from _broadcasts(row, given)
    root = traced.rows[0] if traced.rows else None
    if root is not None and word_of(root.autograd) == LEAF and root.values and root.values[0].node in calls:
        yield _new_leaf(root.values[0].node)


def _activation_in_loss(row: AutogradRow, word: str, given: AutogradRow) -> Iterator[Finding]:
    for one in CONTAINED:
        if word_of(row.autograd) == one.loss and word in one.words and word_of(given.autograd) == one.given:
            title, why = one.title.format(word), one.why.format(word)
            yield Finding(one.kind, "warning", row.node, title, why, (row.node,))


def _no_logarithm(row: AutogradRow, word: str, given: AutogradRow) -> Iterator[Finding]:
    if (
        not word_of(row.autograd).startswith(CHOSEN)
        or word not in loss_mistakes.NLL
        or word_of(given.autograd) not in SCORES
    ):
        return
    what = "probabilities" if word_of(given.autograd) == SOFTMAX else "scores"
    yield Finding(
        "no_logarithm",
        "warning",
        row.node,
        f"{word} wants logarithms of probabilities, and gets {what}",
        f"{word} only picks the element of the right class and turns its sign. Put log_softmax in front of it, or "
        "use cross_entropy, which contains both.",
        (row.node,),
    )


def _broadcasts(row: AutogradRow, given: AutogradRow) -> Iterator[Finding]:
    """A difference that is larger than the column which learns, where that comes as a layer gives it."""
    summary, column = _shape(row.incoming), _shape(row.outgoing)
    if (
        word_of(row.autograd) not in DIFFERENCES
        or word_of(given.autograd) not in SCORES
        or summary is None
        or column is None
    ):
        return
    many = column[0] if len(column) == 2 and column[1] == 1 else 0
    if many < 2 or summary != (many, many):
        return
    yield Finding(
        "broadcasts",
        "warning",
        row.node,
        f"{[many, 1]} and {[many]} broadcast to {[many, many]} in a difference",
        f"A column and a vector of {many} elements do not meet element by element: each of one meets each of the "
        "other. Bring both to one shape: squeeze(1) of the column, or unsqueeze(1) of the vector.",
        (row.node,),
    )


def _new_leaf(item: ItemId) -> Finding:
    return Finding(
        "no_gradient",
        "warning",
        item,
        "The backward begins at a tensor that was just made: nothing is behind it, so no model gets a gradient",
        "A tensor that is made of a number (torch.tensor(loss.item(), requires_grad=True)) has no graph. Go backward "
        "from the loss itself.",
        (item,),
    )


def _never_zeroed(view: ProgramView, facts: RunFacts, calls: Mapping[ItemId, CodeCall]) -> Iterator[Finding]:
    """Steps of the only optimizer that steps, each by gradients that the one before has used."""
    steps = [row for row in facts.rows if _is_step(row, calls)]
    if len(steps) < LEAST_SUMS or len({(calls[row.node].file, calls[row.node].line) for row in steps}) != 1:
        return
    if any(one.kind == "no_zero_grad" for one in code_slips.of_code(view.graph)):
        return
    stepped, sums = False, 0
    for event in facts.course:
        if isinstance(event, Row | Gap):
            stepped = isinstance(event, Row) and (stepped or _is_step(event, calls))
            continue
        before = [row.before for row in event.rows if word_of(row.autograd) == LEAF]
        if stepped and before:
            if any(one is None or is_zero(one) for one in before):
                return
            sums += 1
        stepped = False
    if sums >= LEAST_SUMS:
        item = steps[0].node
        optimizer = calls[item].path.removesuffix(".step").rpartition(".")[2]
        yield Finding(
            "no_zero_grad",
            "warning",
            item,
            f"Gradients add up over the steps of {optimizer}: nothing zeroes them in between",
            "Each backward adds to .grad, so a step goes by the sum of all gradients since the first. Call zero_grad() "
            "of the optimizer before each backward.",
            (item,),
        )


def _not_finite(facts: RunFacts, calls: Mapping[ItemId, CodeCall]) -> Iterator[Finding]:
    """Where the first NaN was born, or the infinity of a known cause before it; nothing where data brought it."""
    began: ItemId | None = None
    for row in facts.events:
        if isinstance(row, BackwardTraced):
            if any(worst(one.incoming) for one in row.rows if word_of(one.autograd) == LEAF) or any(
                spoilt_by_others(row)
            ):
                return  # it comes of the weights
            continue
        bad, call = kind_of_records(row.outputs), calls.get(row.node)
        if not bad:
            continue
        if call is None:
            return  # it is told where it is drawn, or came from there
        if call.word.startswith("empty"):
            continue  # memory as it was, which something fills before it is read
        if bad == "NaN":
            first = began or row.node
            yield _birth(first, calls[first].word, "NaN" if began is None else "an infinity", call.word)
            return
        if call.word in INFINITIES and began is None:
            began = row.node


def _birth(item: ItemId, word: str, bad: str, later: str) -> Finding:
    why = NANS.get(word, "") if bad == "NaN" else INFINITIES[word]
    title = f"{bad} is born in {word}" + (f": {why}" if why else "")
    if bad != "NaN":
        title += f"; it becomes NaN in {later}"
    return Finding("not_finite", "error", item, title, way_out(word, bad), (item,))


def _is_step(row: Row, calls: Mapping[ItemId, CodeCall]) -> bool:
    call = calls.get(row.node)
    return call is not None and call.path.startswith("torch.optim.") and call.path.endswith(".step")


def _given(row: AutogradRow, rows: Mapping[int, AutogradRow]) -> AutogradRow | None:
    """What computed the numbers that an autograd node's first input was."""
    for _ in range(len(rows)):
        first = row.next[0][0] if row.next else -1
        before = rows.get(first)
        if before is None or word_of(before.autograd) not in UNCHANGING:
            return before
        row = before
    return None


def _shape(summaries: tuple[object, ...]) -> tuple[int, ...] | None:
    first = next(iter(summaries), None)
    return getattr(first, "shape", None)
