"""The command palette: type a few letters of any command, press Enter, and it is done."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QLabel, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.dialogs.command_list import CommandList, CommandMatch, Entry
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.operator_text import draw_marked
from gradstudio.ui.widgets.popup_list import PopupList

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
SHOWN: Final = int(Role.UserRole)
WIDTH_PX: Final = 640
TOP_PX: Final = 56
ROWS: Final = 11
PAD_PX: Final = 10
TICK: Final = "✓ "


class Palette(PopupList[CommandMatch]):
    """A field and a list over the window; `chosen` tells the id of the command that is about to be done."""

    goes_round = True

    def __init__(self, parent: QWidget, actions: ActionSet, theme: Theme, recent: Sequence[str] = ()) -> None:
        """Offer commands, those used last first."""
        super().__init__(parent, "Command")
        self._recent = tuple(recent)
        self._commands = commands = CommandList(actions, self)
        self._before = parent.window().focusWidget()
        self.setObjectName("palette")
        self.setAccessibleName("Command palette")
        self.field.setPlaceholderText(f"Type a command: {len(commands.entries)} are here")
        self.list.setItemDelegate(_RowPainter(theme, self.list))
        self.words = QLabel("", self)
        self.words.setProperty("role", "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP, theme.GAP, theme.GAP, theme.GAP)
        layout.setSpacing(theme.GAP_SMALL)
        for widget in (self.field, self.list, self.words):
            layout.addWidget(widget)
        self.setStyleSheet(
            f"#palette {{ background: {theme.surface_raised}; border: 1px solid {theme.line}; "
            f"border-radius: {theme.CARD_RADIUS}px; }} #palette QListView {{ background: transparent; }}"
        )
        self.narrow("")

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
        return tuple(shown.entry for shown in self.rows)

    def close_now(self) -> None:
        """Go away without a choice; what had the focus gets it back."""
        if self._open:
            self.leave()
            if self._before is not None:
                self._before.setFocus(Qt.FocusReason.PopupFocusReason)

    def matches(self, typed: str) -> Sequence[CommandMatch]:
        """The commands that fit."""
        return self._commands.fitting(typed, self._recent)

    def row_data(self, row: CommandMatch, role: int) -> object:
        """Its text, why it cannot be done, what is said of it, and all of it for the painter."""
        match role:
            case Role.DisplayRole:
                return row.entry.text
            case Role.ToolTipRole:
                return row.entry.why
            case Role.AccessibleTextRole:
                return _spoken(row.entry)
            case _:
                return row if role == SHOWN else None

    def narrow(self, typed: str) -> None:
        """List the commands that fit, or say that there is none."""
        super().narrow(typed)
        if not self.rows:
            self.words.setText("No command is called so. Menus and their entries can be typed, too.")

    def show_current(self) -> None:
        """Say what Enter does."""
        if self.current is not None:
            self.words.setText(self.current.entry.why or "Enter does it · Esc goes back")

    def take(self) -> None:
        """Do what the line says; one that cannot be done now says why instead."""
        if self.current is None:
            return
        entry = self.current.entry
        if entry.why:
            self.words.setText(entry.why)
            return
        self.close_now()
        self.chosen.emit(entry.id)
        entry.run()

    def page_rows(self) -> int:
        """As many as are seen, but one."""
        return max(self.list.height() // _row_height() - 1, 1)

    def claims(self, event: QKeyEvent) -> bool:
        """No shortcut fires while a command is typed."""
        return True

    def own_key(self, event: QKeyEvent) -> bool:
        """Tab leads nowhere."""
        return event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


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
        shown: CommandMatch = index.data(SHOWN)
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

    def _words(self, painter: QPainter, line: QRect, shown: CommandMatch, lit: bool) -> None:
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
        ink = mark = dim
        if not entry.why:
            ink = theme.color("selection_text" if lit else "text")
            mark = theme.color("selection_text" if lit else "accent")
        painter.setPen(ink)
        tick = TICK if entry.ticked else ""
        spans = tuple((at + len(tick), at + len(tick) + 1) for at in shown.places)
        draw_marked(painter, place, tick + entry.text, spans, mark)


def _at_the_right() -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
