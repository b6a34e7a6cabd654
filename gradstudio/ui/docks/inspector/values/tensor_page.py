"""One tab of the inspector: what is said of a tensor, its numbers as a table, its facts."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gradstudio.protocol.messages.records import Summary
from gradstudio.ui.docks.inspector import value_facts
from gradstudio.ui.docks.inspector.values.tensor_table_model import Fetch, TensorTableModel
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.form_layout import PairTable, label

ROW_PX = 22
MAX_VISIBLE_ROWS = 8
SIZED_BY = 8
"""All columns are as wide as the longest number among so many rows and columns needs."""
MIN_COLUMN_PX, MAX_COLUMN_PX = 54, 110


class TensorPage(QWidget):
    """A remark over a table over facts: one tab."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self.remark = label("", "dim", wrap=True)
        self.pairs = PairTable(self)
        self.model = TensorTableModel(theme, self)
        self.table = _NumberTable(self)
        self.table.setModel(self.model)
        self.table.setFont(mono_font())
        self.table.setAccessibleName("Values")
        self.table.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.table.verticalHeader().setMinimumSectionSize(ROW_PX)
        self.table.horizontalHeader().setMinimumSectionSize(MIN_COLUMN_PX)
        self.table.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self._leading = _LeadingIndex(self)
        self._leading.spins_changed = self._refresh_table
        self._summary: Summary | None = None
        self._fetch: Fetch | None = None
        self._gather: Fetch | None = None
        self.whole = QCheckBox("Whole, from all ranks", self)
        self.whole.setToolTip(
            "The table has what this rank holds; ticked, the whole tensor: of what is in view each rank tells its part."
        )
        self.whole.toggled.connect(lambda _checked: self._refresh_table())
        self.whole.hide()
        self.cause = QPushButton("", self)
        self.cause.setAccessibleName("Go to the node responsible")
        self.cause.setObjectName("link")
        self.cause.setCursor(Qt.CursorShape.PointingHandCursor)
        self.cause.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        for widget in (self.remark, self.cause, self.whole, self._leading, self.table, self.pairs):
            column.addWidget(widget)
        column.addStretch(1)

    def show_page(
        self,
        remark: str,
        pairs: value_facts.Facts,
        summary: Summary | None,
        fetch: Fetch | None,
        gather: Fetch | None = None,
    ) -> None:
        """Show facts and, when there is a summary, its numbers; `gather` asks all ranks for those of the whole."""
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        self.pairs.show_pairs(pairs)
        if summary != self._summary or (fetch is None) != (self._fetch is None):
            self._summary, self._fetch, self._gather = summary, fetch, gather
            self.whole.setVisible(summary is not None and summary.is_part and gather is not None)
            self._refresh_table()
        self._fetch, self._gather = fetch, gather

    def _refresh_table(self) -> None:
        summary, fetch = self._summary, self._fetch
        if summary is not None and summary.is_part and self.whole.isChecked() and self._gather is not None:
            summary, fetch = Summary(dtype=summary.dtype, shape=summary.whole_shape), self._gather
        self._leading.set_sizes(summary.shape[:-2] if summary is not None else ())
        self.model.show_tensor(summary, fetch, self._leading.index)
        rows, columns = self.model.rowCount(), self.model.columnCount()
        self.table.setVisible(rows > 0 and columns > 0)
        header = self.table.horizontalHeader()
        header.setVisible(len(self.model.shape) > 1)
        texts = [self.model.text(r, c) for r in range(min(rows, SIZED_BY)) for c in range(min(columns, SIZED_BY))]
        width = max(map(len, texts), default=4)
        advance = self.table.fontMetrics().horizontalAdvance("0")
        header.setDefaultSectionSize(min(max(width * advance + 18, MIN_COLUMN_PX), MAX_COLUMN_PX))
        header.setStretchLastSection(columns == 1)
        scroll = 12 if columns > 3 else 2
        head = 24 if header.isVisibleTo(self.table) else 0
        self.table.setFixedHeight(min(rows, MAX_VISIBLE_ROWS) * ROW_PX + head + scroll)


class _NumberTable(QTableView):
    """The wheel scrolls past it, as long as there is something behind it to be scrolled, unless it has the focus."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus() or not _can_go_on(self, event):
            super().wheelEvent(event)
        else:
            event.ignore()


class _IndexBox(QSpinBox):
    """A number that the wheel scrolls past, unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


def _can_go_on(widget: QWidget, event: QWheelEvent) -> bool:
    """Whether what a widget lies in can be scrolled further, the way the wheel is turned; across it never is."""
    around = widget.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if around is None or not event.angleDelta().y() or event.modifiers():
        return False
    bar = around.verticalScrollBar()
    return bar.value() > bar.minimum() if event.angleDelta().y() > 0 else bar.value() < bar.maximum()


class _LeadingIndex(QWidget):
    """A number per leading dimension, for tensors of more than two."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._sizes: tuple[int, ...] = ()
        self._spins: list[QSpinBox] = []
        self.spins_changed: Callable[[], None] = _nothing
        self.hide()

    @property
    def index(self) -> tuple[int, ...]:
        return tuple(spin.value() for spin in self._spins)

    def set_sizes(self, sizes: tuple[int, ...]) -> None:
        """Offer indices for dimensions of these sizes."""
        if sizes == self._sizes:
            return
        self._sizes = sizes
        while (child := self._layout.takeAt(0)) is not None:
            if (widget := child.widget()) is not None:
                widget.deleteLater()
        self._spins = []
        if sizes and 0 not in sizes:
            self._layout.addWidget(QLabel("at"))
            for size in sizes:
                spin = _IndexBox()
                spin.setRange(0, size - 1)
                spin.setToolTip(f"0 to {size - 1}")
                spin.valueChanged.connect(lambda _value: self.spins_changed())
                self._spins.append(spin)
                self._layout.addWidget(spin)
            self._layout.addStretch(1)
        self.setVisible(bool(self._spins))


def _nothing() -> None:
    """Nobody listens yet."""
