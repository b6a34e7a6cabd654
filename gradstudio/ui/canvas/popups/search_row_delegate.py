"""The rows of the quick search, painted."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gradstudio.operators.catalogue.descriptions import plain_summary
from gradstudio.operators.model import Face, Operator
from gradstudio.operators.search.highlighting import highlight_spans
from gradstudio.operators.search.search_index import Find
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.theme import Theme, icon_pixmap, ui_font
from gradstudio.ui.widgets.operator_text import draw_marked, home_of
from gradstudio.ui.widgets.paint_guard import PainterGuard

WIDTH: Final = 420
ROW_HEIGHT: Final = 40
STAR_PX: Final = 13
HOME_GAP: Final = 10
"""Pixels between a title and where it lives."""
FIND = Qt.ItemDataRole.UserRole
TYPED = Qt.ItemDataRole.UserRole + 1
STAR_SLOT: Final = 26
"""Pixels at the right end of a row that are its star's."""
Index = QModelIndex | QPersistentModelIndex


def star_place(row: QRect) -> QRect:
    """Where the star of a row is."""
    return QRect(row.right() + 1 - STAR_SLOT, row.top(), STAR_SLOT, row.height())


def spelling_parts(operator: Operator) -> tuple[str, str, str]:
    """How a row tells `relu` from `relu`: what stands before the title and after it, and where it lives."""
    home = home_of(operator)
    if operator.face is Face.METHOD:
        return "x.", "()", f"{home} method"
    if operator.face is Face.CONSTRUCTOR and operator.path.startswith("torch.nn."):
        return "", "", f"{home} module"
    return "", "", home


class SearchRowDelegate(QStyledItemDelegate):
    """Two lines: title and where it lives, then the summary; a mark in the category's colour, a star for favourites."""

    def __init__(self, theme: Theme, shelf: Favourites, parent: QObject, says: Callable[[str], str]) -> None:
        """Paint in a theme; `says` is what an operator would cost here, "" for nothing."""
        super().__init__(parent)
        self._theme, self._shelf, self._says = theme, shelf, says

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(WIDTH - 40, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        with PainterGuard(painter):
            self._paint(painter, option, index)

    def _paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        find, theme = index.data(FIND), self._theme
        rect: QRect = option.rect
        lit = bool(option.state & QStyle.StateFlag.State_Selected)
        under = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if lit:
            painter.setBrush(theme.color("selection"))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 5, 5)
        painter.setBrush(theme.category_mark(find.operator.category))
        painter.drawRoundedRect(rect.x() + 10, rect.y() + 8, 9, 9, 2, 2)
        self._title(painter, rect.adjusted(28, 3, -STAR_SLOT, -20), find, str(index.data(TYPED)), lit)
        painter.setFont(ui_font(11))
        painter.setPen(theme.color("selection_text" if lit else "text_dim"))
        line = rect.adjusted(28, 20, -STAR_SLOT, -2)
        summary = plain_summary(find.operator.summary)
        said = " · ".join(filter(None, (self._says(find.operator.key), find.phrase, summary)))
        elided = painter.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, elided)
        self._star(painter, rect, find, lit, under)

    def _star(self, painter: QPainter, row: QRect, find: Find, lit: bool, under: bool) -> None:
        """Full for a favourite; an empty one on the current row and under the pointer."""
        favourite = find.operator.key in self._shelf.favourites
        if favourite or lit or under:
            if lit:
                role = "selection_text"
            elif favourite:
                role = "warning"
            else:
                role = "text_dim"
            at = star_place(row).center()
            star = icon_pixmap("star_full" if favourite else "star", self._theme.color(role), STAR_PX)
            painter.drawPixmap(at.x() - STAR_PX // 2, at.y() - STAR_PX // 2, star)

    def _title(self, painter: QPainter, line: QRect, find: Find, typed: str, lit: bool) -> None:
        theme, (before, after, home) = self._theme, spelling_parts(find.operator)
        painter.setFont(ui_font(13))
        painter.setPen(theme.color("selection_text" if lit else "text"))
        room = line.width() - painter.fontMetrics().horizontalAdvance(home) - HOME_GAP
        mark = theme.color("selection_text" if lit else "accent")
        place = QRect(line.left(), line.top(), room, line.height())
        title = find.operator.title
        spans = tuple((first + len(before), last + len(before)) for first, last in highlight_spans(typed, title))
        used = draw_marked(painter, place, f"{before}{title}{after}", spans, mark)
        painter.setPen(theme.color("selection_text" if lit else "text_dim"))
        behind = QRect(line.left() + used + HOME_GAP, line.top(), line.width() - used - HOME_GAP, line.height())
        painter.drawText(behind, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, home)
