"""A list over the canvas that is narrowed by typing: what may be chosen first, below it what may not, and why."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLabel, QLineEdit, QListView, QVBoxLayout, QWidget

from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.screen_reader import announce

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
ROW: Final = 24
MOST_ROWS: Final = 10
WIDTH: Final = 420
STEPS: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Entry(NamedTuple):
    """A row: `note` is asked for when it is seen; a row that is not `possible` says why not by it."""

    words: str
    note: Callable[[], str]
    possible: bool
    value: object


class _Entries(QAbstractListModel):
    """Those entries that have all typed words in them."""

    def __init__(self, entries: Sequence[Entry], theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._all, self._theme = tuple(entries), theme
        self.shown = self._all

    def narrow(self, typed: str) -> None:
        words = typed.casefold().split()
        self.beginResetModel()
        self.shown = tuple(entry for entry in self._all if all(word in entry.words.casefold() for word in words))
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.shown)

    def data(self, index: Index, role: int = Role.DisplayRole) -> object:
        entry = self.shown[index.row()]
        if role in (Role.DisplayRole, Role.ToolTipRole, Role.AccessibleTextRole):
            return self.text(entry, spoken=role == Role.AccessibleTextRole)
        return self._theme.color("text_dim") if role == Role.ForegroundRole and not entry.possible else None

    def text(self, entry: Entry, *, spoken: bool) -> str:
        note = entry.note()
        if entry.possible:
            return f"{entry.words}   {note}" if note else entry.words
        return f"{entry.words}, not possible: {note}" if spoken else f"✕ {entry.words}   {note}"


class Chooser(QFrame):
    """The field has the keys: letters narrow, arrows choose, Enter takes, Esc closes.

    Signals:
        chosen(object): the value of the entry that was taken.
        refused(object): why the entry cannot be taken; the list stays.
        closed(): it is gone.
    """

    chosen = Signal(object)
    refused = Signal(object)
    closed = Signal()

    def __init__(self, room: QWidget, title: str, entries: Sequence[Entry], theme: Theme) -> None:
        """The title says what is chosen."""
        super().__init__(room)
        self._room, self._open = room, True
        self.setObjectName("chooser")
        self.setAccessibleName(title)
        self.model = _Entries(entries, theme, self)
        self.field, self.list = QLineEdit(self), QListView(self)
        self.field.setAccessibleName(title)
        self.field.setPlaceholderText("Type to narrow the list")
        self.list.setModel(self.model)
        self.list.setAccessibleName(title)
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._on_field_text_changed)
        self.list.selectionModel().currentChanged.connect(self._on_list_current_changed)
        self.list.clicked.connect(self._on_list_clicked)
        self._lay_out(title, theme)
        self._go(0)

    def open_at(self, at: QPoint) -> None:
        """Show it at a point of the canvas, wholly inside, with the keys."""
        height = 76 + ROW * min(max(self.model.rowCount(), 1), MOST_ROWS)
        width = min(WIDTH, self._room.width() - 8)
        x = min(at.x(), self._room.width() - width - 4)
        y = min(at.y(), self._room.height() - height - 4)
        self.setGeometry(max(4, x), max(4, y), width, height)
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def take(self) -> None:
        """The current entry is meant."""
        row = self.list.currentIndex().row()
        if not 0 <= row < len(self.model.shown):
            return
        entry = self.model.shown[row]
        if not entry.possible:
            self.refused.emit(entry.note())
            return
        self.close_now()
        self.chosen.emit(entry.value)

    def close_now(self) -> None:
        """Go without doing anything."""
        if self._open:
            self._open = False
            self.hide()
            self.closed.emit()
            self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field that mean the list; leaving it is no choice."""
        if isinstance(event, QFocusEvent) and event.type() == QEvent.Type.FocusOut:
            if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
                self.close_now()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        key, row = Qt.Key(event.key()), self.list.currentIndex().row()
        if key == Qt.Key.Key_Escape:
            self.close_now()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self.take()
        elif key in STEPS:
            step = MOST_ROWS - 1 if key in STEPS[2:] else 1
            self._go(row + (step if key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown) else -step))
        else:
            return False
        return True

    def _go(self, row: int) -> None:
        count = self.model.rowCount()
        if count:
            self.list.setCurrentIndex(self.model.index(max(0, min(count - 1, row)), 0))

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

    def _on_field_text_changed(self, text: str) -> None:
        self.model.narrow(text)
        self._go(0)

    def _on_list_current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            words = self.model.text(self.model.shown[current.row()], spoken=True)
            self.field.setAccessibleDescription(words)
            announce(self.field, words)

    def _on_list_clicked(self, _index: QModelIndex) -> None:
        self.take()
