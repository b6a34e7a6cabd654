"""The report of a run for a person to read: a line per name, aligned."""

import math

from gradstudio.protocol.messages.events import NamedEntry, Report
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    ObjectRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.protocol.number_format import format_number
from gradstudio.protocol.ranks.spread_words import spread_words

HEADINGS = ("name", "value", "shape", "dtype", "grad_fn", "grad", "ranks")
SMALL = 10
OF_FUNCTIONS = (
    "No variable of the file itself has a value; what its functions bind ends with them: "
    "--trace --json has it, and the window shows it."
)
STATE_WORDS = {
    "not_run": "",
    "cut": "cut here",
    "not_required": "",
    "not_retained": "not kept",
    "not_reached": "not reached",
    "accumulated": "accumulated",
}


def report_table(report: Report) -> str:
    """Names, values, shapes and gradients in columns."""
    rows = [row for entry in report.entries for record in entry.outputs for row in _rows(entry.name, record)]
    if not rows:
        return OF_FUNCTIONS if any(map(_is_function, report.defined)) else "Nothing has a value."
    table = [HEADINGS, *rows]
    if not any(row[-1] for row in rows):
        table = [row[:-1] for row in table]
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def number(value: object) -> str:
    """A number as a person wants it: four significant digits, whole numbers whole."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    return format_number(value, 4) if value != int(value) or abs(value) >= 1e6 else f"{value:.1f}"


def summary_text(summary: Summary) -> str:
    """A few numbers in full, or where the many lie."""
    count = math.prod(summary.shape)
    if count <= SMALL and summary.value is not None:
        return _complex(summary.value, len(summary.shape)) if _is_complex(summary.dtype) else _nested(summary.value)
    if summary.minimum is None or summary.maximum is None:
        return f"{count} values"
    marks = "".join(
        f" {n} {word}" for n, word in ((summary.nan, "nan"), (summary.posinf, "inf"), (summary.neginf, "-inf")) if n
    )
    return f"{number(summary.minimum)} … {number(summary.maximum)}, mean {number(summary.mean)}{marks}"


def _is_function(entry: NamedEntry) -> bool:
    return any(isinstance(record, ObjectRecord) and record.class_name == "function" for record in entry.outputs)


def _rows(name: str, record: Record) -> list[tuple[str, ...]]:
    match record:
        case TensorRecord(summary=summary):
            return [
                (name, summary_text(summary), _shape(summary), summary.dtype, record.grad_fn or "", _grad(record),
                 _ranks(record))
            ]  # fmt: skip
        case PlainRecord(value=value, spread=spread):
            text = _complex(value, 0) if _is_complex(record.class_name) else number(value)
            ranks = spread_words(spread) if spread is not None else ""
            return [(name, text, "", record.class_name, "", "", ranks)]
        case TupleRecord(class_name=class_name, length=length):
            inner = [_rows(f"{name}[{k}]", item) for k, item in enumerate(record.items)]
            return [(name, f"{length} items", "", class_name, "", "", ""), *(row for rows in inner for row in rows)]
        case ModuleRecord(class_name=class_name):
            inner = [_rows(f"{name}.{path}", tensor) for path, tensor in record.parameters.items()]
            return [(name, class_name, "", "module", "", "", ""), *(row for rows in inner for row in rows)]
        case _:
            return []


def _shape(summary: Summary) -> str:
    """Of a part also that of the whole, and how it is shared out."""
    if summary.shard is None:
        return str(summary.shape)
    return f"{summary.shape} of {summary.shard.whole} {', '.join(summary.shard.placements)}"


def _grad(record: TensorRecord) -> str:
    if record.grad is not None:
        text = summary_text(record.grad)
        return f"{text} (accumulated)" if record.grad_state == "accumulated" else text
    return STATE_WORDS.get(record.grad_state, "")


def _ranks(record: TensorRecord) -> str:
    """Where the program has several ranks: whether all hold the same value, and the same gradient."""
    value, grad = record.summary.spread, record.grad.spread if record.grad is not None else None
    words = spread_words(value) if value is not None else ""
    return f"{words}; gradient {spread_words(grad)}" if grad is not None else words


def _is_complex(kind: str) -> bool:
    """Whether numbers of this dtype or class come as pairs."""
    return kind.removeprefix("torch.").startswith("complex")


def _complex(value: object, dimensions: int) -> str:
    """Pairs, so many lists deep, as Python writes complex numbers."""
    if not isinstance(value, (list, tuple)):
        return str(value)
    if dimensions:
        return f"[{', '.join(_complex(one, dimensions - 1) for one in value)}]"
    real, imaginary = map(number, value)
    return f"{real}{imaginary if imaginary.startswith('-') else '+' + imaginary}j"


def _nested(value: object) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, (list, tuple)) else number(value)
