"""How much of a number or of words has room on a card, and in which letters."""

from gradstudio.scene.card.result_sections import Display
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle


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
    texts = texts_of(display)
    roles = {"number": ("number", "number_small", "mono"), "gradient": ("gradient", "mono")}.get(role, (role,))
    tries = ((text, each) for text in texts for each in roles)
    return next((one for one in tries if style.meter.width(*one) <= width), (texts[-1], roles[-1]))


def texts_of(display: Display) -> tuple[str, ...]:
    """A number or words in all wordings, the longest first."""
    return display.lines[0][0] if display.lines else (display.text,)
