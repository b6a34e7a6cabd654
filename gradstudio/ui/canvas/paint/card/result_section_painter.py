"""Paints the well of a card: values, types, gradients, and the strip that says what is wrong."""

from typing import Final

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from gradstudio.scene import value_format
from gradstudio.scene.card.card_layout import PADDING, CardLayout
from gradstudio.scene.card.result_sections import Display, Gradient, Lines, ResultSections, Section
from gradstudio.scene.card.section_heights import (
    BESIDE_PICTURE,
    CELL,
    CELLS_A_LINE,
    EDGE,
    LINE,
    PROBLEM,
    STATE,
    STRIP,
    Tone,
)
from gradstudio.scene.value_format import cells as cells_of
from gradstudio.ui.canvas.paint.card.parameter_row_painter import paint_parameter_rows
from gradstudio.ui.canvas.paint.card.placeholder_painter import paint_placeholder
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_state

SIGN: Final = 13.0
CELL_GAP: Final = 9.0
DIGITS: Final = (4, 3, 2)
PROBLEM_LINE: Final = 15.0
Align = Qt.AlignmentFlag
ROLES: Final = {"error": "danger", "warning": "warning"}


def paint_result_sections(painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections) -> None:
    """Everything below the ports; the painter's origin is the card's top left corner."""
    if not well.sections and not well.problem:
        paint_placeholder(painter, style, layout, well)
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
    if well.problem:
        _paint_problem(painter, whole, layout, well)


def problem_box(layout: CardLayout, well: ResultSections) -> QRectF:
    """Where the words of a problem stand: all of an empty well, else a strip below the values."""
    if well.sections:
        return QRectF(0, layout.height + well.height - well.strip, layout.width, well.strip)
    return QRectF(0, layout.height + well.leaves.height, layout.width, well.height - well.leaves.height)


def _paint_problem(painter: QPainter, style: CanvasStyle, layout: CardLayout, well: ResultSections) -> None:
    """As many lines as there is room for; the last one ends in "…" where words are left."""
    box = problem_box(layout, well).adjusted(PADDING, 0, -PADDING, 0)
    painter.setPen(style.color(ROLES.get(well.problem_kind, "text_dim")))
    room = max(1, int((box.height() - 4) / PROBLEM_LINE))
    lines = style.meter.wrapped(well.problem, "small", box.width())
    if len(lines) > room:
        lines[room - 1 :] = [style.meter.elided(" ".join(lines[room - 1 :]), "small", box.width())]
    line = PROBLEM if room == 1 else PROBLEM_LINE
    top = box.top() if room == 1 else box.top() + 4
    for number, text in enumerate(lines):
        style.meter.write(painter, "small", text, box.left(), top + line * number, line)


def _paint_section(painter: QPainter, style: CanvasStyle, section: Section, y: float, width: float) -> None:
    inner = QRectF(PADDING, y, width - 2 * PADDING, section.height - EDGE)
    if section.heading:
        painter.setPen(style.color("text_dim"))
        style.meter.write(
            painter, "small", style.meter.elided(section.heading, "small", inner.width()), inner.x(), y, LINE
        )
        inner.setTop(y + LINE)
    top = _paint_value(painter, style, section, inner) if section.value is not None else inner.top()
    if section.value is None:
        top = _paint_rows(painter, style, section.rows, inner.left(), top, inner.width())
    if section.gradient is not None:
        _paint_gradient(
            painter, style, section.gradient, QRectF(inner.left(), top, inner.width(), section.gradient.height)
        )


def _paint_value(painter: QPainter, style: CanvasStyle, section: Section, inner: QRectF) -> float:
    """The value and its rows; returns the y below them."""
    display = section.value
    assert display is not None
    top = inner.top()
    if display.kind in ("picture", "strip"):
        return _paint_picture_and_rows(painter, style, display, section.rows, inner)
    paint_display(painter, style, display, QRectF(inner.left(), top, inner.width(), display.height))
    return _paint_rows(painter, style, section.rows, inner.left(), top + display.height, inner.width())


def _paint_picture_and_rows(
    painter: QPainter, style: CanvasStyle, display: Display, rows: tuple[tuple[str, str], ...], inner: QRectF
) -> float:
    faint: Tone = "faint"
    texts: Lines = (*display.lines, *(((text,), faint) for _, text in rows))
    if display.kind == "strip":
        _paint_picture(painter, style, display, QRectF(inner.left(), inner.top() + 1, inner.width(), STRIP))
        y = inner.top() + display.height
        _paint_lines(painter, style, texts, inner.left(), y, inner.width())
        return y + LINE * len(texts)
    box = _picture_box(display, inner)
    _paint_picture(painter, style, display, box)
    left = box.right() + 10
    _paint_lines(painter, style, texts[:BESIDE_PICTURE], left, inner.top(), inner.right() - left)
    return inner.top() + max(display.height, LINE * BESIDE_PICTURE if display.tone != "gradient" else 0.0)


def _picture_box(display: Display, inner: QRectF) -> QRectF:
    """Where a picture stands: at the left, as high as it may be, at most two fifths wide."""
    assert display.picture is not None and display.picture.preview is not None
    ratio = tensor_image.aspect(display.picture.preview)
    height = display.height - 4
    widest = 0.55 if display.picture.preview.tile_rows else 0.4
    width = min(height * ratio, inner.width() * widest)
    return QRectF(inner.left(), inner.top() + 1, width, min(height, max(width / ratio, 12.0)))


def _paint_picture(painter: QPainter, style: CanvasStyle, display: Display, box: QRectF) -> None:
    assert display.picture is not None
    picture = tensor_image.image(display.picture, style.theme)
    if picture is None:
        return
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    opacity = painter.opacity()
    painter.setOpacity(opacity * style.picture_opacity)
    painter.drawImage(box, picture)
    tensor_image.paint_marks(painter, box, display.picture, style.theme)
    painter.setOpacity(opacity)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.gradient if display.tone == "gradient" else style.color("line"), 1.0))
    painter.drawRect(box)


def _ink(style: CanvasStyle, tone: Tone) -> QColor:
    match tone:
        case "faint":
            return style.color("text_dim")
        case "bad":
            return style.color("danger")
        case "gradient":
            return style.gradient
        case _:
            return style.color("text")


def _paint_lines(painter: QPainter, style: CanvasStyle, lines: Lines, x: float, y: float, width: float) -> None:
    for texts, tone in lines:
        text, role = fit_wording(style, texts, width)
        painter.setPen(_ink(style, tone))
        style.meter.write(painter, role, style.meter.elided(text, role, width), x, y, LINE)
        y += LINE


def fit_wording(style: CanvasStyle, texts: tuple[str, ...], width: float) -> tuple[str, str]:
    """The first wording that fits, and its font; the last in the smallest font when none does."""
    tries = [(text, "mono") for text in texts] + [(text, "mono_small") for text in texts]
    return next((one for one in tries if style.meter.width(*one) <= width), tries[-1])


def _paint_rows(
    painter: QPainter, style: CanvasStyle, rows: tuple[tuple[str, str], ...], x: float, y: float, width: float
) -> float:
    """Rows of "key value"; the value at the right when there is a key. Returns the y below."""
    painter.setFont(style.meter.font("mono"))
    for key, text in rows:
        rect = QRectF(x, y, width, LINE)
        painter.setPen(style.color("text_dim"))
        if not key:
            style.meter.write(painter, "mono", style.meter.elided(text, "mono", width), x, y, LINE)
        else:
            style.meter.write(painter, "mono", style.meter.elided(key, "mono", width * 0.55), x, y, LINE)
            painter.setPen(style.color("text"))
            right = style.meter.elided(text, "mono", width - style.meter.width(key, "mono") - 8)
            painter.drawText(rect, Align.AlignVCenter | Align.AlignRight, right)
        y += LINE
    return y


def paint_display(painter: QPainter, style: CanvasStyle, display: Display, rect: QRectF) -> None:
    """A number, words or cells."""
    if display.kind == "cells":
        _paint_cells(painter, style, display, rect)
        return
    role = "mono" if display.kind != "number" else "gradient" if display.tone == "gradient" else "number"
    painter.setPen(_ink(style, display.tone))
    style.meter.write(
        painter, role, style.meter.elided(display.text, role, rect.width()), rect.x(), rect.y(), rect.height()
    )


def _paint_cells(painter: QPainter, style: CanvasStyle, display: Display, rect: QRectF) -> None:
    """Numbers in columns between brackets; where two digits have no room, a strip of colours and the range."""
    assert display.picture is not None
    lead = max((style.meter.width(text, "mono_small") + 5 for text in display.lead), default=0.0)
    cells, role = _fitting_cells(style, display, rect.width() - lead - 8)
    if not cells and value_format.is_uniform(display.picture):
        _paint_lines(painter, style, display.lines[:1], rect.left(), rect.top() + 1, rect.width())
        return
    if not cells:
        _paint_picture(painter, style, display, QRectF(rect.left(), rect.top() + 1, rect.width(), STRIP))
        if display.height >= STRIP + LINE + 2:
            _paint_lines(painter, style, display.lines[:1], rect.left(), rect.top() + STRIP + 2, rect.width())
        return
    widths = _column_widths(style, cells, role)
    inside = QRectF(rect.left() + lead, rect.top() + 1, sum(widths) + CELL_GAP * len(widths) + 1, CELL * len(cells) - 2)
    _paint_brackets(painter, _ink(style, "faint"), inside)
    _paint_leads(painter, style, display.lead, rect)
    painter.setFont(style.meter.font(role))
    painter.setPen(_ink(style, display.tone))
    for i, row in enumerate(cells):
        right = inside.left()
        for text, width in zip(row, widths, strict=False):
            right += width + CELL_GAP
            cell = QRectF(right - width - CELL_GAP, rect.top() + CELL * i, width + CELL_GAP - 3, CELL)
            painter.drawText(cell, Align.AlignVCenter | Align.AlignRight, text)


def _fitting_cells(style: CanvasStyle, display: Display, room: float) -> tuple[tuple[tuple[str, ...], ...], str]:
    """As many digits as fit, in the larger font if that fits too; no cells when nothing does."""
    assert display.picture is not None
    for digits in DIGITS:
        cells = cells_of(display.picture, CELLS_A_LINE, digits)
        for role in ("mono", "mono_small"):
            widths = _column_widths(style, cells, role)
            if sum(widths) + CELL_GAP * len(widths) <= room:
                return cells, role
    return (), "mono_small"


def _column_widths(style: CanvasStyle, cells: tuple[tuple[str, ...], ...], role: str) -> list[float]:
    columns = max(len(row) for row in cells)
    return [max(style.meter.width(row[k], role) for row in cells if k < len(row)) for k in range(columns)]


def _paint_leads(painter: QPainter, style: CanvasStyle, lead: tuple[str, ...], rect: QRectF) -> None:
    painter.setFont(style.meter.font("mono_small"))
    painter.setPen(style.color("unknown_value"))
    for number, text in enumerate(lead):
        painter.drawText(QRectF(rect.left(), rect.top() + CELL * number, 40, CELL), Align.AlignVCenter, text)


def _paint_brackets(painter: QPainter, color: QColor, rect: QRectF) -> None:
    painter.setPen(QPen(color, 1.0))
    for x, inward in ((rect.left() + 0.5, 3.0), (rect.right() - 0.5, -3.0)):
        painter.drawLines(
            [
                QLineF(x, rect.top(), x, rect.bottom()),
                QLineF(x, rect.top(), x + inward, rect.top()),
                QLineF(x, rect.bottom(), x + inward, rect.bottom()),
            ]
        )


def _paint_gradient(painter: QPainter, style: CanvasStyle, gradient: Gradient, rect: QRectF) -> None:
    if gradient.state == "cut":
        band = QRectF(rect.left(), rect.top() + 1, rect.width(), STATE - 2)
        painter.fillRect(band, QBrush(style.faded("warning", 0.22), Qt.BrushStyle.BDiagPattern))
    sign = QRectF(rect.left(), rect.top() + (STATE - SIGN) / 2, SIGN, SIGN)
    paint_state(painter, style, sign, gradient.state)
    body = QRectF(sign.right() + 6, rect.top(), rect.right() - sign.right() - 6, rect.height())
    if gradient.display is None:
        _paint_state_words(painter, style, gradient, body)
    else:
        _paint_gradient_value(painter, style, gradient, gradient.display, body)


def _paint_state_words(painter: QPainter, style: CanvasStyle, gradient: Gradient, body: QRectF) -> None:
    role = "warning" if gradient.state == "cut" else "unknown_value"
    font = "small" if gradient.state in ("cut", "not_retained") else "small_italic"
    painter.setPen(style.gradient if gradient.state == "not_retained" else style.color(role))
    style.meter.write(painter, font, gradient.words, body.left(), body.top(), STATE)


def _paint_gradient_value(
    painter: QPainter, style: CanvasStyle, gradient: Gradient, display: Display, body: QRectF
) -> None:
    if display.kind == "number":
        rect = QRectF(body.left(), body.top(), body.width(), STATE)
        paint_display(painter, style, display, rect)
        if gradient.state == "accumulated":
            _paint_tag(painter, style, rect, display, gradient.parts)
        return
    if gradient.parts:
        line = QRectF(body.left(), body.bottom() - LINE, body.width(), LINE)
        painter.setFont(style.meter.font("small"))
        painter.setPen(style.color("warning"))
        painter.drawText(line, Align.AlignVCenter, style.meter.elided(gradient.parts, "small", line.width()))
        body = body.adjusted(0, 0, 0, -LINE)
    if display.kind in ("cells", "words"):
        paint_display(painter, style, display, QRectF(body.left(), body.top() + 2, body.width(), display.height))
    else:
        _paint_picture_and_rows(
            painter, style, display, (), QRectF(body.left(), body.top() + 2, body.width(), body.height())
        )


def _paint_tag(painter: QPainter, style: CanvasStyle, rect: QRectF, display: Display, parts: str) -> None:
    """Behind a number: what it is the sum of, and the word "accumulated", as far as there is room."""
    left = rect.left() + style.meter.width(display.text, "gradient") + 8
    room, word = rect.right() - left, "accumulated"
    tries = (f"{parts}  {word}", f"{parts} (sum)", parts) if parts else (word,)
    text = next((text for text in tries if style.meter.width(text, "small_italic") <= room), tries[-1])
    painter.setFont(style.meter.font("small_italic"))
    painter.setPen(style.color("warning"))
    text = style.meter.elided(text, "small_italic", room)
    painter.drawText(QRectF(left, rect.top(), room, rect.height()), Align.AlignVCenter, text)
