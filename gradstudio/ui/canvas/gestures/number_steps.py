"""The number that stands in a field, and the next one by a drag or by the arrow keys."""

import math
from typing import Final

from PySide6.QtCore import Qt

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.parser import value_of
from gradstudio.scene.card.card_layout import InputRow

WHOLE_STEP: Final = 8.0
"""View pixels for a step of a whole number."""
SHARE: Final = 0.01
"""Of its own power of ten, a real number moves so much with each view pixel; a tenth of it with Shift."""
DIGITS: Final = 6


def number_in(row: InputRow) -> float | int | None:
    """The number that stands in a field; None when it holds something else."""
    if row.state != "literal" or row.has_list:
        return None
    return number_from(row.text)


def number_from(text: str) -> float | int | None:
    """The finite number that a literal is; None for anything else."""
    try:
        value = value_of(text)
    except LiteralError:
        return None
    if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
        return None
    return value


def drag_number(value: float | int, pixels: float, *, fine: bool = False) -> float | int:
    """The number after a drag of so many view pixels: ints stay ints, reals keep few decimals."""
    if isinstance(value, int):
        return value + round(pixels / WHOLE_STEP / (4 if fine else 1))
    power = math.floor(math.log10(abs(value))) if value else -1
    step = SHARE * 10.0**power * (0.1 if fine else 1.0)
    return round(value + round(pixels) * step, DIGITS - power if power < 0 else DIGITS)


def nudge_number(text: str, steps: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> str:
    """A number some steps of the arrow keys further: ints by one, reals in their second digit; Shift is ten of them.

    "" when the text is no number.
    """
    value = number_from(text)
    if value is None:
        return ""
    steps *= 10 if modifiers & Qt.KeyboardModifier.ShiftModifier else 1
    if isinstance(value, int):
        return str(value + steps)
    power = math.floor(math.log10(abs(value))) if value else 0
    made = round(value + steps * 10.0 ** (power - 1), max(0, 2 - power) if power < 2 else 0)
    return _scientific(made) if "e" in text.lower() else repr(made).replace("e-0", "e-")


def _scientific(value: float) -> str:
    """`1.1e-3`: few digits before the power, as it was written before."""
    mantissa, _, power = f"{value:.6e}".partition("e")
    short = mantissa.rstrip("0").rstrip(".")
    return f"{short}e{int(power)}"
