"""Where a NaN or an infinity was born, in the forward and in each backward, and which way it went."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView, Source
from gradstudio.graph.model import ItemId
from gradstudio.graph.names import value_words
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import PlainRecord, Record, Summary, TensorRecord, TupleRecord
from gradstudio.protocol.number_format import format_number

MAX_BIRTHS = 8
"""Births told of one run; what comes later is most often their consequence."""
LARGEST = {"float16": "65,504", "bfloat16": "3.4e38", "float32": "3.4e38", "float64": "1.8e308"}
NANS = {
    "log": "the log of a negative number",
    "log2": "the log2 of a negative number",
    "log10": "the log10 of a negative number",
    "log1p": "the log1p of a number below −1",
    "sqrt": "the square root of a negative number",
    "rsqrt": "the square root of a negative number",
    "div": "0/0",
    "truediv": "0/0",
    "mul": "0 · inf",
    "matmul": "0 · inf, or inf − inf",
    "sub": "inf − inf",
    "add": "inf + (−inf)",
    "sum": "inf + (−inf)",
    "pow": "a negative base with a fractional exponent",
    "softmax": "the softmax of a row of nothing but −inf is 0/0",
    "acos": "acos is defined between −1 and 1",
    "asin": "asin is defined between −1 and 1",
    "std": "the standard deviation of one element is 0/0",
    "var": "the variance of one element is 0/0",
    "mean": "the mean of no elements is 0/0",
    "normalize": "0/0",
    "norm": "the norm of what is not finite",
}
"""By the word of an operator: what makes a NaN there of finite numbers, or of infinities."""
INFINITIES = {
    "log": "the log of 0",
    "log2": "the log2 of 0",
    "log10": "the log10 of 0",
    "log1p": "the log1p of −1",
    "reciprocal": "1/0",
    "rsqrt": "1/√0",
    "div": "a division by 0",
    "truediv": "a division by 0",
    "atanh": "atanh of ±1",
    "logit": "the logit of 0 or 1",
}
"""The same for an infinity; elsewhere a result has become larger than its dtype holds."""
READING = frozenset({"torch.Tensor.grad", "torch.autograd.grad"})
"""What hands out what a backward has computed: it is told of there."""
EMPTY = frozenset({"mean", "std", "var", "median"})
SLOPES = {
    "sqrt": "the slope of √x is 1/(2√x), which is infinite at 0",
    "log": "the slope of log x is 1/x, which is infinite at 0 (and NaN where 0 arrives: 0 · inf)",
    "pow": "the slope of x**p is p·x**(p−1), which is infinite at 0 for p < 1",
    "div": "the slope of a/b by b is −a/b², which is infinite at b = 0",
    "norm": "the slope of a norm is x/‖x‖, which is 0/0 at 0",
    "linalg_vector_norm": "the slope of a norm is x/‖x‖, which is 0/0 at 0",
    "mul": "0 · inf is NaN: the gradient that arrived, or the other factor, is infinite",
    "where": "the branch that was not taken sends 0 back, but 0 · inf is NaN behind it",
    "exp": "the slope of exp x is exp x, which has overflowed",
    "acos": "the slope of acos is infinite at ±1",
    "asin": "the slope of asin is infinite at ±1",
    "rsqrt": "the slope of 1/√x is infinite at 0",
    "std": "the slope of a standard deviation is infinite where it is 0",
}


class _Value(NamedTuple):
    """What is known of a value that goes in: whose it is, what it was, and the birth that spoilt it."""

    source: Source
    record: Record | None

    @property
    def kind(self) -> str:
        return _kind_of_record(self.record) if self.record is not None else ""


class _Forward:
    """The rows of a run gone through in order."""

    def __init__(self, view: ProgramView) -> None:
        self.view = view
        self.births: dict[ItemId, tuple[str, str, str]] = {}
        self.becomes: dict[ItemId, ItemId] = {}
        self.spoilt: set[ItemId] = set()
        self._latest: dict[ItemId, Row] = {}
        self._origin: dict[ItemId, ItemId | None] = {}
        self._newest: dict[tuple[object, ...], TensorRecord] = {}

    def take(self, row: Row) -> None:
        """The next row: is its result spoilt, and by whom."""
        bad = _not_finite(row.outputs)
        node = self.view.node(row.node) if bad else None
        if bad:
            self.spoilt.add(row.node)
        if node is not None and self.view.definition(row.node) is None and node.operator not in READING:
            self._judge(row, bad)
        self._latest[row.node] = row
        self._newest.update({_memory(one): one for one in row.outputs if isinstance(one, TensorRecord) and one.storage})
        for state in row.writes:
            self._newest.pop(_memory(state.record), None)
            self._newest[state.storage, state.record.summary.shape, state.record.stride] = state.record

    def _judge(self, row: Row, bad: str) -> None:
        values = [self._value(source) for source in self.view.sources(row.node)]
        causes = [value for value in values if value.kind]
        passes_on = any(value.kind == "NaN" for value in causes) or (bad != "NaN" and causes)
        origins = [self._origin.get(value.source.item) for value in causes]
        first = next((origin for origin in origins if origin is not None), None)
        if passes_on or first is not None:
            self._origin[row.node] = first
            if bad == "NaN" and first is not None and not passes_on:
                self.becomes.setdefault(first, row.node)
            return
        if bad != "NaN" and not _is_computed(self.view, row.node):
            self._origin[row.node] = None
            return
        self._origin[row.node] = row.node
        if row.node not in self.births and len(self.births) < MAX_BIRTHS:
            why = _reason(self.view.word(row.node), bad, row.outputs, values)
            self.births[row.node] = bad, why, _inputs_in_words(self.view, values)

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
        if isinstance(record, TensorRecord):
            while (newest := self._newest.get(_memory(record), record)) is not record:
                record = newest  # what was written into is another by now
        return _Value(Source(source.port, item, output), record)


def _memory(record: TensorRecord) -> tuple[object, ...]:
    """The same for records of the same elements of one storage."""
    return record.storage, record.summary.shape, record.stride


def forward_origins(view: ProgramView, rows: Iterable[Row]) -> tuple[Finding, ...]:
    """One finding per node whose result first holds a NaN or an infinity that none of its inputs holds.

    A NaN that comes of an infinity is told with the birth of that infinity.
    """
    walk = _Forward(view)
    for row in rows:
        walk.take(row)
    return tuple(_forward(walk, node, *birth) for node, birth in walk.births.items())


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
        if view.node(row.node) is not None and not _is_told(view, row.node, bad, spoilt):
            found.append(_backward(view, traced, place, row, bad))
    return tuple(found)


def begins_nonfinite(traced: BackwardTraced) -> bool:
    """Whether any autograd node sent back what is not finite although no such thing came in."""
    return any(_births(traced))


def nonfinite_nodes(rows: Iterable[Row]) -> dict[ItemId, str]:
    """Nodes that have given a NaN or an infinity, and which: "NaN" when any was."""
    found: dict[ItemId, str] = {}
    for row in rows:
        bad = _not_finite(row.outputs)
        if bad and found.get(row.node) != "NaN":
            found[row.node] = bad
    return found


def _births(traced: BackwardTraced) -> Iterator[tuple[int, AutogradRow, str]]:
    """Where it begins; a NaN that comes of an infinity is that one's consequence."""
    began = False
    for place, row in enumerate(traced.rows):
        bad, came = _worst(row.outgoing), _worst(row.incoming)
        if bad and came != "NaN" and (not came or (bad == "NaN" and not began)):
            began = True
            yield place, row, bad


def _forward(walk: _Forward, node: ItemId, bad: str, why: str, inputs: str) -> Finding:
    view = walk.view
    title = f"{bad} is born in {view.where(node)}" + (f": {why}" if why else "")
    later = walk.becomes.get(node)
    if later is not None:
        title += f"; it becomes NaN in {view.where(later)}"
    return Finding(
        "not_finite",
        "error" if bad == "NaN" or later is not None else "warning",
        node,
        title,
        f"{inputs} {_way_out(view.word(node), bad)}".strip(),
        _path_forward(view, node, walk.spoilt),
    )


def _reason(word: str, bad: str, outputs: Sequence[Record], values: Sequence[_Value]) -> str:
    """What makes that of what goes in."""
    word = word.lower()
    if word in EMPTY and any(_is_empty(value.record) for value in values):
        return f"the {word} of no elements is 0/0"
    if bad == "NaN":
        kinds = {value.kind for value in values} - {""}
        return "inf/inf" if word in ("div", "truediv") and kinds else NANS.get(word, "")
    if word in INFINITIES and _is_at_its_edge(word, values):
        return INFINITIES[word]
    dtype = next((record.summary.dtype for record in outputs if isinstance(record, TensorRecord)), "float32")
    dtype = dtype.removeprefix("torch.")
    return f"{word or 'the result'} overflows {dtype}, which ends at {LARGEST.get(dtype, 'its largest number')}"


def _is_at_its_edge(word: str, values: Sequence[_Value]) -> bool:
    """Whether a division is by 0, and not a product that is too large; of what else has an edge it is always that."""
    if word not in ("div", "truediv"):
        return True
    divisor = values[-1].record if len(values) > 1 else None
    if not isinstance(divisor, TensorRecord):
        return True
    low, high = divisor.summary.minimum, divisor.summary.maximum
    return low is None or high is None or low <= 0 <= high


def _is_empty(record: Record | None) -> bool:
    return isinstance(record, TensorRecord) and not math.prod(record.summary.shape)


def _way_out(word: str, bad: str) -> str:
    """What to do about it, in one sentence."""
    word = word.lower()
    if word in ("exp", "expm1"):
        return "Subtract the largest before exp, or use softmax, logsumexp or log_softmax, which do."
    if word == "softmax":
        return "Leave at least one element of each row unmasked, or clear such rows behind the softmax."
    if word in EMPTY:
        return "Take it only where there are elements (numel() > 0; more than one for a deviation)."
    if word in INFINITIES or word in NANS:
        return "Keep the numbers away from there (clamp, a small eps)."
    return "Smaller numbers, or a wider dtype, keep it finite." if bad != "NaN" else "Keep infinities out of it."


def _backward(view: ProgramView, traced: BackwardTraced, place: int, row: AutogradRow, bad: str) -> Finding:
    from gradstudio.advice.derivatives.local_rules import word_of_autograd

    reason = SLOPES.get(view.word(row.node)) or SLOPES.get(word_of_autograd(row.autograd), "")
    arrived = next((summary for summary in row.incoming if summary is not None), None)
    came = f"What arrived at {row.autograd} was finite ({_range(arrived)}). " if arrived is not None else ""
    later = bad != "NaN" and any(_worst(other.outgoing) == "NaN" for other in traced.rows[place:])
    title = f"The gradient becomes {bad} in {view.where(row.node)}{', and NaN behind it' if later else ''}"
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
                target for (target, _), summary in zip(row.next, row.outgoing, strict=False) if _kind_of(summary)
            )
    return tuple(path)


def _not_finite(records: Sequence[Record]) -> str:
    """``NaN``, ``−inf``, ``inf``, or "" when all is finite."""
    kinds = [_kind_of_record(record) for record in records]
    return next((kind for kind in ("NaN", "inf", "−inf") if kind in kinds), "")


def _kind_of_record(record: Record) -> str:
    match record:
        case TensorRecord(summary=summary):
            return _kind_of(summary)
        case PlainRecord(value=value) if isinstance(value, str):
            return {"nan": "NaN", "inf": "inf", "-inf": "−inf"}.get(value, "") if record.what == "number" else ""
        case TupleRecord(items=items):
            return _not_finite(items)
        case _:
            return ""


def _kind_of(summary: Summary | None) -> str:
    if summary is None:
        return ""
    if summary.nan:
        return "NaN"
    if summary.posinf:
        return "inf"
    return "−inf" if summary.neginf else ""


def _is_finite(summary: Summary) -> bool:
    return not (summary.nan or summary.posinf or summary.neginf)


def _worst(summaries: Iterable[Summary | None]) -> str:
    kinds = {_kind_of(summary) for summary in summaries if summary is not None and not _is_finite(summary)}
    return next((kind for kind in ("NaN", "inf", "−inf") if kind in kinds), "")


def _is_computed(view: ProgramView, item: ItemId) -> bool:
    """An infinity that was written down (a literal, a mask's fill) is meant."""
    node = view.node(item)
    if node is None or not any(view.sources(item)):
        return False
    return not any("inf" in str(literal) for literal in node.literals.values())


def _is_told(view: ProgramView, item: ItemId, bad: str, spoilt: Mapping[ItemId, str]) -> bool:
    """Whether what a node sends back follows from what was wrong in its forward: 0 · ∞ does not, it is a new NaN."""
    around = {spoilt.get(one, "") for one in (item, *(source.item for source in view.sources(item)))} - {""}
    return "NaN" in around if bad == "NaN" else bool(around)


def _inputs_in_words(view: ProgramView, values: Iterable[_Value]) -> str:
    tensors = [(value.source.item, value.record) for value in values if isinstance(value.record, TensorRecord)]
    parts = [f"{value_words(view.name(item))} is {_range(record.summary)}" for item, record in tensors]
    return f"What goes in: {', '.join(dict.fromkeys(parts))}." if parts else ""


def _range(summary: Summary) -> str:
    if summary.minimum is None or summary.maximum is None:
        return "not finite"
    extra = ", with infinities" if summary.posinf or summary.neginf else ""
    if summary.minimum == summary.maximum:
        return f"{format_number(summary.minimum, 4)}{extra}"
    return f"{format_number(summary.minimum, 4)} … {format_number(summary.maximum, 4)}{extra}"
