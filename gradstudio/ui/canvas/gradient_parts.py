"""An accumulated gradient as the sum of what each pass left: ``= 4 + 4``. No Qt."""

from gradstudio.protocol.messages import GradRow
from gradstudio.protocol.records import Summary
from gradstudio.ui.canvas import formatting

SHOWN = 4
"""So many parts are written; of more the first, the last and how many."""


def accumulated_parts(row: GradRow) -> str:
    """Numbers as they are, tensors by their norms; one part alone was left by an earlier pass."""
    if not row.parts:
        return ""
    words = [part_words(part.grad) for part in row.parts]
    if len(words) == 1:
        return f"left by pass {row.parts[0].pass_number}"
    if len(words) > SHOWN:
        words = [*words[:2], "…", words[-1], f"({len(row.parts)} parts)"]
        return f"= {' + '.join(words[:-1])} {words[-1]}"
    return f"= {' + '.join(words)}" if row.grad is not None and row.grad.shape == () else f"sum of {', '.join(words)}"


def part_words(grad: Summary | None) -> str:
    """One part: a number, else a norm."""
    if grad is None:
        return "0"
    if grad.shape == () and grad.value is not None:
        return formatting.number(grad.value, 3)
    return f"‖{formatting.norm(grad)}‖"
