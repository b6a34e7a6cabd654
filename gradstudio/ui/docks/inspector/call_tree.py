"""Calls under the lines that made them: a table where its columns are wide enough, else two lines a call."""

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetrics, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QTreeWidgetItemIterator,
    QWidget,
)

from gradstudio.ui.theme import mono_font
from gradstudio.ui.widgets.paint_guard import PainterGuard

CALL, SHAPE, VALUE, GRADIENT = range(4)
"""The columns."""
HEADINGS: Final = ("Call", "Shape", "Value", "Gradient")
MOST_PX: Final = 308
"""So high are the rows that are seen at once."""
ROW_PX: Final = 22
LINE_GAP_PX: Final = 3
COLUMN_GAP_PX: Final = 12
INDENT_PX: Final = 12
ROUNDING_PX: Final = 2
"""A text is not cut for a part of a pixel."""
GRADIENT_SIGN: Final = "∇ "
Index = QModelIndex | QPersistentModelIndex


class CallTree(QTreeWidget):
    """A row a call: what was called, the shape and the values of its first result, and their gradient.

    Narrower than what stands in its columns it has none: a call's name and shape stand above its value and gradient.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self.setAccessibleName("Calls inside")
        self.setHeaderLabels(HEADINGS)
        self.setFont(mono_font())
        self.setIndentation(INDENT_PX)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header().setStretchLastSection(True)
        self.setItemDelegate(CallDelegate(self))
        self._widths: tuple[int, ...] = ()

    @property
    def is_stacked(self) -> bool:
        """Whether a call takes two lines."""
        return self.header().isHidden()

    @property
    def line_px(self) -> int:
        """How high a line of code is."""
        return max(ROW_PX, QFontMetrics(self.font()).height() + LINE_GAP_PX)

    @property
    def call_px(self) -> int:
        """How high a call is."""
        return 2 * (QFontMetrics(self.font()).height() + LINE_GAP_PX) if self.is_stacked else self.line_px

    def show_lines(self, lines: list[QTreeWidgetItem]) -> None:
        """Show lines with the calls under them."""
        self.clear()
        self.addTopLevelItems(lines)
        for line in lines:
            line.setFirstColumnSpanned(True)
        self.expandAll()
        metrics, calls = QFontMetrics(self.font()), self._calls()
        texts = ((heading, *(call.text(column) for call in calls)) for column, heading in enumerate(HEADINGS))
        self._widths = tuple(max(map(metrics.horizontalAdvance, column)) for column in texts)
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        """Take columns as wide as what stands in them, if there is room beside a scroll bar."""
        if not self._widths:
            return
        widths = [width + COLUMN_GAP_PX for width in self._widths]
        widths[CALL] += 2 * INDENT_PX
        bar = self.verticalScrollBar().sizeHint().width()
        spare = self.width() - 2 * self.frameWidth() - bar - sum(widths)
        self.header().setHidden(spare < 0)
        calls = self._calls()
        for call in calls:
            call.setFirstColumnSpanned(spare < 0)
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width + max(spare, 0) // len(widths))
        rows_px = self.topLevelItemCount() * self.line_px + len(calls) * self.call_px
        header_px = 0 if self.is_stacked else self.header().sizeHint().height()
        self.setFixedHeight(min(rows_px, MOST_PX) + header_px + 2 * self.frameWidth())
        self.scheduleDelayedItemsLayout()

    def _calls(self) -> list[QTreeWidgetItem]:
        every = QTreeWidgetItemIterator(self)
        found = []
        while (row := every.value()) is not None:
            if row.parent() is not None:
                found.append(row)
            every += 1
        return found


class CallDelegate(QStyledItemDelegate):
    """Paints a call over two lines where its tree has no columns."""

    def __init__(self, tree: CallTree) -> None:
        """Paint the rows of a tree."""
        super().__init__(tree)
        self._tree = tree

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self._tree.call_px if index.parent().isValid() else self._tree.line_px)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if self._tree.is_stacked:
            option.rect.setRight(
                self._tree.viewport().width() - 1
            )  # of a row that spans columns it is that of the last
        if not self._is_stacked(index):
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        option.text = ""
        QApplication.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, self._tree)
        with PainterGuard(painter):
            self._paint_lines(painter, option, self._tree.itemFromIndex(index))

    def _is_stacked(self, index: Index) -> bool:
        return self._tree.is_stacked and index.parent().isValid()

    def _paint_lines(self, painter: QPainter, option: QStyleOptionViewItem, call: QTreeWidgetItem) -> None:
        painter.setFont(self._tree.font())
        above = option.rect.adjusted(LINE_GAP_PX, LINE_GAP_PX // 2, -LINE_GAP_PX, -option.rect.height() // 2)
        below = above.translated(0, option.rect.height() // 2)
        lit = bool(option.state & QStyle.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if lit else QPalette.ColorRole.Text
        plain = QBrush(option.palette.color(role))
        gradient = plain if lit else call.foreground(GRADIENT)
        shape = plain if lit else call.foreground(SHAPE)
        _paint_ends(painter, above, (call.text(CALL), plain), (call.text(SHAPE), shape))
        sign = GRADIENT_SIGN if call.text(GRADIENT) else ""
        _paint_ends(painter, below, (call.text(VALUE), plain), (sign + call.text(GRADIENT), gradient))


def texts_at_ends(metrics: QFontMetrics, width_px: int, left: str, right: str) -> tuple[str, str]:
    """What fits of a text at each end of a line; where both have no room, each keeps at least half of it."""
    left_px, right_px = (metrics.horizontalAdvance(text) + ROUNDING_PX for text in (left, right))
    room = width_px - COLUMN_GAP_PX
    right_px = min(right_px, max(room // 2, room - left_px))
    elide = Qt.TextElideMode.ElideRight
    return metrics.elidedText(left, elide, room - right_px), metrics.elidedText(right, elide, right_px)


def _paint_ends(painter: QPainter, line: QRect, left: tuple[str, QBrush], right: tuple[str, QBrush]) -> None:
    texts = texts_at_ends(painter.fontMetrics(), line.width(), left[0], right[0])
    sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
    for text, brush, side in zip(texts, (left[1], right[1]), sides, strict=True):
        painter.setPen(brush.color())
        painter.drawText(line, side | Qt.AlignmentFlag.AlignVCenter, text)
