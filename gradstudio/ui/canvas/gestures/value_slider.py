"""A number in a field as a slider: drag it to the left or right and values follow."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ItemId
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.choices import DIMENSIONS
from gradstudio.operators.literals.parser import value_of
from gradstudio.scene.card.card_layout import InputRow
from gradstudio.scene.card.field_choices import sizes_of
from gradstudio.ui.canvas.gestures.gesture import Gesture, Pointer

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView

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


def moved(value: float | int, pixels: float, *, fine: bool = False) -> float | int:
    """The number after a drag of so many view pixels: ints stay ints, reals keep few decimals."""
    if isinstance(value, int):
        return value + round(pixels / WHOLE_STEP / (4 if fine else 1))
    power = math.floor(math.log10(abs(value))) if value else -1
    step = SHARE * 10.0**power * (0.1 if fine else 1.0)
    return round(value + round(pixels) * step, DIGITS - power if power < 0 else DIGITS)


def stepped(text: str, steps: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> str:
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


class Scrub(Gesture):
    """Drag a number; a press that does not move is a click. Esc takes the number back."""

    cursor = Qt.CursorShape.SizeHorCursor

    def __init__(
        self, canvas: "CanvasView", at: Pointer, row: InputRow, item: ItemId, click: Callable[[], None]
    ) -> None:
        """The press on the field of `row`; `click` is what a press without a drag does."""
        super().__init__(canvas, at)
        self._item, self._row, self._click = item, row, click
        found = number_in(row)
        self._value: float | int = found if found is not None else 0
        self._shown, self._moving = row.text, False
        sizes = sizes_of(canvas.board.graph, canvas.board.results, item) if row.parameter.name in DIMENSIONS else None
        self._rank = len(sizes) if sizes else None

    def move(self, at: Pointer) -> None:
        self._moving = self._moving or at.is_far_from(self.start)
        if self._moving:
            fine = at.holds(Qt.KeyboardModifier.ShiftModifier)
            value = moved(self._value, at.view_x - self.start.view_x, fine=fine)
            self._set(str(self._held(value)))

    def release(self, at: Pointer) -> None:
        if not self._moving:
            self._click()

    def cancel(self) -> None:
        if self._moving:
            self._set(self._row.text)

    def _held(self, value: float | int) -> float | int:
        """A dimension stays within those the tensor has, when they are known."""
        if self._rank is None or not isinstance(value, int):
            return value
        return max(-self._rank, min(self._rank - 1, value))

    def _set(self, text: str) -> None:
        """Write the number; values follow where something runs."""
        if text == self._shown:
            return
        canvas, path = self.canvas, self._row.path
        label, key = f"Set {path}", f"scrub:{self._item}:{path}:{id(self)}"
        try:
            edits = recipes.set_literal(canvas.board.graph, self._item, path, text)
        except Refused as refusal:
            canvas.bubble.say(str(refusal), QPoint(round(self.start.view_x), round(self.start.view_y)))
            return
        self._shown = text
        if canvas.runner is not None:
            canvas.runner.follow(edits, label, key)
        else:
            canvas.store.submit(edits, label, key)
