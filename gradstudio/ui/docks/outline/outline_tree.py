"""The view of the outline: the keys that work in it."""

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QTreeView, QWidget

from gradstudio.ui.docks.outline.outline_model import NAME, OPERATOR, STATE, VALUE, OutlineModel

SHARES: Final = {NAME: 0.27, OPERATOR: 0.25, VALUE: 0.25, STATE: 0.23}
"""Of the width, while no person has chosen another one."""
NARROW_PX: Final = 280
"""In less there is no room for words about the state; the sign before the name says it."""
NARROW_SHARES: Final = {NAME: 0.42, OPERATOR: 0.32, VALUE: 0.26}
Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier


class OutlineTree(QTreeView):
    """Rows as a whole, several at once; dragged rows go between others.

    Signals:
        gone_to(): Enter: to the card.
        deleted(): Del.
        shifted(int): Alt+Up (-1) or Alt+Down (1): earlier or later.
    """

    gone_to = Signal()
    deleted = Signal()
    shifted = Signal(int)

    def __init__(self, model: OutlineModel, parent: QWidget) -> None:
        """Show the model."""
        super().__init__(parent)
        self.setModel(model)
        self.setAccessibleName("Outline")
        self.setAccessibleDescription("Every statement of the program in order; wires into it stand under it")
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setExpandsOnDoubleClick(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setTabKeyNavigation(False)
        self.setIndentation(14)
        header = self.header()
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(40)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStyleSheet("QHeaderView::section { padding: 3px 4px; }")
        self._shared = True
        header.sectionResized.connect(self._on_section_resized)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The columns share the width until a person draws one of them wider or narrower."""
        super().resizeEvent(event)
        if not self._shared:
            return
        is_narrow = self.viewport().width() < NARROW_PX
        self.setColumnHidden(STATE, is_narrow)
        shares = NARROW_SHARES if is_narrow else SHARES
        widths = {column: int(share * self.viewport().width()) for column, share in shares.items()}
        lacking = max(self.header().sectionSizeHint(OPERATOR) - widths[OPERATOR], 0)  # the longest title
        widths[OPERATOR] += lacking
        widths[NAME] -= lacking
        for column, width in widths.items():
            self.setColumnWidth(column, width)

    def _on_section_resized(self, _column: int, _before: int, _now: int) -> None:
        if QApplication.mouseButtons() & Qt.MouseButton.LeftButton and self.header().underMouse():
            self._shared = False

    def event(self, event: QEvent) -> bool:
        """F2, Del, Enter and Alt with an arrow mean the row here, not the canvas."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _is_ours(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, held = Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self.state() == QAbstractItemView.State.EditingState or not _is_ours(event):
            super().keyPressEvent(event)
        elif held == ALT:
            self.shifted.emit(-1 if key == Key.Key_Up else 1)
        elif key in (Key.Key_Return, Key.Key_Enter):
            self.gone_to.emit()
        elif key == Key.Key_F2:
            self.edit(self.currentIndex().siblingAtColumn(NAME))
        elif key == Key.Key_Menu:
            self._open_menu()
        else:
            self.deleted.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """By key: at the current row, not where the pointer happens to be."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._open_menu()
        else:
            super().contextMenuEvent(event)

    def _open_menu(self) -> None:
        self.customContextMenuRequested.emit(self.visualRect(self.currentIndex()).center())


def _is_ours(event: QKeyEvent) -> bool:
    key, held = Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if held == ALT:
        return key in (Key.Key_Up, Key.Key_Down)
    plain = (Key.Key_Return, Key.Key_Enter, Key.Key_F2, Key.Key_Delete, Key.Key_Backspace, Key.Key_Menu)
    return held == Qt.KeyboardModifier.NoModifier and key in plain
