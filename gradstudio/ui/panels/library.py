"""The Library dock: search, browse, drag an operator out or add it with Enter."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QDrag, QFontMetrics, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from gradstudio.operators.catalogue import Catalogue
from gradstudio.operators.model import Face, Operator
from gradstudio.ui.panels.library_model import OPERATOR_ROLE, LibraryModel
from gradstudio.ui.panels.signature import signature
from gradstudio.ui.theme import Theme, mono_font, tinted, ui_font

MARK_PX = 9


class LibraryPanel(QWidget):
    """Search field over the tree of operators.

    Signals:
        chosen(object): an operator's key was double-clicked, or Enter pressed on it.
    """

    chosen = Signal(object)

    def __init__(self, catalogue: Catalogue, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the catalogue by categories."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = LibraryModel(catalogue, theme, self)
        self.field = QLineEdit(self)
        self.field.setObjectName("library_search")
        self.field.setPlaceholderText(f"Search {len(catalogue)} operators")
        self.field.setAccessibleName("Search the operators")
        self.field.setClearButtonEnabled(True)
        self._lens = self.field.addAction(
            tinted("search", theme.color("text_dim"), 16), QLineEdit.ActionPosition.LeadingPosition
        )
        self.tree = LibraryTree(theme, self)
        self.tree.setModel(self.model)
        self.help = OperatorHelp(self)
        self.empty = QLabel("", self)
        self.empty.setWordWrap(True)
        self.empty.setProperty("role", "dim")
        self.empty.setContentsMargins(4, 8, 4, 0)
        self.empty.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_LARGE, 0, 6, 8)
        layout.setSpacing(theme.GAP)
        for widget, stretch in ((self.field, 0), (self.empty, 0), (self.tree, 1), (self.help, 0)):
            layout.addWidget(widget, stretch)
        self._expand_first()
        self.field.textChanged.connect(self._on_field_text_changed)
        self.field.installEventFilter(self)
        self.tree.operator_activated.connect(self.chosen)
        self.tree.selectionModel().currentChanged.connect(self._on_current_changed)

    def focus_search(self) -> None:
        """Put the cursor into the search field."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def documented_operator(self) -> str:
        """The key of the current operator; "" for none."""
        operator = self.model.operator(self.tree.currentIndex())
        return operator.key if operator is not None else ""

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._lens.setIcon(tinted("search", theme.color("text_dim"), 16))
        self.tree.set_theme(theme)
        self.model.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(230, 500)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys in the field move in the list; Enter adds the current or first find."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self.tree.keyPressEvent(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.tree.activate_current()
                return True
            if event.key() == Qt.Key.Key_Escape and self.field.text():
                self.field.clear()
                return True
        return super().eventFilter(watched, event)

    def _expand_first(self) -> None:
        self.tree.expand(self.model.index(0, 0))

    def _on_field_text_changed(self, text: str) -> None:
        self.model.search(text)
        self.tree.setRootIsDecorated(not self.model.searching)
        found = self.model.rowCount()
        self.empty.setVisible(self.model.searching and not found)
        self.empty.setText(f"No operator fits “{text.strip()}”. Try a word of what it does: “mean”, “reshape”.")
        if self.model.searching and found:
            self.tree.setCurrentIndex(self.model.index(0, 0))
        elif not self.model.searching:
            self._expand_first()

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.help.show_operator(self.model.operator(current))


class LibraryTree(QTreeView):
    """The tree: drags keys out, activates by double click and Enter.

    Signals:
        operator_activated(object): the key.
    """

    operator_activated = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """An empty tree; give it a `LibraryModel`."""
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("library_tree")
        self.setAccessibleName("Operators")
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(12)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setExpandsOnDoubleClick(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_OperatorDelegate(theme, self))
        self.doubleClicked.connect(self._on_double_clicked)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.setItemDelegate(_OperatorDelegate(theme, self))

    def activate_current(self) -> None:
        """Announce the current operator, if it is one."""
        operator = self.currentIndex().data(OPERATOR_ROLE)
        if isinstance(operator, Operator):
            self.operator_activated.emit(operator.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().data(OPERATOR_ROLE):
            self.activate_current()
            return
        super().keyPressEvent(event)

    def drawRow(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """A selected operator is one block: Qt would colour its indentation, too."""
        painter.save()
        if index.data(OPERATOR_ROLE) is not None:
            painter.setClipRect(self.visualRect(index))
        super().drawRow(painter, option, index)
        painter.restore()

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Drag a small card with the operator's title."""
        operator = self.currentIndex().data(OPERATOR_ROLE)
        if not isinstance(operator, Operator):
            return
        drag = QDrag(self)
        drag.setMimeData(self.model().mimeData([self.currentIndex()]))
        drag.setPixmap(_drag_picture(operator, self._theme, self.devicePixelRatioF()))
        drag.setHotSpot(QPoint(16, 14))
        drag.exec(Qt.DropAction.CopyAction)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        operator = index.data(OPERATOR_ROLE)
        if isinstance(operator, Operator):
            self.operator_activated.emit(operator.key)


class OperatorHelp(QFrame):
    """Signature and summary of the current operator, under the tree."""

    def __init__(self, parent: QWidget) -> None:
        """Hidden until an operator is current."""
        super().__init__(parent)
        self.setObjectName("operator_help")
        self._signature, self._summary = QLabel("", self), QLabel("", self)
        self._signature.setFont(mono_font(11))
        self._summary.setProperty("role", "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 6, 6, 2)
        layout.setSpacing(3)
        for label in (self._signature, self._summary):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(label)
        self.hide()

    def show_operator(self, operator: Operator | None) -> None:
        """Show how an operator is written and what it does; nothing for None."""
        self.setVisible(operator is not None)
        if operator is not None:
            self._signature.setText(_breakable(signature(operator)))
            self._summary.setText(operator.summary)


class _OperatorDelegate(QStyledItemDelegate):
    """Paints the category's mark, the title, and where the operator lives."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._small = ui_font(11)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(super().sizeHint(option, index).width(), self._theme.ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        operator = index.data(OPERATOR_ROLE)
        if not isinstance(operator, Operator):
            super().paint(painter, option, index)
            return
        rect = QRect(option.rect)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hidden = QStyleOptionViewItem(option)
        self.initStyleOption(hidden, index)
        hidden.text = ""
        widget = hidden.widget
        widget.style().drawControl(widget.style().ControlElement.CE_ItemViewItem, hidden, painter, widget)
        self._paint_row(painter, rect.adjusted(6, 0, -6, 0), operator, selected)

    def _paint_row(self, painter: QPainter, rect: QRect, operator: Operator, selected: bool) -> None:
        theme = self._theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.category_mark(operator.category))
        painter.drawRoundedRect(rect.left(), rect.center().y() - MARK_PX // 2 + 1, MARK_PX, MARK_PX, 2.5, 2.5)
        place = rect.adjusted(MARK_PX + 9, 0, 0, 0)
        painter.setPen(theme.color("selection_text" if selected else "text"))
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, operator.title)
        used = painter.fontMetrics().horizontalAdvance(operator.title) + 10
        painter.setFont(self._small)
        painter.setPen(theme.color("selection_text" if selected else "text_dim"))
        home = QFontMetrics(self._small).elidedText(
            home_of(operator), Qt.TextElideMode.ElideRight, place.width() - used
        )
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, home)
        painter.restore()


def home_of(operator: Operator) -> str:
    """Where an operator lives, shortly, to tell `relu` from `relu`: "torch", "nn.functional", "Tensor"."""
    if operator.face in (Face.INFIX, Face.PREFIX, Face.AUGMENTED):
        return signature(operator)
    home = operator.path.rpartition(".")[0].removeprefix("torch.")
    return "" if home in ("operator", "python", "builtins") else home


def _breakable(text: str) -> str:
    """The text with places where a narrow label may break it."""
    return text.replace("(", "(\u200b").replace(".", ".\u200b")


def _drag_picture(operator: Operator, theme: Theme, ratio: float) -> QPixmap:
    metrics = QFontMetrics(ui_font())
    width, height = metrics.horizontalAdvance(operator.title) + 32, 28
    pixmap = QPixmap(round(width * ratio), round(height * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.color("accent"))
    painter.setBrush(theme.category_color(operator.category))
    painter.drawRoundedRect(QRect(1, 1, width - 2, height - 2), theme.CARD_RADIUS, theme.CARD_RADIUS)
    painter.setPen(theme.color("header_text"))
    painter.setFont(ui_font())
    painter.drawText(QRect(0, 0, width, height), Qt.AlignmentFlag.AlignCenter, operator.title)
    painter.end()
    return pixmap
