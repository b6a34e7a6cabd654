"""The Breakpoints dock: where a run pauses or takes note, on what condition, and what it met."""

from collections.abc import Callable

import msgspec
from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QStackedLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.graph.model import ItemId
from gradstudio.protocol.conditions import why_not
from gradstudio.protocol.debugging import Breakpoint, Condition, ConditionKind
from gradstudio.ui.panels.breakpoints_model import (
    CONDITION,
    DOES,
    HITS,
    KINDS,
    WHERE,
    BreakpointModel,
    operand,
    parsed,
)
from gradstudio.ui.state.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon

Index = QModelIndex | QPersistentModelIndex
EMPTY = "No breakpoints. F9 pauses before the selected node;\na node's or a wire's context menu offers more."
WHERE_PX, CONDITION_PX, LEAST_PX, FIELD_PX = 210, 190, 44, 70
"""Room for a place; for a condition; for any column; for the number in a condition while it is edited."""
HINTS: dict[ConditionKind, str] = {"above": "10", "below": "1e-6", "shape_differs": "2, 3", "expression": "norm > 10"}


class BreakpointsPanel(QWidget):
    """A table of the breakpoints, and a button that adds one for the selected node."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Show a session's breakpoints."""
        super().__init__(parent)
        self._session = session
        self.model = BreakpointModel(session, theme, self)
        self.view = _Table(self.model, self.remove_selected, self)
        self.add_button, self._empty = QToolButton(self), QLabel(EMPTY, self)
        self.trouble = QLabel(self)
        self.trouble.setProperty("role", "danger")
        self.view.conditions.troubled.connect(self._on_conditions_troubled)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._menu = QMenu(self.add_button)
        self._fill_menu()
        self._lay_out()
        self.set_theme(theme)
        self.view.doubleClicked.connect(self._on_view_double_clicked)
        self.view.clicked.connect(self._on_view_clicked)
        self.view.customContextMenuRequested.connect(self._on_view_context_menu_requested)
        session.attention.selection_changed.connect(self._refresh)
        session.debug.changed.connect(self._refresh)
        session.run.state_changed.connect(self._on_run_state_changed)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.model.set_theme(theme)
        self.add_button.setIcon(icon("add", theme))

    def remove_selected(self) -> None:
        """Take the selected breakpoints away."""
        rows = {index.row() for index in self.view.selectionModel().selectedIndexes()}
        for made in [self.model.rows[row] for row in sorted(rows)]:
            self._session.debug.remove(made.id)

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    # ------------------------------------------------------------------ inner workings

    def _lay_out(self) -> None:
        self._empty.setProperty("role", "dim")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.add_button.setToolTip("A breakpoint or a watch for the selected node")
        self.add_button.setText("Add")
        self.add_button.setObjectName("dock_button")
        self.add_button.setMenu(self._menu)
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.add_button.setAccessibleName("Add a breakpoint")
        self.trouble.setContentsMargins(10, 3, 10, 3)
        self.trouble.hide()
        self._stack = QStackedLayout()
        self._stack.addWidget(self.view)
        self._stack.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(6, 1, 6, 1)
        head.addWidget(self.add_button)
        head.addStretch(1)
        column.addLayout(head)
        column.addLayout(self._stack, 1)
        column.addWidget(self.trouble)

    def _fill_menu(self) -> None:
        add, odd = self._add, Condition(kind="not_finite")
        menu = self._menu
        menu.addAction("Pause before it runs", lambda: add(Breakpoint(id="", node=self._node())))
        menu.addAction("Pause when it has run", lambda: add(Breakpoint(id="", node=self._node(), place="after")))
        menu.addAction(
            "Pause when its gradient arrives", lambda: add(Breakpoint(id="", node=self._node(), phase="backward"))
        )
        menu.addSeparator()
        menu.addAction(
            "Pause when it gives NaN or Inf",
            lambda: add(Breakpoint(id="", node=self._node(), place="after", condition=odd)),
        )
        menu.addAction(
            "Watch its values", lambda: add(Breakpoint(id="", node=self._node(), place="after", stops=False))
        )

    def _node(self) -> ItemId:
        current = self._session.attention.current
        assert current is not None  # the button is disabled else
        return current

    def _add(self, made: Breakpoint) -> None:
        debug = self._session.debug
        debug.add(msgspec.structs.replace(made, id=debug.fresh_id()))

    def _refresh(self) -> None:
        self.add_button.setEnabled(self._session.attention.current in self._session.graph_store.graph.nodes)
        self._stack.setCurrentIndex(0 if self.model.rows else 1)

    def _on_run_state_changed(self, _state: RunState) -> None:
        """The breakpoint at which the run has paused is brought into view."""
        row = self.model.hit_row
        if row >= 0:
            self.view.scrollTo(self.model.index(row, WHERE))

    def _on_conditions_troubled(self, reason: str) -> None:
        self.trouble.setText(reason)
        self.trouble.setVisible(bool(reason))

    def _on_view_double_clicked(self, index: QModelIndex) -> None:
        row = self.model.rows[index.row()]
        if index.column() != CONDITION and row.node:
            self._session.attention.reveal(row.node)

    def _on_view_clicked(self, index: QModelIndex) -> None:
        if index.column() == DOES:
            self._turn(self.model.rows[index.row()])

    def _turn(self, row: Breakpoint) -> None:
        self._session.debug.replace(msgspec.structs.replace(row, stops=not row.stops))

    def _on_view_context_menu_requested(self, at: QPoint) -> None:
        index = self.view.indexAt(at)
        if not index.isValid():
            return
        row, debug = self.model.rows[index.row()], self._session.debug
        menu = QMenu(self)
        on = debug.enabled(row.id)
        menu.addAction("Switch off" if on else "Switch on", lambda: debug.set_enabled(row.id, not on))
        menu.addAction("Only watch" if row.stops else "Pause", lambda: self._turn(row))
        menu.addAction("Change condition", lambda: self.view.edit(index.siblingAtColumn(CONDITION)))
        if row.node:
            menu.addAction("Show node", lambda: self._session.attention.reveal(row.node))
        menu.addSeparator()
        menu.addAction("Remove", lambda: debug.remove(row.id))
        menu.exec(self.view.viewport().mapToGlobal(at))
        menu.deleteLater()


class _Table(QTableView):
    """Rows as a whole; Delete removes, F2 edits the condition."""

    def __init__(self, model: BreakpointModel, remove: Callable[[], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._remove = remove
        self.setModel(model)
        self.conditions = _ConditionDelegate(self)
        self.setItemDelegateForColumn(CONDITION, self.conditions)
        self.setAccessibleName("Breakpoints")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(LEAST_PX)
        header.setSectionResizeMode(WHERE, QHeaderView.ResizeMode.Interactive)
        for column, width in ((WHERE, WHERE_PX), (CONDITION, CONDITION_PX), (DOES, 92), (HITS, 48)):
            self.setColumnWidth(column, width)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._remove()
        elif event.key() == Qt.Key.Key_F2 and self.currentIndex().isValid():
            self.edit(self.currentIndex().siblingAtColumn(CONDITION))
        else:
            super().keyPressEvent(event)


class _ConditionDelegate(QStyledItemDelegate):
    """Edits a condition in its row; says what is wrong with it while it is typed."""

    troubled = Signal(object)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        made = ConditionEditor(parent)
        made.troubled.connect(self.troubled)
        made.entered.connect(lambda: self._finish(made))
        made.destroyed.connect(lambda: self.troubled.emit(""))
        return made

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """As wide as its parts need, over the columns behind where its own is narrower."""
        cell: QRect = option.rect
        parent = editor.parentWidget()
        room = parent.width() - cell.x() if parent is not None else cell.width()
        width = min(max(cell.width(), editor.sizeHint().width()), max(room, cell.width()))
        editor.setGeometry(cell.x(), cell.y(), width, cell.height())

    def _finish(self, editor: "ConditionEditor") -> None:
        """Enter: take what was typed; what cannot be read is said, and stays to be mended."""
        if editor.condition is not None:
            self.commitData.emit(editor)
            self.closeEditor.emit(editor)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        model = index.model()
        if isinstance(editor, ConditionEditor) and isinstance(model, BreakpointModel):
            editor.show_condition(model.rows[index.row()].condition)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, ConditionEditor) and isinstance(model, BreakpointModel):
            condition = editor.condition
            if condition is not None:
                model.setData(index, condition)


class ConditionEditor(QWidget):
    """A kind and, where the kind needs one, what it compares with.

    Signals:
        troubled(object): why what stands there cannot be read; "" when it can, and before anything was typed.
        entered(): Enter was pressed.
    """

    troubled = Signal(object)
    entered = Signal()

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
            self._walks = event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)  # through the kinds, on to the next one
        elif event.type() == QEvent.Type.MouseButtonPress:
            self._walks = False
        return super().eventFilter(watched, event)

    @property
    def condition(self) -> Condition | None:
        """What stands there; None when it cannot be read."""
        return parsed(self.kind.currentData(), self.field.text())

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

    def _check(self) -> None:
        """Red while it cannot be read, and the reason why."""
        kind, text = self.kind.currentData(), self.field.text()
        reason = why_not(text) if kind == "expression" else ""
        if not reason and self.condition is None:
            reason = "Type sizes, for example 2, 3." if kind == "shape_differs" else "Type a number, for example 10."
        reason = reason if self._typed or text else ""
        self.field.setProperty("invalid", bool(reason))
        self.field.style().unpolish(self.field)
        self.field.style().polish(self.field)
        self.field.setToolTip(reason)
        self.troubled.emit(reason)


def _is_typed(event: QKeyEvent) -> bool:
    """Whether a key is for the field: a character, or what edits text (Ctrl+A, C, V, X, Z)."""
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier & ~Qt.KeyboardModifier.ShiftModifier
    edits = (Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_V, Qt.Key.Key_X, Qt.Key.Key_Z)
    return not held or (held == Qt.KeyboardModifier.ControlModifier and event.key() in edits)
