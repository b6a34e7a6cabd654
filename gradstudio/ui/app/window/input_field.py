"""The field in the status bar in which a program's `input()` is answered; it is there while the program waits."""

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget

from gradstudio.protocol.messages.progress import Asked
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.form_layout import label

MOST_SIGNS: Final = 60
"""Of the question; all of it is in the tooltip."""
WORDS: Final = (
    "The program waits for a line. Enter gives it, Ctrl+D says that nobody types any more, Stop ends the run."
)
NO_QUESTION: Final = "The program asks for a line:"
WIDTH_PX: Final = 240


class InputField(QWidget):
    """A question and a line to type.

    Signals:
        answered(object): the line; None: nobody types any more.
    """

    answered = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Hidden."""
        super().__init__(parent)
        self.question = label("", "warning")
        self._before: QWidget | None = None
        self.line = QLineEdit(self)
        self.line.setFont(mono_font())
        self.line.setMinimumWidth(WIDTH_PX)
        self.line.setToolTip(WORDS)
        self.line.installEventFilter(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GAP, 0, 0, 0)
        row.addWidget(self.question)
        row.addWidget(self.line)
        self.line.returnPressed.connect(self._on_line_return_pressed)
        self.hide()

    def ask(self, asked: Asked | None) -> None:
        """Show a question and take the keys; None: nothing waits."""
        if asked is None:
            if self.line.hasFocus() and self._before is not None:
                self._before.setFocus(Qt.FocusReason.OtherFocusReason)
            self.hide()
            return
        self._before = QApplication.focusWidget()
        self.line.clear()
        self.show()
        words = " ".join(asked.prompt.split()) or NO_QUESTION
        self.question.setText(words if len(words) <= MOST_SIGNS else f"{words[: MOST_SIGNS - 1]}…")
        self.question.setToolTip(words)
        self.line.setAccessibleName(words)
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Ctrl+D on an empty line, as in a terminal; here it is no command of the canvas."""
        if not isinstance(event, QKeyEvent) or self.line.text():
            return False
        is_end = event.key() == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if is_end and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
        elif is_end and event.type() == QEvent.Type.KeyPress:
            self.answered.emit(None)
        return is_end

    def _on_line_return_pressed(self) -> None:
        self.answered.emit(self.line.text())
