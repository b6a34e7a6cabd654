"""One card seen from afar: its name, the number or picture it computed, its gradient; always legible.

Texts keep their size in view pixels while the plate shrinks; what has no room is left out.
"""

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.advice.diagnosis.memory_shortage import size_title
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import Chart
from gradstudio.protocol.messages.ranks import is_of_several
from gradstudio.protocol.messages.records import GradState, ModuleRecord, PlainRecord, Record, Summary, TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.card.debug_sections import DebugSections
from gradstudio.scene.card.gradient_state_words import SHORT_STATE_WORDS, state_words
from gradstudio.scene.card.result_sections import single_line
from gradstudio.scene.hit_test import LEGIBLE_WIDTH, plate_literals
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import current_failure, expected_refusal
from gradstudio.scene.scene import Scene
from gradstudio.scene.words.shard_words import shape_words
from gradstudio.ui.canvas.paint.card.debug_section_painter import paint_change, paint_cost
from gradstudio.ui.canvas.paint.card.display_flag_painter import paint_bypass
from gradstudio.ui.canvas.paint.card.distant_gradient_signs import ROOM, paint_plate_state, state_of
from gradstudio.ui.canvas.paint.card.plate_ground import (
    has_failed,
    head_height,
    paint_plate_ground,
    paint_plate_ports,
)
from gradstudio.ui.canvas.paint.card.printout_painter import paint_distant_printout
from gradstudio.ui.canvas.paint.card.text_fitting import LINE, first_role
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_check, paint_state, paint_warning

NUMBER_LINE: Final = 18.0
LEAST_FOR_GRADIENT: Final = 44.0
"""A body at least so high has room for the gradient below the value; below a number in less."""
LEAST_BESIDE: Final = 84.0
"""A body at least so wide has room for it beside the value."""
FOOT_LINE: Final = 14.0
LEAST_WITH_FOOT: Final = 14.0
"""A body at least so high has a line for a *What if* or for costs."""
LEAST_FOOT_WIDTH: Final = 70.0
Align = Qt.AlignmentFlag


def paint_distant_card(
    painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, rect: QRectF, zoom: float
) -> None:
    """The plate in a rectangle of view pixels."""
    paint_plate_ground(painter, style, scene, item, rect, zoom)
    paint_plate_results(painter, style, scene, item, rect, zoom)


def paint_plate_results(
    painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, rect: QRectF, zoom: float
) -> None:
    """What stands on the ground of a plate, and is another thing with each run: values, states, signs."""
    layout, failed = scene.stack.cards[item].layout, has_failed(scene, item)
    head = head_height(rect, zoom)
    state = state_of(scene.results, item) if scene.state.shown.gradients and not failed else None
    low = rect.bottom()
    if rect.width() >= LEGIBLE_WIDTH:
        body = _paint_foot(painter, style, scene.stack.cards[item].extras, rect.adjusted(7, head + 1, -5, -1))
        low = body.bottom() + 1
        state = _paint_body(painter, style, scene, item, body, state)
    alarm = scene.results.alarm(item)
    problem = "warning" if alarm or scene.results.warnings(item) else ""
    if failed or alarm == "error":
        problem = "danger"
    if problem:
        paint_warning(painter, style, QRectF(rect.right() - 16, rect.y() + (head - 13) / 2, 13, 13), problem)
    _paint_tried(painter, style, scene.stack.cards[item].extras, rect, head)
    if state is not None:
        paint_plate_state(painter, style, QRectF(rect.x(), rect.y(), rect.width(), low - rect.y()), state)
    if layout.bypassed:
        painter.save()
        painter.translate(rect.topLeft())
        painter.scale(zoom, zoom)
        paint_bypass(painter, style, layout, rect.height() / zoom)
        painter.restore()
        paint_plate_ports(painter, style, scene, layout, rect, zoom)  # over what the bypass covers


def _paint_tried(painter: QPainter, style: CanvasStyle, tried: DebugSections, rect: QRectF, head: float) -> None:
    """A bar where a *What if* changed something and has no room for words; the badge of gradcheck."""
    if tried.changes and not _has_foot(tried, rect.height() - head - 2, rect.width()):
        painter.fillRect(QRectF(rect.x() + 3, rect.bottom() - 4, rect.width() - 6, 3), style.color("info"))
    if tried.check is not None and rect.width() >= LEGIBLE_WIDTH:
        paint_check(painter, style, QRectF(rect.right() - 16, rect.y() + (head - 13) / 2, 13, 13), ok=tried.check)


def _has_foot(tried: DebugSections, height: float, width: float) -> bool:
    """Whether a *What if* or costs have a line at the bottom of a body of that height, on a plate of that width."""
    return bool(tried.changes or tried.cost) and height >= LEAST_WITH_FOOT and width >= LEAST_FOOT_WIDTH


def _paint_foot(painter: QPainter, style: CanvasStyle, tried: DebugSections, body: QRectF) -> QRectF:
    """A *What if* and costs, a line each; what is left of the body above them."""
    room = QRectF(body)
    if not _has_foot(tried, body.height(), body.width() + 12):
        return room
    if tried.cost:
        room.setBottom(room.bottom() - FOOT_LINE)
        paint_cost(painter, style, tried.cost, QRectF(room.x(), room.bottom() + 2, room.width(), FOOT_LINE))
    if tried.changes:
        room.setBottom(room.bottom() - FOOT_LINE - 1)
        line = QRectF(room.x(), room.bottom() + 2, room.width(), FOOT_LINE - 1)
        painter.fillRect(line.adjusted(-5, 0, 3, 0), style.faded("info", 0.18))
        painter.fillRect(QRectF(line.x() - 6, line.y(), 3, line.height()), style.color("info"))
        paint_change(painter, style, tried.changes[0], line)
    return room


def _paint_body(
    painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, body: QRectF, state: GradState | None
) -> GradState | None:
    """Everything below the title; the state that still needs a sign, None when it is told."""
    records = scene.results.outputs(item)
    failure = current_failure(scene.results, item)
    if failure is not None:
        _paint_failure(painter, style, single_line(failure.words), body)
        return None
    if paint_distant_printout(painter, style, scene.results.printout(item), body):
        return None
    if (chart := scene.results.chart(item)) is not None and _paint_chart(painter, style, chart, body):
        return None
    expected = scene.results.inference(item, 0)
    refused = single_line(expected_refusal(scene.results, item))
    if refused or (not records and expected is not None and expected.need):
        words = refused or (size_title(expected.need) if expected is not None and expected.need else "")
        _paint_failure(painter, style, words, body, "warning")
        return None
    if not records:
        _paint_expected(painter, style, scene, item, body)
        return None
    if scene.results.stale(item):
        style = style.stale
    body = _paint_literals(painter, style, scene, item, body)
    room, record = QRectF(body), records[0]
    line = _gradient_line(scene.state.shown, record, body) if state is not None else None
    if line is not None and isinstance(record, TensorRecord):
        if line.left() > body.left():
            room.setRight(line.left() - 4)
        else:
            room.setBottom(line.top() - 1)
        _paint_gradient(painter, style, scene, item, record, line)
        state = None
    elif state is not None and room.height() < NUMBER_LINE + ROOM:
        room.setRight(room.right() - ROOM)
    if scene.state.shown.over_ranks and _paint_spread(painter, style, records[0], room):
        return state
    room = _paint_ranks(painter, style, records[0], room)
    _paint_value(painter, style, scene, records[0], room, ROOM if state is not None else 0.0)
    return state


def _paint_spread(
    painter: QPainter, style: CanvasStyle, told: Summary | Record | None, room: QRectF, *, gradient: bool = False
) -> bool:
    """What holds over all ranks, in the place of the value of one; whether it is told."""
    told = told.summary if isinstance(told, TensorRecord) else told
    if not isinstance(told, Summary | PlainRecord) or not is_of_several(told.spread):
        return False
    texts = value_format.ranks_wordings(told)
    text = next((one for one in texts if style.meter.width(one, "mono_small") <= room.width()), texts[-1])
    usual = style.gradient if gradient else style.color("text")
    _line(painter, style, text, "mono_small", style.color("danger") if told.spread.nan.count else usual, room, LINE)
    return True


def _paint_ranks(painter: QPainter, style: CanvasStyle, record: Record, room: QRectF) -> QRectF:
    """At the right whether several ranks hold the same, where there is room; what is left beside it."""
    told = record.summary if isinstance(record, TensorRecord) else record
    sign = value_format.ranks_sign(told).strip() if isinstance(told, Summary | PlainRecord) else ""
    width = style.meter.width(sign, "mono_small") if sign else 0.0
    if not sign or room.height() < LINE - 2 or room.width() < 2 * width:
        return room
    ink = style.color("danger" if sign.startswith("NaN") else "text_dim")
    _line(painter, style, sign, "mono_small", ink, QRectF(room.right() - width - 1, room.y(), width + 1, LINE), LINE)
    return room.adjusted(0, 0, -width - 4, 0)


def _paint_chart(painter: QPainter, style: CanvasStyle, chart: Chart, body: QRectF) -> bool:
    """Its chart, which says more than the value; whether there is one, and room for it."""
    from gradstudio.ui.canvas.paint.chart.chart_painter import paint_distant_chart  # most cards have none

    return paint_distant_chart(painter, style, chart, body)


def _gradient_line(shown: Shown, record: Record, body: QRectF) -> QRectF | None:
    """Where the gradient has room: below the value, else beside it."""
    if not shown.gradients or not isinstance(record, TensorRecord):
        return None
    is_alone = not (shown.values or any(_facts(record, shown)))
    in_a_line = value_format.element_count(record.summary.shape) == 1 or value_format.is_uniform(record.summary)
    least = 2 * LINE if in_a_line else LEAST_FOR_GRADIENT
    if body.height() >= (LINE - 2 if is_alone else least):
        height = min(LINE, body.height())
        return QRectF(body.x(), body.bottom() - height, body.width(), height)
    if body.height() >= LINE - 2 and body.width() >= LEAST_BESIDE:
        return QRectF(body.center().x(), body.y(), body.width() / 2, min(NUMBER_LINE, body.height()))
    return None


def _paint_failure(painter: QPainter, style: CanvasStyle, words: str, body: QRectF, role: str = "danger") -> None:
    """As many lines of torch's words as there is room for; the last one ends in "…" where words are left."""
    room = int((body.height() + 2) / LINE)
    if room < 1:
        return
    lines = style.meter.wrapped(words, "badge_note", body.width())
    if len(lines) > room:
        lines[room - 1 :] = [" ".join(lines[room - 1 :])]
    for number, text in enumerate(lines):
        below = body.adjusted(0, LINE * number, 0, 0)
        _line(painter, style, text, "badge_note", style.color(role), below, LINE)


def _paint_expected(painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, body: QRectF) -> None:
    """Before a run: the literals that are written, else the shape that is expected."""
    below = _paint_literals(painter, style, scene, item, body)
    expected = scene.results.inference(item, 0)
    if below.top() == body.top() and expected is not None and expected.shape is not None and scene.state.shown.shapes:
        shape = value_format.shape(expected.shape)
        _line(painter, style, shape, "mono_italic", style.color("unknown_value"), body, LINE)
    reason = scene.results.incomplete(item)
    if reason:
        _line(painter, style, reason, "badge_note", style.color("warning"), below, LINE)


def _paint_literals(painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, body: QRectF) -> QRectF:
    """A line for each literal that has room; what is left of the body below them."""
    rows = plate_literals(scene, item, body.height())
    for number, row in enumerate(rows):
        line, ink = body.adjusted(0, LINE * number, 0, 0), style.color("text_dim")
        label = style.meter.elided(row.label, "mono", body.width() - style.meter.width(f" {row.shown}", "mono"))
        _line(painter, style, row.shown if label in ("", "…") else f"{label} {row.shown}", "mono", ink, line, LINE)
    return body.adjusted(0, LINE * len(rows), 0, 0)


def _paint_value(
    painter: QPainter, style: CanvasStyle, scene: Scene, record: Record, room: QRectF, corner: float = 0.0
) -> None:
    """The value, or where values are not shown what is; a square of that side in the lower right corner stays free."""
    if not scene.state.shown.values:
        for number, text in enumerate(_facts(record, scene.state.shown)):
            below = room.adjusted(0, LINE * number, -corner, 0)
            _line(painter, style, text, "mono_small", style.color("text_dim"), below, LINE)
    elif isinstance(record, TensorRecord) and record.summary.shape != ():
        _paint_tensor(painter, style, scene, record.summary, room, corner)
    elif isinstance(record, ModuleRecord):
        words = value_format.module_wordings(record)  # its class stands in the head
        text = next((one for one in words if _fitting_role(style, one, room.width() - corner)), "")
        _line(painter, style, text, _fitting_role(style, text, room.width()), style.color("text_dim"), room, LINE)
    else:
        number = isinstance(record, TensorRecord) or (isinstance(record, PlainRecord) and record.what == "number")
        paint_number(painter, style, record, room, large=number)


def _facts(record: Record, shown: Shown) -> Iterator[str]:
    """What is known of a tensor beside its values, as far as it is shown: a line each."""
    if not isinstance(record, TensorRecord):
        return
    if shown.shapes:
        yield shape_words(record.summary)
    if shown.dtype_device:
        yield f"{value_format.bare_dtype(record.summary.dtype)} · {record.device}"
    if shown.grad_fn and record.grad_fn is not None:
        yield record.grad_fn


def paint_number(painter: QPainter, style: CanvasStyle, record: Record, room: QRectF, *, large: bool) -> None:
    """As many digits as there is room for, larger where there is room for that too."""
    tall = large and room.height() >= NUMBER_LINE - 2
    value = record.summary.value if isinstance(record, TensorRecord) else getattr(record, "value", None)
    roles = ("number_small", "mono", "mono_small") if tall else ("mono", "mono_small")
    text, role = "", ""
    for text in value_format.number_wordings(value) if large else (value_format.one_line_value(record),):
        role = first_role(style, text, roles, room.width())
        if role:
            break
    _line(painter, style, text, role or roles[-1], style.color("text"), room, NUMBER_LINE if tall else LINE)


def _paint_tensor(
    painter: QPainter, style: CanvasStyle, scene: Scene, summary: Summary, room: QRectF, corner: float
) -> None:
    """Small ones as numbers, others as a shape above a picture."""
    beside, above = room.adjusted(0, 0, -corner, 0), room.adjusted(0, 0, 0, -corner)
    rows = _written_out(style, summary, above) or _written_out(style, summary, beside)
    if rows:
        for number, text in enumerate(rows):
            _line(painter, style, text, "mono", style.color("text"), room.adjusted(0, LINE * number, 0, 0), LINE)
        return
    is_uniform = value_format.is_uniform(summary)
    odd = next((text for text in value_format.oddity_wordings(summary) if _fitting_role(style, text, room.width())), "")
    if odd and room.height() >= LINE - 2:  # read before its shape
        _line(painter, style, odd, _fitting_role(style, odd, room.width()), style.color("danger"), room, LINE)
        room = room.adjusted(0, LINE + 1, 0, 0)
    elif scene.state.shown.shapes and room.height() >= LINE + (LINE - 2 if is_uniform else 0.0):
        shape = shape_words(summary)
        role = _fitting_role(style, shape, room.width())
        if role:
            _line(painter, style, shape, role, style.color("text_dim"), room, LINE)
            room = room.adjusted(0, LINE + 1, 0, 0)
    if is_uniform:
        text = next((text for text in value_format.extents(summary) if _fitting_role(style, text, room.width())), "")
        _line(painter, style, text, _fitting_role(style, text, room.width()) or "mono", style.color("text"), room, LINE)
        return
    picture = tensor_image.image(summary, style.theme)
    if picture is None or room.height() < 6:
        return
    ratio = max(0.5, min(4.0, picture.width() / picture.height()))
    height = min(room.height(), max(1.0, room.width() - corner) / ratio)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    opacity = painter.opacity()
    painter.setOpacity(opacity * style.picture_opacity)
    painter.drawImage(QRectF(room.x(), room.y(), height * ratio, height), picture)
    painter.setOpacity(opacity)


def _written_out(style: CanvasStyle, summary: Summary, room: QRectF) -> list[str]:
    """The numbers of a small tensor as lines; [] when they do not fit."""
    if summary.value is None or not value_format.has_all_elements(summary.shape):
        return []
    rows = ["  ".join(row) for row in value_format.grid(summary)]
    if not rows or len(rows) * LINE > room.height():
        return []
    return rows if max(style.meter.width(row, "mono") for row in rows) <= room.width() else []


def _paint_gradient(
    painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, record: TensorRecord, line: QRectF
) -> None:
    row = scene.results.grad(item, 0)
    state: GradState = row.state if row is not None else record.grad_state
    grad = row.grad if row is not None else record.grad
    if scene.state.shown.over_ranks and _paint_spread(painter, style, grad, line.adjusted(14, 0, 0, 0), gradient=True):
        paint_state(painter, style, QRectF(line.x() - 1, line.y() + 1.5, 11, 11), state)
        return
    one = value_format.single(grad)
    is_norm = grad is not None and one is None and state == "value"
    words = line if is_norm else line.adjusted(14, 0, 0, 0)
    if not is_norm:
        paint_state(painter, style, QRectF(line.x() - 1, line.y() + 1.5, 11, 11), state)
    if grad is None or state not in ("value", "accumulated"):
        color = style.color("warning" if state == "cut" else "unknown_value")
        tries = (
            state_words(state, row.reason if row is not None else record.grad_reason),
            SHORT_STATE_WORDS.get(state, ""),
        )
        text = next((text for text in tries if style.meter.width(text, "badge_note") <= words.width()), "")
        _line(painter, style, text, "badge_note", color, words, LINE)
        return
    for text in value_format.number_wordings(one) if one is not None else (value_format.norm_words(grad),):
        role = _fitting_role(style, text, words.width())
        if role:
            _line(painter, style, text, role, style.gradient, words, LINE)
            return


def _fitting_role(style: CanvasStyle, text: str, width: float) -> str:
    """The larger font in which the text fits; "" when it fits in none."""
    return first_role(style, text, ("mono", "mono_small"), width)


def _line(
    painter: QPainter, style: CanvasStyle, text: str, role: str, color: QColor, room: QRectF, height: float
) -> None:
    if room.height() < height - 2:
        return
    painter.setFont(style.meter.font(role))
    painter.setPen(color)
    line = QRectF(room.x(), room.y(), room.width(), height)
    painter.drawText(line, Align.AlignVCenter, style.meter.elided(text, role, room.width()))
