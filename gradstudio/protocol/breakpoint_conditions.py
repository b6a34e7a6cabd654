"""Whether a breakpoint's condition holds, over what is told of a tensor.

Expressions are read by `ast` and walked here: nothing is ever evaluated by Python, so that a condition in a file
that someone else wrote can do nothing but compare numbers.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from gradstudio.protocol.messages.debugging import Condition
from gradstudio.protocol.messages.records import Summary

NAMES: Final = ("min", "max", "mean", "rms", "norm", "absmax", "nan", "inf", "numel", "ndim")
"""What an expression may speak of. min, max, mean and rms are over finite values; norm is rms * sqrt(numel);
absmax is the largest magnitude, infinite when an infinity is there; nan and inf count elements."""
MAX_LENGTH: Final = 200
"""Characters of an expression."""

Figures = dict[str, float | None]
_COMPARE: Final[dict[type[ast.cmpop], Callable[[float, float], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_COMPUTE: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_EXAMPLE: Final = "norm > 10 and nan == 0"


def holds(condition: Condition, summary: Summary | None) -> bool:
    """Whether the condition holds of a value; only "always" does when nothing is known of it."""
    if condition.kind == "always":
        return True
    if summary is None:
        return False
    match condition.kind:
        case "not_finite":
            return summary.nan + summary.posinf + summary.neginf > 0
        case "above" | "below":
            largest = _largest(summary)
            above = condition.kind == "above"
            return largest is not None and (largest > condition.number if above else largest < condition.number)
        case "shape_differs":
            return summary.whole_shape != condition.shape
        case "expression":
            return not why_not(condition.text) and bool(_value(_parsed(condition.text), _figures(summary)))


@lru_cache(maxsize=256)
def why_not(text: str) -> str:
    """Why an expression is not understood, in a sentence; "" when it is."""
    if not text.strip():
        return f"Type what is to hold, for example {_EXAMPLE}."
    if len(text) > MAX_LENGTH:
        return f"An expression has at most {MAX_LENGTH} characters; this one has {len(text)}."
    try:
        root = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"“{text.strip()}” is not an expression. Write it like {_EXAMPLE}."
    return _refusal(root)


def why_unreadable(condition: Condition) -> str:
    """Why a condition can never be asked, in a sentence; "" when it can."""
    return why_not(condition.text) if condition.kind == "expression" else ""


def describe(condition: Condition) -> str:
    """The condition in a few words, for a list row: "largest magnitude > 10"."""
    match condition.kind:
        case "always":
            return "always"
        case "not_finite":
            return "NaN or inf"
        case "above":
            return f"largest magnitude > {condition.number:g}"
        case "below":
            return f"largest magnitude < {condition.number:g}"
        case "shape_differs":
            return f"shape differs from {condition.shape}"
        case "expression":
            return condition.text.strip()


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return ast.parse(text.strip(), mode="eval").body


def _refusal(node: ast.expr) -> str:
    """What stands in the expression that may not; "" when all may."""
    for inner in ast.walk(node):
        match inner:
            case ast.Constant():
                if isinstance(inner.value, bool) or not isinstance(inner.value, int | float):
                    return f"Only numbers can be compared with, not {inner.value!r}."
            case ast.Name():
                if inner.id not in NAMES:
                    return f"“{inner.id}” is not known here. There are {', '.join(NAMES)}."
            case ast.UnaryOp() if isinstance(inner.op, ast.Invert):
                return "~ cannot be used here; write not."
            case ast.BinOp() if type(inner.op) not in _COMPUTE:
                return "Only + - * / and ** can be used here."
            case ast.Compare() if any(type(compare) not in _COMPARE for compare in inner.ops):
                return "Only < <= > >= == and != can compare here."
            case ast.expr() if not isinstance(inner, ast.BoolOp | ast.UnaryOp | ast.BinOp | ast.Compare):
                return f"“{ast.unparse(inner)}” cannot be used here; only {', '.join(NAMES)} and numbers can."
    return ""


def _value(node: ast.expr, figures: Figures) -> float | bool | None:
    """Of an expression that `why_not` has nothing against; None when a figure it needs is missing."""
    match node:
        case ast.Constant():
            return _number(node.value)
        case ast.Name():
            return figures[node.id]
        case ast.BoolOp():
            results = (bool(_value(part, figures)) for part in node.values)
            return all(results) if isinstance(node.op, ast.And) else any(results)
        case ast.UnaryOp():
            inner = _value(node.operand, figures)
            if isinstance(node.op, ast.Not):
                return not inner
            return inner if inner is None or isinstance(node.op, ast.UAdd) else -inner
        case ast.BinOp():
            return _computed(node, figures)
        case ast.Compare():
            return _compared(node, figures)
    raise AssertionError(node)


def _computed(node: ast.BinOp, figures: Figures) -> float | None:
    left, right = _value(node.left, figures), _value(node.right, figures)
    if left is None or right is None:
        return None
    try:
        return _number(_COMPUTE[type(node.op)](float(left), float(right)))
    except (ZeroDivisionError, OverflowError):
        return None


def _compared(node: ast.Compare, figures: Figures) -> bool:
    values = [_value(part, figures) for part in (node.left, *node.comparators)]
    pairs = zip(node.ops, values, values[1:], strict=False)
    return all(a is not None and b is not None and _COMPARE[type(op)](a, b) for op, a, b in pairs)


def _figures(summary: Summary) -> Figures:
    numel = math.prod(summary.shape)
    rms = _number(summary.rms)
    return {
        "min": _number(summary.minimum),
        "max": _number(summary.maximum),
        "mean": _number(summary.mean),
        "rms": rms,
        "norm": None if rms is None else rms * math.sqrt(numel),
        "absmax": _largest(summary),
        "nan": float(summary.nan),
        "inf": float(summary.posinf + summary.neginf),
        "numel": float(numel),
        "ndim": float(len(summary.shape)),
    }


def _largest(summary: Summary) -> float | None:
    if summary.posinf or summary.neginf:
        return math.inf
    low, high = _number(summary.minimum), _number(summary.maximum)
    return None if low is None or high is None else max(abs(low), abs(high))


def _number(value: object) -> float | None:
    """As a float; None for what is none (complex results of a power too) or too large to be one."""
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
