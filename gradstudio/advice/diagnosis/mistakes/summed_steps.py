"""Steps that go by more than one backward, and rates that a schedule has taken away."""

import itertools
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CROSS, ELEMENTWISE, LOGITS
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import SCHEDULES
from gradstudio.advice.diagnosis.mistakes.remade_models import is_condition
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import Gap, RunFacts, turn_numbers
from gradstudio.advice.diagnosis.training_steps import Role
from gradstudio.graph.model import ROOT, ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.records import PlainRecord

MEANS = CROSS | ELEMENTWISE | LOGITS | {"mean", "binary_cross_entropy", "BCELoss"}
STEPS = ("LRScheduler.step", "Optimizer.step")
"""How a step is called, also of a schedule that is handed to a function."""
LEAST_DEPTH, FARTHEST = 2, 30
DECAY = 0.1
"""What a StepLR multiplies by where it is told nothing."""
NOTHING, LEAST_STEPS = 1e-5, 5
"""A rate that a schedule brings to this share of what it was is gone."""


def summed_means(view: ProgramView, facts: RunFacts, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """A mean that several turns send back before each step, and that is not divided by their number."""
    steps = {item: role.of for item, role in roles.items() if role.act == "step"}
    if len(set(steps.values())) != 1:
        return
    sums = _backwards_by_step(facts, roles)
    statements = {one for counts in sums for one in counts}
    if len(statements) != 1 or not sums:
        return
    (statement,) = statements
    counts = {next(iter(one.values())) for one in sums if one}
    root = view.source(statement, ("self",))
    if len(counts) != 1 or counts <= {1} or root is None or not _is_mean(view, root.item, root.output):
        return
    (count,) = counts
    optimizer, name = next(iter(steps.values())), view.source_name(root)
    is_batch = _steps_now_and_then(view, steps) or _is_of_a_slice(view, root.item)
    yield Finding(
        "summed_means",
        "warning" if is_batch else "info",
        statement,
        f"{view.name(optimizer)} steps with the sum of {count} backwards, and {name}, a mean, is not divided by "
        f"{count}",
        f"The gradient is {count} times that of the mean over all of them, as if the learning rate were {count} times "
        f"as high. Send ({name} / {count}) back, or divide the learning rate.",
        (statement, root.item, optimizer),
    )


def _backwards_by_step(facts: RunFacts, roles: dict[ItemId, Role]) -> list[dict[ItemId, int]]:
    """How often each backward ran between the zeroing and each step, what is behind the last one left out."""
    found, now = list[dict[ItemId, int]](), dict[ItemId, int]()
    is_known = True
    for event in facts.course:
        if isinstance(event, BackwardTraced):
            now[event.statement] = now.get(event.statement, 0) + 1
        elif isinstance(event, Gap):
            is_known = False
        elif event.node in roles and roles[event.node].act in ("step", "zero"):
            found += [now] if roles[event.node].act == "step" and is_known else []
            now, is_known = {}, True
    return found


def _steps_now_and_then(view: ProgramView, steps: dict[ItemId, ItemId]) -> bool:
    """Whether a condition in a loop decides when to step: what comes before are the parts of one batch."""
    for item in steps:
        place = view.place(item)
        depth = len(place.graph.ancestors(place.item)) if place is not None else 0
        if depth > LEAST_DEPTH and _is_conditional(view, item):
            return True
    return False


def _is_conditional(view: ProgramView, item: ItemId) -> bool:
    """Whether a condition decides if a statement runs."""
    place = view.place(item)
    around = [ItemId(b) for b in place.graph.ancestors(place.item) if b != ROOT] if place is not None else []
    return place is not None and bool(around) and is_condition(place.graph, around[0])


def _is_of_a_slice(view: ProgramView, root: ItemId) -> bool:
    """Whether a root is computed of rows that were cut out of the data: the parts of one batch."""
    cut = (at for at in view.behind(root, FARTHEST) if view.word(at) == "getitem")
    return any(source.port == "index.0.start" for at in cut for source in view.sources(at))


def _is_mean(view: ProgramView, item: ItemId, output: int) -> bool:
    """Whether a root is a mean over examples as it stands, and nothing divides or weighs it."""
    stage = next(itertools.islice(view.stages(item, output), 1), None)
    if stage is None or stage.word not in MEANS:
        return False
    return stage.node.literals.get("reduction", "mean").strip("'\"") == "mean"


def spent_rates(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """A schedule whose steps have left nothing of the rate."""
    if not facts.held:
        return
    for full, graph, item in view.insides():
        node = graph.nodes.get(item)
        if node is None or not node.operator.endswith(STEPS):
            continue
        source = view.source(full, ("self",))
        schedule = view.resolve(source.item, source.output)[0] if source is not None else None
        rows = [row for row in facts.rows if row.node == full]
        is_least = facts.is_sampled and _is_conditional(view, full)
        steps = turn_numbers(rows)[-1] + 1 if facts.is_sampled and rows and not is_least else len(rows)
        factor = _factor(view, facts, schedule, steps) if schedule is not None else None
        if schedule is None or factor is None or factor > NOTHING or len(rows) < LEAST_STEPS:
            continue
        yield Finding(
            "no_rate",
            "warning",
            full,
            f"{view.name(schedule)} has stepped {'at least ' * is_least}{steps:,} times and left "
            f"{'at most ' * is_least}{factor:.0e} of the learning rate: nothing is learnt any more",
            "Each step multiplies the rate. Step it once an epoch, behind the loop over the batches, or let it fall by "
            "less (gamma nearer to 1).",
            (full, schedule),
        )


def _factor(view: ProgramView, facts: RunFacts, schedule: ItemId, steps: int) -> float | None:
    """What is left of a rate behind so many steps of a schedule that multiplies; None of another one."""
    node = view.node(schedule)
    word = node.operator.removeprefix(SCHEDULES) if node is not None else ""
    if node is None or word not in ("ExponentialLR", "StepLR"):
        return None
    try:
        size = _number(view, facts, schedule, "step_size", 1) if word == "StepLR" else 1
        gamma = _number(view, facts, schedule, "gamma", DECAY if word == "StepLR" else None)
        return float(abs(gamma) ** (steps // int(size)))
    except (ValueError, ZeroDivisionError):
        return None


def _number(view: ProgramView, facts: RunFacts, item: ItemId, port: str, default: float | None) -> float:
    """The number that an argument had in the run.

    Raises:
        ValueError: it is none that is known.
    """
    node, source = view.node(item), view.source(item, (port,))
    if source is None:
        literals = node.literals if node is not None else {}
        return float(literals.get(port, "" if default is None else default))
    record = facts.record(*view.resolve(source.item, source.output))
    if not isinstance(record, PlainRecord) or not isinstance(record.value, int | float):
        raise ValueError(port)
    return record.value
