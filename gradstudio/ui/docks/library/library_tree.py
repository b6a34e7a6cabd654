"""The tree of the Library: painting of its rows, drags, stars, and help while the pointer rests."""

from collections.abc import Callable
from typing import Final

import msgspec
from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QDrag, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QTreeView,
    QWidget,
)

from gradstudio.operators.model import Operator
from gradstudio.ui.docks.library.library_model import COUNT_ROLE, FAVOURITE_ROLE, OPERATOR_ROLE, PHRASE_ROLE, SPANS_ROLE
from gradstudio.ui.theme import Theme, icon_pixmap, ui_font
from gradstudio.ui.widgets.operator_signature import tooltip
from gradstudio.ui.widgets.paint_guard import PainterGuard

ABOVE_PX: Final = 22
"""What is dragged hangs so far above the pointer: the card is shown at it."""
MARK_PX: Final = 9
STAR_PX: Final = 14
STAR_SLOT_PX: Final = 22
BESIDE_PX: Final = 10
"""Help stands beside the list, which can be read on."""
LEAST_PHRASE_PX: Final = 36
LEAST_HOME_PX: Final = 18
"""Where there is less room beside a title, where the operator lives is left out: the title is read first."""
HELP_MS: Final = 220
"""Help comes sooner than Qt's own tooltips do: a list is read row by row."""
Index = QModelIndex | QPersistentModelIndex


class LibraryTree(QTreeView):
    """The tree: drags keys out, activates by double click and Enter, stars by a click.

    Attributes:
        first_words: what torch says first of an operator's key, "" while that is not known yet; asked when the
            pointer comes to a row, so that it is known when the pointer rests.
        picture: an operator's card as rich text; "" for none.

    Signals:
        operator_activated(object): the key; Enter was pressed on it.
        operator_carried(object): the key; it was double-clicked.
        operator_refused(object): the key; it was dragged to where it cannot be placed.
        star_clicked(object): the key of the operator whose star was clicked.
    """

    operator_activated = Signal(object)
    operator_carried = Signal(object)
    operator_refused = Signal(object)
    star_clicked = Signal(object)

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
        self.setMouseTracking(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setExpandsOnDoubleClick(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_OperatorDelegate(theme, self))
        self.doubleClicked.connect(self._on_double_clicked)
        self.hovered = QPersistentModelIndex()
        self.first_words: Callable[[str], str] = lambda _key: ""
        self.picture: Callable[[str], str] = lambda _key: ""
        self._help = QTimer(self)
        self._help.setSingleShot(True)
        self._help.setInterval(HELP_MS)
        self._help.timeout.connect(self._on_help_timeout)

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show a model."""
        super().setModel(model)
        if model is not None:
            model.modelAboutToBeReset.connect(self._on_model_about_to_be_reset)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.setItemDelegate(_OperatorDelegate(theme, self))

    def activate_current(self) -> None:
        """Announce the current operator, if it is one."""
        operator = self.currentIndex().data(OPERATOR_ROLE)
        if isinstance(operator, Operator):
            self.operator_activated.emit(operator.key)

    def star_rect(self, index: Index) -> QRect:
        """Where the star of a row is, in pixels of the viewport."""
        rect = self.visualRect(index)
        return QRect(self.viewport().width() - STAR_SLOT_PX, rect.top(), STAR_SLOT_PX, rect.height())

    def hush(self) -> None:
        """No help while something is done."""
        self._help.stop()
        QToolTip.hideText()

    # ------------------------------------------------------------------ Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.hush()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().data(OPERATOR_ROLE):
            self.activate_current()
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press on a star neither selects nor drags."""
        self.hush()
        if not self._clicks_star(event):
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The second click on a star is a click on a star."""
        if not self._clicks_star(event):
            super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the star of the row under the pointer, and its help when the pointer rests."""
        at = event.position().toPoint()
        self._hover(self.indexAt(at))
        on_star = self.hovered.isValid() and self.star_rect(self.hovered).contains(at)
        self.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor
            if on_star and self._operator(self.hovered)
            else Qt.CursorShape.ArrowCursor
        )
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(QModelIndex())
        super().leaveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Qt's own tooltip would come too late, and once more."""
        if event.type() == QEvent.Type.ToolTip:
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(QModelIndex())
        return super().viewportEvent(event)

    def drawRow(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A selected operator is one block: Qt would colour its indentation, too."""
        with PainterGuard(painter):
            if index.data(OPERATOR_ROLE) is not None:
                painter.setClipRect(self.visualRect(index))
            super().drawRow(painter, option, index)

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Drag the operator's title; the canvas shows the card below it, as it will be."""
        operator = self._operator(self.currentIndex())
        if operator is None:
            return
        self._hover(QModelIndex())
        drag = QDrag(self)
        drag.setMimeData(self.model().mimeData([self.currentIndex()]))
        picture = _drag_picture(operator, self._theme, self.devicePixelRatioF())
        drag.setPixmap(picture)
        drag.setHotSpot(QPoint(16, round(picture.deviceIndependentSize().height()) + ABOVE_PX))
        if drag.exec(Qt.DropAction.CopyAction) == Qt.DropAction.IgnoreAction:
            self.operator_refused.emit(operator.key)

    # ------------------------------------------------------------------ inside

    def _operator(self, index: Index) -> Operator | None:
        operator = index.data(OPERATOR_ROLE) if index.isValid() else None
        return operator if isinstance(operator, Operator) else None

    def _clicks_star(self, event: QMouseEvent) -> bool:
        """Whether it was a star; that is announced, and nothing else happens."""
        starred = self._starred_at(event)
        if starred is not None:
            self.star_clicked.emit(starred.key)
        return starred is not None

    def _starred_at(self, event: QMouseEvent) -> Operator | None:
        """The operator whose star lies under the left button."""
        at = event.position().toPoint()
        index = self.indexAt(at)
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            return None
        return self._operator(index) if self.star_rect(index).contains(at) else None

    def _hover(self, index: QModelIndex) -> None:
        if index == self.hovered:
            return
        for old in (self.hovered, index):
            if old.isValid():
                self.viewport().update(self.visualRect(old))
        self.hovered = QPersistentModelIndex(index)
        self.hush()
        operator = self._operator(index)
        if operator is not None:
            self.first_words(operator.key)
            self._help.start()

    def _on_model_about_to_be_reset(self) -> None:
        self.hovered = QPersistentModelIndex()
        self.hush()

    def _on_help_timeout(self) -> None:
        operator = self._operator(self.hovered)
        if operator is not None and self.viewport().underMouse():
            words = self.first_words(operator.key) or operator.summary
            text = tooltip(msgspec.structs.replace(operator, summary=words)) + self.picture(operator.key)
            rect = self.visualRect(self.hovered)
            at = self.viewport().mapToGlobal(QPoint(self.viewport().width() + BESIDE_PX, rect.top() - BESIDE_PX))
            QToolTip.showText(at, text, self.viewport(), rect)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        operator = self._operator(index)
        if operator is not None:
            self.hush()
            self.operator_carried.emit(operator.key)


class _OperatorDelegate(QStyledItemDelegate):
    """Paints the category's mark, the title, where the operator lives, and its star; or a group and its count."""

    def __init__(self, theme: Theme, parent: LibraryTree) -> None:
        super().__init__(parent)
        self._theme, self._tree = theme, parent
        self._small = ui_font(11)
        self._stars: dict[tuple[str, str], QPixmap] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(super().sizeHint(option, index).width(), self._theme.ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        operator = index.data(OPERATOR_ROLE)
        if not isinstance(operator, Operator):
            self._paint_group(painter, option, index)
            return
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hidden = QStyleOptionViewItem(option)
        self.initStyleOption(hidden, index)
        hidden.text = ""
        widget = hidden.widget
        widget.style().drawControl(widget.style().ControlElement.CE_ItemViewItem, hidden, painter, widget)
        with PainterGuard(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_row(painter, QRect(option.rect).adjusted(6, 0, -STAR_SLOT_PX, 0), operator, index, selected)
            self._paint_star(painter, QRect(option.rect), index, selected)

    def _paint_row(self, painter: QPainter, rect: QRect, operator: Operator, index: Index, selected: bool) -> None:
        from gradstudio.ui.widgets.operator_text import draw_marked, home_of, short_home_of

        theme, aligned = self._theme, Qt.AlignmentFlag.AlignVCenter
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.category_mark(operator.category))
        painter.drawRoundedRect(rect.left(), rect.center().y() - MARK_PX // 2 + 1, MARK_PX, MARK_PX, 2.5, 2.5)
        place = rect.adjusted(MARK_PX + 9, 0, 0, 0)
        ink, dim = ("selection_text", "selection_text") if selected else ("text", "text_dim")
        metrics = QFontMetrics(self._small)
        free = place.width() - painter.fontMetrics().horizontalAdvance(operator.title) - 10
        home = home_of(operator) if metrics.horizontalAdvance(home_of(operator)) <= free else short_home_of(operator)
        home = metrics.elidedText(home, Qt.TextElideMode.ElideRight, free) if free >= LEAST_HOME_PX else ""
        room = place.width() - (metrics.horizontalAdvance(home) + 10 if home else 0)
        painter.setPen(theme.color(ink))
        mark = theme.color(ink if selected else "accent")
        title = QRect(place.left(), place.top(), room, place.height())
        used = draw_marked(painter, title, operator.title, index.data(SPANS_ROLE) or (), mark) + 8
        painter.setFont(self._small)
        painter.setPen(theme.color(dim))
        painter.drawText(place, aligned | Qt.AlignmentFlag.AlignRight, home)
        phrase = str(index.data(PHRASE_ROLE) or "")
        if phrase and not index.data(SPANS_ROLE) and room - used >= LEAST_PHRASE_PX:
            elided = metrics.elidedText(phrase, Qt.TextElideMode.ElideRight, room - used)
            painter.drawText(title.adjusted(used, 0, 0, 0), aligned, elided)

    def _paint_star(self, painter: QPainter, rect: QRect, index: Index, selected: bool) -> None:
        """Full for a favourite; an empty one under the pointer and on the current row."""
        favourite = bool(index.data(FAVOURITE_ROLE))
        if not favourite and not selected and index != self._tree.hovered:
            return
        if selected:
            role = "selection_text"
        elif favourite:
            role = "warning"
        else:
            role = "text_dim"
        left = rect.right() + 1 - STAR_SLOT_PX + (STAR_SLOT_PX - STAR_PX) // 2
        painter.drawPixmap(left, rect.center().y() - STAR_PX // 2 + 1, self._star(favourite, role))

    def _star(self, full: bool, role: str) -> QPixmap:
        name = "star_full" if full else "star"
        if (name, role) not in self._stars:
            ratio = self._tree.devicePixelRatioF()
            self._stars[name, role] = icon_pixmap(name, self._theme.color(role), STAR_PX, ratio)
        return self._stars[name, role]

    def _paint_group(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The heading, as far as there is room for it before its count."""
        count = int(index.data(COUNT_ROLE) or 0)
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        counted = QFontMetrics(self._small).horizontalAdvance(str(count)) if count else 0
        room = QRect(shown.rect).width() - STAR_SLOT_PX - counted - 14
        shown.text = QFontMetrics(shown.font).elidedText(str(shown.text), Qt.TextElideMode.ElideRight, room)
        widget = shown.widget
        widget.style().drawControl(widget.style().ControlElement.CE_ItemViewItem, shown, painter, widget)
        self._paint_count(painter, QRect(option.rect), count)

    def _paint_count(self, painter: QPainter, rect: QRect, count: int) -> None:
        if not count:
            return
        painter.save()
        painter.setFont(self._small)
        painter.setPen(self._theme.color("text_dim"))
        place = rect.adjusted(0, 0, -STAR_SLOT_PX, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(count))
        painter.restore()


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
