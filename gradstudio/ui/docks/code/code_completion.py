"""The list of words that could follow, over the Code dock's text; the keys stay with the text."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout

from gradstudio.ui.docks.code import text_replacement
from gradstudio.ui.docks.code.code_editor import CodeEditor
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gradstudio.ui.docks.code.completion_words import CompletionWord

MOST_ROWS = 8
ROW_PX = 22
WIDTH_PX = 340
EDGE_PX = 3
Key = Qt.Key


class Completion(QFrame):
    """Opens behind a dot or the second letter of a word; Tab takes the word, Esc closes it.

    Enter begins a new line, as everywhere, unless the list was asked for or a word was chosen in it by an arrow key.
    """

    def __init__(self, editor: CodeEditor, theme: Theme, names: Callable[[], Iterable[str]]) -> None:
        """Closed; `names` are what the program binds."""
        super().__init__(editor)
        self._editor, self._names, self._stem = editor, names, ""
        self._revision = 0
        self._was_asked = self._was_chosen = False
        self.setObjectName("code_words")
        self.list = RowList["CompletionWord"](self, _row_data)
        self.list.setFont(mono_font(12))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setAccessibleName("Words that could follow")
        self.list.clicked.connect(self.take)
        self.list.current_changed.connect(self._show_signature)
        self.signature = QLabel(self)
        self.signature.setFont(mono_font(11))
        self.signature.setContentsMargins(6, 2, 6, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(EDGE_PX, EDGE_PX, EDGE_PX, EDGE_PX)
        column.setSpacing(2)
        column.addWidget(self.list, 1)
        column.addWidget(self.signature)
        self.set_theme(theme)
        self.hide()
        editor.takes_key = self.takes_key
        editor.typed.connect(self._on_editor_typed)
        editor.cursorPositionChanged.connect(self._on_editor_cursor_moved)
        editor.focus_changed.connect(self._on_editor_focus_changed)
        editor.verticalScrollBar().valueChanged.connect(self._on_editor_scrolled)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.setStyleSheet(
            f"QFrame#code_words {{ background: {theme.surface_raised}; border: 1px solid {theme.line};"
            f" border-radius: 6px; }} QListView {{ background: transparent; }}"
            f" QListView::item {{ min-height: {ROW_PX}px; }} QLabel {{ color: {theme.text_dim}; }}"
        )

    def takes_key(self, event: QKeyEvent) -> bool:
        """Walk through the list, take a word, close; every other key is the text's."""
        if event.key() == Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.offer()
            self._was_asked = self.isVisible()
            return True
        if not self.isVisible():
            return False
        match event.key():
            case Key.Key_Down | Key.Key_Up:
                self.list.step(1 if event.key() == Key.Key_Down else -1, goes_round=True)
                self._was_chosen = True
            case Key.Key_Tab:
                self.list.go(max(0, self.list.current_row))
                self.take()
            case Key.Key_Return | Key.Key_Enter:
                return self._takes_enter()
            case Key.Key_Escape:
                self.hide()
            case _:
                return False
        return True

    def _takes_enter(self) -> bool:
        """Take the word that a person chose; else the key is the text's, and the list closes."""
        takes = (self._was_asked or self._was_chosen) and bool(self.current)
        if takes:
            self.take()
        self.hide()
        return takes

    @property
    def current(self) -> str:
        """The word that Tab takes; "" when there is none."""
        return self.list.current.word if self.list.current is not None else ""

    def take(self) -> None:
        """Put the current word in place of what was typed of it."""
        if self.current:
            cursor = self._editor.textCursor()
            back = text_replacement.units(self._stem)
            cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, back)
            cursor.insertText(self.current)
            self._editor.setTextCursor(cursor)
        self.hide()

    def offer(self) -> None:
        """Show the words that could follow; nothing where there are none."""
        from gradstudio.ui.docks.code.completion_words import completion_words

        self._revision, self._was_chosen = self._editor.document().revision(), False
        before = text_replacement.text_before(self._editor.textCursor())
        self._stem, words = completion_words(before, self._names())
        if not words:
            self.hide()
            return
        self.list.show_rows(words)
        if not self._stem:
            self.list.go(-1)
        self._show_signature()
        self._place()

    # ------------------------------------------------------------------ inner workings

    def hideEvent(self, event: QHideEvent) -> None:
        self._was_asked = self._was_chosen = False
        super().hideEvent(event)

    def _place(self) -> None:
        """Under the word, or over it where there is more room; over whatever lies beside the dock."""
        editor, window = self._editor, self._editor.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        cursor = editor.cursorRect()
        rows = min(MOST_ROWS, len(self.list.rows))
        height = rows * (self.list.sizeHintForRow(0) or ROW_PX) + self.signature.sizeHint().height() + 4 * EDGE_PX
        self.resize(min(WIDTH_PX, window.width() - 8), height)
        below = editor.viewport().mapTo(window, QPoint(cursor.left(), cursor.bottom() + 2))
        above = editor.viewport().mapTo(window, QPoint(cursor.left(), cursor.top() - 2)).y() - height
        top = below.y() if below.y() + height <= window.height() or above < 0 else above
        self.move(min(below.x(), max(0, window.width() - self.width() - 4)), top)
        self.show()
        self.raise_()

    def _show_signature(self) -> None:
        from gradstudio.ui.docks.code.completion_words import word_signature

        word = self.list.current
        words = word_signature(word) if word is not None else "Tab takes a word"
        room = WIDTH_PX - 4 * EDGE_PX
        self.signature.setText(self.signature.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room))

    def _on_editor_typed(self) -> None:
        before = text_replacement.text_before(self._editor.textCursor())
        is_word = before[-1:].isidentifier() or before[-1:].isdigit() or before.endswith(".")
        if self._editor.hasFocus() and is_word and (self._editor.types_letter or self.isVisible()):
            self.offer()
        else:
            self.hide()

    def _on_editor_focus_changed(self, has_focus: bool) -> None:
        if not has_focus:
            self.hide()

    def _on_editor_scrolled(self, _value: int) -> None:
        self.hide()

    def _on_editor_cursor_moved(self) -> None:
        """A cursor that leaves the word without typing closes the list."""
        from gradstudio.ui.docks.code.completion_words import completion_words

        if self.isVisible() and self._editor.document().revision() == self._revision:
            stem, _words = completion_words(text_replacement.text_before(self._editor.textCursor()), ())
            if stem != self._stem:
                self.hide()


def _row_data(row: "CompletionWord", role: int) -> object:
    return row.word if role == Qt.ItemDataRole.DisplayRole else None
