"""Editors that exist only while something on the canvas is edited: literals, choices, names, notes."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QPlainTextEdit, QWidget

from gradstudio.ui.theme import Theme, mono_font, ui_font

LEAST_WIDTH: Final = 130
LEAST_HEIGHT: Final = 24
CHOICE_HEIGHT: Final = 24
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


class ChoiceList(QListWidget):
    """A choice made in place from a list over the canvas: arrows and Enter, or a click.

    Signals:
        closed(object): as `LineEdit.closed`.
    """

    closed = Signal(object)

    def __init__(
        self, parent: QWidget, rows: Sequence[tuple[str, str]], current: str, commit: Commit, theme: Theme
    ) -> None:
        """`rows` are (shown, value)."""
        super().__init__(parent)
        self._commit, self._before, self._open = commit, current, True
        self.setFont(mono_font(12))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for shown, value in rows:
            row = QListWidgetItem(shown, self)
            row.setData(Qt.ItemDataRole.UserRole, value)
            row.setSizeHint(QSize(0, CHOICE_HEIGHT))
        self.setCurrentRow(max(0, self.values().index(current) if current in self.values() else 0))
        self.itemClicked.connect(self._on_item_clicked)
        self.setStyleSheet(
            f"QListWidget {{ background: {theme.surface_raised}; color: {theme.text}; outline: 0;"
            f" border: 1px solid {theme.focus}; border-radius: 5px; padding: 2px; }}"
            f"QListWidget::item:selected {{ background: {theme.selection}; color: {theme.selection_text}; }}"
        )

    def values(self) -> list[str]:
        """The literals, top to bottom."""
        return [self.item(k).data(Qt.ItemDataRole.UserRole) for k in range(self.count())]

    def wanted_height(self) -> int:
        """Of all rows, up to a dozen."""
        return CHOICE_HEIGHT * min(self.count(), 12) + 8

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self._close("cancelled")
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Space:
                self._take("kept")
            case _:
                super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Tab takes the lit row and goes on to the next field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            hows = {Qt.Key.Key_Tab: "next", Qt.Key.Key_Backtab: "previous"}
            how = hows.get(Qt.Key(event.key()))
            if how is not None:
                self._take(how)
                return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leaving is no choice."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._close("cancelled")

    def _on_item_clicked(self, row: QListWidgetItem) -> None:
        self.setCurrentItem(row)
        self._take("kept")

    def _take(self, how: str) -> None:
        if not self._open:
            return
        self._open = False
        chosen = str(self.currentItem().data(Qt.ItemDataRole.UserRole))
        if chosen != self._before:
            self._commit(chosen)
        self.closed.emit(how)

    def _close(self, how: str) -> None:
        if self._open:
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
