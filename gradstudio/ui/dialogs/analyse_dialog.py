"""Shows the answers about a graph in words; a row that is chosen has its nodes selected on the canvas."""

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.advice.diagnosis.graph_answers import Answer, Section, section_lines
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import label

SIZE_PX = (440, 560)
GAP_PX, SPACING_PX, EDGE_PX = 6, 2, 12
ITEMS, ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
HINT = "An arrow key or a click selects the nodes of a row on the canvas; Enter goes there."


class AnalyseDialog(QDialog):
    """A window beside the canvas, which stays usable.

    Signals:
        items_chosen(object): the nodes of the row that is the current one now, as a tuple.
        left(): Enter was pressed on a row: the canvas is to get the keys.
        again_asked(): the program as it is now is to be analysed.
    """

    items_chosen = Signal(object)
    left = Signal()
    again_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is asked yet."""
        super().__init__(parent)
        self.setWindowTitle("Analyse graph")
        self.resize(*SIZE_PX)
        self._theme, self._sections = theme, tuple[Section, ...]()
        self._filling = False
        self.list = QListWidget(self)
        self.list.setAccessibleName("Answers about the graph")
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.setSpacing(SPACING_PX)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._changed = label("", "warning", wrap=True)
        self._changed.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(label(HINT, "dim", wrap=True))
        column.addWidget(self.list, 1)
        column.addWidget(self._changed)
        column.addLayout(self._buttons())
        self.list.currentItemChanged.connect(self._on_list_current_item_changed)
        self.list.itemClicked.connect(self._on_list_item_clicked)
        self.list.itemActivated.connect(self._on_list_item_activated)

    def show_sections(self, sections: Iterable[Section], key: str = "") -> None:
        """Show answers; `key` is the section that was asked for: its first row is chosen at once."""
        self._sections = tuple(sections)
        self._filling = True
        self.list.clear()
        rows: dict[str, int] = {}
        for section in self._sections:
            rows[section.key] = self.list.count()
            self._add_section(section)
        self._go_to(rows.get(key, 0))
        self._filling = False
        self.list.setFocus()
        if key in rows:
            self._choose(self.list.currentItem())

    def stand_beside(self, window: QWidget, below_px: int) -> None:
        """Stand at the right edge of a window, so far below its top that its menus and buttons stay free."""
        corner = window.mapToGlobal(window.rect().topRight())
        self.move(corner.x() - self.width() - EDGE_PX, corner.y() + below_px)

    def note(self, words: str) -> None:
        """Say why the answers may be old; "" for no reason."""
        self._changed.setText(words)
        self._changed.setVisible(bool(words))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        for row in range(self.list.count()):
            item = self.list.item(row)
            item.setForeground(theme.color(item.data(ROLE)))

    # ------------------------------------------------------------------ inner workings

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.copy, self.again = QPushButton("&Copy"), QPushButton("&Analyse again")
        close = QPushButton("Close")
        for button in (self.copy, self.again, close):
            button.setAutoDefault(False)
        self.copy.clicked.connect(self._on_copy_clicked)
        self.again.clicked.connect(self.again_asked)
        close.clicked.connect(self.reject)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(self.again)
        row.addWidget(close)
        return row

    def _add_section(self, section: Section) -> None:
        heading = self._add(section.title, "text", selectable=False)
        font = QFont(self.list.font())
        font.setBold(True)
        heading.setFont(font)
        for answer in section.answers:
            self._add_answer(section, answer)
        if section.note:
            self._add(section.note, "text_dim", selectable=False)
        self._add("", "text_dim", selectable=False).setSizeHint(QSize(0, GAP_PX))

    def _add_answer(self, section: Section, answer: Answer) -> None:
        item = self._add(answer.text, "text", selectable=True)
        item.setData(ITEMS, answer.items)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{section.title}: {answer.text}")

    def _add(self, text: str, color: str, *, selectable: bool) -> QListWidgetItem:
        item = QListWidgetItem(text)
        item.setData(ROLE, color)
        item.setForeground(self._theme.color(color))
        if not selectable:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)
        return item

    def _go_to(self, row: int) -> None:
        """Show a section from its heading on; its first answer, or the next one below, is the current row."""
        below = (self.list.item(number) for number in range(row, self.list.count()))
        answer = next((item for item in below if item.flags() & Qt.ItemFlag.ItemIsSelectable), None)
        if answer is not None:
            self.list.setCurrentItem(answer)
        self.list.scrollToItem(self.list.item(row), QAbstractItemView.ScrollHint.PositionAtTop)

    def _choose(self, item: QListWidgetItem | None) -> None:
        items = item.data(ITEMS) if item is not None else None
        if items and not self._filling:
            self.items_chosen.emit(items)

    def sizeHint(self) -> QSize:
        return QSize(*SIZE_PX)

    # ------------------------------------------------------------------ slots

    def _on_list_current_item_changed(self, item: QListWidgetItem | None) -> None:
        self._choose(item)

    def _on_list_item_clicked(self, item: QListWidgetItem) -> None:
        """Also where it is the current row already: the selection may be another one by now."""
        self._choose(item)

    def _on_list_item_activated(self, item: QListWidgetItem) -> None:
        self._choose(item)
        self.left.emit()

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(section_lines(self._sections)) + "\n")
