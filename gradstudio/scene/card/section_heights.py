"""How high the well of a card is, without writing its texts: cheap, for all cards after a run. No Qt.

A card that can run has its room from the start: what inference expects, else a typical height, so that values
which arrive move no edge of it. One that cannot run yet gets no values: it is as high as the words that say why.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from typing import Literal as OneOf

from gradstudio.graph.model import ItemId, Node
from gradstudio.graph.text.code_records import PRINT, may_draw, may_print
from gradstudio.operators.model import Family
from gradstudio.protocol.messages.charts import Chart
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import (
    BYTES_A_VALUE,
    ArrayRecord,
    GradState,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Preview,
    Record,
    Summary,
    TensorRecord,
)
from gradstudio.scene import value_format
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.printout import SHOWN_LINES, Printout
from gradstudio.scene.results import Results

EDGE: Final = 5.0
NUMBER: Final = 20.0
LINE: Final = 15.0
CELL: Final = 15.0
PICTURE: Final = 38.0
STRIP: Final = 14.0
STATE: Final = 18.0
PROBLEM: Final = 18.0
PROBLEM_ROOM: Final = 45.0
"""Words of an error that stand in the well have at least so much room: three lines."""
FIGURE: Final = 140.0
CHART: Final = 168.0
"""Height of a figure that code draws."""
EXPECTED_LINES: Final = 2
"""Room for so many is kept on a card whose code may print; on that of a print for all that it ever shows."""
WORDS_A_LINE: Final = 26
"""Letters of a problem that surely stand in one line of the narrowest card."""
MAX_SECTIONS: Final = 3
CELLS_A_LINE: Final = 5
TYPICAL_SHAPE: Final = (64, 64)


class WellHeights(NamedTuple):
    """How high the well of a card is: the `room` that is kept for what may come, and what is `drawn` of it now."""

    room: float
    drawn: float


NO_WELL: Final = WellHeights(0.0, 0.0)
DisplayKind = OneOf["number", "words", "cells", "picture", "strip"]
Tone = OneOf["normal", "faint", "bad", "gradient"]


def printout_height(printout: Printout) -> float:
    """Of what was printed and drawn at a node."""
    rows = len(printout.shown())
    lines = LINE * rows + EDGE if rows else 0.0
    return lines + (FIGURE + EDGE if printout.figures else 0.0)


def chart_height(chart: Chart | None) -> float:
    """Of a chart, or of the words why there is none, which have the same room."""
    return CHART + EDGE if chart is not None else 0.0


def said_height(results: Results, node: ItemId) -> float:
    """Of all that stands below the values of a node: what was printed and drawn at it."""
    return printout_height(results.printout(node)) + chart_height(results.chart(node))


def expected_printout(node: Node) -> float:
    """The room that is kept for what a node, or its code, may print and draw."""
    if node.operator == PRINT:
        return LINE * SHOWN_LINES + EDGE
    lines = LINE * EXPECTED_LINES + EDGE if may_print(node) else 0.0
    return lines + (FIGURE + EDGE if may_draw(node) else 0.0)


def sections_heights(results: Results, node: ItemId, shown: Shown) -> Iterator[float]:
    """Heights of the sections of a node that ran, one an output."""
    records = results.outputs(node) or ()
    several = len(records) > 1
    for output, record in enumerate(records[:MAX_SECTIONS]):
        row = results.grad(node, output)
        if isinstance(record, ModuleRecord):
            continue  # its leaves have rows of their own
        body = section_height(record, row, shown)
        if body:
            yield body + EDGE + (LINE if several else 0.0)


def reserved_height(results: Results, node: ItemId, shown: Shown, families: Sequence[Family], leaf: bool) -> float:
    """The room a card has for its values before they are there; a leaf will have no grad_fn."""
    shown = _without_grad_fn(shown) if leaf else shown
    bodies = [_expected_height(results, node, k, family, shown) for k, family in enumerate(families[:MAX_SECTIONS])]
    return _room_for(bodies, several=len(families) > 1) + chart_height(results.chart(node))


def has_no_results(results: Results, node: ItemId) -> bool:
    """Whether neither a run nor what comes before one said anything of a node: so are all of a file just opened."""
    return not (
        results.outputs(node)
        or results.inference(node)
        or results.inference(node, 1)
        or results.failure(node)
        or results.warnings(node)
        or results.printout(node)
        or results.chart(node)
        or results.incomplete(node)
    )


@functools.lru_cache(maxsize=256)
def typical_height(families: tuple[Family, ...], shown: Shown, leaf: bool) -> float:
    """The room that a card has for its values while nothing is known of them."""
    shown = _without_grad_fn(shown) if leaf else shown
    return _room_for([_family_height(family, shown) for family in families[:MAX_SECTIONS]], several=len(families) > 1)


def _room_for(bodies: Sequence[float], *, several: bool) -> float:
    total = sum(body + EDGE + (LINE if several else 0.0) for body in bodies if body)
    return total + EDGE if total else 0.0


def words_height(words: str) -> float:
    """The room for the words of what keeps a card from running: up to three lines."""
    lines = min(3, -(-len(words) // WORDS_A_LINE))
    return PROBLEM if lines == 1 else PROBLEM_ROOM * lines / 3


@functools.lru_cache(maxsize=8)
def _without_grad_fn(shown: Shown) -> Shown:
    return replace(shown, grad_fn=False)


def _expected_height(results: Results, node: ItemId, output: int, family: Family, shown: Shown) -> float:
    if family not in (Family.TENSOR, Family.UNKNOWN):
        return _family_height(family, shown)
    port = results.inference(node, output)
    if port is not None and port.shape is not None:
        return _tensor_height(port.shape, port.requires_grad, shown)
    records = results.outputs(node) or ()
    typical = _family_height(family, shown)  # the room that it had before it ran stays: a run moves nothing
    return max(_record_height(records[output], shown), typical) if output < len(records) else typical


def _family_height(family: Family, shown: Shown) -> float:
    """Of a value of which no more is known."""
    match family:
        case Family.TENSOR | Family.UNKNOWN:
            return _tensor_height(TYPICAL_SHAPE, True, shown)
        case Family.MODULE:
            return 0.0
        case Family.OPTIMIZER:
            return LINE * 3 if shown.values else 0.0
        case Family.NONE:
            return 0.0
        case Family.NUMBER:
            return NUMBER if shown.values else 0.0
        case _:
            return LINE + 2 if shown.values else 0.0


def _record_height(record: Record, shown: Shown) -> float:
    """Of what a run gave where inference knew nothing; its gradient has its room from then on."""
    if not isinstance(record, TensorRecord):
        return 0.0
    return _tensor_height(record.summary.shape, record.requires_grad or record.grad_fn is not None, shown)


@functools.lru_cache(maxsize=4096)
def _tensor_height(shape: tuple[int, ...], requires_grad: bool, shown: Shown) -> float:
    """Of a tensor of that shape, with its gradient when it will have one."""
    record, grad = _stand_in(shape, requires_grad)
    return section_height(record, grad, shown)


def _stand_in(shape: tuple[int, ...], requires_grad: bool) -> tuple[TensorRecord, GradRow]:
    """A tensor of that shape as a run may give it, and its gradient."""
    rows = shape[-2] if len(shape) > 1 else 1
    rows = min(max(rows, 1), 32)
    preview = Preview(rows, 1, bytes(BYTES_A_VALUE * rows))
    value = _zeros(shape) if value_format.has_all_elements(shape) else None
    summary = Summary(dtype="float32", shape=shape, minimum=0.0, maximum=1.0, value=value, preview=preview)
    record = TensorRecord(device="cpu", summary=summary, grad_fn="" if requires_grad else None)
    return record, GradRow(node=ItemId(""), state="value" if requires_grad else "not_required", grad=summary)


def _zeros(shape: tuple[int, ...]) -> object:
    """Nested lists of that shape."""
    zeros: object = 0.0
    for size in reversed(shape):
        zeros = [zeros] * size
    return zeros


def section_height(record: Record, row: GradRow | None, shown: Shown) -> float:
    """Of a value, its gradient beside it or, where both are numbers in columns, below it, and its facts below both."""
    value, gradient = value_height(record, shown), gradient_height(record, row, shown)
    both = max(value, gradient) if stands_beside(record, row, shown) else value + gradient
    return both + LINE * fact_lines(record, shown)


def stands_beside(record: Record, row: GradRow | None, shown: Shown) -> bool:
    """Whether a gradient stands to the right of its value: numbers in columns need all of the width."""
    if not shown.values or not isinstance(record, TensorRecord):
        return False
    if record.summary.shape == ():
        return True  # a gradient has the shape of its value
    if tensor_kind(record.summary)[0] == "cells":
        return False
    state, grad = gradient_of(record, row)
    has_value = grad is not None and state in ("value", "accumulated")
    return not has_value or grad is None or tensor_kind(grad)[0] != "cells"


def value_height(record: Record, shown: Shown) -> float:
    """Of a value without its facts."""
    if not shown.values or isinstance(record, OptimizerRecord):
        return 0.0
    if isinstance(record, ObjectRecord) and shown.shapes and not record.words:
        return 0.0  # its class stands beside its port
    if isinstance(record, TensorRecord):
        return _picture_height(*tensor_kind(record.summary))
    return _plain_height(record)


def _picture_height(kind: DisplayKind, height: float) -> float:
    """A picture has a line of words below it."""
    return height + LINE if kind in ("picture", "strip") else height


def _plain_height(record: Record) -> float:
    return NUMBER if isinstance(record, PlainRecord) and record.what == "number" else LINE + 2


def fact_lines(record: Record, shown: Shown) -> int:
    """Lines below a value: dtype, device and grad_fn share one."""
    match record:
        case TensorRecord(grad_fn=grad_fn):
            return int(shown.dtype_device or (shown.grad_fn and grad_fn is not None))
        case OptimizerRecord(groups=groups):
            return min(3, len(groups[0])) if groups and shown.values else 0
        case ArrayRecord():
            return int(shown.dtype_device)
        case _:
            return 0


def tensor_kind(summary: Summary) -> tuple[DisplayKind, float]:
    """How the numbers of a tensor are drawn, and how high that is."""
    sizes = summary.shape
    if 0 in sizes:
        return "words", LINE + 2
    if value_format.has_all_elements(sizes) and summary.value is not None:
        if sizes == ():
            return "number", NUMBER
        lines = sizes[0] if len(sizes) == 2 else -(-sizes[0] // CELLS_A_LINE)
        return "cells", CELL * lines + 4
    if summary.preview is None or value_format.is_uniform(summary):
        return "words", LINE + 2
    return ("strip", STRIP + 4) if summary.preview.rows == 1 else ("picture", PICTURE)


def gradient_height(record: Record, row: GradRow | None, shown: Shown) -> float:
    """Of a tensor's gradient or its state in words."""
    if not shown.gradients or not isinstance(record, TensorRecord) or not awaits_gradient(record, row):
        return 0.0
    state, summary = gradient_of(record, row)
    if summary is None or state not in ("value", "accumulated"):
        return STATE
    kind, height = tensor_kind(summary)
    if kind == "number":
        return STATE
    parts = LINE if state == "accumulated" and row is not None and row.parts else 0.0
    return parts + _picture_height(kind, height)


def awaits_gradient(record: TensorRecord, row: GradRow | None) -> bool:
    """Whether anything is to be said of a gradient: not before a backward, of what does not require grad."""
    state = row.state if row is not None else record.grad_state
    return state != "not_run" or record.requires_grad or record.grad_fn is not None


def gradient_of(record: TensorRecord, row: GradRow | None) -> tuple[GradState, Summary | None]:
    """The newest that is known of a gradient."""
    if row is not None:
        return row.state, row.grad
    return record.grad_state, record.grad
