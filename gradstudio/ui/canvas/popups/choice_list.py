"""A list over a field of a card: what may be chosen, what each choice does, and a line to type another value."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from gradstudio.operators.literals.choices import LiteralChoice
from gradstudio.operators.literals.normalisation import dtype_name
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.popup_list import PopupList
from gradstudio.ui.widgets.screen_reader import announce

Commit = Callable[[str], str]
ROW: Final = 24
HEADING: Final = 20
LINE: Final = 28
EDGE: Final = 4
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
Key = Qt.Key
Role = Qt.ItemDataRole
OFFER: Final = int(Role.UserRole)
HEADED: Final = OFFER + 1
"""Roles of a row: all of it; whether the name of its group stands above it."""


class ChoiceList(PopupList[LiteralChoice]):
    """A choice made in place: arrows and Enter, a click, or letters that narrow the list.

    Signals:
        refused(object): what was typed is not taken; the words why. The list stays.
        closed(object): it is over: "kept", "next", "previous" or "cancelled".
        resized(): other rows are left, so another height is wanted.
    """

    refused = Signal(object)
    closed = Signal(object)
    resized = Signal()
    stays_open = (Qt.FocusReason.PopupFocusReason,)

    def __init__(
        self,
        parent: QWidget,
        name: str,
        offers: Sequence[LiteralChoice],
        current: str,
        commit: Commit,
        theme: Theme,
        *,
        free: bool = False,
    ) -> None:
        """`free`: another value than those of the list may be typed."""
        super().__init__(parent, name)
        self._offers, self._before, self._commit = tuple(offers), current, commit
        self._headed: frozenset[LiteralChoice] = frozenset()
        self.setAccessibleName(name)
        self.list.setAccessibleName(name)
        if not free and len(self._offers) <= FEW:
            self.give_keys_to_list()
        self._lay_out(theme, "type a value, or choose" if free else "type to find")
        self.narrow("")
        values = self.values()
        self.list.go(values.index(current) if current in values else 0)

    def values(self) -> list[str]:
        """The literals, top to bottom."""
        return [offer.text for offer in self.rows]

    def wanted_height(self) -> int:
        """Of the rows that are left, up to a dozen."""
        rows = sum(self._row_height(offer) for offer in self.rows[:MOST_ROWS])
        return rows + 2 * EDGE + (0 if self.field.isHidden() else LINE)

    def wanted_width(self) -> int:
        """Of the longest row with its words."""
        metrics = self.list.fontMetrics()
        return max(metrics.horizontalAdvance(f"{offer.shown}   {offer.words}") for offer in self._offers) + 36

    # -------------------------------------------------------------- rows

    def narrow(self, typed: str) -> None:
        """List what fits; what is typed in full is lit."""
        super().narrow(typed)
        typed = typed.strip().lower()
        exact = (k for k, offer in enumerate(self.rows) if offer.shown.lower() == typed)
        self.list.go(next(exact, self.list.current_row))
        self.resized.emit()

    def matches(self, typed: str) -> Sequence[LiteralChoice]:
        """What begins with it, has some letters of it, or is called so elsewhere."""
        typed = typed.strip().lower()
        rows = [offer for offer in self._offers if not typed or _fits(offer, typed)]
        above = ["", *(offer.group for offer in rows)]
        self._headed = frozenset(
            offer for offer, group in zip(rows, above, strict=False) if offer.group and offer.group != group
        )
        return rows

    def row_data(self, row: LiteralChoice, role: int) -> object:
        """Its literal and words, and all of it for the painter."""
        match role:
            case Role.DisplayRole:
                return row.shown
            case Role.AccessibleTextRole:
                return _spoken(row)
            case Role.SizeHintRole:
                return QSize(0, self._row_height(row))
            case _ if role == HEADED:
                return row in self._headed
            case _:
                return row if role == OFFER else None

    def show_current(self) -> None:
        """Say what is lit."""
        words = _spoken(self.current) if self.current is not None else ""
        self.key_widget.setAccessibleDescription(words)
        announce(self.key_widget, words)

    def _row_height(self, offer: LiteralChoice) -> int:
        return ROW + (HEADING if offer in self._headed else 0)

    # -------------------------------------------------------------- keys

    def page_rows(self) -> int:
        """As many as are seen, but one."""
        return max(1, self.list.viewport().height() // ROW - 1)

    def own_key(self, event: QKeyEvent) -> bool:
        """Tab takes the lit row and goes on to the next field; a blank takes it while nothing is typed."""
        match event.key():
            case Key.Key_Tab:
                self._end("next")
            case Key.Key_Backtab:
                self._end("previous")
            case Key.Key_Space if not self.field.text().strip():
                self.take()
            case Key.Key_Home | Key.Key_End:
                self.list.go(0 if event.key() == Key.Key_Home else len(self.rows) - 1)
            case _:
                return False
        return True

    def claims(self, event: QKeyEvent) -> bool:
        """A comma, a letter or Backspace is typed here; it is no shortcut of the window."""
        bare = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if event.key() in (Key.Key_Backspace, Key.Key_Delete) or any(event.matches(key) for key in EDITING):
            return True
        return not bare and bool(event.text()) and event.text().isprintable()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What neither line nor list has a use for is nothing to the canvas."""
        event.accept()

    # -------------------------------------------------------------- the end

    def take(self) -> None:
        """The current row is meant, or what is typed where none fits."""
        self._end("kept")

    def finish(self) -> None:
        """The graph changes by something else."""
        self.leave()

    def leave(self) -> None:
        """Leaving is no choice."""
        if self._open:
            self._open = False
            self.closed.emit("cancelled")

    def _end(self, how: str) -> None:
        if not self._open:
            return
        chosen = self.current.text if self.current is not None else self.field.text().strip()
        self._open = False  # taking it may end the focus
        words = self._commit(chosen) if chosen != self._before else ""
        if words:
            self._open = True
            self.refused.emit(words)
        else:
            self.closed.emit(how)

    def _lay_out(self, theme: Theme, placeholder: str) -> None:
        self.field.setFont(mono_font(12))
        self.field.setFixedHeight(LINE - EDGE)
        self.field.setPlaceholderText(placeholder)
        self.list.setFont(mono_font(12))
        self.list.setUniformItemSizes(False)
        self.list.setItemDelegate(_Delegate(theme, self))
        column = QVBoxLayout(self)
        column.setContentsMargins(EDGE - 1, EDGE - 1, EDGE - 1, EDGE - 1)
        column.setSpacing(0)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.setStyleSheet(
            f"ChoiceList {{ background: {theme.surface_raised}; border: 1px solid {theme.focus}; border-radius: 5px; }}"
            f"QListView {{ background: {theme.surface_raised}; color: {theme.text}; outline: 0; border: 0; }}"
            f"QLineEdit {{ background: {theme.field}; color: {theme.text}; border: 0; padding: 0 6px;"
            f" border-bottom: 1px solid {theme.line}; border-radius: 0; }}"
        )


def _fits(offer: LiteralChoice, typed: str) -> bool:
    shown = offer.shown.lower()
    if shown.startswith(typed):
        return True
    if len(typed) < 2:
        return False
    is_number = typed.lstrip("-+")[:1].isdigit()
    if not is_number and typed in shown:
        return True
    return offer.text == f"torch.{dtype_name(typed)}" or offer.text.strip("\"'").lower() == typed.strip("\"'")


def _spoken(offer: LiteralChoice) -> str:
    return f"{offer.shown}, {offer.words}" if offer.words else offer.shown


class _Delegate(QStyledItemDelegate):
    """A row: the literal on the left, in few and dim words on the right what it does; a heading above a group."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        offer, theme = index.data(OFFER), self._theme
        rect = QRect(option.rect)
        if index.data(HEADED):
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
        usual = "text_dim" if is_default else "text"
        painter.setPen(theme.color("selection_text" if lit else usual))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, offer.shown)
        painter.setFont(ui_font(11))
        painter.setPen(theme.color("selection_text" if lit else "text_dim"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, offer.words)
