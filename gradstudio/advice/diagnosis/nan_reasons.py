"""What makes a NaN or an infinity, in words: by the operator where it is born, and by what goes in."""

import math
from collections.abc import Iterable, Sequence

from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.graph.model import ItemId
from gradstudio.graph.names import value_words
from gradstudio.protocol.messages.records import (
    OptimizerRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.protocol.number_format import format_number

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


def reason(word: str, bad: str, outputs: Sequence[Record], inputs: Sequence[Record | None]) -> str:
    """What makes that of what goes in."""
    word = word.lower()
    if word in EMPTY and any(map(_is_empty, inputs)):
        return f"the {word} of no elements is 0/0"
    if bad == "NaN":
        has_odd = any(kind_of_record(record) for record in inputs if record is not None)
        return "inf/inf" if word in ("div", "truediv") and has_odd else NANS.get(word, "")
    if word in INFINITIES and _is_at_its_edge(word, inputs):
        return INFINITIES[word]
    dtype = next((record.summary.dtype for record in outputs if isinstance(record, TensorRecord)), "float32")
    dtype = dtype.removeprefix("torch.")
    return f"{word or 'the result'} overflows {dtype}, which ends at {LARGEST.get(dtype, 'its largest number')}"


def step_reason(optimizer: Record | None) -> str:
    """What in an optimizer makes a NaN of finite gradients."""
    groups = optimizer.groups if isinstance(optimizer, OptimizerRecord) else ()
    if any(group.get("eps") == 0 for group in groups):
        return "eps is 0, and where a gradient has always been 0 the step is 0/0"
    return "a step so long that the weights overflow"


SIGNS = frozenset("add sub mul truediv floordiv pow mod matmul neg".split())
"""Words of operators that a program writes as signs."""


def untaken_branch(view: ProgramView, item: ItemId) -> str:
    """That where hides the numbers of a branch, not its slope; "" where none does."""
    user = next((one for one in view.followers(item) if view.word(one) == "where"), None)
    if user is None:
        return ""
    word = view.word(item)
    what = value_words(view.name(item)) if word in SIGNS else word
    return f"where does not take {what} there, but sends 0 back into it, and 0 times its infinite slope is NaN"


def _is_at_its_edge(word: str, inputs: Sequence[Record | None]) -> bool:
    """Whether a division is by 0, and not a product that is too large; of what else has an edge it is always that."""
    if word not in ("div", "truediv"):
        return True
    divisor = inputs[-1] if len(inputs) > 1 else None
    if not isinstance(divisor, TensorRecord):
        return True
    low, high = divisor.summary.minimum, divisor.summary.maximum
    return low is None or high is None or low <= 0 <= high


def _is_empty(record: Record | None) -> bool:
    return isinstance(record, TensorRecord) and not math.prod(record.summary.shape)


def way_out(word: str, bad: str) -> str:
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


def turn_words(turns: tuple[int, ...]) -> str:
    """`` in turn 3``, counted from one as the timeline does; of loops in loops the inner one first: ``3 in 1``."""
    return f" in turn {' in '.join(str(turn + 1) for turn in reversed(turns))}" if turns else ""


def kind_of_records(records: Sequence[Record]) -> str:
    """``NaN``, ``−inf``, ``inf``, or "" when all is finite."""
    kinds = [kind_of_record(record) for record in records]
    return next((kind for kind in ("NaN", "inf", "−inf") if kind in kinds), "")


def kind_of_record(record: Record) -> str:
    """The same of one."""
    match record:
        case TensorRecord(summary=summary):
            return kind_of(summary)
        case PlainRecord(value=value) if isinstance(value, str):
            return {"nan": "NaN", "inf": "inf", "-inf": "−inf"}.get(value, "") if record.what == "number" else ""
        case TupleRecord(items=items):
            return kind_of_records(items)
        case _:
            return ""


def kind_of(summary: Summary | None) -> str:
    """The same of a summary."""
    if summary is None:
        return ""
    if summary.nan:
        return "NaN"
    if summary.posinf:
        return "inf"
    return "−inf" if summary.neginf else ""


def _is_finite(summary: Summary) -> bool:
    return not (summary.nan or summary.posinf or summary.neginf)


def worst(summaries: Iterable[Summary | None]) -> str:
    """The same of several, a NaN before all."""
    kinds = {kind_of(summary) for summary in summaries if summary is not None and not _is_finite(summary)}
    return next((kind for kind in ("NaN", "inf", "−inf") if kind in kinds), "")


def inputs_in_words(view: ProgramView, inputs: Iterable[tuple[ItemId, Record | None]]) -> str:
    """How far what goes in reaches: "What goes in: x is −3 … 4."."""
    tensors = [(item, record) for item, record in inputs if isinstance(record, TensorRecord)]
    parts = [f"{value_words(view.name(item))} is {range_words(record.summary)}" for item, record in tensors]
    return f"What goes in: {', '.join(dict.fromkeys(parts))}." if parts else ""


def range_words(summary: Summary) -> str:
    """How far its finite numbers reach: ``−3 … 4``."""
    if summary.minimum is None or summary.maximum is None:
        return "not finite"
    extra = ", with infinities" if summary.posinf or summary.neginf else ""
    if summary.minimum == summary.maximum:
        return f"{format_number(summary.minimum, 4)}{extra}"
    return f"{format_number(summary.minimum, 4)} … {format_number(summary.maximum, 4)}{extra}"
