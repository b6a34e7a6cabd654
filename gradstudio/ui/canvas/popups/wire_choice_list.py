"""A small list over the canvas of all wires that two cards could have: checked ones are drawn, others taken away."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QPushButton, QVBoxLayout, QWidget

from gradstudio.graph.ports.port_matching import Link
from gradstudio.ui.theme import Theme

MOST_ROWS: Final = 10
ROW: Final = 24
Role = Qt.ItemDataRole


class WireChoiceList(QFrame):
    """Arrows and Space check rows, Enter draws them (or the current one, where none was checked), Esc closes.

    Signals:
        chosen(object, object): the links to draw, and those of the wires that are there to take away.
        closed(): it is gone.
    """

    chosen = Signal(object, object)
    closed = Signal()

    def __init__(self, parent: QWidget, title: str, links: Sequence[Link], there: Sequence[Link], theme: Theme) -> None:
        """All links, the best first; those that are `there` are checked."""
        super().__init__(parent)
        self._room = parent
        self._there = frozenset(there)
        self.setObjectName("link_list")
        self.setAccessibleName(title)
        self._list = QListWidget(self)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setAccessibleName(title)
        for link in (*links, *(link for link in there if link not in links)):
            row = QListWidgetItem(link.words, self._list)
            row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            row.setCheckState(Qt.CheckState.Checked if link in self._there else Qt.CheckState.Unchecked)
            row.setData(Role.UserRole, link)
        self._list.setCurrentRow(0)
        self._list.itemChanged.connect(self._on_list_item_changed)
        self._list.itemDoubleClicked.connect(self._on_list_item_double_clicked)
        self._button = QPushButton("Connect", self)
        self._button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._button.clicked.connect(self.accept)
        self._lay_out(title)
        self.setStyleSheet(
            f"QFrame#link_list {{ background: {theme.surface_raised}; color: {theme.text};"
            f" border: 1px solid {theme.focus}; border-radius: 6px; }}"
            f"QListWidget {{ border: 0; background: {theme.surface_raised}; color: {theme.text}; }}"
        )

    @property
    def list(self) -> QListWidget:
        """The rows."""
        return self._list

    def open_at(self, at: QPoint) -> None:
        """Show it at a point of the parent, wholly inside, with the keyboard's focus."""
        self.adjustSize()
        room = self._room.size()
        x, y = min(at.x(), room.width() - self.width() - 4), min(at.y(), room.height() - self.height() - 4)
        self.move(max(4, x), max(4, y))
        self.show()
        self.raise_()
        self._list.setFocus()

    def accept(self) -> None:
        """Draw what is checked, take away what is not, and close."""
        rows = [self._list.item(k) for k in range(self._list.count())]
        checked = {row.data(Role.UserRole) for row in rows if row.checkState() == Qt.CheckState.Checked}
        current = self._list.currentItem()
        if checked == self._there and current is not None:
            checked = checked | {current.data(Role.UserRole)}
        new, gone = tuple(sorted(checked - self._there)), tuple(sorted(self._there - checked))
        self.close_now()
        self.chosen.emit(new, gone)

    def close_now(self) -> None:
        """Go without doing anything."""
        self.hide()
        self.closed.emit()
        self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self.close_now()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.accept()
            case _:
                super().keyPressEvent(event)

    def _lay_out(self, title: str) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(6)
        column.addWidget(QLabel(f"<b>{title}</b>", self))
        column.addWidget(self._list)
        column.addWidget(self._button)
        widest = max(self.fontMetrics().horizontalAdvance(self._list.item(k).text()) for k in range(self._list.count()))
        title_px = self.fontMetrics().horizontalAdvance(title) + 40
        self._list.setFixedSize(max(200, widest + 64, title_px), ROW * min(self._list.count(), MOST_ROWS) + 6)

    def _on_list_item_changed(self, row: QListWidgetItem) -> None:
        """An input takes one wire: another one into it is no longer checked."""
        if row.checkState() != Qt.CheckState.Checked:
            return
        link = row.data(Role.UserRole)
        for other in (self._list.item(k) for k in range(self._list.count())):
            same = other.data(Role.UserRole)
            if other is not row and (same.target, same.port) == (link.target, link.port):
                other.setCheckState(Qt.CheckState.Unchecked)

    def _on_list_item_double_clicked(self, row: QListWidgetItem) -> None:
        row.setCheckState(Qt.CheckState.Checked)
        self.accept()
