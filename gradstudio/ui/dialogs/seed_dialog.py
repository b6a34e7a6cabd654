"""Asks for the seed: a number, or another one at each start."""

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

Button = QDialogButtonBox.StandardButton
LARGEST = 2**63 - 1


class SeedDialog(QDialog):
    """`seed` is a number, or None for a new one at each start."""

    def __init__(self, seed: int | None, parent: QWidget | None = None) -> None:
        """Show the seed as it is."""
        super().__init__(parent)
        self.setWindowTitle("Seed")
        self.fixed = QCheckBox("Start the random numbers from a fixed seed")
        self.fixed.setChecked(seed is not None)
        self.field = QLineEdit(str(seed or 0))
        self.field.setAccessibleName("Seed")
        self._problem = QLabel(f"A whole number from 0 to {LARGEST:,}.")
        self._problem.setProperty("role", "dim")
        words = QLabel("With a fixed seed every Run from nothing draws the same numbers.")
        words.setProperty("role", "dim")
        self._buttons = QDialogButtonBox(Button.Ok | Button.Cancel)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        for widget in (self.fixed, words, self.field, self._problem, self._buttons):
            column.addWidget(widget)
        self.fixed.toggled.connect(lambda _on: self._check())
        self.field.textChanged.connect(lambda _text: self._check())
        self._check()
        self.field.setFocus()
        self.field.selectAll()

    @property
    def seed(self) -> int | None:
        """What was chosen."""
        return int(self.field.text()) if self.fixed.isChecked() else None

    def _check(self) -> None:
        text = self.field.text().strip()
        good = text.isascii() and text.isdecimal() and int(text) <= LARGEST if len(text) < 25 else False
        self.field.setEnabled(self.fixed.isChecked())
        self._buttons.button(Button.Ok).setEnabled(good or not self.fixed.isChecked())
        self._problem.setProperty("role", "dim" if good else "danger")
        self._problem.style().polish(self._problem)
