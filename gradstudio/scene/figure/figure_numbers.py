"""Values and gradients in the few letters that a figure has room for. No Qt."""

import re
from typing import Final

from gradstudio.protocol.messages.records import PlainRecord, Record, Summary, TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.figure.drawing import Formula, Run, upright
from gradstudio.scene.figure.math_symbols import number

MOST_ELEMENTS: Final = 4
DIGITS: Final = 3
MOST_LETTERS: Final = 24
_POWER: Final = re.compile(r"(-?\d[\d.]*e[-+]?\d+)")


def value_formula(record: Record, *, values: bool, shapes: bool) -> Formula:
    """What a box says of a result: numbers, or the range of many; and its shape, 200 × 32."""
    match record:
        case TensorRecord(summary=summary):
            shape = upright(" × ".join(str(size) for size in summary.shape)) if shapes else ()
            numbers = _numbers(summary) if values else ()
            return (*shape, Run(",  "), *numbers) if shape and numbers else shape or numbers
        case PlainRecord(what="number" | "text", value=value) if values:
            return upright(_minus(value_format.number(value))[:MOST_LETTERS])
        case _:
            return ()


def gradient_formula(grad: Summary | None) -> Formula:
    """A gradient at a box: ∇ = 16, or ‖∇‖ = 0.32 of many numbers."""
    if grad is None:
        return ()
    if odd := _odd(grad):
        return Run("∇ = "), *upright(_minus(odd))
    if _is_written(grad):
        return Run("∇ = "), *_numbers(grad)
    return Run("‖∇‖ = "), *number(value_format.norm(grad, DIGITS))


def sent_formula(grad: Summary | None) -> Formula:
    """A gradient on a wire: the number, a small vector, or the norm; "none" where torch sent nothing."""
    if grad is None:
        return upright("none")
    if odd := _odd(grad):
        return upright(_minus(odd))
    if _is_written(grad):
        return _numbers(grad)
    return Run("‖∇‖ "), *number(value_format.norm(grad, DIGITS))


def _numbers(summary: Summary) -> Formula:
    """All of a few numbers, or the range of many and what of them is not finite."""
    if odd := _odd(summary):
        finite = value_format.extent(summary, DIGITS)
        return (*_with_powers(f"{finite}, " if finite else ""), *upright(_minus(odd)))
    if not _is_written(summary):
        return _with_powers(value_format.extent(summary, DIGITS))
    numbers = [value_format.number(one, DIGITS) for one in value_format.nested_scalars(summary.value)]
    if len(numbers) == 1:
        return number(numbers[0])
    across = summary.shape[-1]
    rows = [", ".join(numbers[start : start + across]) for start in range(0, len(numbers), across)]
    return _with_powers(f"[{'; '.join(rows)}]")


def _with_powers(text: str) -> Formula:
    """Words and numbers; ``1.00e-8`` as a power of ten."""
    runs = list[Run]()
    for k, part in enumerate(_POWER.split(text)):
        runs += number(part) if k % 2 else upright(_minus(part))
    return tuple(runs)


def _is_written(summary: Summary) -> bool:
    is_complex = value_format.bare_dtype(summary.dtype).startswith("complex")
    count = value_format.element_count(summary.shape)
    small = count == 1 or (len(summary.shape) <= 2 and 0 < count <= MOST_ELEMENTS)
    return small and summary.value is not None and not is_complex


def _odd(summary: Summary) -> str:
    return value_format.oddities(summary) if not _is_written(summary) else ""


def _minus(text: str) -> str:
    return text.replace("-", "−")
