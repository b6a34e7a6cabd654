"""A list over a field of a card: what may be chosen, what each choice does, and a line to type another value."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gradstudio.operators.literals.choices import LiteralChoice
from gradstudio.operators.literals.normalisation import dtype_name
from gradstudio.ui.theme import Theme, mono_font, ui_font

Commit = Callable[[str], str]
ROW: Final = 24
HEADING: Final = 20
LINE: Final = 28
MOST_ROWS: Final = 12
FEW: Final = 2
"""Lists up to this length have no line to type into, when nothing else may be typed."""
EDITING: Final = (
    QKeySequence.StandardKey.Paste,
    QKeySequence.StandardKey.SelectAll,
    QKeySequence.StandardKey.Undo,
    QKeySequence.StandardKey.Redo,
)
"""Keys of the window that mean the line while there is one."""
Role = Qt.ItemDataRole


class ChoiceList(QListWidget):
    """A choice made in place: arrows and Enter, a click, or letters that narrow the list.

    Signals:
        refused(object): what was typed is not taken; the words why. The list stays.
        closed(object): it is over: "kept", "next", "previous" or "cancelled".
        resized(): other rows are left, so another height is wanted.
    """

    refused = Signal(object)
    closed = Signal(object)
    resized = Signal()

    def __init__(
        self,
        parent: QWidget,
        rows: Sequence[LiteralChoice],
        current: str,
        commit: Commit,
        theme: Theme,
        *,
        free: bool = False,
    ) -> None:
        """`free`: another value than those of the list may be typed."""
        super().__init__(parent)
        self._commit, self._before, self._open, self._free = commit, current, True, free
        self._rows = tuple(rows)
        self.setFont(mono_font(12))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_Delegate(theme, self))
        before = ""
        for offer in self._rows:
            row = QListWidgetItem(offer.shown, self)
            row.setData(Role.UserRole, offer)
            row.setData(Role.AccessibleTextRole, f"{offer.shown}, {offer.words}" if offer.words else offer.shown)
            headed = bool(offer.group) and offer.group != before
            row.setData(Role.UserRole + 1, headed)
            row.setSizeHint(QSize(0, ROW + (HEADING if headed else 0)))
            before = offer.group
        self.line = self._make_line()
        self.setCurrentRow(max(0, self.values().index(current) if current in self.values() else 0))
        self.itemClicked.connect(self._on_item_clicked)
        self.setStyleSheet(
            f"ChoiceList {{ background: {theme.surface_raised}; color: {theme.text}; outline: 0;"
            f" border: 1px solid {theme.focus}; border-radius: 5px; padding: 2px; }}"
            f"QLineEdit {{ background: {theme.field}; color: {theme.text}; border: 0; padding: 0 6px;"
            f" border-bottom: 1px solid {theme.line}; border-radius: 0; }}"
        )

    def _make_line(self) -> QLineEdit | None:
        if not self._free and len(self._rows) <= FEW:
            return None
        line = QLineEdit(self)
        line.setFont(mono_font(12))
        line.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        line.setPlaceholderText("type a value, or choose" if self._free else "type to find")
        line.textChanged.connect(self._on_line_text_changed)
        self.setViewportMargins(0, LINE, 0, 0)
        return line

    def values(self) -> list[str]:
        """The literals, top to bottom."""
        return [offer.text for offer in self._rows]

    def wanted_height(self) -> int:
        """Of the rows that are left, up to a dozen."""
        seen = [k for k in range(self.count()) if not self.isRowHidden(k)]
        rows = sum(self.item(k).sizeHint().height() for k in seen[:MOST_ROWS])
        return rows + 8 + (LINE if self.line is not None else 0)

    def wanted_width(self) -> int:
        """Of the longest row with its words."""
        metrics = self.fontMetrics()
        return max(metrics.horizontalAdvance(f"{row.shown}   {row.words}") for row in self._rows) + 36

    # -------------------------------------------------------------- Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.line is not None:
            self.line.setGeometry(3, 3, self.width() - 6, LINE - 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self._close("cancelled")
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._take("kept")
            case Qt.Key.Key_Space if not self._typed():
                self._take("kept")
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._step(-1 if event.key() == Qt.Key.Key_Up else 1)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown | Qt.Key.Key_Home | Qt.Key.Key_End:
                super().keyPressEvent(event)
            case _:
                self._type(event)

    def event(self, event: QEvent) -> bool:
        """Tab takes the lit row and goes on to the next field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._is_typed(event):
            event.accept()  # a comma, a letter or Backspace is typed here; it is no shortcut of the window
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            hows = {Qt.Key.Key_Tab: "next", Qt.Key.Key_Backtab: "previous"}
            how = hows.get(Qt.Key(event.key()))
            if how is not None:
                self._take(how)
                return True
            if event.matches(QKeySequence.StandardKey.Paste):
                event.accept()
                self._type(event)
                return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leaving is no choice."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._close("cancelled")

    # -------------------------------------------------------------- typing

    def _typed(self) -> str:
        return self.line.text().strip() if self.line is not None else ""

    def _is_typed(self, event: QKeyEvent) -> bool:
        """Whether the line has a use for a key: text, or a key that edits text."""
        bare = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete) or any(event.matches(key) for key in EDITING):
            return True
        return not bare and bool(event.text()) and event.text().isprintable()

    def _type(self, event: QKeyEvent) -> None:
        """Hand a key to the line; the list keeps the focus, so that arrows choose and Enter takes.

        Not by `sendEvent`: a key that the line has no use for (Shift alone) would come back to the list, its parent.
        """
        if self.line is None:
            super().keyPressEvent(event)
            return
        self.line.event(QKeyEvent(event))
        event.accept()

    def _on_line_text_changed(self, _text: str) -> None:
        typed = self._typed().lower()
        first = -1
        for k, offer in enumerate(self._rows):
            fits = not typed or self._fits(offer, typed)
            self.setRowHidden(k, not fits)
            if fits and (first < 0 or offer.shown.lower() == typed):
                first = k
        self.setCurrentRow(first)
        self.resized.emit()

    def _fits(self, offer: LiteralChoice, typed: str) -> bool:
        shown = offer.shown.lower()
        if shown.startswith(typed) or (len(typed) > 1 and not self._is_number(typed) and typed in shown):
            return True
        name = dtype_name(typed)
        return len(typed) > 1 and (
            offer.text == f"torch.{name}" or offer.text.strip("\"'").lower() == typed.strip("\"'")
        )

    @staticmethod
    def _is_number(typed: str) -> bool:
        return typed.lstrip("-+")[:1].isdigit()

    def _step(self, by: int) -> None:
        seen = [k for k in range(self.count()) if not self.isRowHidden(k)]
        if seen:
            at = seen.index(self.currentRow()) if self.currentRow() in seen else -by
            self.setCurrentRow(seen[max(0, min(len(seen) - 1, at + by))])

    # -------------------------------------------------------------- the end

    def _on_item_clicked(self, row: QListWidgetItem) -> None:
        self.setCurrentItem(row)
        self._take("kept")

    def _take(self, how: str) -> None:
        if not self._open:
            return
        k = self.currentRow()
        chosen = self._rows[k].text if k >= 0 and not self.isRowHidden(k) else self._typed()
        self._open = False
        words = self._commit(chosen) if chosen != self._before else ""
        if not words:
            self.closed.emit(how)
            return
        self._open = True
        self.refused.emit(words)

    def _close(self, how: str) -> None:
        if self._open:
            self._open = False
            self.closed.emit(how)


class _Delegate(QStyledItemDelegate):
    """A row: the literal on the left, in few and dim words on the right what it does; a heading above a group."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        offer, theme = index.data(Role.UserRole), self._theme
        rect = QRect(option.rect)
        if index.data(Role.UserRole + 1):
            painter.setFont(ui_font(10))
            painter.setPen(theme.color("text_dim"))
            painter.drawText(rect.adjusted(8, 4, 0, 0), Qt.AlignmentFlag.AlignLeft, offer.group)
            rect.setTop(rect.top() + HEADING)
        lit = bool(option.state & QStyle.StateFlag.State_Selected)
        if lit:
            painter.fillRect(rect, theme.color("selection"))
        inner = rect.adjusted(8, 0, -8, 0)
        painter.setFont(mono_font(12))
        is_default = not offer.text
        painter.setPen(theme.color("selection_text" if lit else "text_dim" if is_default else "text"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, offer.shown)
        painter.setFont(ui_font(11))
        painter.setPen(theme.color("selection_text" if lit else "text_dim"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, offer.words)
