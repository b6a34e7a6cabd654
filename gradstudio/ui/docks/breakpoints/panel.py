"""The Breakpoints dock: where a run pauses or takes note, on what condition, and what it met."""

from collections.abc import Callable

import msgspec
from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QStackedLayout,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Breakpoint, Condition
from gradstudio.ui.docks.breakpoints.breakpoint_model import CONDITION, DOES, HITS, WHERE, BreakpointModel
from gradstudio.ui.docks.breakpoints.condition_editor import ConditionDelegate
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon

Index = QModelIndex | QPersistentModelIndex
EMPTY = "No breakpoints. F9 pauses before the selected node;\na node's or a wire's context menu offers more."
WHERE_PX, CONDITION_PX, LEAST_PX = 210, 190, 44
"""Room for a place; for a condition; for any column."""


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
        self.view.conditions.refused.connect(session.graph_store.refused)
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
            "Pause when it gives NaN or inf",
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
        self.add_button.setEnabled(
            self._session.attention.current in self._session.shown_store.graph.nodes.keys() - CARDS
        )
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
        self.conditions = ConditionDelegate(self)
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
