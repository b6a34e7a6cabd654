"""How much of a number or of words has room on a card, and in which letters; writes lines of them."""

from typing import Final, NamedTuple

from PySide6.QtGui import QColor, QPainter

from gradstudio.scene import value_format
from gradstudio.scene.card.result_sections import Display, Lines
from gradstudio.scene.card.section_heights import CELLS_A_LINE, Tone
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

LINE: Final = 13.0
"""How high a line is in the letters of what is seen from afar, view pixels."""
CELL_GAP: Final = 9.0
MARK_GAP: Final = 2.0
"""Between a sign and the bracket behind it."""
DIGITS: Final = (4, 3, 2)


def fit_wording(style: CanvasStyle, texts: tuple[str, ...], width: float) -> tuple[str, str]:
    """The first wording that fits, else the last, and its font."""
    return next((text for text in texts if style.meter.width(text, "mono") <= width), texts[-1]), "mono"


def role_of(display: Display) -> str:
    """The font of a number or of words."""
    if display.kind != "number":
        return "mono"
    return "gradient" if display.tone == "gradient" else "number"


def fitting_text(style: CanvasStyle, display: Display, width: float) -> tuple[str, str]:
    """A number in as large letters and with as many digits as fit, letters first; words in theirs."""
    role = role_of(display)
    if style.meter.width(display.text, role) <= width:
        return display.text, role
    texts = wordings(display)
    roles = {"number": ("number", "number_small", "mono"), "gradient": ("gradient", "mono")}.get(role, (role,))
    tries = ((text, each) for text in texts for each in roles)
    return next((one for one in tries if style.meter.width(*one) <= width), (texts[-1], roles[-1]))


def wordings(display: Display) -> tuple[str, ...]:
    """A number, a range or words in all wordings, the longest first."""
    if display.picture is None:
        return (display.text, *display.shorter)
    if display.kind == "number":
        return value_format.number_wordings(display.picture.value)
    return value_format.extents(display.picture)


def first_line(lines: Lines) -> Lines:
    """The line that has to be read: of what is not finite, else the first."""
    return tuple([line for line in lines if line[1] == "bad"][:1]) or lines[:1]


def first_role(style: CanvasStyle, text: str, roles: tuple[str, ...], width: float) -> str:
    """The first of these fonts in which the text fits; "" when it fits in none."""
    for role in roles:
        if style.meter.width(text, role) <= width:
            return role
    return ""


class FittingCells(NamedTuple):
    """Numbers in columns, none where they have no room, their font, and the sign that stands before what is rounded."""

    cells: tuple[tuple[str, ...], ...]
    role: str
    mark: str = ""


def fitting_cells(style: CanvasStyle, display: Display, room: float) -> FittingCells:
    """As many digits as fit, in the larger font if that fits too; no cells when nothing does."""
    assert display.picture is not None
    for digits in DIGITS:
        cells = value_format.cells(display.picture, CELLS_A_LINE, digits)
        mark = value_format.ROUNDED if value_format.are_coarse(display.picture, cells, digits) else ""
        for role in ("mono", "mono_small"):
            widths = column_widths(style, cells, role)
            if sum(widths) + CELL_GAP * len(widths) + mark_width(style, mark) <= room:
                return FittingCells(cells, role, mark)
    return FittingCells((), "mono_small")


def mark_width(style: CanvasStyle, mark: str) -> float:
    """Room for a sign before a bracket; 0 where there is none."""
    return style.meter.width(mark, "mono") + MARK_GAP if mark else 0.0


def column_widths(style: CanvasStyle, cells: tuple[tuple[str, ...], ...], role: str) -> list[float]:
    """Of each column of cells."""
    columns = max(len(row) for row in cells)
    return [max(style.meter.width(row[k], role) for row in cells if k < len(row)) for k in range(columns)]


def ink_of(style: CanvasStyle, tone: Tone) -> QColor:
    """The colour that words are written in."""
    match tone:
        case "faint":
            return style.color("text_dim")
        case "bad":
            return style.color("danger")
        case "gradient":
            return style.gradient
        case _:
            return style.color("text")


def paint_lines(painter: QPainter, style: CanvasStyle, lines: Lines, x: float, y: float, width: float) -> None:
    """Lines of words in the first wording that fits; a number that is cut is left out."""
    for texts, tone in lines:
        text, role = fit_wording(style, texts, width)
        if tone != "faint" and style.meter.width(text, role) > width and any(map(str.isdigit, text)):
            continue  # half a number says less than none
        painter.setPen(ink_of(style, tone))
        style.meter.write(painter, role, style.meter.elided(text, role, width), x, y, style.line)
        y += style.line
