"""What grows from turn to turn: numbers of a recurrence, the loss of a training."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradstudio.advice.diagnosis.activations import large_input, unnormalised
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.objective_signs import is_error, learns_all
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts, magnitude, turn_numbers
from gradstudio.advice.diagnosis.training_steps import Role
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import OptimizerRecord, TensorRecord
from gradstudio.protocol.number_format import format_number

LEAST_TURNS = 4
LEAST_FACTOR = 1.05
BENDS = 1.15
"""By so much the differences of a series grow over its last turns when it grows by a factor, not by a sum."""
RECURRENCE, LOSS = 1e6, 10.0
"""So many times its first value a recurrence, or a loss, must be when it ends, unless it overflows."""
TRIVIAL = 1e-30
TERMS = frozenset({"add", "mul", "neg"})
"""What a loss is scaled with, and what is added to it."""
UNSTABLE = 2.0
"""A rate times a curvature above this makes an error larger."""


class Growth(NamedTuple):
    """A series that grows by a factor from turn to turn until its end.

    Attributes:
        factor: geometric mean of the growth a turn; `turns`: over how many.
        since: the first turn of it.
        overflow: the first turn that is recorded in which it is not finite; None: it stays finite.
        last: the last finite value.
        leaps: turns without a record are among them.
    """

    factor: float
    turns: int
    since: int
    overflow: int | None
    last: float
    leaps: bool = False


class Series:
    """The values of one item in the turns of a loop.

    Attributes:
        item: whose first result it is.
        trains: a backward ran between its turns.
        numbers: of the turns its values are of.
    """

    def __init__(self, item: ItemId, rows: list[Row], trains: bool, is_sampled: bool) -> None:
        """Hold the magnitudes."""
        self.item, self.rows, self.trains = item, rows, trains
        self.values = [magnitude(row.outputs[0]) for row in rows]
        self.numbers: Sequence[int] = turn_numbers(rows) if is_sampled else range(len(rows))

    def growth(self) -> Growth | None:
        """How it grows; None where it does not, or not enough."""
        return growth_of(self.values, self.numbers, LOSS if self.trains else RECURRENCE)

    def rise(self) -> Growth | None:
        """How it rises where it does in every turn, however little; None else."""
        if len(self.values) < LEAST_TURNS:
            return None
        finite = [value for value in self.values if value is not None and TRIVIAL < value < math.inf]
        is_rising = all(after > before for before, after in itertools.pairwise(finite))
        if not is_rising or len(finite) < len(self.values):
            return None
        turns = self.numbers[-1] - self.numbers[0]
        return Growth((finite[-1] / finite[0]) ** (1 / turns), turns, 0, None, finite[-1], turns >= len(finite))


def growth_of(values: Sequence[float | None], numbers: Sequence[int], least: float) -> Growth | None:
    """The growth at the end of a series of magnitudes, an infinite one where a value is not finite.

    Args:
        numbers: of the turns they are of, rising.
        least: so many times its first value must be reached.
    """
    finite: list[float] = []
    overflow = None
    for turn, value in enumerate(values):
        if value is None:
            return None
        if math.isinf(value):
            overflow = turn
            break
        finite.append(value)
    begin = len(finite) - 1
    while begin > 0 and finite[begin] > LEAST_FACTOR * finite[begin - 1] > TRIVIAL:
        begin -= 1
    known = len(finite) - 1 - begin
    if known < 1 or finite[begin] <= TRIVIAL:
        return None
    times = finite[-1] / finite[begin]
    since, end = numbers[begin], numbers[len(finite) - 1]
    last = end if overflow is None else numbers[overflow]
    grown = Growth(
        factor=times ** (1 / (end - since)),
        turns=end - since,
        since=since,
        overflow=None if overflow is None else last,
        last=finite[-1],
        leaps=last - since > (known if overflow is None else known + 1),
    )
    if overflow is not None:
        return grown if known >= LEAST_TURNS or times ** (1 / known) > LOSS else None
    is_much = finite[-1] > least * max(finite[begin], finite[0])
    return grown if known >= LEAST_TURNS and is_much and _bends(finite[begin:], numbers[begin:]) else None


def _bends(values: Sequence[float], numbers: Sequence[int]) -> bool:
    """Whether it grows by a factor: what a turn adds grows, too."""
    pairs = zip(itertools.pairwise(values), itertools.pairwise(numbers), strict=False)
    added = [(after - before) / (end - begin) for (before, after), (begin, end) in pairs][-LEAST_TURNS:]
    return added[-1] > BENDS * added[0]


def series_of(facts: RunFacts) -> tuple[Series, ...]:
    """The series that grow, and losses that rise."""
    by_item: dict[ItemId, list[Row]] = {}
    between: dict[ItemId, int] = {}
    backwards = 0
    trains: set[ItemId] = set()
    for event in facts.events:
        if isinstance(event, BackwardTraced):
            backwards += 1
        elif event.turns and event.outputs:
            if event.node in between and between[event.node] != backwards:
                trains.add(event.node)
            between[event.node] = backwards
            by_item.setdefault(event.node, []).append(event)
    many = ((item, rows) for item, rows in by_item.items() if len(rows) > 2)
    found = [Series(item, rows, item in trains, facts.is_sampled) for item, rows in many]
    return tuple(one for one in found if one.growth() is not None or (one.trains and one.rise() is not None))


def recurrences(view: ProgramView, series: Sequence[Series]) -> Iterator[Finding]:
    """Values that a loop carries and that explode in it."""
    by_item = {one.item: one for one in series if not one.trains}
    for block in view.graph.blocks.values() if by_item else ():
        for k in range(1, len(block.carried) + 1):
            for source in view.carried(block.id, k):
                item, _ = view.resolve(source.item, source.output)
                grown = by_item[item].growth() if item in by_item else None
                if source.port.startswith("next.") and grown is not None:
                    yield _explodes(view, item, block.id, grown)


def _explodes(view: ProgramView, item: ItemId, loop: ItemId, grown: Growth) -> Finding:
    name = view.name(item)
    return Finding(
        "growth",
        "error" if grown.overflow is not None else "warning",
        item,
        f"{name} grows {words_of(grown, 'turn')}",
        f"What a loop multiplies by the same weights again and again explodes when they stretch it: its gradient "
        f"grows by the same factor. The last finite magnitude is {format_number(grown.last)}. Smaller weights (an "
        "orthogonal initialisation), tanh around the step, normalisation, or a gated cell keep it in bounds.",
        (item, loop),
    )


def divergence(
    view: ProgramView, facts: RunFacts, series: Sequence[Series], roles: dict[ItemId, Role]
) -> Iterator[Finding]:
    """A loss that grows from step to step: the steps are too long."""
    by_item = {one.item: one for one in series if one.trains}
    for traced in facts.backwards() if by_item else ():
        value = next((value for row in traced.rows[:1] for value in row.values), None)
        one = by_item.pop(value.node, None) if value is not None else None
        if one is None or not _is_positive(one.rows):
            continue
        grown = one.growth()
        finding = _diverges(view, facts, one.item, grown, roles) if grown else _rises(view, facts, one, roles)
        if finding is not None:
            yield finding


def _diverges(
    view: ProgramView, facts: RunFacts, loss: ItemId, grown: Growth, roles: dict[ItemId, Role]
) -> Finding | None:
    """Who steps too far: an optimizer by its rate, or an update that the program writes itself."""
    optimizer = next((role.of for role in roles.values() if role.act == "step"), None)
    update = next((item for item, role in roles.items() if role.act == "write"), None)
    owner = optimizer if optimizer is not None else update
    if owner is None:
        return None
    grows = f"{view.name(loss)} grows {words_of(grown, 'step')}"
    momentum = setting(facts, owner, "momentum")
    if optimizer is None and _climbs(view, owner):
        cause = f"The update of {view.name(roles[owner].of)} adds the gradient instead of taking it away: {grows}"
        out = "The gradient points to where the loss is larger. Write -= (or a minus before the rate)."
    elif momentum is not None and momentum >= 1:
        cause = f"The momentum of {view.name(owner)} is {momentum:g}, so each step is longer than the last one: {grows}"
        out = "Momentum is the share of the last step that is kept: from 0 to below 1, as a rule 0.9."
    else:
        why, out = _why_too_far(view, facts, loss, grown)
        rate = f"learning rate{_rate(facts, owner)} is too high: {grows}"
        cause = f"{why}, so the {rate}" if why else f"The {rate}"
        out = f"Each step goes so far beyond the minimum that the loss is larger behind it. {out}"
    return Finding("diverges", "error" if grown.overflow is not None else "warning", owner, cause, out, (owner, loss))


def _rises(view: ProgramView, facts: RunFacts, loss: Series, roles: dict[ItemId, Role]) -> Finding | None:
    """A loss that an update by hand makes larger in every step: a note where somebody may want it so."""
    update = next((item for item, role in roles.items() if role.act == "write"), None)
    rise = loss.rise()
    is_by_hand = not any(role.act == "step" for role in roles.values())
    if rise is None or update is None or not is_by_hand or not _climbs(view, update):
        return None
    kept = " that is recorded" if rise.leaps else ""
    cause = f"The update of {view.name(roles[update].of)} adds the gradient"
    cause += f": {view.name(loss.item)} rises in every step{kept}"
    out = f"By {_pace_words(rise, 'step')}, to {format_number(rise.last)}. "
    out += "Nothing is wrong where it is to become larger; else write -=."
    written = {role.of for role in roles.values() if role.act == "write"}
    is_mistake = is_error(view, loss.item) and learns_all(facts, written)
    return Finding("rises", "warning" if is_mistake else "info", update, cause, out, (update, loss.item))


def _climbs(view: ProgramView, update: ItemId) -> bool:
    """Whether an update adds what comes of a gradient, with no minus on the way."""
    node = view.node(update)
    source = view.source(update, ("b", "other", "value"))
    if view.word(update) != "add" or source is None or node is None or node.literals.get("alpha", "").startswith("-"):
        return False
    stages = list(view.stages(source.item, source.output))
    signs = [text.startswith("-") for stage in stages for text in stage.node.literals.values()]
    return any(stage.word == "grad" for stage in stages) and "neg" not in {s.word for s in stages} and not any(signs)


def words_of(grown: Growth, turn: str) -> str:
    """``×3.1 a turn since turn 4 and overflows in turn 57``, counted from one.

    Where turns are not recorded, it may have overflown before: ``by turn 57``.
    """
    words = f"{_pace_words(grown, turn)} since {turn} {grown.since + 1:,}"
    if grown.overflow is None:
        return words
    return words + f" and overflows {'by' if grown.leaps else 'in'} {turn} {grown.overflow + 1:,}"


def _pace_words(grown: Growth, turn: str) -> str:
    """``×3.1 a turn``; where many turns in between are not recorded and each grows by little ``×85 in 4,096 turns``."""
    if grown.leaps and grown.factor < LEAST_FACTOR:
        return f"×{format_number(grown.factor**grown.turns, 2)} in {grown.turns:,} {turn}s"
    return f"×{format_number(grown.factor, 2)} a {turn}"


# ------------------------------------------------------------------ helpers


def _is_positive(rows: list[Row]) -> bool:
    """Whether all values are above 0, as those of a loss are; of an objective that is to grow, nothing is said."""
    records = [row.outputs[0] for row in rows]
    return all(
        not isinstance(record, TensorRecord) or record.summary.minimum is None or record.summary.minimum >= 0
        for record in records
    )


def setting(facts: RunFacts, optimizer: ItemId, name: str) -> float | None:
    """A number that an optimizer was made with; None where it has none of that name."""
    record = facts.record(optimizer, 0)
    value = record.groups[0].get(name) if isinstance(record, OptimizerRecord) and record.groups else None
    return float(value) if isinstance(value, int | float) else None


def _rate(facts: RunFacts, optimizer: ItemId) -> str:
    rate = setting(facts, optimizer, "lr")
    return f" (lr={rate:g})" if rate is not None else ""


def _why_too_far(view: ProgramView, facts: RunFacts, loss: ItemId, grown: Growth) -> tuple[str, str]:
    """What makes gradients large where a rate is not, and what to do; "" where that is the rate itself."""
    count = _summands(view, facts, loss)
    if count > LOSS:
        why = f"{view.name(loss)} is a sum over {count:,} numbers, not their mean"
        return why, f"Take the mean: of a sum the gradient is {count:,} times as long."
    data = large_input(view, loss, facts.latest)
    if data is not None and not _is_hopeless(facts, data[0], grown):
        return (
            unnormalised(view, data),
            f"Bring them to mean 0 and deviation 1 ({_standardised(view, data[0])}): no rate suits such inputs well.",
        )
    return "", "Try a tenth of the rate, and inputs with mean 0 and deviation 1."


def _is_hopeless(facts: RunFacts, data: ItemId, grown: Growth) -> bool:
    """Whether the steps would be too long with normalised inputs, too: the curvature goes by the square of the data.

    Of a loss that is the square of an error the error grows by |1 - rate · curvature| a step.
    """
    record = facts.record(data, 0)
    size = record.summary.rms if isinstance(record, TensorRecord) else None
    return size is not None and size > 0 and (math.sqrt(grown.factor) + 1) / size**2 > UNSTABLE


def _standardised(view: ProgramView, data: ItemId) -> str:
    name = view.name(data)
    return f"({name} - {name}.mean(0)) / {name}.std(0)"


def _summands(view: ProgramView, facts: RunFacts, loss: ItemId) -> int:
    """Of a loss that is a sum over all elements, how many there are; 0 of others."""
    stage = next((one for one in view.stages(loss, 0) if one.word not in TERMS), None)
    if stage is None or (stage.word != "sum" and "sum" not in stage.node.literals.get("reduction", "")):
        return 0
    source = view.source(stage.item)
    record = facts.record(*view.resolve(source.item, source.output)) if source is not None else None
    return math.prod(record.summary.shape) if isinstance(record, TensorRecord) else 0
