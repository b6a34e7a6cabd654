"""The part of a card that comes from a run or from inference: values, types, gradients, problems. No Qt.

`well_heights` is cheap, for all cards after a run; `result_sections` writes the texts, for cards in view.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.operators.model import Family
from gradstudio.protocol.messages.charts import Chart
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.ranks import Spread, is_of_several
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    GradState,
    ModuleRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
)
from gradstudio.scene import value_format
from gradstudio.scene.card.gradient_state_words import STATE_SENTENCES, state_words
from gradstudio.scene.card.parameter_rows import NOTHING as NO_LEAVES
from gradstudio.scene.card.parameter_rows import ParameterRows, leaf_rows, leaves_heights
from gradstudio.scene.card.section_heights import (
    CELLS_A_LINE,
    EDGE,
    LINE,
    MAX_SECTIONS,
    NUMBER,
    PROBLEM,
    DisplayKind,
    Tone,
    WellHeights,
    awaits_gradient,
    gradient_height,
    gradient_of,
    has_no_results,
    reserved_height,
    said_height,
    section_height,
    sections_heights,
    stands_beside,
    tensor_kind,
    typical_height,
    words_height,
)
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.printout import NOTHING_PRINTED, Printout
from gradstudio.scene.results import Alarm, Results, current_failure, expected_refusal

ProblemKind = OneOf["", "error", "warning", "incomplete"]
Lines = tuple[tuple[tuple[str, ...], Tone], ...]


class Display(msgspec.Struct, frozen=True):
    """A value as it is drawn: one number, words, cells of numbers, or a picture.

    Attributes:
        picture: the tensor, also of a number or a range, which are written with fewer digits where they have no room.
        lines: beside or below a picture: range, what is not finite; each in several wordings, the longest first.
        lead: before each line of cells: the number of its first element.  shorter: words where there is no room.
    """

    kind: DisplayKind
    height: float
    text: str = ""
    cells: tuple[tuple[str, ...], ...] = ()
    picture: Summary | None = None
    lines: Lines = ()
    lead: tuple[str, ...] = ()
    tone: Tone = "normal"
    shorter: tuple[str, ...] = ()


class Gradient(msgspec.Struct, frozen=True):
    """A gradient, or why there is none; `words` for states without a value, `parts` of a sum."""

    state: GradState
    words: str
    height: float
    display: Display | None = None
    sentence: str = ""
    parts: str = ""


class Section(msgspec.Struct, frozen=True):
    """What is shown of one result.

    Attributes:
        facts: dtype, device and grad_fn in one line, in several wordings, the longest first.
        rows: of an optimizer: names and numbers.
        beside: the gradient stands to the right of the value, else below it.
    """

    height: float
    heading: str = ""
    value: Display | None = None
    facts: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    gradient: Gradient | None = None
    beside: bool = False


class ModuleContext(msgspec.Struct, frozen=True):
    """The module whose leaves stand on a card; `unfolded`: all of them.

    Where a call shares the card of its module, the card is the call's and `module` is the other half.
    """

    module: ItemId | None = None
    unfolded: bool = False


NO_MODULE: Final = ModuleContext()


class ResultSections(msgspec.Struct, frozen=True):
    """All that is known of a node.

    Attributes:
        hints: shapes by output; those that only inference says are in `guessed`.
        expected: dtype and device before a run.
        strip: height of the words of a problem below values.
        leaves: rows of a module's parameters and buffers, above the values.
        printout: what was printed and drawn, below the values; `chart`: of what is learnt, below that.
        alarm: how bad what was found at it, or at the module on its card, is: a sign in its head.
        state: of the module on the card at the moment that is looked at: whether it trains, and whether it is frozen;
            None: the text says it.
    """

    height: float = 0.0
    sections: tuple[Section, ...] = ()
    hints: dict[int, str] = msgspec.field(default_factory=dict)
    guessed: frozenset[int] = frozenset()
    problem: str = ""
    problem_kind: ProblemKind = ""
    stale: bool = False
    expected: str = ""
    leaves: ParameterRows = NO_LEAVES
    strip: float = 0.0
    alarm: Alarm = ""
    printout: Printout = NOTHING_PRINTED
    state: tuple[bool, bool] | None = None
    chart: Chart | None = None


def well_heights(
    results: Results,
    node: ItemId,
    shown: Shown,
    families: Sequence[Family] = (),
    leaf: bool = False,
    held: ModuleContext = NO_MODULE,
) -> WellHeights:
    """Of the well below the ports, without its texts; what is drawn is ``result_sections(...).height``."""
    if held is NO_MODULE and has_no_results(results, node):
        return WellHeights(typical_height(tuple(families), shown, leaf), 0.0)
    problem, kind = _problem(results, node, held)
    said = said_height(results, node)
    sections = said + sum(sections_heights(results, node, shown)) if kind != "error" else 0.0
    room, drawn = leaves_heights(results, held.module, shown, unfolded=held.unfolded) if held.module else (0.0, 0.0)
    own = _drawn_height(results, node, sections, problem)
    reserved = reserved_height(results, node, shown, families, leaf)
    return WellHeights(room + max(own, reserved), drawn + own)


def result_sections(
    results: Results, node: ItemId, names: Sequence[str], shown: Shown, held: ModuleContext = NO_MODULE
) -> ResultSections:
    """Everything to draw below and beside the ports of a card."""
    problem, kind = _problem(results, node, held)
    sections = tuple(_sections(results, node, names, shown)) if kind != "error" else ()
    hints, guessed = _hints(results, node, with_layout=shown.storage) if shown.shapes else ({}, frozenset())
    printout = results.printout(node) if kind != "error" else NOTHING_PRINTED
    chart = results.chart(node) if kind != "error" else None
    total = sum((section.height for section in sections), said_height(results, node) if kind != "error" else 0.0)
    expected = _expected(results, node) if shown.dtype_device and not sections else ""
    leaves = leaf_rows(results, held.module, shown, unfolded=held.unfolded) if held.module else NO_LEAVES
    height = leaves.height + _drawn_height(results, node, total, problem)
    return ResultSections(
        height, sections, hints, guessed, problem, kind, results.stale(node), expected, leaves,
        _strip(results, node, problem), results.alarm(node) or (results.alarm(held.module) if held.module else ""),
        printout, chart=chart,
    )  # fmt: skip


def _drawn_height(results: Results, node: ItemId, sections: float, problem: str) -> float:
    """Of sections with the strip of a problem below them, or of the words of a problem; nothing is drawn empty."""
    if sections:
        return sections + EDGE + _strip(results, node, problem)
    return words_height(problem) if problem else 0.0


def _strip(results: Results, node: ItemId, problem: str) -> float:
    """Height of the words below values: one line; as many as a refusal needs."""
    if not problem:
        return 0.0
    return words_height(problem) if expected_refusal(results, node) else PROBLEM


def _expected(results: Results, node: ItemId) -> str:
    """Dtype and device as inference has them."""
    port = results.inference(node, 0) if results.outputs(node) is None else None
    if port is None or not port.dtype:
        return ""
    dtype = value_format.bare_dtype(port.dtype)
    return f"{dtype} {port.device}" if port.device and port.device != "cpu" else dtype


def _problem(results: Results, node: ItemId, held: ModuleContext = NO_MODULE) -> tuple[str, ProblemKind]:
    """What is wrong with a node, or with the module on its card."""
    if held.module and held.module != node:
        words, kind = _problem(results, held.module)
        if kind == "error" or (words and results.incomplete(held.module)):
            return words, kind
        own = _problem(results, node)
        return own if own[0] else (words, kind)
    failure = current_failure(results, node)
    if failure is not None:
        return single_line(failure.words), "error"
    refused = expected_refusal(results, node)
    if refused:
        return f"torch would refuse: {single_line(refused)}", "warning"
    expected = results.inference(node, 0)
    if expected is not None and expected.need is not None and results.outputs(node) is None:
        from gradstudio.advice.diagnosis.memory_shortage import size_title

        return size_title(expected.need), "warning"
    warnings = results.warnings(node)
    if warnings and (results.moment is None or results.outputs(node) is not None):
        return single_line(warnings[-1].message), "warning"
    return (single_line(reason), "incomplete") if (reason := results.incomplete(node)) else ("", "")


def single_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def _hints(results: Results, node: ItemId, *, with_layout: bool) -> tuple[dict[int, str], frozenset[int]]:
    """Shapes beside the output ports; those that only inference says are guessed."""
    records = results.outputs(node)
    if records is not None and expected_refusal(results, node):
        return {}, frozenset()
    if records is not None:
        texts = {k: _shape_text(record, results, with_layout=with_layout) for k, record in enumerate(records)}
        found = {k: text for k, text in texts.items() if text}
        return found, frozenset()
    hints = {}
    for k in range(8):
        port = results.inference(node, k)
        if port is None:
            break
        if port.shape is not None:
            hints[k] = value_format.shape(port.shape)
        elif port.known_after_run:
            hints[k] = "after a run" if results.moment is None else "later"
    return hints, frozenset(hints)


def _shape_text(record: Record, results: Results, *, with_layout: bool) -> str:
    """The shape, the version of what was written to in place (``v0→v1``: and since), whether it is not contiguous."""
    match record:
        case TensorRecord(summary=summary, version=version, contiguous=contiguous, storage=storage):
            layout = " strided" if with_layout and not contiguous else ""
            now = results.version_now(storage) if storage and version is not None else 0
            since = f" v{version}" if version else ""
            if now > (version or 0):
                since = f" v{version}→v{now}"
            from gradstudio.scene.words.shard_words import shape_words  # there is a result

            return f"{shape_words(summary)}{since}{layout}{value_format.ranks_sign(summary)}"
        case ArrayRecord(shape=sizes):
            return value_format.shape(sizes)
        case PlainRecord(class_name=name):
            return f"{name}{value_format.ranks_sign(record)}"
        case _:
            return record.class_name


def _sections(results: Results, node: ItemId, names: Sequence[str], shown: Shown) -> Iterator[Section]:
    records = results.outputs(node) or ()
    several = len(records) > 1
    for output, record in enumerate(records[:MAX_SECTIONS]):
        if isinstance(record, ModuleRecord):
            continue
        heading = names[output] if several and output < len(names) else ""
        if (section := _section(record, results.grad(node, output), heading, several, shown)) is not None:
            yield section


def _section(record: Record, row: GradRow | None, heading: str, several: bool, shown: Shown) -> Section | None:
    gradient = _gradient(record, row, shown) if shown.gradients and isinstance(record, TensorRecord) else None
    total = section_height(record, row, shown)
    if not total:
        return None
    value = _display(record, shown) if shown.values and not isinstance(record, OptimizerRecord) else None
    return Section(
        total + EDGE + (LINE if several else 0.0), heading, value, _facts(record, shown), tuple(_rows(record, shown)),
        gradient, stands_beside(record, row, shown),
    )  # fmt: skip


def _display(record: Record, shown: Shown) -> Display:
    if isinstance(record, TensorRecord):
        return tensor_display(record.summary, over_ranks=shown.over_ranks)
    if shown.over_ranks and isinstance(record, PlainRecord) and is_of_several(record.spread):
        return _spread_display(record, record.spread, NUMBER, "normal")
    kind: DisplayKind = "number" if isinstance(record, PlainRecord) and record.what == "number" else "words"
    if isinstance(record, ArrayRecord) and record.value is not None:
        flat = value_format.nested_scalars(record.value)
        more = ", …" if len(flat) > 6 else ""
        return Display("words", LINE + 2, ", ".join(map(value_format.number, flat[:6])) + more)
    return Display(kind, NUMBER if kind == "number" else LINE + 2, value_format.one_line_value(record))


def tensor_display(summary: Summary, tone: Tone = "normal", *, over_ranks: bool = False) -> Display:
    """How the numbers of a tensor (or of a gradient) are drawn."""
    kind, height = tensor_kind(summary)
    if over_ranks and is_of_several(summary.spread):
        return _spread_display(summary, summary.spread, height, tone)
    match kind:
        case "number":
            return Display(kind, height, value_format.number(summary.value), picture=summary, tone=tone)
        case "cells":
            return _cells(summary, height, tone)
        case "words":
            text = "no elements" if 0 in summary.shape else value_format.extent(summary)
            ink: Tone = tone if value_format.is_uniform(summary) else "faint"
            return Display(kind, height, text or "no values kept", picture=summary if text else None, tone=ink)
        case _:
            return Display(kind, height, picture=summary, lines=tuple(_lines(summary)), tone=tone)


def _spread_display(told: Summary | PlainRecord, spread: Spread, height: float, tone: Tone) -> Display:
    """How several ranks stand to each other, in the place of the numbers of one."""
    text, *shorter = value_format.ranks_wordings(told)
    return Display("words", height, text, tone="bad" if spread.nan.count else tone, shorter=tuple(shorter))


def _cells(summary: Summary, height: float, tone: Tone) -> Display:
    """Numbers in columns; the painter takes fewer digits, or a strip of colours, where they have no room."""
    needs_two = len(summary.shape) == 1 and summary.shape[0] > CELLS_A_LINE
    lead = tuple(f"{k}:" for k in range(0, summary.shape[0], CELLS_A_LINE)) if needs_two else ()
    cells = value_format.cells(summary, CELLS_A_LINE)
    return Display("cells", height, cells=cells, picture=summary, lines=tuple(_lines(summary)), lead=lead, tone=tone)


def _lines(summary: Summary) -> Iterator[tuple[tuple[str, ...], Tone]]:
    if summary.minimum is not None:
        yield value_format.extents(summary), "normal"
    if oddities := value_format.oddity_wordings(summary):
        yield oddities, "bad"


def _facts(record: Record, shown: Shown) -> tuple[str, ...]:
    """Dtype, device and grad_fn as far as they are shown; where room is short "cpu" goes first, then grad_fn."""
    match record:
        case TensorRecord(summary=summary, device=device, grad_fn=grad_fn):
            dtype = value_format.bare_dtype(summary.dtype) if shown.dtype_device else ""
            place = device if shown.dtype_device else ""
            function = grad_fn if shown.grad_fn and grad_fn is not None else ""
            fewer = (dtype, function) if place == "cpu" else (dtype, place)
            tries = ((dtype, place, function), fewer, (dtype or function,))
            return tuple(dict.fromkeys(" · ".join(filter(None, each)) for each in tries if any(each)))
        case ArrayRecord(dtype=dtype) if shown.dtype_device:
            return (dtype,)
        case _:
            return ()


def _rows(record: Record, shown: Shown) -> Iterator[tuple[str, str]]:
    if isinstance(record, OptimizerRecord) and record.groups and shown.values:
        for name, value in list(record.groups[0].items())[:3]:
            yield name, value_format.number(value)


def _gradient(record: TensorRecord, row: GradRow | None, shown: Shown) -> Gradient | None:
    from gradstudio.scene.card.gradient_terms import gradient_terms

    if not awaits_gradient(record, row):
        return None
    state, summary = gradient_of(record, row)
    sentence = (row.reason if row is not None else record.grad_reason) or STATE_SENTENCES[state]
    height = gradient_height(record, row, Shown())
    if summary is None or state not in ("value", "accumulated"):
        return Gradient(state, state_words(state, sentence), height, sentence=sentence)
    display = tensor_display(summary, "gradient", over_ranks=shown.over_ranks)
    if display.kind in ("picture", "strip"):
        lines: Lines = (((value_format.norm_words(summary),), "gradient"), *display.lines[1:])
        display = msgspec.structs.replace(display, lines=lines)
    parts = gradient_terms(row) if row is not None and state == "accumulated" else ""
    return Gradient(state, state_words(state, sentence), height, display, sentence, parts)
