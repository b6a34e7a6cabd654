"""Paints one card: header, ports, fields, then what `result_section_painter` adds below."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.graph.analysis.module_modes import Mode
from gradstudio.operators.model import Family
from gradstudio.scene.card.card_layout import (
    BODY_EDGE,
    CODE_ROW,
    HEADER,
    PADDING,
    ROW,
    CardLayout,
    InputRow,
    OutputRow,
)
from gradstudio.scene.card.port_style import PortStyle
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.card.card_background import ground_of, paint_background
from gradstudio.ui.canvas.paint.card.card_state import CardState
from gradstudio.ui.canvas.paint.card.debug_section_painter import paint_debug_sections
from gradstudio.ui.canvas.paint.card.display_flag_painter import paint_bypass, paint_pin
from gradstudio.ui.canvas.paint.card.field_painter import field_rect, paint_field
from gradstudio.ui.canvas.paint.card.parameter_row_painter import paint_leaf_ports
from gradstudio.ui.canvas.paint.card.result_section_painter import paint_result_sections
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle, Meter
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_check, paint_pill, paint_port, paint_warning

PILL_PX: Final = 12.0
"""So much wider than its word is the pill of a switch, at least."""
Align = Qt.AlignmentFlag
FAMILY_WORDS: Final = {
    Family.TENSOR: "tensor",
    Family.NUMBER: "number",
    Family.MODULE: "module",
    Family.OPTIMIZER: "optimizer",
    Family.TUPLE: "tuple",
    Family.ARRAY: "array",
    Family.TEXT: "text",
}
"""What stands beside an output of which neither a run nor inference said anything."""


def paint_card(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, state: CardState
) -> None:
    """The whole card without its shadow; the painter's origin is its top left corner."""
    paint_background(painter, style, ground_of(layout, well, state))
    paint_upper(painter, style, layout, well, state)
    paint_lower(painter, style, layout, well, state)


def paint_upper(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, state: CardState
) -> None:
    """Header, ports and fields, on the card's ground."""
    _paint_header(painter, style, layout, well, state)
    _paint_rows(painter, style, layout, well, state)


def upper_of(layout: CardLayout, well: ResultSections, state: CardState) -> tuple[object, ...]:
    """What decides how ground, header, ports and fields look: values may change without it."""
    ground = ground_of(layout, well, state)
    return layout, state, ground, well.hints, well.guessed, well.stale, well.leaves, well.alarm, well.state


def paint_lower(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, state: CardState
) -> None:
    """Values and gradients, and what was tried."""
    if well.height:
        paint_result_sections(painter, style, layout, well)
    if state.extras.height:
        paint_debug_sections(painter, style, state.extras, layout.height + well.height, layout.width)
    if layout.bypassed:
        paint_bypass(painter, style, layout, layout.height + well.height + state.extras.height)


def _ink(style: CanvasStyle, state: CardState) -> QColor:
    return state.head.ink if state.head is not None else style.color("header_text")


def faint(color: QColor, alpha: float) -> QColor:
    """The colour, partly see-through."""
    made = QColor(color)
    made.setAlphaF(alpha)
    return made


def _paint_header(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, state: CardState
) -> None:
    right = _paint_badges(painter, style, layout, well, state)
    meter, ink = style.meter, _ink(style, state)
    names = meter.elided(layout.names, "title", right - PADDING)
    painter.setPen(ink)
    meter.write(painter, "title", names or _title(meter, layout, right - PADDING), PADDING, 0, HEADER)
    if not names or not layout.subtitle:
        return
    x = PADDING + meter.width(names, "title")
    subtitle = meter.elided(f"  {layout.subtitle}", "subtitle", right - x)
    meter.write(painter, "subtitle", subtitle, x, 0, HEADER)


def _title(meter: Meter, layout: CardLayout, width: float) -> str:
    """The operator's title; of what is written into the beginning, where there is no room for all of it."""
    end = layout.title[layout.title.rfind(" ") :] if layout.title.endswith("=") else ""
    return meter.elided(layout.title.removesuffix(end), "title", width - meter.width(end, "title")) + end


def _paint_badges(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, state: CardState
) -> float:
    """Signs at the right end of the header; returns the x where the title must end."""
    x = layout.width - (14.0 if layout.is_joined else 8.0)
    mode, is_frozen = mode_at(layout, well)
    if layout.switch is not None:
        x = paint_switch(painter, style, layout.switch, mode, _ink(style, state)) - 5
    if well.problem_kind in ("error", "warning") or well.alarm:
        is_error = "error" in (well.problem_kind, well.alarm)
        sign = QRectF(x - 15, (HEADER - 15) / 2, 15, 15)
        paint_warning(painter, style, sign, "danger" if is_error else "warning")
        x -= 20
    if state.extras.check is not None:
        paint_check(painter, style, QRectF(x - 15, (HEADER - 15) / 2, 15, 15), ok=state.extras.check)
        x -= 20
    ink = _ink(style, state)
    texts = (str(state.order) if state.order else "", state.head.text if state.head is not None else "")
    for text in (text for text in texts if text):
        painter.setFont(style.meter.font("badge"))
        width = max(17.0, style.meter.width(text, "badge") + 10)
        high = min(HEADER - 4, max(16.0, style.line))
        paint_pill(painter, QRectF(x - width, (HEADER - high) / 2, width, high), text, ink)
        x -= width + 5
    if layout.display_flags.pinned:
        paint_pin(painter, QRectF(x - 12, (HEADER - 12) / 2, 12, 12), ink)
        x -= 17
    for shown, word in (
        (is_frozen, "frozen"),
        (layout.bypassed, "bypassed"),
        (layout.unknown, "unknown"),
    ):
        if shown:
            painter.setFont(style.meter.font("badge"))
            painter.setPen(ink)
            width = style.meter.width(word, "badge")
            painter.drawText(QRectF(x - width, 0, width, HEADER), Align.AlignVCenter, word)
            x -= width + 6
    return x


def mode_at(layout: CardLayout, well: ResultSections) -> tuple[Mode, bool]:
    """What the pills of a module say: its mode and whether it is frozen, at the moment, else as the text has it."""
    if well.state is None:
        return layout.mode, layout.frozen
    trains, is_frozen = well.state
    return "train" if trains else "eval", is_frozen


def paint_switch(painter: QPainter, style: CanvasStyle, switch: Box, mode: Mode, ink: QColor) -> float:
    """Training or evaluation: a pill around its word, with a strong edge while the module trains; its left end."""
    painter.setFont(style.meter.font("badge"))
    width = max(switch.width, style.meter.width(mode, "badge") + PILL_PX)
    height = min(HEADER - 3, max(switch.height, style.line))
    rect = QRectF(switch.right - width, (HEADER - height) / 2, width, height)
    paint_pill(painter, rect, mode, ink, strong=mode == "train")
    return rect.left()


def _paint_rows(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, state: CardState
) -> None:
    if layout.display_flags.collapsed:
        _paint_stubs(painter, style, layout, state)
        return
    wired = dict(state.inputs)
    for row in layout.inputs:
        _paint_input(painter, style, layout, well, row, wired.get(row.path))
    for k, output in enumerate(layout.outputs):
        known = state.outputs[k] if k < len(state.outputs) else PortStyle(output.family)
        if output.owner == layout.item:
            _paint_output(painter, style, layout, well, output, known)
        else:
            paint_output_port(painter, style, output, known)
    if well.leaves.rows:
        paint_leaf_ports(painter, style, well.leaves, layout.height, layout.width)
    _paint_captions(painter, style, layout)
    _paint_code(painter, style, layout)
    if layout.more is not None:
        painter.setPen(style.color("text_dim"))
        style.meter.write(painter, "small", _more(layout), layout.more.x, layout.more.y, layout.more.height)


def _more(layout: CardLayout) -> str:
    """What unfolds the inputs that are not shown, or folds them again."""
    return "⋯ fewer" if layout.expanded else f"⋯ {layout.hidden} more"


def _paint_stubs(painter: QPainter, style: CanvasStyle, layout: CardLayout, state: CardState) -> None:
    """The ports of a collapsed card."""
    wired = dict(state.inputs)
    for row in layout.inputs:
        paint_input_port(painter, style, row, wired.get(row.path))
    for k, output in enumerate(layout.outputs):
        paint_output_port(
            painter, style, output, state.outputs[k] if k < len(state.outputs) else PortStyle(output.family)
        )


def _paint_captions(painter: QPainter, style: CanvasStyle, layout: CardLayout) -> None:
    """Words in place of inputs, a line each; the first leaves room for the output's label."""
    for number, text in enumerate(layout.captions):
        role = "mono" if number == 0 else "small"
        painter.setPen(style.color("text" if number == 0 else "text_dim"))
        text = style.meter.elided(text, role, layout.width - 2 * PADDING)
        style.meter.write(painter, role, text, PADDING, HEADER + BODY_EDGE + ROW * number, ROW)


def _paint_code(painter: QPainter, style: CanvasStyle, layout: CardLayout) -> None:
    """Lines of Python, at the end of the card."""
    top = layout.height - BODY_EDGE - CODE_ROW * len(layout.code)
    for number, line in enumerate(layout.code):
        painter.setPen(style.color("text_dim" if line.startswith("…") else "text"))
        text = style.meter.elided(line, "mono", layout.width - 2 * PADDING)
        style.meter.write(painter, "mono", text, PADDING, top + CODE_ROW * number, CODE_ROW)


def _paint_input(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, row: InputRow,
    known: PortStyle | None,
) -> None:  # fmt: skip
    paint_input_port(painter, style, row, known)
    meter = style.meter
    needed = row.required and row.state == "empty"
    painter.setPen(style.color("text_dim" if row.field is not None and row.faint and not needed else "text"))
    rect = _field_rect(style, layout, well, row)
    right = rect.left() - 4 if rect is not None else PADDING + 130
    label = meter.elided(row.label, "label", right - row.x - PADDING)
    meter.write(painter, "label", label, row.x + PADDING, row.y - ROW / 2, ROW)
    if rect is not None:
        paint_field(painter, style, row, rect)


def _field_rect(style: CanvasStyle, layout: CardLayout, well: ResultSections, row: InputRow) -> QRectF | None:
    """Where a field is drawn: between what is written before it and behind it."""
    if row.field is None:
        return None
    behind = layout.width - PADDING
    if row.field.right < behind:
        output = next((one for one in layout.outputs if abs(one.y - row.y) < 1), None)
        hint, font = _hint(layout, well, output) if output is not None else ("", "mono")
        behind -= style.meter.width(hint, font) + 4 if hint else 0.0
    return field_rect(style, row, row.x + PADDING + style.meter.width(row.label, "label") + 4, behind)


def paint_input_port(painter: QPainter, style: CanvasStyle, row: InputRow, known: PortStyle | None) -> None:
    """An input's sign: of what flows in when wired, of its literal when there is one, else hollow."""
    at, ground = QPointF(row.x, row.y), style.color("card")
    if known is not None:
        color = style.family(known.family, known.dtype) if known.known else style.color("unknown_value")
        filled = known.requires_grad or known.family is not Family.TENSOR
        paint_port(painter, at, known.family, color, ground, filled=filled, leaf=known.leaf and known.requires_grad)
        return
    given = row.state in ("literal", "document_device")
    color = style.family(row.family) if given else style.faded("unknown_value", 0.8)
    if row.required and row.state == "empty":
        color = style.color("warning")
    paint_port(painter, at, row.family, color, ground, filled=given)


def _paint_output(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections, row: OutputRow, known: PortStyle
) -> None:
    paint_output_port(painter, style, row, known)
    meter = style.meter
    right = layout.width - PADDING
    if row.label:
        left = layout.width * 0.3
        painter.setFont(meter.font("label"))
        painter.setPen(style.color("text"))
        label = meter.elided(row.label, "label", right - left)
        painter.drawText(QRectF(left, row.y - ROW / 2, right - left, ROW), Align.AlignVCenter | Align.AlignRight, label)
        right -= meter.width(label, "label") + 8
    hint, font = _hint(layout, well, row)
    guessed = font == "mono_italic"
    left = _hint_left(style, layout, well, row)
    if row.index in well.guessed and well.expected and row.index == 0 and not layout.captions:
        longer = f"{well.expected} {hint}"
        hint = longer if meter.width(longer, "mono_italic") <= right - left else hint
    text = fitting_hint(style, hint, font, right - left) if hint else ""
    if not text or (text != hint and row.index not in well.hints):  # a word: the port says it, too
        return
    painter.setFont(meter.font(font))
    painter.setPen(style.color("unknown_value" if guessed or well.stale else "text_dim"))
    rect = QRectF(left, row.y - ROW / 2, right - left, ROW)
    painter.drawText(rect, Align.AlignVCenter | Align.AlignRight, text)


def fitting_hint(style: CanvasStyle, hint: str, font: str, room: float) -> str:
    """All of it, else as much as there is room for; of several ranks at least whether they hold the same.

    A shape is cut between its dimensions only: a part of a number is another number.
    """
    if style.meter.width(hint, font) <= room:
        return hint
    from gradstudio.protocol.ranks.spread_words import hint_wordings  # mostly there is room

    is_shape, texts = hint.startswith("["), hint_wordings(hint)
    if is_shape and len(texts) == 1:
        texts = _shorter_shapes(hint)
    rest = "" if is_shape else style.meter.elided(hint, font, room)
    return next((text for text in texts if style.meter.width(text, font) <= room), rest)


def _shorter_shapes(hint: str) -> tuple[str, ...]:
    """``[16,8,32] v1``, ``[16,8,32]``, ``[16,8,…]``, ``[16,…]`` of ``[16, 8, 32] v1``."""
    shape, _, behind = hint.replace(", ", ",").partition("]")
    sizes = shape[1:].split(",")
    firsts = (",".join(sizes[:count]) for count in range(len(sizes) - 1, 0, -1))
    return (f"{shape}]{behind}", f"{shape}]", *(f"[{first},…]" for first in firsts))


def _hint(layout: CardLayout, well: ResultSections, row: OutputRow) -> tuple[str, str]:
    """The shape of an output, else the word of what it is, and its font: what was not seen in a run is italic."""
    hint = well.hints.get(row.index, "") if not layout.captions else ""
    if not hint and not row.label and not layout.captions:
        is_list = row.family is Family.TUPLE and layout.title == "list"
        return "list" if is_list else FAMILY_WORDS.get(row.family, ""), "mono_italic"
    return hint, "mono_italic" if row.index in well.guessed else "mono"


def _hint_left(style: CanvasStyle, layout: CardLayout, well: ResultSections, row: OutputRow) -> float:
    """Where the label or the field of an input in the same row ends, or what unfolds the others."""
    if layout.more is not None and abs(layout.more.center[1] - row.y) < 1:
        return layout.more.x + style.meter.width(_more(layout), "small") + 8
    beside = next((one for one in layout.inputs if abs(one.y - row.y) < 1), None)
    if beside is None:
        return PADDING
    rect = _field_rect(style, layout, well, beside)
    if rect is not None:
        return rect.right() + 4
    return PADDING + style.meter.width(beside.label, "label") + 8


def paint_output_port(painter: QPainter, style: CanvasStyle, row: OutputRow, known: PortStyle) -> None:
    """An output's sign: filled when it requires grad, square for a leaf, grey while nothing is known."""
    color = style.family(known.family, known.dtype) if known.known else style.color("unknown_value")
    filled = known.requires_grad or known.family is not Family.TENSOR
    leaf = known.leaf and known.requires_grad
    paint_port(painter, QPointF(row.x, row.y), known.family, color, style.color("card"), filled=filled, leaf=leaf)
