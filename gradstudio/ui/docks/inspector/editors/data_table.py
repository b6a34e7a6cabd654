"""A small table over the cells of a tensor literal: typed, pasted, grown by the row and the column."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem, QWidget

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.number_tables import as_lists, rows_of
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Kind, Parameter
from gradstudio.ui.theme import mono_font

MOST = 64
ROW_PX, COLUMN_PX, MOST_SHOWN = 24, 64, 7
CELL = Parameter("cell", Kind.NUMBER)
WORDS = "One cell more on the right and below: typing there adds a column or a row. Delete takes a row or column out."


class DataTable(QTableWidget):
    """The rows of a literal, and an empty row and column around them that make it grow.

    Signals:
        changed(object): Python text of the whole.
    """

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._rows: list[list[str]] = []
        self._is_vector = self._filling = False
        self.setFont(mono_font(12))
        self.setToolTip(WORDS)
        self.setAccessibleName("Values as a table")
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().setDefaultSectionSize(COLUMN_PX)
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.itemChanged.connect(self._on_item_changed)

    def show_rows(self, rows: tuple[tuple[str, ...], ...], *, is_vector: bool) -> None:
        """Show cells; a vector is one row and stays one."""
        self._filling, self._is_vector = True, is_vector
        self._rows = [list(row) for row in rows]
        width = len(rows[0])
        self.setRowCount(len(rows) + (not is_vector))
        self.setColumnCount(width + 1)
        self.setVerticalHeaderLabels([str(k) for k in range(len(rows))] + ["+"])
        self.setHorizontalHeaderLabels([str(k) for k in range(width)] + ["+"])
        for i in range(self.rowCount()):
            for k in range(self.columnCount()):
                text = rows[i][k] if i < len(rows) and k < width else ""
                item = QTableWidgetItem(text)
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(i, k, item)
        self._filling = False
        self.setFixedHeight(
            ROW_PX * min(self.rowCount(), MOST_SHOWN) + self.horizontalHeader().sizeHint().height() + 18
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self._paste(QGuiApplication.clipboard().text())
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._take_out()
        else:
            super().keyPressEvent(event)

    def _on_item_changed(self, item: QTableWidgetItem) -> None:
        if self._filling:
            return
        text = item.text().strip()
        try:
            cells = [[parse(text, CELL)]]
        except LiteralError as error:
            item.setToolTip(str(error))
            self._show_again()
            return
        self._put(item.row(), item.column(), cells)

    def _paste(self, text: str) -> None:
        """Cells of another program, from the current one on."""
        try:
            rows = rows_of(parse(as_lists(text), Parameter("data", Kind.DATA)))
        except LiteralError:
            rows = None
        if rows is None:
            rows = ((text.strip(),),)
        self._put(max(self.currentRow(), 0), max(self.currentColumn(), 0), [list(row) for row in rows])

    def _put(self, top: int, left: int, cells: list[list[str]]) -> None:
        """Write cells at a place; what grows is filled with 0."""
        if self._is_vector and (len(cells) > 1 or top > 0):
            self._is_vector = False
        height = max(len(self._rows), top + len(cells))
        width = max(len(self._rows[0]), left + max(len(row) for row in cells))
        if height > MOST or width > MOST:
            return
        zero = "0.0" if any("." in cell for row in self._rows for cell in row) else "0"
        grown = [row + [zero] * (width - len(row)) for row in self._rows]
        grown += [[zero] * width for _ in range(height - len(grown))]
        for i, row in enumerate(cells):
            grown[top + i][left : left + len(row)] = row
        self._say(grown)

    def _take_out(self) -> None:
        """Delete the rows or columns that are selected as a whole; of cells, write 0."""
        model = self.selectionModel()
        rows = {index.row() for index in model.selectedRows()}
        columns = {index.column() for index in model.selectedColumns()}
        if rows and len(rows) < len(self._rows):
            self._say([row for i, row in enumerate(self._rows) if i not in rows])
        elif columns and len(columns) < len(self._rows[0]):
            self._say([[cell for k, cell in enumerate(row) if k not in columns] for row in self._rows])
        elif not rows and not columns:
            marked = {(index.row(), index.column()) for index in model.selectedIndexes()}
            cleared = [list(row) for row in self._rows]
            for row, column in marked:
                cleared[row][column] = "0"
            self._say(cleared)

    def _say(self, rows: list[list[str]]) -> None:
        texts = [f"[{', '.join(row)}]" for row in rows]
        made = texts[0] if self._is_vector and len(rows) == 1 else f"[{', '.join(texts)}]"
        try:
            self.changed.emit(parse(made, Parameter("data", Kind.DATA)))
        except LiteralError:
            self._show_again()

    def _show_again(self) -> None:
        self.show_rows(tuple(tuple(row) for row in self._rows), is_vector=self._is_vector)
