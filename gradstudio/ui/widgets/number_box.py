"""A box for a whole number whose digits stand where the letters of other fields do."""

from PySide6.QtWidgets import QSpinBox, QWidget

INSET_PX = 8
"""What the style sheet keeps free in a field, its edge included."""


class NumberBox(QSpinBox):
    """A spin box of a form."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """From 0 to 99, as Qt has it, until a range is set."""
        super().__init__(parent)
        # WORKAROUND(Qt leaves the padding left of a spin box out where a style sheet says it)
        self.lineEdit().setTextMargins(INSET_PX, 0, 0, 0)
