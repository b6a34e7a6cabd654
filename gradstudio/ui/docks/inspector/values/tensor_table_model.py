"""A tensor as a table: whole when its record holds every value, else fetched page by page from the engine."""

from collections.abc import Callable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush

from gradstudio.protocol.messages.events import Fetched
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene.value_format import number
from gradstudio.ui.theme import Theme

PAGE_ROWS = 100
PAGE_COLUMNS = 50
MAX_ROWS = 1_000_000
MAX_COLUMNS = 10_000
MAX_PAGES = 64
"""Pages kept; the oldest go first."""
MAX_WAITING = 4
"""Requests under way; further pages are asked for when the view paints again."""

Index = QModelIndex | QPersistentModelIndex
Fetch = Callable[[tuple[int, ...], tuple[int, int], tuple[int, int]], int]
"""Asks the engine for (leading index, rows, columns); the request's number comes back."""


class TensorTableModel(QAbstractTableModel):
    """Two dimensions of a tensor: the last two, at an index of the others. A vector is one column.

    Attributes:
        may_try: another number may be typed into a cell, but of a distributed tensor; the table itself does not change.

    Signals:
        tried(object, object): index (None: a number on its own) and the number that was typed.
    """

    tried = Signal(object, object)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._theme = theme
        self._fetch: Fetch | None = None
        self._summary: Summary | None = None
        self._leading: tuple[int, ...] = ()
        self._whole: list[list[object]] | None = None
        self._pages: dict[tuple[int, int], tuple[tuple[object, ...], ...]] = {}
        self._waiting: dict[int, tuple[int, int]] = {}
        self._rows = self._columns = 0
        self.error = ""
        self.may_try = self._is_free = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole tensor."""
        return self._summary.shape if self._summary is not None else ()

    @property
    def is_cut(self) -> bool:
        """Whether there are more rows or columns than a table shows."""
        rows, columns = table_size(self.shape)
        return rows > MAX_ROWS or columns > MAX_COLUMNS

    def show_tensor(self, summary: Summary | None, fetch: Fetch | None, leading: tuple[int, ...] = ()) -> None:
        """Show a tensor; `fetch` is None when its values are no longer kept anywhere."""
        self.beginResetModel()
        self._summary, self._fetch, self._leading = summary, fetch, leading
        self._pages.clear()
        self._waiting.clear()
        self.error = ""
        self._is_free = summary is not None and summary.shard is None
        rows, columns = table_size(summary.shape) if summary is not None else (0, 0)
        self._rows, self._columns = max(0, min(rows, MAX_ROWS)), max(0, min(columns, MAX_COLUMNS))
        self._whole = _as_rows(summary, leading) if summary is not None and summary.value is not None else None
        if self._whole is None and fetch is None:
            self._rows = self._columns = 0
        self.endResetModel()

    def take(self, answer: Fetched) -> bool:
        """Take up a page that was asked for; False when it was not for this table."""
        page = self._waiting.pop(answer.request, None)
        if page is None:
            return False
        self.error = answer.error
        self._pages[page] = as_column(answer.values, self.shape)
        while len(self._pages) > MAX_PAGES:
            self._pages.pop(next(iter(self._pages)))
        top, left = page[0] * PAGE_ROWS, page[1] * PAGE_COLUMNS
        bottom, right = min(top + PAGE_ROWS, self._rows) - 1, min(left + PAGE_COLUMNS, self._columns) - 1
        self.dataChanged.emit(self.index(top, left), self.index(bottom, right))
        return True

    def set_theme(self, theme: Theme) -> None:
        """Colour the odd values anew."""
        self._theme = theme

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        value = self._value(row, column)
        return "…" if value is None else number(value)

    # ------------------------------------------------------------------ Qt overrides

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._columns

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text(index.row(), index.column())
            case Qt.ItemDataRole.EditRole:
                return str(self._value(index.row(), index.column()))
            case Qt.ItemDataRole.ToolTipRole:
                return self._exact(index)
            case Qt.ItemDataRole.TextAlignmentRole:
                return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            case Qt.ItemDataRole.ForegroundRole:
                odd = self._value(index.row(), index.column()) in ("nan", "inf", "-inf")
                return QBrush(self._theme.color("danger")) if odd else None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        is_real = isinstance(self._value(index.row(), index.column()), float | int | str) if index.isValid() else False
        return flags | Qt.ItemFlag.ItemIsEditable if self.may_try and self._is_free and is_real else flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A number was typed: it is tried on the side, so the cell stays as it is."""
        old = self._value(index.row(), index.column())
        number = parse_like(str(value), old)
        if role != Qt.ItemDataRole.EditRole or number is None or number == old:
            return False
        self.tried.emit(self.coordinates(index) if self.shape else None, number)
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return "" if orientation == Qt.Orientation.Horizontal and len(self.shape) < 2 else str(section)
        return None

    # ------------------------------------------------------------------ inner workings

    def _value(self, row: int, column: int) -> object:
        if self._whole is not None:
            cells = self._whole[row] if row < len(self._whole) else []
            return cells[column] if column < len(cells) else None
        key = (row // PAGE_ROWS, column // PAGE_COLUMNS)
        page = self._pages.get(key)
        if page is None:
            self._request(key)
            return None
        row, column = row % PAGE_ROWS, column % PAGE_COLUMNS
        return page[row][column] if row < len(page) and column < len(page[row]) else None

    def coordinates(self, index: Index) -> tuple[int, ...]:
        """The place of a cell in the whole tensor."""
        if len(self.shape) < 2:
            return (index.row(),)[: len(self.shape)]
        return (*self._leading, index.row(), index.column())

    def _exact(self, index: Index) -> str:
        value = self._value(index.row(), index.column())
        place = ", ".join(map(str, self.coordinates(index))) if self.shape else "0"
        return f"[{place}]  {value!r}" if value is not None else ""

    def _request(self, page: tuple[int, int]) -> None:
        if self._fetch is None or page in self._waiting.values() or len(self._waiting) >= MAX_WAITING:
            return
        rows = (page[0] * PAGE_ROWS, min((page[0] + 1) * PAGE_ROWS, self._rows))
        columns = (page[1] * PAGE_COLUMNS, min((page[1] + 1) * PAGE_COLUMNS, self._columns))
        if len(self.shape) < 2:
            rows, columns = columns, rows
        self._waiting[self._fetch(self._leading, rows, columns)] = page


def table_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a tensor's table: a number is one cell, a vector one column."""
    match shape:
        case ():
            return 1, 1
        case (length,):
            return length, 1
        case _:
            return shape[-2], shape[-1]


def parse_like(text: str, old: object) -> float | int | bool | None:
    """A number as it was typed, of the old one's kind; None when it is none ("nan" and "inf" are)."""
    text = text.strip().replace("−", "-").replace("∞", "inf")
    if isinstance(old, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
    try:
        return int(text) if isinstance(old, int) else float(text)
    except ValueError:
        return None


def as_column(values: tuple[tuple[object, ...], ...], shape: tuple[int, ...]) -> tuple[tuple[object, ...], ...]:
    """The engine sends a vector as one row; the table shows it as a column."""
    if len(shape) >= 2 or not values:
        return values
    return tuple((value,) for value in values[0]) if len(values) == 1 else values


def _as_rows(summary: Summary, leading: tuple[int, ...]) -> list[list[object]]:
    """The cells that there are; an engine that tells of fewer than its shape has leaves the others empty."""
    value = summary.value
    for k in leading:
        value = value[k] if isinstance(value, list | tuple) and k < len(value) else value
    if not summary.shape:
        return [[value]]
    if not isinstance(value, list | tuple):
        return []
    if len(summary.shape) == 1:
        return [[scalar] for scalar in value]
    return [list(row) if isinstance(row, list | tuple) else [row] for row in value]
