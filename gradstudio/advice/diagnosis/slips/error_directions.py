"""Errors that come into a loss with a minus, however it is written: told by the gradients that came to them.

What was drawn and what code called are judged alike, by the autograd nodes and the gradients that went through them.
"""

import re
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.objective_signs import is_parameter
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts, leaf_rows
from gradstudio.advice.diagnosis.slips.objective_slips import DIFFERENCES, ERRORS, UNCHANGING, Rows, word_of
from gradstudio.advice.diagnosis.training_steps import STEP
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.records import OptimizerRecord

CHOSEN = frozenset({"NllLoss", "NllLoss2D", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"})
LIKELIHOODS = frozenset({"LogSigmoid"})
"""Logarithms of chances: they are never above 0, and fall without end."""
POWERS = frozenset({"Pow", "Abs"})
SUMS = frozenset({"Add", "Sub", "Rsub", "Mean", "Sum", "Div", "Mul"}) | UNCHANGING
"""What leads from a loss to its errors."""
NUMBER = re.compile(r"-?\d+(\.\d*)?(e-?\d+)?$")
MOST_BACKWARDS, MOST_STEPS = 20, 60


def growing_errors(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """The one loss of a training of weights, in whose every backward all errors have a minus."""
    backwards = list(facts.backwards())[-MOST_BACKWARDS:]
    roots = {place_of_root(root): root for traced in backwards if (root := root_of(traced)) is not None}
    if len(roots) != 1 or not trains_weights(view, facts):
        return  # of several losses one may work against another
    errors = [_negative_errors(view, traced) for traced in backwards]
    if not errors or not all(errors):
        return
    root = next(iter(roots.values()))
    call = code_call(root)
    name = view.name(root) if call is None else "The loss"
    title = (
        f"{name} falls where the error grows: {_called(errors[-1])} comes into it with a minus, so every step makes "
    )
    title += "the error larger"
    if all(word_of(row.autograd) in LIKELIHOODS for row in errors[-1]):
        title = f"{name} is a logarithm of chances without a minus, so every step makes what is right less likely"
    yield Finding(
        "diverges",
        "warning",
        root,
        title,
        "A step goes to where the loss is smaller. Take the minus away, or put one in front of a likelihood, which is "
        "to become larger; to maximise on purpose give the optimizer maximize=True.",
        (root,),
    )


def root_of(traced: BackwardTraced) -> ItemId | None:
    """Where a backward began: the outermost of the calls that gave back what it began from."""
    values = [value.node for row in traced.rows[:1] for value in row.values]
    return min(values, key=lambda item: len(path_of(item)), default=None)


def place_of_root(item: ItemId) -> tuple[object, ...]:
    """What tells one beginning from another: of what code calls its line."""
    call = code_call(item)
    return (item,) if call is None else (call.file, call.line)


def trains_weights(view: ProgramView, facts: RunFacts) -> bool:
    """Whether optimizers have parameters of models, and none of them climbs."""
    records = [one for row in facts.latest.values() for one in row.outputs if isinstance(one, OptimizerRecord)]
    if not records:
        return facts.is_cut and _steps_in_view(view, facts)
    if any(group.get("maximize") for record in records for group in record.groups):
        return False
    storages = [storage for held in facts.held.values() for storage in held]
    return any(is_parameter(view, facts.leaves[one]) for one in storages if one in facts.leaves)


def _steps_in_view(view: ProgramView, facts: RunFacts) -> bool:
    """The same of a long run whose beginning is not known: by the steps, and what the backwards reached."""
    stepping = [item for item in facts.latest if (node := view.node(item)) is not None and node.operator == STEP]
    makers = [view.node(view.resolve(one.item, one.output)[0]) for item in stepping for one in view.sources(item)]
    climbs = any(maker is None or maker.literals.get("maximize", "False") != "False" for maker in makers)
    is_reached = any(path for traced in facts.backwards() for (_, path), _ in leaf_rows(traced))
    return bool(makers) and not climbs and is_reached


def _negative_errors(view: ProgramView, traced: BackwardTraced) -> list[AutogradRow]:
    """The errors in a loss, where each has a minus, and likelihoods, where none has; [] else."""
    rows = {row.id: row for row in traced.rows if row.order == 1}
    errors = [row for row in rows.values() if _is_error(row, rows) or word_of(row.autograd) in LIKELIHOODS]
    reached = _plain_terms(view, traced, rows)
    return errors if all(row.id in reached and _goes_wrong(row) for row in errors) else []


def _goes_wrong(row: AutogradRow) -> bool:
    """Whether a loss falls with an error, or rises with the logarithm of a chance."""
    summary = next(iter(row.incoming), None)
    if summary is None or summary.minimum is None or summary.maximum is None:
        return False
    if word_of(row.autograd) in LIKELIHOODS:
        return summary.minimum >= 0 and summary.maximum > 0
    return summary.minimum < 0 and summary.maximum <= 0


def _is_error(row: AutogradRow, rows: Rows) -> bool:
    """Whether a prediction is compared with numbers that do not learn."""
    word = word_of(row.autograd)
    if word in ERRORS | CHOSEN:
        return True
    places = [place for place, _ in row.next]
    is_square = word in POWERS or (word == "Mul" and len(places) == 2 and places[0] == places[1])
    before = rows.get(places[0]) if is_square and places else None
    while before is not None and word_of(before.autograd) in UNCHANGING and before.next:
        before = rows.get(before.next[0][0])
    if before is None or word_of(before.autograd) not in DIFFERENCES:
        return False
    sides = [place for place, _ in before.next if place in rows]
    return len(sides) == 1


def _plain_terms(view: ProgramView, traced: BackwardTraced, rows: Rows) -> set[int]:
    """What stands in a loss but for a sign and a number in front of it."""
    todo = [row.id for row in traced.rows[:1]]
    found = set(todo)
    while todo and len(found) < MOST_STEPS:
        row = rows.get(todo.pop(0))
        if (
            row is None
            or word_of(row.autograd) not in SUMS
            or (word_of(row.autograd) == "Mul" and not _has_number(view, row))
        ):
            continue
        for place, _ in row.next:
            if place in rows and place not in found:
                found.add(place)
                todo.append(place)
    return found


def _has_number(view: ProgramView, row: AutogradRow) -> bool:
    """Whether a product is one with a number that is written there."""
    node = view.node(row.node)
    return node is not None and any(map(NUMBER.match, node.literals.values()))


def _called(errors: list[AutogradRow]) -> str:
    if any(word_of(row.autograd) in CHOSEN for row in errors):
        return "the cross entropy"
    return (
        "the squared difference"
        if any(word_of(row.autograd) in ("Pow", "Mul", "MseLoss") for row in errors)
        else "the error"
    )
