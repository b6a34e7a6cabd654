"""What grows from turn to turn: numbers of a recurrence, the loss of a training, the graph behind a backward."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradstudio.advice.diagnosis.activations import large_input, unnormalised
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.objective_signs import is_error, learns_all
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts, magnitude
from gradstudio.advice.diagnosis.training_steps import Role
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.analysis.program_analysis import effects
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.operators.model import Effect
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
        factor: geometric mean of the growth a turn.
        since: the first turn of it.
        overflow: the turn in which it is not finite for the first time; None: it stays finite.
        last: the last finite value.
    """

    factor: float
    since: int
    overflow: int | None
    last: float


class Series:
    """The values of one item in the turns of a loop.

    Attributes:
        item: whose first result it is.
        trains: a backward ran between its turns.
    """

    def __init__(self, item: ItemId, rows: list[Row], trains: bool) -> None:
        """Hold the magnitudes."""
        self.item, self.rows, self.trains = item, rows, trains
        self.values = [magnitude(row.outputs[0]) for row in rows if row.outputs]

    def growth(self) -> Growth | None:
        """How it grows; None where it does not, or not enough."""
        return growth_of(self.values, LOSS if self.trains else RECURRENCE)

    def rise(self) -> Growth | None:
        """How it rises where it does in every turn, however little; None else."""
        if len(self.values) < LEAST_TURNS:
            return None
        finite = [value for value in self.values if value is not None and TRIVIAL < value < math.inf]
        is_rising = all(after > before for before, after in itertools.pairwise(finite))
        if not is_rising or len(finite) < len(self.values):
            return None
        return Growth((finite[-1] / finite[0]) ** (1 / (len(finite) - 1)), 0, None, finite[-1])


def growth_of(values: Sequence[float | None], least: float) -> Growth | None:
    """The growth at the end of a series of magnitudes, an infinite one where a value is not finite.

    Args:
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
    turns = len(finite) - 1 - begin
    if turns < 1 or finite[begin] <= TRIVIAL:
        return None
    factor = (finite[-1] / finite[begin]) ** (1 / turns)
    grown = Growth(factor, begin, overflow, finite[-1])
    if overflow is not None:
        return grown if turns >= LEAST_TURNS or factor > LOSS else None
    is_much = finite[-1] > least * max(finite[begin], finite[0])
    return grown if turns >= LEAST_TURNS and is_much and _bends(finite[begin:]) else None


def _bends(values: list[float]) -> bool:
    """Whether it grows by a factor: what is added grows, too."""
    added = [after - before for before, after in itertools.pairwise(values)][-LEAST_TURNS:]
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
    found = [Series(item, rows, item in trains) for item, rows in many]
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
    cause = f"The update of {view.name(roles[update].of)} adds the gradient: {view.name(loss.item)} rises in every step"
    out = f"By ×{format_number(rise.factor, 2)} a step, to {format_number(rise.last)}. "
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
    """``×3.1 a turn since turn 4 and overflows in turn 57``, counted from one."""
    words = f"×{format_number(grown.factor, 2)} a {turn} since {turn} {grown.since + 1}"
    return words + (f" and overflows in {turn} {grown.overflow + 1}" if grown.overflow is not None else "")


def growing_graphs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Backwards of one statement that each go through more than the one before."""
    sizes: dict[ItemId, list[int]] = {}
    for traced in facts.backwards():
        if traced.turns:
            sizes.setdefault(traced.statement, []).append(len(traced.rows))
    for statement, counts in sizes.items():
        added = [after - before for before, after in itertools.pairwise(counts)]
        if len(added) < LEAST_TURNS - 1 or min(added) <= 0:
            continue
        carried = _carried_with_graph(view, facts, statement)
        who = f"{view.name(carried)} brings" if carried is not None else "a value brings"
        yield Finding(
            "growing_graph",
            "warning",
            statement,
            f"Each backward goes through all turns before it: {who} its graph along from turn to turn",
            f"The first went through {counts[0]} autograd nodes, the last through {counts[-1]}: time and memory grow "
            "with each turn, and retain_graph=True only hides it. Write .detach() where the next turn takes the value.",
            (statement,) if carried is None else (statement, carried),
        )


def kept_graphs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Sums over the turns of a training that keep the graph of every turn, though no backward begins from them."""
    graph = view.graph
    for block in graph.blocks.values():
        if block.kind != "for" or not block.carried or not _trains(graph, block.id):
            continue
        for k, name in enumerate(block.carried, 1):
            wire = graph.wire_into(block.id, f"next.{name}")
            record = facts.record(wire.source, wire.output) if wire is not None else None
            if wire is None or not isinstance(record, TensorRecord) or not record.requires_grad or record.is_leaf:
                continue
            if _leads_to_backward(graph, [(block.id, k), (wire.source, wire.output)]):
                continue
            yield Finding(
                "kept_graph",
                "warning",
                wire.source,
                f"{name} keeps the graph of every turn: it adds up a tensor that requires grad",
                "No backward begins from it, so all that it holds is memory that grows with each turn. Add up "
                "loss.item(), or loss.detach().",
                (wire.source, block.id),
            )


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


def _carried_with_graph(view: ProgramView, facts: RunFacts, statement: ItemId) -> ItemId | None:
    """What the loop around a backward carries with a graph."""
    graph = view.graph
    around = graph.ancestors(statement) if statement in graph else ()
    for body in around:
        block = graph.blocks.get(ItemId(body))
        for k in range(1, len(block.carried) + 1) if block is not None else ():
            for source in view.carried(ItemId(body), k):
                if source.port.startswith("next.") and _has_graph(facts, source):
                    return source.item
    return None


def _has_graph(facts: RunFacts, source: Source) -> bool:
    record = facts.record(source.item, source.output)
    return isinstance(record, TensorRecord) and record.requires_grad and not record.is_leaf


def _trains(graph: Graph, loop: ItemId) -> bool:
    return any(Effect.BACKWARD in effects(graph, item) for item in graph.order(BodyId(loop)))


def _leads_to_backward(graph: Graph, begin: list[tuple[ItemId, int]]) -> bool:
    todo, seen = list(begin), set(begin)
    while todo:
        item, output = todo.pop()
        for wire in graph.wires_from(item):
            if wire.output != output:
                continue
            if wire.target in graph and Effect.BACKWARD in effects(graph, wire.target):
                return True
            outputs = [0] if wire.target in graph.nodes else []
            block = graph.blocks.get(wire.target)
            if block is not None and wire.port.partition(".")[2] in block.carried:
                outputs = [1 + block.carried.index(wire.port.partition(".")[2])]
            for number in outputs:
                if (wire.target, number) not in seen:
                    seen.add((wire.target, number))
                    todo.append((wire.target, number))
    return False
