"""Where a NaN or an infinity was born, in the forward and in each backward, and which way it went."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.names import title
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import PlainRecord, Record, Summary, TensorRecord, TupleRecord
from gradstudio.protocol.number_format import format_number

MAX_BIRTHS = 8
"""Births told of one run; what comes later is most often their consequence."""
REASONS = {
    "log": "log of 0 is −inf, and log of a negative number is NaN",
    "log2": "log2 of 0 is −inf, and of a negative number NaN",
    "log10": "log10 of 0 is −inf, and of a negative number NaN",
    "log1p": "log1p of −1 is −inf, and below −1 it is NaN",
    "sqrt": "the square root of a negative number is NaN",
    "rsqrt": "1/√0 is inf, and the square root of a negative number is NaN",
    "reciprocal": "1/0 is inf",
    "div": "x/0 is inf, and 0/0 is NaN",
    "truediv": "x/0 is inf, and 0/0 is NaN",
    "exp": "exp overflows float32 above about 88.7 (float16 above 11)",
    "mul": "0 · inf is NaN, and a product may be larger than the dtype holds",
    "sub": "inf − inf is NaN",
    "add": "inf + (−inf) is NaN",
    "pow": "a negative base with a fractional exponent is NaN, and 0 with a negative one is inf",
    "softmax": "a row of nothing but −inf has no softmax: 0/0",
    "acos": "acos is defined between −1 and 1",
    "asin": "asin is defined between −1 and 1",
    "mean": "the mean of no elements is 0/0",
    "std": "the standard deviation of one element is 0/0",
    "var": "the variance of one element is 0/0",
}
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


def forward_origins(graph: Graph, rows: Iterable[Row]) -> tuple[Finding, ...]:
    """One finding per node whose result first holds a NaN or an infinity that none of its inputs holds."""
    latest: dict[ItemId, Row] = {}
    found: dict[ItemId, tuple[str, str]] = {}
    spoilt: set[ItemId] = set()
    for row in rows:
        bad = _not_finite(row.outputs)
        if bad and row.node in graph.nodes:
            before = [(wire.source, _output(latest.get(wire.source), wire.output)) for wire in graph.wires_to(row.node)]
            is_meant = bad != "NaN" and not _is_computed(graph, row.node)
            is_old = bad in {_kind_of(summary) for _, summary in before} or _comes_from_nan(before)
            if not is_meant and not is_old and row.node not in found and len(found) < MAX_BIRTHS:
                found[row.node] = (bad, _inputs_in_words(graph, before))
        if bad:
            spoilt.add(row.node)
        latest[row.node] = row
    return tuple(_forward(graph, node, bad, words, spoilt) for node, (bad, words) in found.items())


def backward_origins(graph: Graph, traced: BackwardTraced, spoilt: Mapping[ItemId, str]) -> tuple[Finding, ...]:
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
        if row.node in graph.nodes and not _is_told(graph, row.node, bad, spoilt):
            found.append(_backward(graph, traced, place, row, bad))
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
    for place, row in enumerate(traced.rows):
        bad = _worst(row.outgoing)
        if bad and _worst(row.incoming) not in ("NaN", bad):
            yield place, row, bad


def _forward(graph: Graph, node: ItemId, bad: str, words: str, spoilt: set[ItemId]) -> Finding:
    name = title(graph, node)
    reason = REASONS.get(_word(graph, node), "")
    explanation = f"{words} {reason[:1].upper() + reason[1:]}." if reason else words
    return Finding(
        "not_finite",
        "error" if bad == "NaN" else "warning",
        node,
        f"{bad} is born in {name}",
        f"{explanation} Keep the numbers away from there (clamp, a small eps).".strip(),
        _path_forward(graph, node, spoilt),
    )


def _backward(graph: Graph, traced: BackwardTraced, place: int, row: AutogradRow, bad: str) -> Finding:
    from gradstudio.advice.derivatives.local_rules import word_of_autograd

    name, word = title(graph, row.node), _word(graph, row.node)
    reason = SLOPES.get(word) or SLOPES.get(word_of_autograd(row.autograd), "")
    arrived = next((summary for summary in row.incoming if summary is not None), None)
    came = f"What arrived at {row.autograd} was finite ({_range(arrived)}). " if arrived is not None else ""
    return Finding(
        "backward_not_finite",
        "error",
        row.node,
        f"The gradient becomes {bad} in {name}",
        f"{came}{reason[:1].upper() + reason[1:]}{'. ' if reason else ''}"
        "A clamp or a small eps before it keeps the slope finite; torch.where behind it does not.",
        _path_backward(traced.rows[place:]),
        traced.backward,
        place,
    )


def _path_forward(graph: Graph, start: ItemId, spoilt: set[ItemId]) -> tuple[ItemId, ...]:
    """The spoilt nodes that follow the first one, by wires, in the program's order."""
    reached, todo = {start}, [start]
    while todo:
        for wire in graph.wires_from(todo.pop()):
            if wire.target in spoilt and wire.target not in reached:
                reached.add(wire.target)
                todo.append(wire.target)
    return tuple(item for item in graph.order() if item in reached)


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
    return "NaN" if summary.nan else "inf" if summary.posinf else "−inf" if summary.neginf else ""


def _worst(summaries: Iterable[Summary | None]) -> str:
    kinds = {_kind_of(summary) for summary in summaries}
    return next((kind for kind in ("NaN", "inf", "−inf") if kind in kinds), "")


def _output(row: Row | None, output: int) -> Summary | None:
    record = row.outputs[output] if row is not None and output < len(row.outputs) else None
    return record.summary if isinstance(record, TensorRecord) else None


def _comes_from_nan(before: Iterable[tuple[ItemId, Summary | None]]) -> bool:
    return any(summary is not None and summary.nan for _, summary in before)


def _is_computed(graph: Graph, node: ItemId) -> bool:
    """An infinity that was written down (a literal, a mask's fill) is meant."""
    written = graph.nodes[node]
    return bool(graph.wires_to(node)) and not any("inf" in str(literal) for literal in written.literals.values())


def _is_told(graph: Graph, node: ItemId, bad: str, spoilt: Mapping[ItemId, str]) -> bool:
    """Whether what a node sends back follows from what was wrong in its forward: 0 · ∞ does not, it is a new NaN."""
    around = {spoilt.get(item, "") for item in (node, *(wire.source for wire in graph.wires_to(node)))} - {""}
    return "NaN" in around if bad == "NaN" else bool(around)


def _inputs_in_words(graph: Graph, before: Iterable[tuple[ItemId, Summary | None]]) -> str:
    parts = [f"{title(graph, node)} is {_range(summary)}" for node, summary in before if summary is not None]
    return f"What goes in: {', '.join(dict.fromkeys(parts))}." if parts else ""


def _range(summary: Summary) -> str:
    if summary.minimum is None or summary.maximum is None:
        return "not finite"
    extra = ", with infinities" if summary.posinf or summary.neginf else ""
    if summary.minimum == summary.maximum:
        return f"{format_number(summary.minimum, 4)}{extra}"
    return f"{format_number(summary.minimum, 4)} … {format_number(summary.maximum, 4)}{extra}"


def _word(graph: Graph, node: ItemId) -> str:
    """``mul`` for ``torch.mul``, ``x.mul_(y)``, ``x * y`` and ``x *= y``."""
    known = graph.nodes.get(node)
    operator = load().get(known.operator) if known is not None else None
    if operator is None:
        return ""
    return operator.word.removeprefix("i") if operator.face is Face.AUGMENTED else operator.word.rstrip("_")
