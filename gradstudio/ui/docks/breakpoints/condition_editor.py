"""Edits a breakpoint's condition in its row: a kind, and what it compares with."""

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gradstudio.protocol.breakpoint_conditions import why_unreadable
from gradstudio.protocol.messages.debugging import Condition, ConditionKind
from gradstudio.ui.docks.breakpoints.breakpoint_model import KINDS, BreakpointModel, operand, parse_condition

Index = QModelIndex | QPersistentModelIndex
FIELD_PX, LATER_MS = 70, 1
"""`LATER_MS`: not at once, a view that closes the editor carries out what was posted before it is through."""
PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
HINTS: dict[ConditionKind, str] = {"above": "10", "below": "1e-6", "shape_differs": "2, 3", "expression": "norm > 10"}


class ConditionDelegate(QStyledItemDelegate):
    """Edits a condition in its row; says what is wrong with it while it is typed."""

    troubled = Signal(object)
    refused = Signal(object)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        made = ConditionEditor(parent)
        made.troubled.connect(self.troubled)
        made.entered.connect(lambda: self._finish(made))
        made.left.connect(lambda: self._leave(made))
        made.destroyed.connect(lambda: self.troubled.emit(""))
        return made

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """As wide as its parts need, over the columns behind where its own is narrower."""
        cell: QRect = option.rect
        parent = editor.parentWidget()
        room = parent.width() - cell.x() if parent is not None else cell.width()
        width = min(max(cell.width(), editor.sizeHint().width()), max(room, cell.width()))
        editor.setGeometry(cell.x(), cell.y(), width, cell.height())

    def _leave(self, editor: "ConditionEditor") -> None:
        """What was typed is taken where it can be read; else the old condition stays, and that is said."""
        if not editor.reason():
            self.commitData.emit(editor)
        else:
            self.refused.emit(f"“{editor.field.text()}” is no condition: {editor.reason()} The old one stays.")
        self.closeEditor.emit(editor)

    def _finish(self, editor: "ConditionEditor") -> None:
        """Enter: take what was typed; what cannot be read is said, and stays to be mended."""
        if not editor.reason():
            self.commitData.emit(editor)
            self.closeEditor.emit(editor)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        model = index.model()
        if isinstance(editor, ConditionEditor) and isinstance(model, BreakpointModel):
            editor.show_condition(model.rows[index.row()].condition)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, ConditionEditor) and isinstance(model, BreakpointModel):
            condition = editor.condition
            if condition is not None and not editor.reason():
                model.setData(index, condition)


class ConditionEditor(QWidget):
    """A kind and, where the kind needs one, what it compares with.

    Signals:
        troubled(object): why what stands there cannot be read; "" when it can, and before anything was typed.
        entered(): Enter was pressed. `left()`: the keyboard went elsewhere.
    """

    troubled = Signal(object)
    entered = Signal()
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        """Offer every kind."""
        super().__init__(parent)
        self.kind, self.field = QComboBox(self), QLineEdit(self)
        self._typed = self._walks = False
        for kind, text in KINDS.items():
            self.kind.addItem(text, kind)
        self.kind.setAccessibleName("Kind of condition")
        self.kind.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.field.setAccessibleName("What is compared with")
        self.field.setMinimumWidth(FIELD_PX)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.kind)
        row.addWidget(self.field, 1)
        self.setAutoFillBackground(True)
        self.setFocusProxy(self.kind)
        for part in (self.kind, self.field):
            part.installEventFilter(self)
        self.kind.currentIndexChanged.connect(self._on_kind_current_index_changed)
        self.kind.activated.connect(self._on_kind_activated)
        self.field.textChanged.connect(self._check)
        self.field.textEdited.connect(self._on_field_text_edited)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the parts are theirs, not the window's; Enter takes the condition."""
        if isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride and _is_typed(event):
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._typed = True
                self._check()
                self.entered.emit()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
                if watched is self.kind and not self.field.isHidden():
                    self.field.setFocus()
                else:
                    self.left.emit()
                return True
            self._walks = event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)  # through the kinds, on to the next one
        elif event.type() == QEvent.Type.MouseButtonPress:
            self._walks = False
        elif isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in PASSING:
            QTimer.singleShot(LATER_MS, self, self._look_who_has_focus)
        return super().eventFilter(watched, event)

    def _look_who_has_focus(self) -> None:
        """Somebody else in this window has it now; another window, or the list of kinds, does not count."""
        focused = QApplication.focusWidget()
        if not self.isVisible() or focused is None or focused.window() is not self.window():
            return
        if not self.isAncestorOf(focused):
            self.left.emit()

    @property
    def condition(self) -> Condition | None:
        """What stands there; None when it cannot be read."""
        return parse_condition(self.kind.currentData(), self.field.text())

    def show_condition(self, condition: Condition) -> None:
        """Put a condition in."""
        self.kind.setCurrentIndex(self.kind.findData(condition.kind))
        self.field.setText(operand(condition))
        self._on_kind_current_index_changed()
        self._take_focus()

    def _take_focus(self) -> None:
        """The keyboard goes to what is typed; where nothing is, to the kind."""
        (self.kind if self.field.isHidden() else self.field).setFocus()
        self.field.selectAll()

    def _on_kind_activated(self, _index: int) -> None:
        """Another kind was picked: its number is typed next."""
        self._typed = False
        self._check()
        if not self._walks:
            self._take_focus()

    def _on_field_text_edited(self, _text: str) -> None:
        self._typed = True
        self._check()

    def _on_kind_current_index_changed(self) -> None:
        hint = HINTS.get(self.kind.currentData(), "")
        self.field.setVisible(bool(hint))
        self.field.setPlaceholderText(hint)
        self._check()

    def reason(self) -> str:
        """Why what stands there cannot be read; "" when it can."""
        kind = self.kind.currentData()
        if self.condition is None:
            return "Type sizes, for example 2, 3." if kind == "shape_differs" else "Type a number, for example 10."
        return why_unreadable(self.condition)

    def _check(self) -> None:
        """Red while it cannot be read, and the reason why."""
        reason = self.reason() if self._typed or self.field.text() else ""
        self.field.setProperty("invalid", bool(reason))
        self.field.style().unpolish(self.field)
        self.field.style().polish(self.field)
        self.field.setToolTip(reason)
        self.troubled.emit(reason)


def _is_typed(event: QKeyEvent) -> bool:
    """Whether a key is for the field: a character, or what edits text (Ctrl+A, C, V, X, Z)."""
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier & ~Qt.KeyboardModifier.ShiftModifier
    edits = (Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_V, Qt.Key.Key_X, Qt.Key.Key_Z)
    if not held:
        return not Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
    return held == Qt.KeyboardModifier.ControlModifier and event.key() in edits
