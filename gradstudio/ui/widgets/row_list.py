"""A list of records: what stands in a row is said by its owner, who has the keys or hands some of them on."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
RowData = Callable[[Row, int], object]
"""What a row has for a role of Qt's; one that has a check mark says which for `CheckStateRole`."""
CHECK: Final = Qt.ItemDataRole.CheckStateRole


class RowList(QListView, Generic[Row]):
    """Records one below the other, replaced as a whole.

    Attributes:
        rows: what is listed, top to bottom.

    Signals:
        current_changed(): another row is lit, or none.
        toggled(object): the check mark of a row was clicked, or the blank pressed on it.
    """

    current_changed = Signal()
    toggled = Signal(object)

    def __init__(self, parent: QWidget, row_data: RowData[Row]) -> None:
        """Nothing is listed before `show_rows`."""
        super().__init__(parent)
        self.rows: Sequence[Row] = ()
        self._model = _RowModel(self, row_data)
        self.setModel(self._model)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().currentChanged.connect(self.current_changed)

    @property
    def current_row(self) -> int:
        """The row that is lit; -1 for none."""
        return self.currentIndex().row()

    @property
    def current(self) -> Row | None:
        """What is lit."""
        row = self.current_row
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def index_of(self, row: int) -> QModelIndex:
        """Where a row is for Qt."""
        return self._model.index(row, 0)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """List other rows; the first is lit."""
        self._model.beginResetModel()
        self.rows = rows
        self._model.endResetModel()
        self.go(0 if rows else -1)

    def go(self, row: int) -> None:
        """Light a row; -1 for none."""
        self.setCurrentIndex(self.index_of(row))

    def step(self, by: int, *, goes_round: bool = False) -> None:
        """Light a row further down or up; one row may go round at the ends, a page stops there."""
        count = len(self.rows)
        if count:
            row = self.current_row + by
            self.go(row % count if goes_round and abs(by) == 1 else min(max(row, 0), count - 1))

    def update_rows(self) -> None:
        """What stands in the rows is another."""
        self._model.dataChanged.emit(self.index_of(0), self.index_of(len(self.rows) - 1))


class _RowModel(QAbstractListModel):
    """The rows of a list, for Qt."""

    def __init__(self, view: RowList[Row], row_data: RowData[Row]) -> None:
        super().__init__(view)
        self._view, self._row_data = view, row_data

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._view.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return self._row_data(self._view.rows[index.row()], role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self.data(index, CHECK) is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != CHECK:
            return False
        self._view.toggled.emit(self._view.rows[index.row()])
        self._view.update_rows()
        return True
