"""A number in a field as a slider: drag it to the left or right and values follow."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ItemId
from gradstudio.operators.literals.choices import DIMENSIONS
from gradstudio.scene.card.card_layout import InputRow
from gradstudio.scene.card.field_choices import sizes_of
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.number_steps import drag_number, number_in
from gradstudio.ui.canvas.gestures.pointer import Pointer


class ValueSlider(Gesture):
    """Drag a number; a press that does not move is a click. Esc takes the number back."""

    cursor = Qt.CursorShape.SizeHorCursor

    def __init__(
        self, canvas: GestureCanvas, at: Pointer, row: InputRow, item: ItemId, click: Callable[[], None]
    ) -> None:
        """The press on the field of `row`; `click` is what a press without a drag does."""
        super().__init__(canvas, at)
        self._item, self._row, self._click = item, row, click
        found = number_in(row)
        self._value: float | int = found if found is not None else 0
        self._shown, self._moving = row.text, False
        sizes = sizes_of(canvas.scene.graph, canvas.scene.results, item) if row.parameter.name in DIMENSIONS else None
        self._rank = len(sizes) if sizes else None

    def move(self, at: Pointer) -> None:
        self._moving = self._moving or at.is_far_from(self.start)
        if self._moving:
            fine = at.holds(Qt.KeyboardModifier.ShiftModifier)
            value = drag_number(self._value, at.view_x - self.start.view_x, fine=fine)
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
            edits = recipes.set_literal(canvas.scene.graph, self._item, path, text)
        except Refused as refusal:
            canvas.bubble.say(str(refusal), QPoint(round(self.start.view_x), round(self.start.view_y)))
            return
        self._shown = text
        if canvas.debugging.runner is not None:
            canvas.debugging.runner.follow(edits, label, key)
        else:
            canvas.store.submit(edits, label, key)
