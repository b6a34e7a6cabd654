"""A list narrowed by typing, over what it belongs to: letters narrow it, arrows walk it, Enter takes, Esc closes.

What is found, how a row looks and what taking one means is said by the kinds of it: command palette, quick search,
chooser of wires, choices of a field.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Generic

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from gradstudio.ui.widgets.row_list import Row, RowList

Key = Qt.Key
STAYS_OPEN: Final = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
"""Why the keys may go elsewhere without an end: a menu over the list, another window."""


class PopupList(QFrame, Generic[Row]):
    """The field has the keys; the list below it is only shown. Where nothing can be typed, the list has them.

    Attributes:
        field, list: what is typed into, and what shows the rows that fit.
        key_widget: the one of them that has the keys.
        goes_round: whether a step beyond the last row leads to the first.
        stays_open: why the keys may go elsewhere without an end.

    Signals:
        chosen(object): what was taken.
        closed(): it is over, with or without a choice.
    """

    chosen = Signal(object)
    closed = Signal()
    goes_round: ClassVar[bool] = False
    stays_open: ClassVar[tuple[Qt.FocusReason, ...]] = STAYS_OPEN

    def __init__(self, room: QWidget, name: str) -> None:
        """Nothing is listed before `narrow`; `name` is what a screen reader says."""
        super().__init__(room)
        self._room, self._open = room, True
        self.field, self.list = QLineEdit(self), RowList[Row](self, self.row_data)
        self.key_widget: QWidget = self.field
        self.field.setAccessibleName(name)
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFocusProxy(self.field)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.narrow)
        self.list.clicked.connect(self._on_list_clicked)
        self.list.current_changed.connect(self._on_list_current_changed)

    def give_keys_to_list(self) -> None:
        """Nothing can be typed: arrows walk the list."""
        self.key_widget = self.list
        self.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFocusProxy(self.list)
        self.list.installEventFilter(self)
        self.field.hide()

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
    def rows(self) -> Sequence[Row]:
        """What fits, the best first."""
        return self.list.rows

    @property
    def current(self) -> Row | None:
        """What is lit."""
        return self.list.current

    def narrow(self, typed: str) -> None:
        """List what fits; the best is lit."""
        self.list.show_rows(self.matches(typed))

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
        """Keys that mean the list; leaving it is no choice."""
        if watched is not self.key_widget:
            return super().eventFilter(watched, event)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self.claims(event):
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self.own_key(event) or self._key(event)
        if isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in self.stays_open:
            self.leave()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        page = self.page_rows()
        steps = {Key.Key_Down: 1, Key.Key_Up: -1, Key.Key_PageDown: page, Key.Key_PageUp: -page}
        key = Key(event.key())
        if key in steps:
            self.list.step(steps[key], goes_round=self.goes_round)
        elif key in (Key.Key_Return, Key.Key_Enter):
            self.take()
        elif key == Key.Key_Escape:
            self.close_now()
        else:
            return False
        return True

    def _on_list_clicked(self, _index: QModelIndex) -> None:
        self.take()

    def _on_list_current_changed(self) -> None:
        self.show_current()
