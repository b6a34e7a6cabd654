"""Where a NaN or an infinity was born, in the forward and in each backward, and which way it went."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding, Severity
from gradstudio.advice.diagnosis.nan_reasons import (
    SLOPES,
    inputs_in_words,
    kind_of,
    kind_of_record,
    kind_of_records,
    range_words,
    reason,
    step_reason,
    turn_words,
    untaken_branch,
    way_out,
    worst,
)
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.reduction_origins import spoilt_by_others
from gradstudio.advice.diagnosis.run_facts import RunFacts, is_filled, leaf_rows
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord

MAX_BIRTHS = 8
"""Births told of one run; what comes later is most often their consequence."""
READING = frozenset({"torch.Tensor.grad", "torch.autograd.grad", "torch.nn.utils.clip_grad_norm_", "python.tuple"})
"""What hands out what was computed elsewhere, by a backward or in what brings data: it is told of there."""
WASHERS = frozenset("isnan isfinite isinf nan_to_num nanmean nansum nanmedian nanquantile where masked_fill".split())
"""What looks for a NaN, or takes it away: it is expected there."""


class _Value(NamedTuple):
    """What is known of a value that goes in: whose it is, what it was, and what is not finite of it.

    Attributes:
        kind: of a module that of its parameters and buffers as they are by now.
        spoilt: where leaves and buffers live that are not finite.
        is_lost: what it is by now happened in turns that are not kept.
    """

    source: Source
    record: Record | None
    kind: str
    spoilt: tuple[int, ...] = ()
    is_lost: bool = False


class _Birth(NamedTuple):
    """Where something that is not finite came into the world: in which turns, and why."""

    row: Row
    bad: str
    why: str
    inputs: str
    is_data: bool = False


class _Forward:
    """A run gone through in order.

    Attributes:
        births: by node, the first one there.
        becomes: by node of a birth, where a NaN came of its infinity.
        spoilt: nodes with a result that is not finite.
        blind: the first row of which nobody can say whether it passes a NaN on.
    """

    def __init__(self, view: ProgramView, facts: RunFacts, steps: Mapping[ItemId, ItemId]) -> None:
        self.view, self._facts, self._steps = view, facts, steps
        self.births: dict[ItemId, _Birth] = {}
        self.becomes: dict[ItemId, ItemId] = {}
        self.spoilt: set[ItemId] = set()
        self.blind: Row | None = None
        self.roots: set[ItemId] = set()
        self._latest: dict[ItemId, Row] = {}
        self._origin: dict[ItemId, ItemId | None] = {}
        self._newest: dict[tuple[object, ...], TensorRecord] = {}
        self._memory_origin: dict[int, ItemId | None] = {}
        self._written: set[int] = set()
        self._lost: set[int] = set()
        self._bad_gradients: set[int] = set()
        self._turns: tuple[int, ...] = ()
        self._is_partial = facts.is_cut

    def take_backward(self, traced: BackwardTraced) -> None:
        """The next backward: which gradients are not finite."""
        for key, row in leaf_rows(traced):
            change = self._bad_gradients.update if kind_of(row.after) else self._bad_gradients.difference_update
            change(self._facts.storages(key))
        for leaf in spoilt_by_others(traced):
            self._bad_gradients.update(self._facts.storages(leaf))
        self.roots.update(value.node for row in traced.rows[:1] for value in row.values)

    def take(self, row: Row) -> None:
        """The next row: is its result spoilt, and by whom."""
        self._look_for_a_gap(row)
        bad = kind_of_records(row.outputs)
        node = self.view.node(row.node) if bad else None
        if bad:
            self.spoilt.add(row.node)
        if node is not None and self.view.definition(row.node) is None and node.operator not in READING:
            self._judge(row, bad)
        self._latest[row.node] = row
        self._newest.update({_memory(one): one for one in row.outputs if isinstance(one, TensorRecord) and one.storage})
        for state in row.writes:
            self._note_write(row, state.storage, state.record)

    def _look_for_a_gap(self, row: Row) -> None:
        """Turns of a loop that are not kept: what was written in them is not known."""
        before, self._turns = self._turns, row.turns
        if any(now > was + 1 for was, now in zip(before, row.turns, strict=False)):  # a gap
            self._is_partial = True
            self._latest = {item: kept for item, kept in self._latest.items() if not kept.turns}
            self._lost |= self._written

    def _note_write(self, row: Row, storage: int, record: TensorRecord) -> None:
        """A leaf or a buffer that a statement wrote into: who spoilt it, if somebody did."""
        old = self._newest.pop(_memory(record), None)
        self._newest[storage, record.summary.shape, record.stride] = record
        self._written.add(storage)
        bad = kind_of(record.summary)
        if not bad:
            self._memory_origin.pop(storage, None)
        elif storage not in self._memory_origin and (old is None or not kind_of(old.summary)):
            self._memory_origin[storage] = self._writer_origin(row, storage, bad)
        self._lost.discard(storage)

    def _writer_origin(self, row: Row, storage: int, bad: str) -> ItemId | None:
        """The birth behind what a statement wrote: that of what went in, or of a gradient, or the statement itself."""
        if row.node in self._origin:
            return self._origin[row.node]
        if storage in self._bad_gradients or storage in self._lost or row.node not in self._steps:
            return None
        optimizer = self._steps[row.node]
        self._add_birth(_Birth(row, bad, step_reason(self._facts.record(optimizer, 0)), ""))
        return row.node

    def _judge(self, row: Row, bad: str) -> None:
        values = [self._value(source) for source in self.view.sources(row.node)]
        causes = [value for value in values if value.kind]
        passes_on = any(value.kind == "NaN" for value in causes) or (bad != "NaN" and causes)
        origins = [self._origin_of(value) for value in causes]
        first = next((origin for origin in origins if origin is not None), None)
        if passes_on or first is not None:
            self._origin[row.node] = first
            if bad == "NaN" and first is not None and not passes_on:
                self.becomes.setdefault(first, row.node)
            return
        if any(value.is_lost for value in values):
            self._origin[row.node] = None
            self.blind = self.blind or row
            return
        if bad != "NaN" and not _is_computed(self.view, row.node):
            self._origin[row.node] = None
            return
        self._origin[row.node] = row.node
        records = [value.record for value in values]
        why = reason(self.view.word(row.node), bad, row.outputs, records)
        inputs = inputs_in_words(self.view, [(value.source.item, value.record) for value in values])
        self._add_birth(_Birth(row, bad, why, inputs, not values or _is_written(self.view, row.node)))

    def _add_birth(self, birth: _Birth) -> None:
        if birth.row.node not in self.births and len(self.births) < MAX_BIRTHS:
            self.births[birth.row.node] = birth

    def _origin_of(self, value: _Value) -> ItemId | None:
        behind = (self._memory_origin.get(storage) for storage in value.spoilt)
        return self._origin.get(value.source.item) or next((one for one in behind if one is not None), None)

    def _value(self, source: Source) -> _Value:
        """What an input is; of what a loop carries, what came last."""
        for way in reversed(self.view.carried(source.item, source.output)):
            if way.item in self._latest:
                return self._value(way)
        item, output = source.item, source.output
        if item not in self._latest:
            item, output = self.view.resolve(item, output)
        row = self._latest.get(item)
        record = row.outputs[output] if row is not None and output < len(row.outputs) else None
        here = Source(source.port, item, output)
        if isinstance(record, ModuleRecord):
            return self._module_value(here, record)
        if not isinstance(record, TensorRecord):
            kind = kind_of_record(record) if record is not None else ""
            return _Value(here, record, kind, is_lost=self._is_partial and record is None)
        record = self._by_now(record)
        kind = kind_of_record(record)
        return _Value(here, record, kind, (record.storage,) if kind else (), record.storage in self._lost)

    def _module_value(self, source: Source, record: ModuleRecord) -> _Value:
        leaves = [self._by_now(one) for one in (*record.parameters.values(), *record.buffers.values())]
        kind = worst(one.summary for one in leaves)
        spoilt = tuple(one.storage for one in leaves if kind_of(one.summary))
        return _Value(source, record, kind, spoilt, any(one.storage in self._lost for one in leaves))

    def _by_now(self, record: TensorRecord) -> TensorRecord:
        while (newest := self._newest.get(_memory(record), record)) is not record:
            record = newest  # what was written into is another by now
        return record

    def is_washed(self, birth: ItemId) -> bool:
        """Whether a NaN is looked for or taken away wherever it comes to, and spoils no loss."""
        chain = {item for item, origin in self._origin.items() if origin == birth}
        if chain & self.roots or birth in self._memory_origin.values():
            return False
        ends = [item for item in chain if not chain & set(self.view.followers(item))]
        return bool(ends) and all(WASHERS & set(map(self.view.word, self.view.followers(end))) for end in ends)


def _memory(record: TensorRecord) -> tuple[object, ...]:
    """The same for records of the same elements of one storage."""
    return record.storage, record.summary.shape, record.stride


def forward_origins(view: ProgramView, facts: RunFacts, steps: Mapping[ItemId, ItemId]) -> tuple[Finding, ...]:
    """One finding per node whose result first holds a NaN or an infinity that nothing which goes in holds.

    What goes in are values, parameters, buffers and what a loop carries, each as it is at that moment. A NaN that comes
    of an infinity is told with the birth of that infinity.

    Args:
        steps: by statement that steps, what made its optimizer.
    """
    walk = _Forward(view, facts, steps)
    for event in facts.events:
        if isinstance(event, BackwardTraced):
            walk.take_backward(event)
        else:
            walk.take(event)
    found = [_forward(walk, node, one) for node, one in walk.births.items() if not is_filled(view, facts, one.row)]
    if walk.blind is not None and not found:
        found.append(_lost(view, walk.blind))
    return tuple(found)


def backward_origins(view: ProgramView, traced: BackwardTraced, spoilt: Mapping[ItemId, str]) -> tuple[Finding, ...]:
    """One finding per autograd node that sends back a NaN or an infinity although none came in.

    Args:
        spoilt: nodes whose values were not finite in the forward already, and what they held: an infinity is no news
            there, and a NaN is none where one was.
    """
    found: list[Finding] = []
    seen: set[ItemId] = set()
    for place, row, bad in _births(traced):
        if row.node in seen or len(found) == MAX_BIRTHS:
            continue
        seen.add(row.node)
        if view.word(row.node) and not _is_told(view, row.node, bad, spoilt):
            found.append(_backward(view, traced, place, row, bad))
    return tuple(found)


def begins_nonfinite(traced: BackwardTraced) -> bool:
    """Whether any autograd node sent back what is not finite although no such thing came in."""
    return any(_births(traced))


def brings_nan(traced: BackwardTraced) -> bool:
    """Whether any autograd node sent back a NaN."""
    return any(worst(row.outgoing) == "NaN" for row in traced.rows)


def nonfinite_nodes(facts: RunFacts, before: BackwardTraced | None = None) -> dict[ItemId, str]:
    """Nodes whose newest value was a NaN or an infinity when a backward began (None: of all the run), and which."""
    found: dict[ItemId, str] = {}
    for event in facts.events:
        if event is before:
            break
        if isinstance(event, Row):
            bad = kind_of_records(event.outputs)
            if bad and (before is not None or found.get(event.node) != "NaN"):
                found[event.node] = bad
            elif before is not None:
                found.pop(event.node, None)
    return found


def _births(traced: BackwardTraced) -> Iterator[tuple[int, AutogradRow, str]]:
    """Where it begins; a NaN that comes of an infinity is that one's consequence."""
    began = False
    for place, row in enumerate(traced.rows):
        bad, came = worst(row.outgoing), worst(row.incoming)
        if bad and came != "NaN" and (not came or (bad == "NaN" and not began)):
            began = True
            yield place, row, bad


def _forward(walk: _Forward, node: ItemId, birth: _Birth) -> Finding:
    view = walk.view
    bad, turn = birth.bad, turn_words(birth.row.turns)
    word = view.word(node)
    if birth.is_data:
        title = f"{view.where(node)} holds {bad}{turn}"
        out = "Take such elements out, or fill them, before anything is computed from them."
    elif word == "step":
        source = view.source(node, ("self",))
        name = view.source_name(source) if source is not None else view.where(node)
        title = f"{bad} is born in {name}.step(){turn}: {birth.why}"
        out = "Leave eps at its default of 1e-8." if birth.why.startswith("eps") else "Take a smaller learning rate."
    else:
        title = f"{bad} is born in {view.where(node)}{turn}" + (f": {birth.why}" if birth.why else "")
        out = way_out(word, bad)
    later = walk.becomes.get(node)
    if later is not None:
        title += f"; it becomes NaN in {view.where(later)}"
    severity: Severity = "error" if bad == "NaN" or later is not None else "warning"
    if bad == "NaN" and walk.is_washed(node):
        severity = "info"
    more = f"{birth.inputs} {out}".strip()
    return Finding("not_finite", severity, node, title, more, _path_forward(view, node, walk.spoilt))


def _lost(view: ProgramView, row: Row) -> Finding:
    return Finding(
        "not_finite",
        "error",
        row.node,
        f"{view.where(row.node)} is NaN{turn_words(row.turns)} already: it began in turns that are not kept",
        "Of a long loop the first and the last turns are kept. Let it run for fewer turns to see where it begins.",
        (row.node,),
    )


def _backward(view: ProgramView, traced: BackwardTraced, place: int, row: AutogradRow, bad: str) -> Finding:
    from gradstudio.advice.derivatives.local_rules import word_of_autograd

    words = (view.word(row.node), word_of_autograd(row.autograd))
    reason = untaken_branch(view, row.node) or next((SLOPES[word] for word in words if word in SLOPES), "")
    arrived = next((summary for summary in row.incoming if summary is not None), None)
    came = f"What arrived at {row.autograd} was finite ({range_words(arrived)}). " if arrived is not None else ""
    later = bad != "NaN" and any(worst(other.outgoing) == "NaN" for other in traced.rows[place:])
    title = f"The gradient becomes {bad} in {view.where(row.node)}{turn_words(traced.turns)}"
    title += ", and NaN behind it" if later else ""
    return Finding(
        "backward_not_finite",
        "error",
        row.node,
        title + (f": {reason}" if reason else ""),
        f"{came}A clamp or a small eps before it keeps the slope finite; torch.where behind it does not.",
        _path_backward(traced.rows[place:]),
        traced.backward,
        place,
    )


def _path_forward(view: ProgramView, start: ItemId, spoilt: set[ItemId]) -> tuple[ItemId, ...]:
    """The spoilt nodes that follow the first one, by wires, in the program's order."""
    place = view.place(start)
    if place is None:
        return (start,)
    prefix = start.removesuffix(place.item)
    reached, todo = {start}, [place.item]
    while todo:
        for wire in place.graph.wires_from(todo.pop()):
            target = ItemId(prefix + wire.target)
            if target in spoilt and target not in reached:
                reached.add(target)
                todo.append(wire.target)
    order = (ItemId(prefix + item) for item in place.graph.order())
    return tuple(item for item in order if item in reached)


def _path_backward(rows: Sequence[AutogradRow]) -> tuple[ItemId, ...]:
    reached = {rows[0].id}
    path: dict[ItemId, None] = {}
    for row in rows:
        if row.id in reached and row.node:
            path[row.node] = None
            reached.update(
                target for (target, _), summary in zip(row.next, row.outgoing, strict=False) if kind_of(summary)
            )
    return tuple(path)


def _is_computed(view: ProgramView, item: ItemId) -> bool:
    """An infinity that was written down (a literal, a mask's fill, a mask of a size) is meant."""
    node = view.node(item)
    if node is None or not any(view.sources(item)) or view.word(item) == "generate_square_subsequent_mask":
        return False
    return not any("inf" in str(literal) for literal in node.literals.values())


def _is_written(view: ProgramView, item: ItemId) -> bool:
    """Whether the text itself says NaN there."""
    node = view.node(item)
    return node is not None and any("nan" in str(literal) for literal in node.literals.values())


def _is_told(view: ProgramView, item: ItemId, bad: str, spoilt: Mapping[ItemId, str]) -> bool:
    """Whether what a node sends back follows from what was wrong in its forward: 0 · ∞ does not, it is a new NaN."""
    around = {spoilt.get(one, "") for one in (item, *(source.item for source in view.sources(item)))} - {""}
    return "NaN" in around if bad == "NaN" else bool(around)
