"""A list narrowed by typing, over what it belongs to: letters narrow it, arrows walk it, Enter takes, Esc closes.

What is found, how a row looks and what taking one means is said by the kinds of it: command palette, quick search,
chooser of wires.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QWidget

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
Key = Qt.Key
STAYS_OPEN: Final = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
"""Why the field may lose the focus without an end: a menu over it, another window."""


class PopupList(QFrame, Generic[Row]):
    """The field has the keys; the list below it is only shown.

    Attributes:
        rows: what fits, the best first.
        field, list: what is typed into, and what shows the rows.
        goes_round: whether a step beyond the last row leads to the first.

    Signals:
        chosen(object): what was taken.
        closed(): it is over, with or without a choice.
    """

    chosen = Signal(object)
    closed = Signal()
    goes_round: ClassVar[bool] = False

    def __init__(self, room: QWidget, name: str) -> None:
        """Nothing is listed before `narrow`; `name` is what a screen reader says."""
        super().__init__(room)
        self._room, self._open = room, True
        self.rows: Sequence[Row] = ()
        self._model = _Rows(self)
        self.field, self.list = QLineEdit(self), QListView(self)
        self.field.setAccessibleName(name)
        self.list.setModel(self._model)
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.narrow)
        self.list.clicked.connect(self._on_list_clicked)
        self.list.selectionModel().currentChanged.connect(self._on_list_current_changed)

    # ------------------------------------------------------------------ what a kind says

    def matches(self, typed: str) -> Sequence[Row]:
        """What fits what is typed, the best first."""
        raise NotImplementedError

    def row_data(self, row: Row, role: int) -> object:
        """What a row has for a role of Qt's."""
        raise NotImplementedError

    def take(self) -> None:
        """The current row is meant."""
        raise NotImplementedError

    def page_rows(self) -> int:
        """How far a page goes."""
        raise NotImplementedError

    def show_current(self) -> None:
        """Another row is current, or none."""

    def own_key(self, event: QKeyEvent) -> bool:
        """Keys that this kind has beside those of all; whether this was one."""
        return False

    def claims(self, event: QKeyEvent) -> bool:
        """Whether a key is typed here where a command of the window has it, too."""
        return False

    # ------------------------------------------------------------------ rows

    @property
    def current_row(self) -> int:
        """The row that is lit; -1 for none."""
        return self.list.currentIndex().row()

    @property
    def current(self) -> Row | None:
        """What is lit."""
        row = self.current_row
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def index(self, row: int) -> QModelIndex:
        """Where a row is in the list."""
        return self._model.index(row, 0)

    def go(self, row: int) -> None:
        """Light a row; -1 for none."""
        self.list.setCurrentIndex(self.index(row))

    def narrow(self, typed: str) -> None:
        """List what fits; the best is lit."""
        self._model.beginResetModel()
        self.rows = self.matches(typed)
        self._model.endResetModel()
        self.go(0 if self.rows else -1)

    # ------------------------------------------------------------------ its end

    def leave(self) -> None:
        """It is over."""
        if self._open:
            self._open = False
            self.hide()
            self.closed.emit()
            self.deleteLater()

    def close_now(self) -> None:
        """Go away without a choice."""
        self.leave()

    # ------------------------------------------------------------------ keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field that mean the list; leaving it is no choice."""
        if watched is not self.field:
            return super().eventFilter(watched, event)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self.claims(event):
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self.own_key(event) or self._key(event)
        if isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in STAYS_OPEN:
            self.leave()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        page = self.page_rows()
        steps = {Key.Key_Down: 1, Key.Key_Up: -1, Key.Key_PageDown: page, Key.Key_PageUp: -page}
        key = Key(event.key())
        if key in steps:
            self._step(steps[key])
        elif key in (Key.Key_Return, Key.Key_Enter):
            self.take()
        elif key == Key.Key_Escape:
            self.close_now()
        else:
            return False
        return True

    def _step(self, by: int) -> None:
        """One row may go round at the ends; a page stops there."""
        count = len(self.rows)
        if count:
            row = self.current_row + by
            self.go(row % count if self.goes_round and abs(by) == 1 else min(max(row, 0), count - 1))

    def _on_list_clicked(self, _index: QModelIndex) -> None:
        self.take()

    def _on_list_current_changed(self, _current: QModelIndex) -> None:
        self.show_current()


class _Rows(QAbstractListModel):
    """The rows of a popup, for its view."""

    def __init__(self, popup: PopupList[Row]) -> None:
        super().__init__(popup)
        self._popup = popup

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._popup.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return self._popup.row_data(self._popup.rows[index.row()], role)
