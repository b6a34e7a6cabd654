"""A list of lines with an icon of their severity and the name of their node."""

import functools

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gradstudio.ui.docks.messages.message_model import ENTRY_ROLE, Entry, EntryModel, Severity
from gradstudio.ui.theme import Theme, icon_pixmap, mono_font
from gradstudio.ui.widgets.form_layout import label

MAX_WRAPPED_LINES, MAX_MEASURED = 5, 20_000
LINE_PX = 23
LEFT_PX = 12
RIGHT_PX = 48
EMPTY_PX = 14
WRAPPED: frozenset[Severity] = frozenset({"error", "warning", "info"})
"""Our words and torch's are shown in full; what the program prints takes a line each."""
_AT_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
ICONS: dict[Severity, tuple[str, str]] = {
    "info": ("info", "text_dim"),
    "print": ("print", "info"),
    "warning": ("warning", "warning"),
    "error": ("error", "danger"),
}
COLORS: dict[Severity, str] = {"error": "danger", "warning": "warning", "print": "text", "info": "text_dim"}


class EntryView(QListView):
    """Lines with an icon of their severity.

    Signals:
        node_chosen(object): a line about a node was clicked, or Enter pressed on it.
    """

    node_chosen = Signal(object)

    def __init__(self, model: EntryModel, empty: str, theme: Theme, parent: QWidget) -> None:
        """Show a model; `empty` is said when it has no rows."""
        super().__init__(parent)
        self.setModel(model)
        self.setFont(mono_font())
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(empty)
        self._empty = label(empty, "dim", wrap=True)
        self._empty.setParent(self.viewport())
        self._empty.move(EMPTY_PX, 8)
        self.set_theme(theme)
        self.clicked.connect(self._on_clicked)
        for signal in (model.rowsInserted, model.modelReset, model.rowsRemoved):
            signal.connect(self._on_model_changed)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.setItemDelegate(EntryDelegate(theme, self))

    def say_when_empty(self, words: str) -> None:
        """Say these words while there are no rows."""
        self._empty.setText(words)
        self._fit_empty()

    def is_at_end(self) -> bool:
        """Whether the newest line is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 2

    def text_of(self, row: int) -> str:
        """What Copy takes of a row."""
        return str(self.model().index(row, 0).data())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_empty()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted(index.row() for index in self.selectedIndexes())
            QGuiApplication.clipboard().setText("\n".join(self.text_of(row) for row in rows))
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_clicked(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY_ROLE)
        if isinstance(entry, Entry) and entry.node:
            self.node_chosen.emit(entry.node)

    def _on_model_changed(self) -> None:
        self._empty.setVisible(self.model().rowCount() == 0)
        self._fit_empty()

    def _fit_empty(self) -> None:
        width = max(self.viewport().width() - 2 * EMPTY_PX, 1)
        self._empty.resize(width, self._empty.heightForWidth(width))


class EntryDelegate(QStyledItemDelegate):
    """Icon, the node's name, the words.

    Attributes:
        right_px: left free at the right end of every line.
    """

    right_px = RIGHT_PX

    def __init__(self, theme: Theme, parent: QWidget, colors: dict[Severity, str] = COLORS) -> None:
        """Paint in a theme, the words in the colour of their severity."""
        super().__init__(parent)
        self.theme, self._colors = theme, colors
        self._measured: dict[tuple[str, str, bool, int], int] = {}  # a list is laid out several times a refresh

    @functools.cached_property
    def _icons(self) -> dict[Severity, QPixmap]:
        return {key: icon_pixmap(name, self.theme.color(role), 14, 2.0) for key, (name, role) in ICONS.items()}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        entry, view = index.data(ENTRY_ROLE), option.widget
        if entry.severity not in WRAPPED or not isinstance(view, EntryView):
            return QSize(200, LINE_PX)
        key = entry.text, entry.where, entry.continued, view.viewport().width()
        height = self._measured.get(key)
        if height is None:
            if len(self._measured) == MAX_MEASURED:
                self._measured.clear()
            height = self._measured[key] = self._height(option.fontMetrics, entry, view.viewport().width())
        return QSize(200, height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry = index.data(ENTRY_ROLE)
        hidden = QStyleOptionViewItem(option)
        self.initStyleOption(hidden, index)
        hidden.text = ""
        self.paint_background(painter, hidden)
        painter.save()
        painter.setFont(option.font)
        metrics = painter.fontMetrics()
        first = QRect(option.rect.left(), option.rect.top(), option.rect.width(), LINE_PX)
        if not entry.continued:
            painter.drawPixmap(QPoint(first.left() + LEFT_PX, first.center().y() - 6), self._icons[entry.severity])
            painter.setPen(self.theme.color("accent"))
            painter.drawText(first.adjusted(0, 0, -self.right_px, 0), _AT_RIGHT, entry.where)
        rect = self.room(QRect(option.rect), metrics, entry)
        painter.setPen(self.theme.color(self._colors[entry.severity]))
        if option.rect.height() > LINE_PX:
            rect.adjust(0, (LINE_PX - metrics.lineSpacing()) // 2, 0, 0)
            painter.drawText(rect, Qt.TextFlag.TextWordWrap, entry.text)
        else:
            text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, rect.width())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()

    def paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        """What stands behind the words of a row."""
        widget = option.widget
        widget.style().drawControl(widget.style().ControlElement.CE_ItemViewItem, option, painter, widget)

    def _height(self, metrics: QFontMetrics, entry: Entry, width: int) -> int:
        room = max(self.room(QRect(0, 0, width, LINE_PX), metrics, entry).width(), 40)
        if "\n" not in entry.text and metrics.horizontalAdvance(entry.text) < room:
            return LINE_PX
        needed = metrics.boundingRect(QRect(0, 0, room, 10_000), Qt.TextFlag.TextWordWrap, entry.text).height()
        lines = min(max(1, round(needed / metrics.lineSpacing())), MAX_WRAPPED_LINES)
        return LINE_PX + (lines - 1) * metrics.lineSpacing()

    def room(self, rect: QRect, metrics: QFontMetrics, entry: Entry) -> QRect:
        """Where the words of a line stand: right of its icon, left of the node's name."""
        name = metrics.horizontalAdvance(entry.where) + 14 if entry.where and not entry.continued else 0
        return rect.adjusted(LEFT_PX + 22, 0, -self.right_px - name, 0)
