"""An accumulated gradient as the sum of what each pass left: ``= 4 + 4``. No Qt."""

from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format

SHOWN = 4
"""So many parts are written; of more the first, the last and how many."""
MAX_ELEMENTS = 4
"""Of vectors of at most so many elements all are written."""


def gradient_terms(row: GradRow) -> str:
    """Numbers and small vectors as they are, others by their norms; one part alone was left by an earlier backward."""
    if not row.parts:
        return ""
    words = [part_words(part.grad) for part in row.parts]
    if len(words) == 1:
        return f"left by backward {row.parts[0].backward}"
    shown = words if len(words) <= SHOWN else [*words[:2], "…", words[-1]]
    count = f" ({len(words)} parts)" if shown is not words else ""
    if (
        row.grad is None
        or not _is_written(row.grad)
        or not all(part.grad is None or _is_written(part.grad) for part in row.parts)
    ):
        return f"sum of {', '.join(shown)}{count}"
    return f"{_mark([part.grad for part in row.parts], row.grad)} {' + '.join(shown)}{count}"


def part_words(grad: Summary | None) -> str:
    """One part: a number, the elements of a small vector, else a norm."""
    if grad is None:
        return "0"
    if not _is_written(grad):
        return value_format.number_or_norm(grad)
    values = _numbers(grad)
    return f"[{' '.join(values)}]" if len(values) > 1 else values[0]


def _mark(parts: list[Summary | None], total: Summary) -> str:
    """``=`` where the numbers add up as they are written, element by element."""
    written = [_numbers(part) for part in parts if part is not None]
    marks = map(value_format.sum_mark, zip(*written, strict=True), _numbers(total))
    return "≈" if "≈" in marks else "="


def _numbers(grad: Summary) -> list[str]:
    return [value_format.number(value) for value in value_format.nested_scalars(grad.value)]


def _is_written(grad: Summary) -> bool:
    count = value_format.element_count(grad.shape)
    small = count == 1 or (len(grad.shape) <= 1 and 0 < count <= MAX_ELEMENTS)
    return small and grad.value is not None and not grad.dtype.startswith("complex")
