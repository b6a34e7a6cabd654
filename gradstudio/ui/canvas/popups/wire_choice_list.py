"""A small list over the canvas of all wires that two cards could have: checked ones are drawn, others taken away."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from gradstudio.graph.ports.port_matching import Link
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.row_list import RowList

MOST_ROWS: Final = 10
ROW: Final = 24
Role = Qt.ItemDataRole


class WireChoiceList(QFrame):
    """Arrows and Space check rows, Enter draws them (or the current one, where none was checked), Esc closes.

    Attributes:
        list: the wires.

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
        self._checked = set(there)
        self.setObjectName("link_list")
        self.setAccessibleName(title)
        self.list = RowList[Link](self, self._row_data)
        self.list.setAccessibleName(title)
        self.list.show_rows((*links, *(link for link in there if link not in links)))
        self.list.toggled.connect(self._on_list_toggled)
        self.list.doubleClicked.connect(self._on_list_double_clicked)
        self._button = QPushButton("Connect", self)
        self._button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._button.clicked.connect(self.accept)
        self._lay_out(title)
        self.setStyleSheet(
            f"QFrame#link_list {{ background: {theme.surface_raised}; color: {theme.text};"
            f" border: 1px solid {theme.focus}; border-radius: 6px; }}"
            f"QListView {{ border: 0; background: {theme.surface_raised}; color: {theme.text}; }}"
        )

    def open_at(self, at: QPoint) -> None:
        """Show it at a point of the parent, wholly inside, with the keyboard's focus."""
        self.adjustSize()
        room = self._room.size()
        x, y = min(at.x(), room.width() - self.width() - 4), min(at.y(), room.height() - self.height() - 4)
        self.move(max(4, x), max(4, y))
        self.show()
        self.raise_()
        self.list.setFocus()

    def accept(self) -> None:
        """Draw what is checked, take away what is not, and close."""
        checked, current = frozenset(self._checked), self.list.current
        if checked == self._there and current is not None:
            checked |= {current}
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
        column.addWidget(self.list)
        column.addWidget(self._button)
        metrics, rows = self.fontMetrics(), self.list.rows
        widest = max(metrics.horizontalAdvance(link.words) for link in rows)
        width = max(200, widest + 64, metrics.horizontalAdvance(title) + 40)
        self.list.setFixedSize(width, ROW * min(len(rows), MOST_ROWS) + 6)

    def _row_data(self, link: Link, role: int) -> object:
        if role == Role.CheckStateRole:
            return Qt.CheckState.Checked if link in self._checked else Qt.CheckState.Unchecked
        return link.words if role == Role.DisplayRole else None

    def _on_list_toggled(self, link: Link) -> None:
        if link in self._checked:
            self._checked.remove(link)
        else:
            self._check(link)

    def _check(self, link: Link) -> None:
        """An input takes one wire: another one into it is no longer checked."""
        end = (link.target, link.port)
        self._checked = {other for other in self._checked if (other.target, other.port) != end} | {link}

    def _on_list_double_clicked(self, index: QModelIndex) -> None:
        self._check(self.list.rows[index.row()])
        self.accept()
