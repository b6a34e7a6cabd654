"""Paints the well of a card: values, types, gradients, and the strip that says what is wrong."""

from typing import Final

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen

from gradstudio.scene.card.card_layout import PADDING, CardLayout
from gradstudio.scene.card.gradient_state_words import SHORT_STATE_WORDS
from gradstudio.scene.card.result_sections import Display, Gradient, ResultSections, Section
from gradstudio.scene.card.section_heights import (
    EDGE,
    LINE,
    NUMBER,
    STRIP,
    printout_height,
)
from gradstudio.ui.canvas.paint.card.parameter_row_painter import paint_parameter_rows
from gradstudio.ui.canvas.paint.card.printout_painter import paint_printout
from gradstudio.ui.canvas.paint.card.text_fitting import (
    CELL_GAP,
    column_widths,
    first_line,
    fitting_text,
    ink_of,
    paint_lines,
    role_of,
    wordings,
)
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_state

SIGN: Final = 13.0
SIGN_GAP: Final = 4.0
"""Between the sign of a gradient's state and its words."""
LEAST_PICTURE: Final = 6.0
COLUMN_GAP: Final = 8.0
"""Between a value and the gradient beside it."""
PICTURES: Final = ("picture", "strip")
Align = Qt.AlignmentFlag
ROLES: Final = {"error": "danger", "warning": "warning"}


def paint_result_sections(painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections) -> None:
    """Everything below the ports; the painter's origin is the card's top left corner."""
    whole, style = style, style.stale if well.stale else style
    y = layout.height + well.leaves.height
    if well.leaves.rows:
        paint_parameter_rows(painter, style, well.leaves, layout.height, layout.width)
        if well.height > well.leaves.height:
            painter.fillRect(QRectF(PADDING, y, layout.width - 2 * PADDING, 1), style.faded("card_edge", 0.45))
    if well.stale and well.sections:
        painter.setPen(QPen(whole.color("text_dim"), 1.4, Qt.PenStyle.DashLine))  # fainter ink alone is no mark
        painter.drawLine(QLineF(PADDING, y + 1.5, layout.width - PADDING, y + 1.5))
    for section in well.sections:
        _paint_section(painter, style, section, y + EDGE, layout.width)
        y += section.height
    if well.printout:
        paint_printout(painter, style, well.printout, y + EDGE, layout.width, stale=well.stale)
        y += printout_height(well.printout)
    if well.chart is not None:
        from gradstudio.ui.canvas.paint.chart.chart_painter import paint_chart  # most cards have none

        paint_chart(painter, style, well.chart, y + EDGE, layout.width, stale=well.stale)
    if well.problem:
        _paint_problem(painter, whole, layout, well)


def problem_box(layout: CardLayout, well: ResultSections) -> QRectF:
    """Where the words of a problem stand: all of an empty well, else a strip below the values."""
    if well.sections or well.printout or well.chart is not None:
        return QRectF(0, layout.height + well.height - well.strip, layout.width, well.strip)
    return QRectF(0, layout.height + well.leaves.height, layout.width, well.height - well.leaves.height)


def _paint_problem(painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections) -> None:
    """As many lines as there is room for; the last one ends in "…" where words are left."""
    box = problem_box(layout, well).adjusted(PADDING, 0, -PADDING, 0)
    painter.setPen(style.color(ROLES.get(well.problem_kind, "text_dim")))
    room = max(1, int(box.height() / style.line))
    lines = style.meter.wrapped(well.problem, "small", box.width())
    if len(lines) > room:
        lines[room - 1 :] = [style.meter.elided(" ".join(lines[room - 1 :]), "small", box.width())]
    line = box.height() / room
    for number, text in enumerate(lines):
        style.meter.write(painter, "small", text, box.left(), box.top() + line * number, line)


def _paint_section(painter: QPainter, style: CanvasStyle, section: Section, y: float, width: float) -> None:
    inner = QRectF(PADDING, y, width - 2 * PADDING, section.height - EDGE)
    if section.heading:
        painter.setPen(style.color("text_dim"))
        style.meter.write(
            painter, "small", style.meter.elided(section.heading, "small", inner.width()), inner.x(), y, LINE
        )
        inner.setTop(y + LINE)
    facts = bool(section.facts) and not (style.is_compact and section.value is not None)
    rows = section.rows[: max(1, int(inner.height() / style.line + 0.1))]  # large letters: fewer
    lines = len(rows) + int(facts)
    upper = inner.adjusted(0, 0, 0, -style.line * lines)
    value, gradient = _columns(style, section, upper)
    value.adjust(_indent(style, section, value.width()), 0, 0, 0)
    shares_line = style.is_compact and _has_norm(section)
    if section.value is not None:
        above = value.adjusted(0, 0, 0, -style.line) if shares_line and section.value.kind == "words" else value
        is_alone = section.gradient is None or section.gradient.display is None  # the line below may go on there
        line_width = upper.width() if is_alone else above.width()
        _paint_value(painter, style, section.value, above, 0.0 if shares_line else line_width)
    if section.gradient is not None:
        _paint_gradient(painter, style, section.gradient, gradient, upper.left() if shares_line else gradient.left())
    if facts:
        _paint_facts(painter, style, section.facts, QRectF(inner.left(), upper.bottom(), inner.width(), style.line))
    _paint_rows(painter, style, rows, inner.left(), upper.bottom() + style.line * int(facts), inner.width())


def _indent(style: CanvasStyle, section: Section, width: float) -> float:
    """How far cells stand to the right where those of their gradient, behind its sign, stand below them."""
    value, gradient = section.value, section.gradient.display if section.gradient is not None else None
    if (
        section.beside
        or value is None
        or value.lead
        or gradient is None
        or (value.kind, gradient.kind) != ("cells", "cells")
    ):
        return 0.0
    lead, numbers = SIGN + SIGN_GAP, value.cells
    room = width - lead - CELL_GAP * max((len(row) for row in numbers), default=0) - 8
    return lead if numbers and sum(column_widths(style, numbers, "mono")) <= room else 0.0


def _has_norm(section: Section) -> bool:
    """Whether a picture of a gradient stands beside the value: small, the line below has room for its norm alone.

    Of a value that is not finite throughout its own line is read first.
    """
    value, gradient = section.value, section.gradient.display if section.gradient is not None else None
    if not section.beside or value is None or gradient is None or any(tone == "bad" for _, tone in value.lines):
        return False
    return value.kind in (*PICTURES, "words") and gradient.kind in PICTURES


def _columns(style: CanvasStyle, section: Section, room: QRectF) -> tuple[QRectF, QRectF]:
    """Where the value stands, and where its gradient does: beside it, or below it."""
    if section.gradient is None:
        return room, room
    if section.value is None or not section.beside:
        value = 0.0
        if section.value is not None:
            spare = room.height() - section.value.height - section.gradient.height  # of facts that are left out
            value = room.height() - section.gradient.height - max(0.0, spare) / 2
        return QRectF(room.left(), room.top(), room.width(), value), room.adjusted(0, value, 0, 0)
    middle = room.left() + room.width() / 2
    if section.value.kind in ("number", "words"):
        role = role_of(section.value)
        middle = max(middle, room.left() + min(style.meter.width(section.value.text, role), room.width() * 0.7))
        middle = min(
            middle, room.right() - COLUMN_GAP / 2 - _least_width(style, section.gradient, room.right() - middle)
        )
    left = QRectF(room.left(), room.top(), middle - room.left() - COLUMN_GAP / 2, room.height())
    return left, QRectF(middle + COLUMN_GAP / 2, room.top(), room.right() - middle - COLUMN_GAP / 2, room.height())


def _least_width(style: CanvasStyle, gradient: Gradient, room: float) -> float:
    """Of one number, or of words in several wordings, that have no room: with the sign, as short as may be; else 0."""
    if gradient.display is None or not (gradient.display.kind == "number" or gradient.display.shorter):
        return 0.0
    lead = SIGN + SIGN_GAP
    if lead + COLUMN_GAP / 2 + style.meter.width(gradient.display.text, "mono") <= room:
        return 0.0
    return lead + min(style.meter.width(text, "mono") for text in wordings(gradient.display))


def _paint_value(painter: QPainter, style: CanvasStyle, display: Display, room: QRectF, line_width: float) -> None:
    """A value in all of its room; the line below a picture may be wider, or is left out: 0."""
    if display.kind in ("picture", "strip"):
        _paint_picture_and_line(painter, style, display, room, line_width)
    else:
        height = room.height() if display.kind == "cells" or style.is_compact else min(NUMBER, room.height())
        paint_display(painter, style, display, QRectF(room.left(), room.top(), room.width(), height))


def _paint_picture_and_line(
    painter: QPainter, style: CanvasStyle, display: Display, room: QRectF, line_width: float
) -> None:
    """A picture above a line of words: what is not finite before all, else its range."""
    box = room.adjusted(0, 1, 0, -style.line - 2)
    if display.kind == "strip":
        box.setHeight(min(box.height(), STRIP))
    else:
        box = _picture_box(display, box)
    _paint_picture(painter, style, display, box)
    if line_width:
        paint_lines(painter, style, first_line(display.lines), room.left(), room.bottom() - style.line, line_width)


def _paint_picture(painter: QPainter, style: CanvasStyle, display: Display, box: QRectF) -> None:
    """A picture where it is high enough to be seen."""
    if box.height() >= LEAST_PICTURE:
        from gradstudio.ui.canvas.paint.card.cell_painter import paint_picture  # nothing has numbers at first

        paint_picture(painter, style, display, box)


def _picture_box(display: Display, room: QRectF) -> QRectF:
    """Where a picture stands: at the left, as large as its form and its room allow."""
    assert display.picture is not None and display.picture.preview is not None
    ratio = tensor_image.aspect(display.picture.preview)
    width = min(room.height() * ratio, room.width())
    return QRectF(room.left(), room.top(), width, min(room.height(), max(width / ratio, 12.0)))


def _paint_facts(painter: QPainter, style: CanvasStyle, facts: tuple[str, ...], line: QRectF) -> None:
    """Dtype, device and grad_fn: as many as fit."""
    paint_lines(painter, style, ((facts, "faint"),), line.left(), line.top(), line.width())


def _paint_rows(
    painter: QPainter, style: CanvasStyle, rows: tuple[tuple[str, str], ...], x: float, y: float, width: float
) -> None:
    """Rows of a name and a number at the right."""
    for key, text in rows:
        painter.setPen(style.color("text_dim"))
        style.meter.write(painter, "mono", style.meter.elided(key, "mono", width * 0.55), x, y, style.line)
        painter.setPen(style.color("text"))
        right = style.meter.elided(text, "mono", width - style.meter.width(key, "mono") - 8)
        painter.drawText(QRectF(x, y, width, style.line), Align.AlignVCenter | Align.AlignRight, right)
        y += style.line


def paint_display(painter: QPainter, style: CanvasStyle, display: Display, rect: QRectF) -> None:
    """A number, words or cells."""
    if display.kind == "cells":
        from gradstudio.ui.canvas.paint.card.cell_painter import paint_cells  # nothing has numbers at first

        paint_cells(painter, style, display, rect)
        return
    text, role = fitting_text(style, display, rect.width())
    painter.setPen(ink_of(style, display.tone))
    style.meter.write(painter, role, style.meter.elided(text, role, rect.width()), rect.x(), rect.y(), rect.height())


def _paint_gradient(painter: QPainter, style: CanvasStyle, gradient: Gradient, room: QRectF, line_left: float) -> None:
    """The sign of its state with words or a number; with a picture or with cells where it has them.

    `line_left`: where the line below a picture begins.
    """
    display, line = gradient.display, max(style.line, SIGN)
    top = QRectF(room.left(), room.top(), room.width(), min(room.height(), max(line, NUMBER)))
    if display is not None and display.kind in ("picture", "strip"):
        top = QRectF(line_left, room.bottom() - line, room.right() - line_left, line)
        box = room.adjusted(0, 1, 0, -line - 2)
        box = box if display.kind != "strip" else QRectF(box.x(), box.y(), box.width(), min(box.height(), STRIP))
        box = _picture_box(display, box) if display.kind == "picture" else box
        _paint_picture(painter, style, display, box)
    elif display is not None and display.kind != "number":
        top.setHeight(line)
    elif style.is_compact and room.height() < 2 * NUMBER:
        top.setHeight(room.height())  # in the middle, as the number beside it
    if gradient.state == "cut":
        painter.fillRect(top.adjusted(0, 1, 0, -1), QBrush(style.faded("warning", 0.22), Qt.BrushStyle.BDiagPattern))
    sign = QRectF(top.left(), top.center().y() - SIGN / 2, SIGN, SIGN)
    paint_state(painter, style, sign, gradient.state)
    left = sign.right() + SIGN_GAP
    body = QRectF(left, top.top(), top.right() - left, top.height())
    if display is None:
        _paint_state_words(painter, style, gradient, body)
    elif display.kind == "number":
        paint_display(painter, style, display, body)
        if gradient.state == "accumulated":
            _paint_tag(painter, style, body, display, gradient.parts)
    elif display.kind in ("cells", "words"):
        below = room.bottom() - body.bottom() if display.kind == "cells" or gradient.parts else 0.0
        _paint_gradient_cells(painter, style, gradient, display, body.adjusted(0, 0, 0, below))
    else:
        paint_lines(painter, style, first_line(display.lines), body.left(), body.top(), body.width())


def _paint_state_words(painter: QPainter, style: CanvasStyle, gradient: Gradient, body: QRectF) -> None:
    """Why there is no number, in as many words as there is room for."""
    role = "warning" if gradient.state == "cut" else "unknown_value"
    font = "small" if gradient.state in ("cut", "not_retained") else "small_italic"
    tries = (gradient.words, SHORT_STATE_WORDS.get(gradient.state, gradient.words))
    text = next((text for text in tries if style.meter.width(text, font) <= body.width()), "")
    painter.setPen(style.gradient if gradient.state == "not_retained" else style.color(role))
    style.meter.write(painter, font, text, body.left(), body.top(), body.height())


def _paint_gradient_cells(
    painter: QPainter, style: CanvasStyle, gradient: Gradient, display: Display, body: QRectF
) -> None:
    """Numbers in columns or in words, and below them what they are the sum of."""
    if gradient.parts:
        line = QRectF(body.left(), body.bottom() - style.line, body.width(), style.line)
        painter.setFont(style.meter.font("small"))
        painter.setPen(style.color("warning"))
        if style.meter.width(gradient.parts, "small") <= line.width():
            painter.drawText(line, Align.AlignVCenter, gradient.parts)
        body = body.adjusted(0, 0, 0, -style.line)
    paint_display(painter, style, display, body)


def _paint_tag(painter: QPainter, style: CanvasStyle, rect: QRectF, display: Display, parts: str) -> None:
    """Behind a number: what it is the sum of, and the word "accumulated", as far as there is room."""
    left = rect.left() + style.meter.width(*fitting_text(style, display, rect.width())) + 8
    room, word = rect.right() - left, "accumulated"
    tries = (f"{parts}  {word}", f"{parts} (sum)", parts, word, "sum") if parts else (word, "sum")
    text = next((text for text in tries if style.meter.width(text, "small_italic") <= room), "")
    painter.setFont(style.meter.font("small_italic"))
    painter.setPen(style.color("warning"))
    painter.drawText(QRectF(left, rect.top(), room, rect.height()), Align.AlignVCenter, text)
