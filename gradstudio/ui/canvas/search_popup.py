"""The quick search: type a few letters at the cursor, press Enter, and the operator is there."""

from collections.abc import Callable, Iterable
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gradstudio.operators.catalogue import load
from gradstudio.operators.model import Operator
from gradstudio.ui.theme import Theme, mono_font, ui_font

WIDTH: Final = 400
ROWS: Final = 8
ROW_HEIGHT: Final = 40
FRAME: Final = 58
"""Height of the field and the margins."""
LIMIT: Final = 40
WANTED_FIRST: Final = (
    "operator.add", "operator.mul", "operator.matmul", "operator.sub", "operator.truediv", "operator.pow",
    "torch.Tensor.sum", "torch.Tensor.mean", "torch.relu", "torch.nn.functional.relu", "torch.sigmoid", "torch.tanh",
    "torch.exp", "torch.softmax", "torch.nn.functional.softmax", "torch.nn.functional.mse_loss",
    "torch.nn.functional.cross_entropy", "torch.Tensor.backward", "torch.nn.Linear", "torch.Tensor.reshape",
    "torch.Tensor.T", "operator.getitem", "torch.Tensor.detach", "torch.Tensor.to", "torch.Tensor.grad",
)  # fmt: skip
"""What one usually wants at the end of a wire, before anything was typed."""
RANKS: Final = {key: rank for rank, key in enumerate(WANTED_FIRST)}
OPERATOR = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_KEEPS_OPEN = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)


class SearchPopup(QFrame):
    """A field and a list of operators over the canvas.

    Signals:
        chosen(object): an operator key.
        closed(): it is over, with or without a choice.
    """

    chosen = Signal(object)
    closed = Signal()

    def __init__(
        self, parent: QWidget, theme: Theme, fits: Callable[[Operator], bool] | None = None, title: str = ""
    ) -> None:
        """`fits` leaves out operators that a waiting wire cannot use."""
        super().__init__(parent)
        self._fits, self._open, self._room = fits, True, parent
        self.setObjectName("canvas_search")
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(title or f"Search {len(load())} operators…")
        self.field.setFont(ui_font(13))
        self.field.installEventFilter(self)
        self.list = QListWidget(self)
        self.list.setItemDelegate(_RowPainter(theme, self.list))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._on_list_item_clicked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self.setStyleSheet(_sheet(theme))
        self.field.textChanged.connect(self._on_field_text_changed)
        self._fill("")

    def open_at(self, at: QPoint) -> None:
        """Show it with its corner at a point of the parent, wholly inside."""
        room = self._room.size()
        self.move(
            max(4, min(at.x(), room.width() - self.width() - 4)), max(4, min(at.y(), room.height() - self.height() - 4))
        )
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def operators(self) -> tuple[str, ...]:
        """Keys of the rows, top to bottom."""
        return tuple(self.list.item(row).data(OPERATOR).key for row in range(self.list.count()))

    def documented_operator(self) -> str:
        """The key of the row that is lit; "" for none."""
        row = self.list.currentItem()
        return str(row.data(OPERATOR).key) if self.list.count() else ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows walk the list while the field is typed into; leaving the field closes all."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in _KEEPS_OPEN:
            self.close_now()
        return super().eventFilter(watched, event)

    def close_now(self) -> None:
        """Go away without a choice."""
        if self._open:
            self._open = False
            self.hide()
            self.closed.emit()
            self.deleteLater()

    def _key(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: ROWS, Qt.Key.Key_PageUp: -ROWS}
        key = Qt.Key(event.key())
        if key in steps:
            row = min(max(self.list.currentRow() + steps[key], 0), self.list.count() - 1)
            self.list.setCurrentRow(row)
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self._take(self.list.currentItem())
            return True
        if key == Qt.Key.Key_Escape:
            self.close_now()
            return True
        return False

    def _on_list_item_clicked(self, row: QListWidgetItem) -> None:
        self._take(row)

    def _on_field_text_changed(self, text: str) -> None:
        self._fill(text)

    def _fill(self, query: str) -> None:
        self.list.clear()
        for operator in self._found(query):
            row = QListWidgetItem(operator.title, self.list)
            row.setData(OPERATOR, operator)
            row.setToolTip(operator.key)
        self.list.setCurrentRow(0)
        rows = max(1, min(self.list.count(), ROWS))
        self.setFixedSize(WIDTH, FRAME + rows * ROW_HEIGHT)

    def _found(self, query: str) -> Iterable[Operator]:
        if self._fits is None:
            return load().search(query, limit=LIMIT)
        found = [operator for operator in load().search(query, limit=len(load())) if self._fits(operator)]
        if not query.strip():
            found.sort(key=lambda operator: RANKS.get(operator.key, len(RANKS)))
        return found[:LIMIT]

    def _take(self, row: QListWidgetItem | None) -> None:
        if row is None or not self._open:
            return
        self._open = False
        key = row.data(OPERATOR).key
        self.hide()
        self.closed.emit()
        self.chosen.emit(key)
        self.deleteLater()


class _RowPainter(QStyledItemDelegate):
    """Two lines: title and path, then the summary; a mark in the category's colour."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(WIDTH - 40, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        operator, theme = index.data(OPERATOR), self._theme
        rect: QRect = option.rect
        lit = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if lit:
            painter.setBrush(theme.color("selection"))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 5, 5)
        painter.setBrush(theme.category_mark(operator.category))
        painter.drawRoundedRect(rect.x() + 10, rect.y() + 8, 9, 9, 2, 2)
        ink, faint = ("selection_text", "selection_text") if lit else ("text", "text_dim")
        self._text(painter, rect.adjusted(28, 3, -8, -20), operator, ink, faint)
        painter.setFont(ui_font(11))
        painter.setPen(theme.color(faint))
        line = rect.adjusted(28, 20, -8, -2)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, _elided(painter, operator.summary, line.width()))
        painter.restore()

    def _text(self, painter: QPainter, line: QRect, operator: Operator, ink: str, faint: str) -> None:
        painter.setFont(ui_font(13))
        painter.setPen(self._theme.color(ink))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, operator.title)
        used = painter.fontMetrics().horizontalAdvance(operator.title) + 14
        painter.setFont(mono_font(10))
        painter.setPen(self._theme.color(faint))
        room = line.adjusted(used, 0, 0, 0)
        painter.drawText(
            room,
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
            _elided(painter, operator.key, room.width()),
        )


def _elided(painter: QPainter, text: str, width: int) -> str:
    return painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, width))


def _sheet(theme: Theme) -> str:
    return (
        f"QFrame#canvas_search {{ background: {theme.surface}; border: 1px solid {theme.card_edge};"
        " border-radius: 9px; }"
        f"QListWidget {{ background: {theme.surface}; border: 0; outline: 0; }}"
    )
