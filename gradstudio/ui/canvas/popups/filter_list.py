"""A list over the canvas that is narrowed by typing: what may be chosen first, below it what may not, and why."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.popup_list import PopupList
from gradstudio.ui.widgets.screen_reader import announce

Role = Qt.ItemDataRole
ROW: Final = 24
MOST_ROWS: Final = 10
WIDTH: Final = 420


class Entry(NamedTuple):
    """A row: `note` is asked for when it is seen; a row that is not `possible` says why not by it."""

    words: str
    note: Callable[[], str]
    possible: bool
    value: object


class FilterList(PopupList[Entry]):
    """Entries that have all typed words in them; `chosen` tells the value of the one that was taken.

    Signals:
        refused(object): why the entry cannot be taken; the list stays.
    """

    refused = Signal(object)

    def __init__(self, room: QWidget, title: str, entries: Sequence[Entry], theme: Theme) -> None:
        """The title says what is chosen."""
        super().__init__(room, title)
        self._entries, self._theme = tuple(entries), theme
        self.setObjectName("chooser")
        self.setAccessibleName(title)
        self.field.setPlaceholderText("Type to narrow the list")
        self.list.setAccessibleName(title)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._lay_out(title, theme)
        self.narrow("")

    def open_at(self, at: QPoint) -> None:
        """Show it at a point of the canvas, wholly inside, with the keys."""
        height = 76 + ROW * min(max(len(self.rows), 1), MOST_ROWS)
        width = min(WIDTH, self._room.width() - 8)
        x = min(at.x(), self._room.width() - width - 4)
        y = min(at.y(), self._room.height() - height - 4)
        self.setGeometry(max(4, x), max(4, y), width, height)
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def matches(self, typed: str) -> Sequence[Entry]:
        """Those that have all typed words in them; one that is called so comes first."""
        words = typed.casefold().split()
        found = (entry for entry in self._entries if all(word in entry.words.casefold() for word in words))
        return tuple(sorted(found, key=lambda entry: entry.words != typed.strip()))

    def row_data(self, row: Entry, role: int) -> object:
        """Its words with the note; dim, where it is not possible."""
        if role in (Role.DisplayRole, Role.ToolTipRole, Role.AccessibleTextRole):
            return _text(row, spoken=role == Role.AccessibleTextRole)
        return self._theme.color("text_dim") if role == Role.ForegroundRole and not row.possible else None

    def show_current(self) -> None:
        """Say what is lit."""
        if self.current is not None:
            words = _text(self.current, spoken=True)
            self.field.setAccessibleDescription(words)
            announce(self.field, words)

    def take(self) -> None:
        """The current entry is meant."""
        entry = self.current
        if entry is None:
            return
        if not entry.possible:
            self.refused.emit(entry.note())
            return
        self.close_now()
        self.chosen.emit(entry.value)

    def page_rows(self) -> int:
        """As many as are seen, but one."""
        return MOST_ROWS - 1

    def own_key(self, event: QKeyEvent) -> bool:
        """Tab takes, too."""
        if event.key() != Qt.Key.Key_Tab:
            return False
        self.take()
        return True

    def _lay_out(self, title: str, theme: Theme) -> None:
        column, head = QVBoxLayout(self), QLabel(title, self)
        head.setProperty("role", "dim")
        column.setContentsMargins(8, 6, 8, 8)
        column.setSpacing(4)
        for widget in (head, self.field, self.list):
            column.addWidget(widget)
        self.setStyleSheet(
            f"QFrame#chooser {{ background: {theme.surface_raised}; border: 1px solid {theme.focus};"
            f" border-radius: 6px; }} QListView {{ border: 0; background: {theme.surface_raised};"
            f" color: {theme.text}; outline: 0; }}"
        )


def _text(entry: Entry, *, spoken: bool) -> str:
    note = entry.note()
    if entry.possible:
        return f"{entry.words}   {note}" if note else entry.words
    return f"{entry.words}, not possible: {note}" if spoken else f"✕ {entry.words}   {note}"
