"""Weights that steps cannot change, or only all alike: rates that are too small, and units that begin equal."""

import re
from array import array
from collections.abc import Iterator, Sequence

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import SCHEDULES, makes_schedule
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.diagnosis.run_facts import RunFacts, largest, leaf_rows, magnitude, turn_numbers
from gradstudio.advice.diagnosis.slips.code_texts import code_texts
from gradstudio.advice.diagnosis.training_steps import CLIPS
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import ModuleRecord, OptimizerRecord, Record, Summary, TensorRecord
from gradstudio.protocol.number_format import format_number

LEAST_STEPS, MILLIONTH = 5, 1e-6
LEAST_GRADIENT = 1e-3
"""A gradient that is smaller may be that of a minimum."""
BOUNDS = ("max_norm", "clip_value")
CLIPPED = 1e-3
"""A bound below this share of a gradient leaves nothing of it to learn by."""
DECAYING = frozenset({"SGD", "AdamW"})
"""What takes lr · weight_decay of each weight away."""
LARGE_SHARE = 0.1
TINY_RATE, STILL = 1e-6, 1e-3
"""A rate below which a loss that changes by less than this share of itself stands still because of it."""


MADE_SCHEDULE = re.compile(r"(?P<name>\w+) *= *[\w.]*(?:LR|Restarts)\( *(?P<optimizer>\w+)")
"""How Python makes a schedule."""


class _Course:
    """What a run tells of its weights.

    Attributes:
        first: by storage, the weights when they were first seen; of those written before the first step, behind that.
        last: the same as they are at the end.
        written: those that steps wrote into.
        gradients: by storage, the first gradient that came.
        steps: by optimizer, those that are recorded.
    """

    def __init__(self, facts: RunFacts, steps: dict[ItemId, ItemId]) -> None:
        self.written: set[int] = set()
        self.first: dict[int, Summary] = {}
        self.last: dict[int, Summary] = {}
        self.gradients: dict[int, Summary] = {}
        self.steps: dict[ItemId, list[Row]] = {}
        for event in facts.events:
            if isinstance(event, BackwardTraced):
                for key, row in leaf_rows(event):
                    if row.incoming and row.incoming[0] is not None:
                        for storage in facts.storages(key):
                            self.gradients.setdefault(storage, row.incoming[0])
                continue
            for record in event.outputs:
                for leaf in _leaves(record):
                    self._note(leaf.storage, leaf.summary)
            optimizer = steps.get(event.node)
            if optimizer is not None:
                self.steps.setdefault(optimizer, []).append(event)
            for state in event.writes:
                self._note(state.storage, state.record.summary)
                if optimizer is not None:
                    self.written.add(state.storage)

    def _note(self, storage: int, summary: Summary) -> None:
        if not self.steps or storage not in self.first:
            self.first[storage] = summary
        self.last[storage] = summary


def stuck_weights(view: ProgramView, facts: RunFacts, steps: dict[ItemId, ItemId]) -> Iterator[Finding]:
    """Optimizers whose steps are too short to be seen, and layers whose units are all the same.

    Args:
        steps: by statement that steps, what made its optimizer.
    """
    if not steps or facts.is_cut:
        return
    course = _Course(facts, steps)
    for optimizer, rows in course.steps.items():
        held = [storage for storage in facts.held.get(optimizer, {}) if storage in course.gradients]
        yield from _too_short(view, facts, course, optimizer, held, rows)
        yield from _strong_decay(view, facts, optimizer)
        yield from _alike(view, facts, course, list(facts.held.get(optimizer, {})), len(rows))


def _too_short(
    view: ProgramView, facts: RunFacts, course: _Course, optimizer: ItemId, held: list[int], steps: Sequence[Row]
) -> Iterator[Finding]:
    """Steps that change the weights by less than a millionth, though there is a gradient to follow."""
    pairs = [(course.first[one], course.last[one]) for one in held if one in course.written]
    gradient = max((largest((course.gradients[one],)) for one in held), default=0.0)
    record = facts.record(optimizer, 0)
    group = record.groups[0] if isinstance(record, OptimizerRecord) and record.groups else {}
    rate = group.get("lr")
    begun = group.get("initial_lr", rate)  # before a schedule changed it
    if (
        len(steps) < LEAST_STEPS
        or not pairs
        or gradient < LEAST_GRADIENT
        or not isinstance(rate, int | float)
        or not isinstance(begun, int | float)
        or not begun
    ):
        return
    is_still = all(_is_as_it_was(before, after) for before, after in pairs)
    if not is_still and not (rate < TINY_RATE and not _has_schedule(view) and _is_loss_still(facts)):
        return
    clip, bound = _clip(view)
    turns = f" in {turn_numbers(steps)[-1] + 1:,} turns" if facts.is_sampled else ""
    if clip is not None and bound < CLIPPED * gradient:
        yield Finding(
            "no_rate",
            "warning",
            clip,
            f"The gradients are clipped to {bound:g}, so {_count_words(steps, turns)} of {view.name(optimizer)}{turns} "
            "change nothing",
            f"The gradient is {format_number(gradient)} RMS before. A bound cuts what is far too long: 1 … 10 for a "
            "norm.",
            (clip, optimizer),
        )
        return
    schedule = _schedule_of(view, optimizer) if is_still and begun > TINY_RATE else None
    if schedule is not None:
        yield _held_at_zero(schedule, optimizer, view.name(optimizer), f"{_count_words(steps, turns)}{turns}", begun)
        return
    what = "less than a millionth of the weights" if is_still else "the loss does not move"
    yield Finding(
        "no_rate",
        "warning",
        optimizer,
        f"The learning rate of {view.name(optimizer)} (lr={rate:g}) is so small that "
        f"{_count_words(steps, turns)}{turns} change nothing",
        f"The gradient is {format_number(gradient)} RMS, and a step adds lr times that: "
        f"{what}. Begin with 0.1 … 0.001 for SGD, 0.001 for Adam.",
        (optimizer,),
    )


def _held_at_zero(
    schedule: tuple[ItemId, str, int], optimizer: ItemId, optimizer_name: str, steps: str, begun: float
) -> Finding:
    item, name, line = schedule
    return Finding(
        "no_rate",
        "warning",
        item,
        f"{name} holds the learning rate of {optimizer_name} at 0: {steps} change nothing",
        f"A schedule multiplies lr={begun:g} by its factor, from its making on. Let the factor begin above 0: "
        "(step + 1) / warmup, with / and not //.",
        (item, optimizer),
        line=line,
    )


def _count_words(steps: Sequence[Row], turns: str) -> str:
    """``12 steps``; where not all are recorded they are told by the turns that they stand in."""
    return "all steps" if turns else f"{len(steps)} steps"


def _schedule_of(view: ProgramView, optimizer: ItemId) -> tuple[ItemId, str, int] | None:
    """The schedule that an optimizer was handed to: its node, its name, and its line where that is code."""
    for full, _, _ in view.insides():
        source = view.source(full, ("optimizer",)) if makes_schedule(view, full) else None
        if source is not None and view.resolve(source.item, source.output)[0] == optimizer:
            return full, view.name(full), 0
    for item, text in code_texts(view.graph).items():
        for number, line in enumerate(text.splitlines(), 1):
            made = MADE_SCHEDULE.search(line)
            if made is not None and made["optimizer"] == view.name(optimizer):
                return item, made["name"], number
    return None


def _has_schedule(view: ProgramView) -> bool:
    """Whether a schedule changes the rate: it may begin small."""
    return any(node.operator.startswith(SCHEDULES) for node in written_nodes(view.graph))


def _is_loss_still(facts: RunFacts) -> bool:
    """Whether what the backwards began from, one value in many turns, stayed what it was."""
    roots = {value.node for traced in facts.backwards() for row in traced.rows[:1] for value in row.values}
    known = [magnitude(row.outputs[0]) for row in facts.rows if row.node in roots and row.outputs]
    values = [value for value in known if value is not None]
    is_one = len(roots) == 1 and len(values) >= LEAST_STEPS
    return is_one and max(values) - min(values) < STILL * values[0]


def _clip(view: ProgramView) -> tuple[ItemId | None, float]:
    """The statement that clips gradients, and its bound."""
    for full, graph, item in view.insides():
        node = graph.nodes.get(item)
        written = (
            [node.literals.get(port, "") for port in BOUNDS] if node is not None and node.operator in CLIPS else []
        )
        for text in filter(None, written):
            try:
                return full, float(text)
            except ValueError:
                continue
    return None, 0.0


def _strong_decay(view: ProgramView, facts: RunFacts, optimizer: ItemId) -> Iterator[Finding]:
    """A decay that takes more of the weights away in a step than a loss can give."""
    record = facts.record(optimizer, 0)
    group = record.groups[0] if isinstance(record, OptimizerRecord) and record.groups else {}
    rate, decay = group.get("lr"), group.get("weight_decay")
    if (
        not isinstance(rate, int | float)
        or not isinstance(decay, int | float)
        or not isinstance(record, OptimizerRecord)
    ):
        return
    share = rate * decay if record.class_name in DECAYING else decay / 10
    if share < LARGE_SHARE:
        return
    name = view.name(optimizer)
    yield Finding(
        "strong_decay",
        "warning",
        optimizer,
        f"weight_decay={decay:g} of {name} pulls the weights to 0 faster than the loss can hold them",
        f"Each step takes lr · weight_decay = {format_number(rate * decay)} of every weight away. Usual: 1e-4 … 1e-2.",
        (optimizer,),
    )


def _is_as_it_was(before: Summary, after: Summary) -> bool:
    size = before.rms or 0.0
    pairs = zip((before.rms, before.mean, before.minimum), (after.rms, after.mean, after.minimum), strict=True)
    return size > 0 and all(
        one is not None and two is not None and abs(two - one) <= MILLIONTH * size for one, two in pairs
    )


def _alike(view: ProgramView, facts: RunFacts, course: _Course, held: list[int], steps: int) -> Iterator[Finding]:
    """Weights of several units that begin equal, and all get the same gradient: they stay equal."""
    found = [storage for storage in held if storage in course.first and _stay_equal(course, storage, steps)]
    leaves = [facts.leaves[storage] for storage in found if storage in facts.leaves]
    if not leaves:
        return
    leaf, value = leaves[0], course.first[found[0]].minimum
    name = view.name(leaf.owner) + (f".{leaf.path}" if leaf.path else "")
    gradient = "gets the same gradient" if value else "none gets a gradient other than 0"
    yield Finding(
        "equal_units",
        "warning",
        view.statement(leaf.owner),
        f"All units of {name} are the same: every weight begins as {format_number(value or 0.0)}, and {gradient}",
        "Units that begin equal learn the same thing and stay equal, as if there were only one. Begin with small "
        "random weights, as layers do by themselves.",
        (view.statement(leaf.owner),),
    )


def _stay_equal(course: _Course, storage: int, steps: int) -> bool:
    begin, end, gradient = course.first[storage], course.last[storage], course.gradients.get(storage)
    is_constant = begin.minimum == begin.maximum and begin.minimum is not None
    if not is_constant or len(begin.shape) != 2 or min(begin.shape) < 2:
        return False
    if begin.minimum == 0:  # a layer of zeros before another one: nothing comes back to either
        return gradient is not None and gradient.rms == 0 and end.maximum == end.minimum == 0
    if gradient is not None and gradient.rms and _is_repeated(gradient):
        return True
    has_learnt = storage in course.written and not _is_as_it_was(begin, end)
    return steps >= LEAST_STEPS and has_learnt and _is_repeated(end)


def _is_repeated(summary: Summary) -> bool:
    """Whether all rows of a matrix are one another, or all columns, and are more than one number over."""
    rows = _table(summary)
    return len(rows) > 1 and (_all_equal(rows) or _all_equal(list(zip(*rows, strict=True))))


def _all_equal(rows: Sequence[Sequence[float]]) -> bool:
    """Whether the rows are one another, and are more than one number over."""
    first = rows[0]
    tolerance = MILLIONTH * max(map(abs, first))
    is_equal = all(abs(a - b) <= tolerance for row in rows[1:] for a, b in zip(first, row, strict=True))
    return is_equal and max(first) - min(first) > tolerance


def _table(summary: Summary) -> list[list[float]]:
    """The elements of a matrix, or a sample of them."""
    preview = summary.preview
    if preview is None:
        rows = summary.value if isinstance(summary.value, list | tuple) else ()
        return [
            [float(one) for one in row if isinstance(one, int | float)] for row in rows if isinstance(row, list | tuple)
        ]
    numbers = array("f", preview.data).tolist()
    return [numbers[k * preview.columns : (k + 1) * preview.columns] for k in range(preview.rows)]


def _leaves(record: Record) -> Iterator[TensorRecord]:
    if isinstance(record, ModuleRecord):
        yield from record.parameters.values()
    elif isinstance(record, TensorRecord) and record.is_leaf and record.requires_grad:
        yield record
