"""The command palette: type a few letters of any command, press Enter, and it is done."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.dialogs.command_list import CommandList, Entry, Shown
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.operator_text import draw_marked

Index = QModelIndex | QPersistentModelIndex
SHOWN: Final = int(Qt.ItemDataRole.UserRole)
WIDTH_PX: Final = 640
TOP_PX: Final = 56
ROWS: Final = 11
PAD_PX: Final = 10
TICK: Final = "✓ "
_KEEPS_OPEN = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)


class Palette(QFrame):
    """A field and a list over the window.

    Signals:
        chosen(object): the id of the command that is about to be done.
        closed(): it is over, with or without a choice.
    """

    chosen = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget, actions: ActionSet, theme: Theme, recent: Sequence[str] = ()) -> None:
        """Offer commands, those used last first."""
        super().__init__(parent)
        self._recent, self._open, self._room = tuple(recent), True, parent
        self._commands = commands = CommandList(actions, self)
        self._before = parent.window().focusWidget()
        self.setObjectName("palette")
        self.setAccessibleName("Command palette")
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(f"Type a command: {len(commands.entries)} are here")
        self.field.setAccessibleName("Command")
        self.field.installEventFilter(self)
        self.list = self._empty_list(theme)
        self.words = QLabel("", self)
        self.words.setProperty("role", "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP, theme.GAP, theme.GAP, theme.GAP)
        layout.setSpacing(theme.GAP_SMALL)
        for widget in (self.field, self.list, self.words):
            layout.addWidget(widget)
        self.setStyleSheet(
            f"#palette {{ background: {theme.surface_raised}; border: 1px solid {theme.line}; "
            f"border-radius: {theme.CARD_RADIUS}px; }} #palette QListWidget {{ background: transparent; }}"
        )
        self.field.textChanged.connect(self._fill)
        self._fill("")

    def _empty_list(self, theme: Theme) -> QListWidget:
        rows = QListWidget(self)
        rows.setItemDelegate(_RowPainter(theme, rows))
        rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        rows.setUniformItemSizes(True)
        rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows.itemClicked.connect(self._on_list_item_clicked)
        rows.currentItemChanged.connect(self._on_list_current_item_changed)
        return rows

    def open(self) -> None:
        """Show it in the middle, near the upper edge of its parent."""
        room = self._room.size()
        width = min(round(WIDTH_PX * ui_font().pixelSize() / 13), room.width() - 24)
        self.list.setFixedHeight(min(ROWS * _row_height(), max(room.height() - 220, 3 * _row_height())) + 4)
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((room.width() - width) // 2, min(TOP_PX, max(8, room.height() - self.height() - 8)))
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def entries(self) -> tuple[Entry, ...]:
        """The lines, top to bottom."""
        return tuple(self._shown(row).entry for row in range(self.list.count()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows walk the list while the field is typed into; leaving the field closes all; no shortcut fires."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in _KEEPS_OPEN:
            self._end()
        return super().eventFilter(watched, event)

    def close_now(self) -> None:
        """Go away without a choice; what had the focus gets it back."""
        if self._open:
            self._end()
            if self._before is not None:
                self._before.setFocus(Qt.FocusReason.PopupFocusReason)

    def _end(self) -> None:
        if self._open:
            self._open = False
            self.hide()
            self.closed.emit()
            self.deleteLater()

    def _key(self, event: QKeyEvent) -> bool:
        page = max(self.list.height() // _row_height() - 1, 1)
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
        key = Qt.Key(event.key())
        if key in steps:
            self._step(steps[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentRow())
        elif key == Qt.Key.Key_Escape:
            self.close_now()
        else:
            return key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        return True

    def _step(self, by: int) -> None:
        """One line goes round at the ends, a page stops there."""
        count = self.list.count()
        if count:
            row = self.list.currentRow() + by
            self.list.setCurrentRow(row % count if abs(by) == 1 else min(max(row, 0), count - 1))

    def _choose(self, row: int) -> None:
        """Do what a line says; one that cannot be done now says why instead."""
        if row < 0:
            return
        entry = self._shown(row).entry
        if entry.why:
            self.words.setText(entry.why)
            return
        self.close_now()
        self.chosen.emit(entry.id)
        entry.run()

    def _fill(self, typed: str) -> None:
        self.list.clear()
        for shown in self._commands.fitting(typed, self._recent):
            item = QListWidgetItem(shown.entry.text)
            item.setData(SHOWN, shown)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, _spoken(shown.entry))
            item.setToolTip(shown.entry.why)
            self.list.addItem(item)
        self.list.setCurrentRow(0 if self.list.count() else -1)
        if not self.list.count():
            self.words.setText("No command is called so. Menus and their entries can be typed, too.")

    def _shown(self, row: int) -> Shown:
        shown: Shown = self.list.item(row).data(SHOWN)
        return shown

    def _on_list_item_clicked(self, item: QListWidgetItem) -> None:
        self._choose(self.list.row(item))

    def _on_list_current_item_changed(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            entry: Entry = item.data(SHOWN).entry
            self.words.setText(entry.why or "Enter does it · Esc goes back")


def _spoken(entry: Entry) -> str:
    parts = (entry.text, entry.path, entry.keys, f"off: {entry.why}" if entry.why else "")
    return ", ".join(part for part in parts if part)


def _row_height() -> int:
    return QFontMetrics(ui_font()).height() + 12


class _RowPainter(QStyledItemDelegate):
    """The command with the letters meant, where it is in the menus, and its keys at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, _row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        shown: Shown = index.data(SHOWN)
        lit = bool(option.state & QStyle.StateFlag.State_Selected)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if lit:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("selection"))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 5, 5)
        self._words(painter, rect.adjusted(PAD_PX, 0, -PAD_PX, 0), shown, lit)
        painter.restore()

    def _words(self, painter: QPainter, line: QRect, shown: Shown, lit: bool) -> None:
        theme, entry = self._theme, shown.entry
        dim = theme.color("selection_text" if lit else "text_dim")
        painter.setPen(dim)
        painter.setFont(mono_font(11))
        used = painter.fontMetrics().horizontalAdvance(entry.keys)
        painter.drawText(line, _at_the_right(), entry.keys)
        painter.setFont(ui_font(11))
        place = line.adjusted(0, 0, -(used + 16 if used else 0), 0)
        room = place.width() // 2
        path = painter.fontMetrics().elidedText(entry.path, Qt.TextElideMode.ElideRight, room)
        painter.drawText(place, _at_the_right(), path)
        place.setRight(place.right() - painter.fontMetrics().horizontalAdvance(path) - 12)
        painter.setFont(ui_font())
        painter.setPen(dim if entry.why else theme.color("selection_text" if lit else "text"))
        tick = TICK if entry.ticked else ""
        spans = tuple((at + len(tick), at + len(tick) + 1) for at in shown.places)
        mark = painter.pen().color() if entry.why else theme.color("selection_text" if lit else "accent")
        draw_marked(painter, place, tick + entry.text, spans, mark)


def _at_the_right() -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
