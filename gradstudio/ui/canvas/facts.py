"""The part of a card that comes from a run or from inference: values, types, gradients, problems. No Qt.

`facts_height` is cheap, for all cards after a run; `card_facts` writes the texts, for cards in view.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from typing import Literal as OneOf

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages import GradRow
from gradstudio.protocol.records import (
    ArrayRecord,
    GradState,
    ModuleRecord,
    OptimizerRecord,
    PlainRecord,
    Preview,
    Record,
    Summary,
    TensorRecord,
)
from gradstudio.ui.canvas import formatting
from gradstudio.ui.canvas.results import Results
from gradstudio.ui.canvas.states import STATE_SENTENCES, STATE_WORDS

EDGE: Final = 7.0
NUMBER: Final = 24.0
LINE: Final = 16.0
CELL: Final = 17.0
PICTURE: Final = 54.0
STRIP: Final = 14.0
GRADIENT_PICTURE: Final = 38.0
STATE: Final = 19.0
PROBLEM: Final = 20.0
MAX_SECTIONS: Final = 3
CELLS_A_LINE: Final = 4
MAX_PARAMETERS: Final = 4

DisplayKind = OneOf["number", "words", "cells", "picture", "strip"]
Tone = OneOf["normal", "faint", "bad", "gradient"]


@dataclass(frozen=True, slots=True)
class Shown:
    """Which overlays are on."""

    values: bool = True
    shapes: bool = True
    dtype_device: bool = True
    grad_fn: bool = True
    gradients: bool = True


@dataclass(frozen=True, slots=True)
class Display:
    """A value as it is drawn: one number, words, cells of numbers, or a picture.

    Attributes:
        lines: beside or below a picture: range, what is not finite.
    """

    kind: DisplayKind
    height: float
    text: str = ""
    cells: tuple[tuple[str, ...], ...] = ()
    picture: Summary | None = None
    lines: tuple[tuple[str, Tone], ...] = ()
    tone: Tone = "normal"


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient, or why there is none; `words` for the states without a value."""

    state: GradState
    words: str
    height: float
    display: Display | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """What is shown of one result, or of a module's parameter."""

    height: float
    heading: str = ""
    value: Display | None = None
    rows: tuple[tuple[str, str], ...] = ()
    gradient: Gradient | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of a node. `hints` are shapes by output; inferred ones are in `guessed`."""

    height: float = 0.0
    sections: tuple[Section, ...] = ()
    hints: dict[int, str] = field(default_factory=dict)
    guessed: frozenset[int] = frozenset()
    problem: str = ""
    problem_kind: OneOf["", "error", "warning", "incomplete"] = ""
    stale: bool = False


def facts_height(results: Results, node: ItemId, shown: Shown) -> float:
    """Height of the well below the ports; equals ``card_facts(...).height``."""
    height = sum(_sections_heights(results, node, shown))
    height += EDGE if height else 0.0
    return height + (PROBLEM if _problem(results, node)[0] else 0.0)


def card_facts(results: Results, node: ItemId, names: Sequence[str], shown: Shown) -> Facts:
    """Everything to draw below and beside the ports of a card."""
    sections = tuple(_sections(results, node, names, shown))
    hints, guessed = _hints(results, node) if shown.shapes else ({}, frozenset())
    problem, kind = _problem(results, node)
    height = sum(section.height for section in sections)
    height += (EDGE if height else 0.0) + (PROBLEM if problem else 0.0)
    return Facts(height, sections, hints, guessed, problem, kind, results.stale(node))


def _problem(results: Results, node: ItemId) -> tuple[str, OneOf["", "error", "warning", "incomplete"]]:
    failure = results.failure(node)
    if failure is not None:
        return first_line(failure.what), "error"
    for port in (results.inference(node, 0),):
        if port is not None and port.refusal and results.outputs(node) is None:
            return first_line(port.refusal), "warning"
    warnings = results.warnings(node)
    if warnings:
        return first_line(warnings[-1].message), "warning"
    reason = results.incomplete(node)
    return (first_line(reason), "incomplete") if reason else ("", "")


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _hints(results: Results, node: ItemId) -> tuple[dict[int, str], frozenset[int]]:
    """Shapes beside the output ports; those that only inference says are guessed."""
    records = results.outputs(node)
    if records is not None:
        found = {k: text for k, record in enumerate(records) if (text := _shape_text(record))}
        return found, frozenset()
    hints = {}
    for k in range(8):
        port = results.inference(node, k)
        if port is None:
            break
        if port.shape is not None:
            hints[k] = formatting.shape(port.shape)
        elif port.known_after_run:
            hints[k] = "after a run"
    return hints, frozenset(hints)


def _shape_text(record: Record) -> str:
    match record:
        case TensorRecord(summary=summary):
            return formatting.shape(summary.shape)
        case ArrayRecord(shape=sizes):
            return formatting.shape(sizes)
        case PlainRecord(class_name=name):
            return name
        case _:
            return record.class_name


# ------------------------------------------------------------------ heights, without texts


def _sections_heights(results: Results, node: ItemId, shown: Shown) -> Iterator[float]:
    records = results.outputs(node) or ()
    several = len(records) > 1
    for output, record in enumerate(records[:MAX_SECTIONS]):
        row = results.grad(node, output)
        if isinstance(record, ModuleRecord):
            yield _module_height(record, shown)
            continue
        body = _value_height(record, shown) + _gradient_height(record, row, shown)
        if body:
            yield body + EDGE + (LINE if several else 0.0)


def _value_height(record: Record, shown: Shown) -> float:
    rows = _row_count(record, shown)
    if not shown.values:
        return LINE * rows
    if isinstance(record, TensorRecord):
        kind, height = _tensor_kind(record.summary)
        if kind == "picture":
            return max(height, LINE * (rows + _line_count(record.summary)))
        if kind == "strip":
            return height + LINE * (rows + _line_count(record.summary))
        return height + LINE * rows
    if isinstance(record, OptimizerRecord):
        return LINE * rows
    return _plain_height(record) + LINE * rows


def _plain_height(record: Record) -> float:
    return NUMBER if isinstance(record, PlainRecord) and record.what == "number" else LINE + 2


def _row_count(record: Record, shown: Shown) -> int:
    match record:
        case TensorRecord(grad_fn=grad_fn):
            return int(shown.dtype_device) + int(shown.grad_fn and grad_fn is not None)
        case OptimizerRecord(groups=groups):
            return min(3, len(groups[0])) if groups and shown.values else 0
        case ArrayRecord():
            return int(shown.dtype_device)
        case _:
            return 0


def _tensor_kind(summary: Summary, picture: float = PICTURE) -> tuple[DisplayKind, float]:
    sizes = summary.shape
    if formatting.element_count(sizes) == 0:
        return "words", LINE + 2
    if formatting.is_written_out(sizes) and summary.value is not None:
        if sizes == ():
            return "number", NUMBER
        lines = sizes[0] if len(sizes) == 2 else -(-sizes[0] // CELLS_A_LINE)
        return "cells", CELL * lines + 4
    if summary.preview is None:
        return "words", LINE + 2
    return ("strip", STRIP + 4) if summary.preview.rows == 1 else ("picture", picture)


def _line_count(summary: Summary) -> int:
    return int(summary.minimum is not None) + int(bool(summary.nan or summary.posinf or summary.neginf))


def _gradient_height(record: Record, row: GradRow | None, shown: Shown) -> float:
    if not shown.gradients or not isinstance(record, TensorRecord):
        return 0.0
    state, summary = _gradient_of(record, row)
    if summary is None or state not in ("value", "accumulated"):
        return STATE
    kind, height = _tensor_kind(summary, GRADIENT_PICTURE)
    if kind == "number":
        return STATE
    if kind in ("picture", "strip"):
        return height + 6 if kind == "picture" else height + LINE + 2
    return height + 4


def _gradient_of(record: TensorRecord, row: GradRow | None) -> tuple[GradState, Summary | None]:
    if row is not None:
        return row.state, row.grad
    return record.grad_state, record.grad


def _module_height(record: ModuleRecord, shown: Shown) -> float:
    count = len(record.parameters)
    lines = min(count, MAX_PARAMETERS) + (1 if count > MAX_PARAMETERS else 0)
    return LINE * lines + EDGE if lines and (shown.shapes or shown.gradients) else 0.0


# ------------------------------------------------------------------ texts


def _sections(results: Results, node: ItemId, names: Sequence[str], shown: Shown) -> Iterator[Section]:
    records = results.outputs(node) or ()
    several = len(records) > 1
    for output, record in enumerate(records[:MAX_SECTIONS]):
        if isinstance(record, ModuleRecord):
            section = _module_section(results, node, record, shown)
        else:
            heading = names[output] if several and output < len(names) else ""
            section = _section(record, results.grad(node, output), heading, several, shown)
        if section is not None:
            yield section


def _section(record: Record, row: GradRow | None, heading: str, several: bool, shown: Shown) -> Section | None:
    body = _value_height(record, shown)
    gradient = _gradient(record, row) if shown.gradients and isinstance(record, TensorRecord) else None
    total = body + (gradient.height if gradient is not None else 0.0)
    if not total:
        return None
    value = _display(record) if shown.values and not isinstance(record, OptimizerRecord) else None
    rows = tuple(_rows(record, shown))
    return Section(total + EDGE + (LINE if several else 0.0), heading, value, rows, gradient)


def _display(record: Record) -> Display:
    if isinstance(record, TensorRecord):
        return tensor_display(record.summary)
    kind: DisplayKind = "number" if isinstance(record, PlainRecord) and record.what == "number" else "words"
    if isinstance(record, ArrayRecord) and record.value is not None:
        flat = formatting.flat(record.value)
        text = ", ".join(formatting.number(value) for value in flat[:6]) + (", …" if len(flat) > 6 else "")
        return Display("words", LINE + 2, text)
    return Display(kind, NUMBER if kind == "number" else LINE + 2, formatting.plain(record))


def tensor_display(summary: Summary, picture: float = PICTURE, tone: Tone = "normal") -> Display:
    """How the numbers of a tensor (or of a gradient) are drawn."""
    kind, height = _tensor_kind(summary, picture)
    match kind:
        case "number":
            return Display(kind, height, formatting.number(summary.value), tone=tone)
        case "cells":
            return Display(kind, height, cells=tuple(_lines_of_cells(summary)), tone=tone)
        case "words":
            text = "no elements" if formatting.element_count(summary.shape) == 0 else formatting.extent(summary)
            return Display(kind, height, text or "no values kept", tone="faint")
        case _:
            return Display(kind, height, picture=summary, lines=tuple(_lines(summary)), tone=tone)


def _lines_of_cells(summary: Summary) -> Iterator[tuple[str, ...]]:
    rows = formatting.grid(summary)
    if len(summary.shape) == 2:
        yield from rows
        return
    for start in range(0, len(rows[0]), CELLS_A_LINE):
        yield rows[0][start : start + CELLS_A_LINE]


def _lines(summary: Summary) -> Iterator[tuple[str, Tone]]:
    if summary.minimum is not None:
        yield formatting.extent(summary), "normal"
    oddities = formatting.oddities(summary)
    if oddities:
        yield oddities, "bad"


def _rows(record: Record, shown: Shown) -> Iterator[tuple[str, str]]:
    match record:
        case TensorRecord(summary=summary, device=device, grad_fn=grad_fn):
            if shown.dtype_device:
                yield "", f"{formatting.bare_dtype(summary.dtype)} · {device}"
            if shown.grad_fn and grad_fn is not None:
                yield "", grad_fn
        case OptimizerRecord(groups=groups) if groups and shown.values:
            for name, value in list(groups[0].items())[:3]:
                yield name, formatting.number(value)
        case ArrayRecord(dtype=dtype) if shown.dtype_device:
            yield "", dtype


def _gradient(record: TensorRecord, row: GradRow | None) -> Gradient:
    state, summary = _gradient_of(record, row)
    sentence = (row.reason if row is not None else record.grad_reason) or STATE_SENTENCES[state]
    height = _gradient_height(record, row, Shown())
    if summary is None or state not in ("value", "accumulated"):
        return Gradient(state, STATE_WORDS[state], height, sentence=sentence)
    display = tensor_display(summary, GRADIENT_PICTURE, "gradient")
    if display.kind in ("picture", "strip"):
        room = 1 if display.kind == "picture" else 0
        lines: tuple[tuple[str, Tone], ...] = (
            (f"‖∇‖ {formatting.norm(summary)}", "gradient"),
            *display.lines[:room],
        )
        display = Display(display.kind, display.height, picture=summary, lines=lines, tone="gradient")
    return Gradient(state, STATE_WORDS[state], height, display, sentence)


def _module_section(results: Results, node: ItemId, record: ModuleRecord, shown: Shown) -> Section | None:
    height = _module_height(record, shown)
    if not height:
        return None
    rows = [
        (name, _parameter_text(results, node, name, parameter, shown))
        for name, parameter in list(record.parameters.items())[:MAX_PARAMETERS]
    ]
    if len(record.parameters) > MAX_PARAMETERS:
        rows.append(("", f"and {len(record.parameters) - MAX_PARAMETERS} more"))
    return Section(height, rows=tuple(rows), sentence="eval" if not record.training else "")


def _parameter_text(results: Results, node: ItemId, name: str, parameter: TensorRecord, shown: Shown) -> str:
    row = results.grad(node, 0, name)
    summary: Preview | Summary | None = row.grad if row is not None else parameter.grad
    parts = [formatting.shape(parameter.summary.shape)] if shown.shapes else []
    if shown.gradients and isinstance(summary, Summary):
        parts.append(f"∇ {formatting.norm(summary)}")
    return "  ".join(parts)
