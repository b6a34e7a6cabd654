"""How much of a number or of words has room on a card, and in which letters."""

from typing import Final

from gradstudio.scene import value_format
from gradstudio.scene.card.result_sections import Display, Lines
from gradstudio.scene.card.section_heights import CELLS_A_LINE
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

LINE: Final = 13.0
"""How high a line is in the letters of what is seen from afar, view pixels."""
CELL_GAP: Final = 9.0
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
        return (display.text,)
    if display.kind == "number":
        return value_format.number_wordings(display.picture.value)
    return value_format.extents(display.picture)


def fitting_line(style: CanvasStyle, display: Display, width: float) -> Lines:
    """The line below a picture of a gradient: what is not finite, else its norm with as many digits as fit."""
    line = first_line(display.lines)
    texts, tone = line[0]
    if tone == "bad" or display.picture is None or style.meter.width(texts[-1], "mono") <= width:
        return line
    return ((value_format.norm_wordings(display.picture), tone),)


def first_line(lines: Lines) -> Lines:
    """The line that has to be read: of what is not finite, else the first."""
    return tuple([line for line in lines if line[1] == "bad"][:1]) or lines[:1]


def first_role(style: CanvasStyle, text: str, roles: tuple[str, ...], width: float) -> str:
    """The first of these fonts in which the text fits; "" when it fits in none."""
    for role in roles:
        if style.meter.width(text, role) <= width:
            return role
    return ""


def fitting_cells(style: CanvasStyle, display: Display, room: float) -> tuple[tuple[tuple[str, ...], ...], str]:
    """As many digits as fit, in the larger font if that fits too; no cells when nothing does."""
    assert display.picture is not None
    for digits in DIGITS:
        cells = value_format.cells(display.picture, CELLS_A_LINE, digits)
        for role in ("mono", "mono_small"):
            widths = column_widths(style, cells, role)
            if sum(widths) + CELL_GAP * len(widths) <= room:
                return cells, role
    return (), "mono_small"


def column_widths(style: CanvasStyle, cells: tuple[tuple[str, ...], ...], role: str) -> list[float]:
    """Of each column of cells."""
    columns = max(len(row) for row in cells)
    return [max(style.meter.width(row[k], role) for row in cells if k < len(row)) for k in range(columns)]
