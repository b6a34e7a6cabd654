"""What a field in place offers: the literals to choose from, with what they mean. No Qt."""

from collections.abc import Sequence
from typing import Final

from gradstudio.graph.model import DOCUMENT_DEVICE
from gradstudio.operators.model import Kind
from gradstudio.ui.canvas.face import InputRow

DTYPES: Final = (
    "torch.float32",
    "torch.float64",
    "torch.float16",
    "torch.bfloat16",
    "torch.int64",
    "torch.int32",
    "torch.int16",
    "torch.int8",
    "torch.uint8",
    "torch.bool",
    "torch.complex64",
    "torch.complex128",
)


def choices(row: InputRow, devices: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """(shown, literal) of every choice; an optional argument begins with torch's default as ""."""
    rows: list[tuple[str, str]] = []
    if not row.required:
        rows.append((f"{row.parameter.default or 'None'}  (default)", ""))
    match row.parameter.kind:
        case _ if row.parameter.choices:
            literals: tuple[str, ...] = row.parameter.choices
        case Kind.BOOL:
            literals = ("True", "False")
        case Kind.DTYPE:
            literals = DTYPES
        case Kind.DEVICE:
            rows.append(("the document's device", DOCUMENT_DEVICE))
            literals = tuple(f'"{name}"' for name in dict.fromkeys(("cpu", *devices)))
        case _:
            literals = ()
    default = row.parameter.default
    rows += [(literal, literal) for literal in literals if row.required or literal != default]
    if row.text and row.text not in {value for _, value in rows}:
        rows.append((row.text, row.text))
    return tuple(rows)
