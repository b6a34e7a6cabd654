"""Editors that exist only while something on the canvas is edited: literals, names, notes."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from gradstudio.ui.theme import Theme, mono_font, ui_font

LEAST_WIDTH: Final = 130
LEAST_HEIGHT: Final = 24
NOTE_MARGIN: Final = 10
_RETURNS: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
Commit = Callable[[str], str]
"""Takes the text; returns why it is refused, or ""."""
Step = Callable[[str, int, Qt.KeyboardModifier], str]
"""Takes the text and how many steps up; returns the text after them, or "" where there is nothing to count."""


class LineEdit(QLineEdit):
    """One line edited in place. Enter keeps it, Tab goes on, Esc leaves all as it was.

    Signals:
        refused(object): the text was not taken; the words why. The editor stays.
        closed(object): it is over: "kept", "next", "previous" or "cancelled".
    """

    refused = Signal(object)
    closed = Signal(object)

    def __init__(
        self, parent: QWidget, text: str, commit: Commit, theme: Theme, *, mono: bool = True, step: Step | None = None
    ) -> None:
        """Show the old text, selected; `step` is what the arrows up and down do."""
        super().__init__(text, parent)
        self._commit = commit
        self._before = text
        self._open = True
        self._step = step
        self.setFont(mono_font(12) if mono else ui_font(13))
        self._theme = theme
        self._dress("focus")
        self.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self._close("cancelled")
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._keep("kept")
            case Qt.Key.Key_Up | Qt.Key.Key_Down if self._step is not None:
                stepped = self._step(self.text(), 1 if event.key() == Qt.Key.Key_Up else -1, event.modifiers())
                if stepped:
                    self.setText(stepped)
                    self.selectAll()
            case _:
                super().keyPressEvent(event)
                return
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Tab goes to the next field instead of the next widget."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Tab:
                self._keep("next")
                return True
            if event.key() == Qt.Key.Key_Backtab:
                self._keep("previous")
                return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leaving keeps what is right; what is wrong is said, and the old value stands."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.finish()

    def finish(self) -> None:
        """It is over: what is right is kept, what is wrong is said."""
        if self._open:
            words = self._try_to_keep()
            if words:
                self.refused.emit(words)
            self.closed.emit("kept")

    def _keep(self, how: str) -> None:
        words = self._try_to_keep()
        if not words:
            self.closed.emit(how)
            return
        self._open = True
        self._dress("danger")
        self.refused.emit(words)

    def _try_to_keep(self) -> str:
        """Why the text is refused; "" when it was taken. Not open meanwhile: taking it may end the focus."""
        self._open = False
        return self._commit(self.text()) if self.text() != self._before else ""

    def _close(self, how: str) -> None:
        if self._open:
            self._open = False
            self.closed.emit(how)

    def _dress(self, role: str) -> None:
        self.setStyleSheet(_sheet(self._theme, role))


class NoteEdit(QPlainTextEdit):
    """A note edited in place; Ctrl+Enter or leaving keeps it, Esc does not.

    Signals:
        closed(object): as `LineEdit.closed`.
        refused(object): why it is not kept; after Ctrl+Enter it stays open.
    """

    closed = Signal(object)
    refused = Signal(object)

    def __init__(self, parent: QWidget, text: str, commit: Commit, theme: Theme) -> None:
        """Show the old text."""
        super().__init__(text, parent)
        self._commit, self._open = commit, True
        self.setFont(ui_font(12))
        self.setPlaceholderText("A note in Markdown, kept as a comment of the code. Ctrl+Enter keeps it, Esc does not.")
        self.setStyleSheet(
            f"QPlainTextEdit {{ background: {theme.note}; color: {theme.note_text};"
            f" border: 1px solid {theme.focus}; padding: 3px; }}"
        )

    def grow(self) -> None:
        """As high as its lines, within the canvas."""
        lines = self.document().size().height()  # of a plain text's document in lines
        wanted = round(lines * self.fontMetrics().lineSpacing()) + 2 * NOTE_MARGIN
        parent = self.parentWidget()
        if parent is not None and self.height() < wanted:
            room = parent.height() - self.y() - 2
            self.resize(self.width(), max(self.height(), min(wanted, room)))

    def event(self, event: QEvent) -> bool:
        """Its keys are no commands of the window: Ctrl+Enter runs nothing."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and (_ends(event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close("cancelled")
        elif _ends(event):
            self._close("kept", stays=True)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.finish()

    def finish(self) -> None:
        """It is over, and what was written is kept."""
        self._close("kept")

    def _close(self, how: str, *, stays: bool = False) -> None:
        if not self._open:
            return
        self._open = False
        words = self._commit(self.toPlainText()) if how == "kept" else ""
        if words:
            self.refused.emit(words)
            self._open = stays
        if not self._open:
            self.closed.emit(how)


def _ends(event: QKeyEvent) -> bool:
    """Whether a key ends writing a note."""
    with_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    return event.key() == Qt.Key.Key_Escape or (event.key() in _RETURNS and with_control)


def editor_place(x: float, y: float, width: float, height: float, room: QRect) -> QRect:
    """Where an editor stands: over its field, never too small to read, inside the view."""
    rect = QRect(round(x), round(y), max(round(width), LEAST_WIDTH), max(round(height), LEAST_HEIGHT))
    rect.moveCenter(QRect(rect.x(), round(y), rect.width(), max(1, round(height))).center())
    rect.moveLeft(max(room.left() + 2, min(rect.left(), room.right() - rect.width() - 2)))
    return rect


def _sheet(theme: Theme, role: str) -> str:
    return (
        f"QLineEdit {{ background: {theme.field}; color: {theme.text}; padding: 1px 5px;"
        f" border: 1px solid {theme.color(role).name()}; border-radius: 4px; }}"
    )
