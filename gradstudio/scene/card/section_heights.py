"""How high the well of a card is, without writing its texts: cheap, for all cards after a run. No Qt.

A card that can run has its room from the start: what inference expects, else a typical height, so that values
which arrive move no edge of it. One that cannot run yet gets no values: it is as high as the words that say why.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from typing import Literal as OneOf

from gradstudio.graph.model import ItemId
from gradstudio.operators.model import Family
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import (
    BYTES_A_VALUE,
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
from gradstudio.scene import value_format
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import Results

EDGE: Final = 7.0
NUMBER: Final = 24.0
LINE: Final = 16.0
CELL: Final = 17.0
PICTURE: Final = 54.0
STRIP: Final = 14.0
GRADIENT_PICTURE: Final = 38.0
STATE: Final = 19.0
PROBLEM: Final = 20.0
PROBLEM_ROOM: Final = 60.0
"""Words of an error that stand in the well have at least so much room: three lines."""
WORDS_A_LINE: Final = 26
"""Letters of a problem that surely stand in one line of the narrowest card."""
MAX_SECTIONS: Final = 3
CELLS_A_LINE: Final = 5
BESIDE_PICTURE: Final = 4
"""Lines of text that stand beside a picture, at most."""
TYPICAL_SHAPE: Final = (64, 64)

DisplayKind = OneOf["number", "words", "cells", "picture", "strip"]
Tone = OneOf["normal", "faint", "bad", "gradient"]


class Placeholder(NamedTuple):
    """What will stand in the empty room of one result.

    Attributes:
        kind: how its value will be drawn, `value` high (0: not at all); `gradient`: the height of its gradient.
        height: of all of it below `lead`, the room of a heading.
    """

    kind: DisplayKind
    value: float
    gradient: float
    height: float
    lead: float


def sections_heights(results: Results, node: ItemId, shown: Shown) -> Iterator[float]:
    """Heights of the sections of a node that ran, one an output."""
    records = results.outputs(node) or ()
    several = len(records) > 1
    for output, record in enumerate(records[:MAX_SECTIONS]):
        row = results.grad(node, output)
        if isinstance(record, ModuleRecord):
            continue  # its leaves have rows of their own
        body = value_height(record, shown) + gradient_height(record, row, shown)
        if body:
            yield body + EDGE + (LINE if several else 0.0)


def reserved_height(results: Results, node: ItemId, shown: Shown, families: Sequence[Family], leaf: bool) -> float:
    """The room a card has for its values before they are there; a leaf will have no grad_fn."""
    shown = _without_grad_fn(shown) if leaf else shown
    bodies = [_expected_height(results, node, k, family, shown) for k, family in enumerate(families[:MAX_SECTIONS])]
    return _room_for(bodies, several=len(families) > 1)


def has_no_results(results: Results, node: ItemId) -> bool:
    """Whether neither a run nor what comes before one said anything of a node: so are all of a file just opened."""
    return not (
        results.outputs(node)
        or results.inference(node)
        or results.inference(node, 1)
        or results.failure(node)
        or results.warnings(node)
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


def placeholder_parts(
    results: Results, node: ItemId, shown: Shown, families: Sequence[Family], leaf: bool
) -> Iterator[Placeholder]:
    """What stands in the room of `reserved_height` before the values are there, by output."""
    lead = LINE if len(families) > 1 else 0.0
    shown = _without_grad_fn(shown) if leaf else shown
    for output, family in enumerate(families[:MAX_SECTIONS]):
        body = _expected_height(results, node, output, family, shown)
        if not body:
            continue
        if family not in (Family.TENSOR, Family.UNKNOWN):
            yield Placeholder("words", LINE if shown.values else 0.0, 0.0, body, lead)
            continue
        port = results.inference(node, output)
        shape: tuple[int, ...] = TYPICAL_SHAPE
        requires_grad = True
        if port is not None and port.shape is not None:
            shape, requires_grad = port.shape, port.requires_grad
        record, grad = _stand_in(shape, requires_grad)
        kind, value = tensor_kind(record.summary)
        gradient = gradient_height(record, grad, shown) if requires_grad else 0.0
        yield Placeholder(kind if shown.values else "words", value if shown.values else 0.0, gradient, body, lead)


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
    return _record_height(records[output], shown) if output < len(records) else _family_height(family, shown)


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
    return value_height(record, shown) + gradient_height(record, grad, shown)


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


def value_height(record: Record, shown: Shown) -> float:
    """Of a value with its rows."""
    rows = _row_count(record, shown)
    if not shown.values:
        return LINE * rows
    if isinstance(record, TensorRecord):
        kind, height = tensor_kind(record.summary)
        if kind == "picture":
            return max(height, LINE * BESIDE_PICTURE)
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


def tensor_kind(summary: Summary, picture: float = PICTURE) -> tuple[DisplayKind, float]:
    """How the numbers of a tensor are drawn, and how high that is."""
    sizes = summary.shape
    if value_format.element_count(sizes) == 0:
        return "words", LINE + 2
    if value_format.has_all_elements(sizes) and summary.value is not None:
        if sizes == ():
            return "number", NUMBER
        lines = sizes[0] if len(sizes) == 2 else -(-sizes[0] // CELLS_A_LINE)
        return "cells", CELL * lines + 4
    if summary.preview is None or value_format.is_uniform(summary):
        return "words", LINE + 2
    return ("strip", STRIP + 4) if summary.preview.rows == 1 else ("picture", picture)


def _line_count(summary: Summary) -> int:
    return int(summary.minimum is not None) + int(bool(summary.nan or summary.posinf or summary.neginf))


def gradient_height(record: Record, row: GradRow | None, shown: Shown) -> float:
    """Of a tensor's gradient or its state in words."""
    if not shown.gradients or not isinstance(record, TensorRecord) or not awaits_gradient(record, row):
        return 0.0
    state, summary = gradient_of(record, row)
    if summary is None or state not in ("value", "accumulated"):
        return STATE
    kind, height = tensor_kind(summary, GRADIENT_PICTURE)
    if kind == "number":
        return STATE
    parts = LINE if state == "accumulated" and row is not None and row.parts else 0.0
    if kind in ("picture", "strip"):
        return parts + (height + 6 if kind == "picture" else height + LINE + 4)
    return parts + height + 4


def awaits_gradient(record: TensorRecord, row: GradRow | None) -> bool:
    """Whether anything is to be said of a gradient: not before a backward, of what does not require grad."""
    state, _ = gradient_of(record, row)
    return state != "not_run" or record.requires_grad or record.grad_fn is not None


def gradient_of(record: TensorRecord, row: GradRow | None) -> tuple[GradState, Summary | None]:
    """The newest that is known of a gradient."""
    if row is not None:
        return row.state, row.grad
    return record.grad_state, record.grad
