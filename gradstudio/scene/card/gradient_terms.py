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
    written = row.grad is not None and _is_written(row.grad)
    if len(words) > SHOWN:
        words = [*words[:2], "…", words[-1], f"({len(row.parts)} parts)"]
        return f"= {' + '.join(words[:-1])} {words[-1]}"
    return f"= {' + '.join(words)}" if written else f"sum of {', '.join(words)}"


def part_words(grad: Summary | None) -> str:
    """One part: a number, the elements of a small vector, else a norm."""
    if grad is None:
        return "0"
    if not _is_written(grad):
        return f"‖∇‖ {value_format.norm(grad)}"
    values = [value_format.number(value, 3) for value in value_format.nested_scalars(grad.value)]
    return f"[{' '.join(values)}]" if grad.shape else values[0]


def _is_written(grad: Summary) -> bool:
    small = len(grad.shape) <= 1 and value_format.element_count(grad.shape) <= MAX_ELEMENTS
    return small and grad.value is not None and not grad.dtype.startswith("complex")
