"""Editors that exist only while something on the canvas is edited: literals, choices, names, notes."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QWidget

from gradstudio.ui.theme import Theme, mono_font, ui_font

LEAST_WIDTH: Final = 130
LEAST_HEIGHT: Final = 24
Commit = Callable[[str], str]
"""Takes the text; returns why it is refused, or ""."""


class LineEdit(QLineEdit):
    """One line edited in place. Enter keeps it, Tab goes on, Esc leaves all as it was.

    Signals:
        refused(object): the text was not taken; the words why. The editor stays.
        closed(object): it is over: "kept", "next", "previous" or "cancelled".
    """

    refused = Signal(object)
    closed = Signal(object)

    def __init__(self, parent: QWidget, text: str, commit: Commit, theme: Theme, *, mono: bool = True) -> None:
        """Show the old text, selected."""
        super().__init__(text, parent)
        self._commit, self._before, self._open = commit, text, True
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
        if self._open and event.reason() != Qt.FocusReason.PopupFocusReason:
            words = self._commit(self.text()) if self.text() != self._before else ""
            if words:
                self.refused.emit(words)
            self._close("kept")

    def _keep(self, how: str) -> None:
        words = self._commit(self.text()) if self.text() != self._before else ""
        if not words:
            self._close(how)
            return
        self._dress("danger")
        self.refused.emit(words)

    def _close(self, how: str) -> None:
        if self._open:
            self._open = False
            self.closed.emit(how)

    def _dress(self, role: str) -> None:
        self.setStyleSheet(_sheet(self._theme, role))


class ChoiceBox(QComboBox):
    """A choice made in place; the list opens at once.

    Signals:
        closed(object): as `LineEdit.closed`.
    """

    closed = Signal(object)

    def __init__(self, parent: QWidget, rows: Sequence[tuple[str, str]], current: str, commit: Commit) -> None:
        """`rows` are (shown, value)."""
        super().__init__(parent)
        self._commit, self._open = commit, True
        self.setFont(mono_font(12))
        for shown, value in rows:
            self.addItem(shown, value)
        self.setCurrentIndex(max(0, self.findData(current)))
        self.activated.connect(self._on_activated)
        self.view().installEventFilter(self)

    def hidePopup(self) -> None:
        """The list closed without a choice: over."""
        super().hidePopup()
        if self._open:
            self._close("cancelled")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close("cancelled")
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tab within the list takes the lit row and goes on."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
            self._take(self.view().currentIndex().row(), "next")
            return True
        return super().eventFilter(watched, event)

    def _on_activated(self, index: int) -> None:
        self._take(index, "kept")

    def _take(self, index: int, how: str) -> None:
        if self._open:
            self._open = False
            self._commit(str(self.itemData(index)))
            self.closed.emit(how)
            super().hidePopup()

    def _close(self, how: str) -> None:
        self._open = False
        self.closed.emit(how)


class NoteEdit(QPlainTextEdit):
    """A note edited in place; Ctrl+Enter or leaving keeps it, Esc does not.

    Signals:
        closed(object): as `LineEdit.closed`.
    """

    closed = Signal(object)

    def __init__(self, parent: QWidget, text: str, commit: Commit, theme: Theme) -> None:
        """Show the old text."""
        super().__init__(text, parent)
        self._commit, self._open = commit, True
        self.setFont(ui_font(12))
        self.setPlaceholderText("A comment, printed above the statement")
        self.setStyleSheet(
            f"QPlainTextEdit {{ background: {theme.note}; color: {theme.note_text};"
            f" border: 1px solid {theme.focus}; padding: 3px; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close("cancelled")
        elif (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self._close("kept")
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._close("kept")

    def _close(self, how: str) -> None:
        if self._open:
            self._open = False
            if how == "kept":
                self._commit(self.toPlainText())
            self.closed.emit(how)


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
