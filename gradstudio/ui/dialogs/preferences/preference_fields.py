"""The control of one row of the preferences: shows the value that holds, tells the one that was chosen."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QSpinBox

from gradstudio.ui.dialogs.preferences.preference_rows import Choice, Kind, Number, PreferenceRow, Switch

Chosen = Callable[[object], None]
Themes = Callable[[], Sequence[tuple[str, str]]]
FIELD_PX: Final = 210
TEXT_PX: Final = 6
"""Room before the text of a number, as before that of a choice."""


class SwitchField(QCheckBox):
    """On or off."""

    def __init__(self, chosen: Chosen) -> None:
        """Tell `chosen`."""
        super().__init__()
        self.clicked.connect(chosen)

    def show_value(self, value: object) -> None:
        """Show what holds."""
        self.setChecked(bool(value))
        self.setText("On" if value else "Off")


class ChoiceField(QComboBox):
    """One of some words."""

    def __init__(self, values: Sequence[tuple[object, str]], chosen: Chosen) -> None:
        """Tell `chosen`; the wheel is left to the page."""
        super().__init__()
        self.setMinimumWidth(FIELD_PX)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.offer(values)
        self.activated.connect(lambda at: chosen(self.itemData(at)))

    def offer(self, values: Sequence[tuple[object, str]]) -> None:
        """Offer other values."""
        self.clear()
        for value, words in values:
            self.addItem(words, value)

    def show_value(self, value: object) -> None:
        """Show what holds; what is not offered any more is offered all the same."""
        if self.findData(value) < 0:
            self.addItem(f"{value} (not found)", value)
        self.setCurrentIndex(self.findData(value))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class NumberField(QSpinBox):
    """A whole number."""

    def __init__(self, kind: Number, chosen: Chosen) -> None:
        """Tell `chosen` when a number is complete."""
        super().__init__()
        self.setRange(kind.low, kind.high)
        self.setSingleStep(kind.step)
        self.setSuffix(kind.unit)
        self.setSpecialValueText(kind.zero)
        self.setKeyboardTracking(False)
        self.setMinimumWidth(FIELD_PX)
        self.lineEdit().setTextMargins(TEXT_PX, 0, 0, 0)  # the style sheet's padding does not reach it
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.valueChanged.connect(chosen)

    def show_value(self, value: object) -> None:
        """Show what holds."""
        self.blockSignals(True)
        self.setValue(int(str(value)))
        self.blockSignals(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


Field = SwitchField | ChoiceField | NumberField


def field_of(row: PreferenceRow, themes: Themes, chosen: Chosen) -> Field:
    """The control of a row."""
    made = _make(row.kind, themes, chosen)
    made.setObjectName(row.field)
    made.setAccessibleName(row.text)
    made.setAccessibleDescription(row.words)
    return made


def _make(kind: Kind, themes: Themes, chosen: Chosen) -> Field:
    match kind:
        case Switch():
            return SwitchField(chosen)
        case Choice():
            return ChoiceField(kind.values, chosen)
        case Number():
            return NumberField(kind, chosen)
        case _:
            return ChoiceField(themes(), chosen)
