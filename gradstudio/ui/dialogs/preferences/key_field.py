"""A field that takes keys as they are pressed, instead of what they would type or do."""

from typing import Final

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget

ALONE: Final = (
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock,
    Qt.Key.Key_unknown,
)
"""Keys that mean nothing without another."""


class KeyField(QLineEdit):
    """Shows what was pressed.

    Signals:
        pressed(object): keys as files write them, e.g. "Ctrl+Shift+P".
        cancelled(): Esc was pressed.
    """

    pressed = Signal(object)
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty field."""
        super().__init__(parent)
        self.setReadOnly(True)
        self.setPlaceholderText("Press the keys")
        self.setAccessibleName("Press the keys")

    def event(self, event: QEvent) -> bool:
        """All keys are the field's: Tab does not leave it, and nothing is a shortcut."""
        if isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self._take(event)
                return True
        return super().event(event)

    def _take(self, event: QKeyEvent) -> None:
        key, held = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in ALONE or event.isAutoRepeat():
            return
        if key == Qt.Key.Key_Escape and held == Qt.KeyboardModifier.NoModifier:
            self.clear()
            self.cancelled.emit()
            return
        if key == Qt.Key.Key_Backtab:
            key = Qt.Key.Key_Tab
        keys = QKeySequence(QKeyCombination(held, key))
        self.setText(keys.toString(QKeySequence.SequenceFormat.NativeText))
        self.pressed.emit(keys.toString())
