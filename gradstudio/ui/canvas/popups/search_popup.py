"""The quick search: type a few letters at the cursor, press Enter, and the operator is there."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator
from gradstudio.operators.search import filters
from gradstudio.operators.search.search_index import Find
from gradstudio.scene.edit import search_suggestions
from gradstudio.scene.edit.search_suggestions import GRAMMAR, Wanted
from gradstudio.ui.canvas.paint.card_picture import CardPictures
from gradstudio.ui.canvas.popups.search_preview import SearchPreview, with_room_beside
from gradstudio.ui.canvas.popups.search_row_delegate import (
    FIND,
    ROW_HEIGHT,
    TYPED,
    WIDTH,
    SearchRowDelegate,
    star_place,
)
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.operator_signature import signature
from gradstudio.ui.widgets.popup_list import PopupList

ROWS: Final = 8
MARGIN: Final = 8
SPACING: Final = 6
FIELD: Final = 30
HINT: Final = 20
SIGNATURE: Final = 34
"""Heights: of the field, of "Did you mean", and at least of the current row's signature in two lines."""
ANYTHING: Final = Wanted()


class SearchPopup(PopupList[Find]):
    """Operators over the canvas, with the current one's card and words beside it; `chosen` tells an operator key.

    Attributes:
        by_mouse: whether the choice was made with the mouse.
    """

    def __init__(
        self,
        parent: QWidget,
        theme: Theme,
        wanted: Wanted = ANYTHING,
        shelf: Favourites | None = None,
        pictures: CardPictures | None = None,
        says: Callable[[str], str] = lambda _key: "",
    ) -> None:
        """`wanted` is what the search is for; `says` gives torch's first sentence on an operator, "" while unknown."""
        super().__init__(parent, "Search the operators")
        self.wanted, self.by_mouse = wanted, False
        self._says, self._typed = says, filters.read("")
        self._is_narrowing = False
        self._shelf = shelf or Favourites(parent=self)
        self.setObjectName("canvas_search")
        self.field.setPlaceholderText(wanted.title or f"Search {len(load()):,} operators…")
        self.field.setFont(ui_font(13))
        self.field.setFixedHeight(FIELD)
        self.list.setItemDelegate(SearchRowDelegate(theme, self._shelf, self.list, wanted.costs))
        self.list.viewport().setMouseTracking(True)
        self.list.viewport().installEventFilter(self)
        self.hint = self._hint_label()
        self.signature = self._signature_label()
        self.preview = SearchPreview(parent, theme, pictures or CardPictures())
        self.preview.setFocusProxy(self.field)
        for frame in (self, self.preview):  # a click beside the rows leaves the field its focus
            frame.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(SPACING)
        for widget in (self.field, self.hint, self.list, self.signature):
            layout.addWidget(widget)
        self.setStyleSheet(_sheet(theme))
        self._shelf.changed.connect(self.list.viewport().update)
        self.narrow("")

    def _hint_label(self) -> QLabel:
        label = QLabel("", self)
        label.setProperty("role", "dim")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setContentsMargins(4, 0, 4, 0)
        return label

    def _signature_label(self) -> QLabel:
        label = QLabel("", self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setFont(mono_font(11))
        label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        label.setContentsMargins(4, 0, 4, 0)
        label.setFixedHeight(max(SIGNATURE, 2 * QFontMetrics(label.font()).lineSpacing() + 2))
        return label

    def open_at(self, at: QPoint) -> None:
        """Show it with its corner at a point of the parent, wholly inside, and with room for the preview."""
        room = self._room.size()
        left = max(4, min(at.x(), room.width() - self.width() - 4))
        self.move(with_room_beside(left, room.width()), max(4, min(at.y(), room.height() - self.height() - 4)))
        self.show()
        self.raise_()
        self._place_preview()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def operators(self) -> tuple[str, ...]:
        """Keys of the rows, top to bottom."""
        return tuple(find.operator.key for find in self.rows)

    def documented_operator(self) -> str:
        """The key of the row that is lit, which F1 explains; "" for none."""
        return self.current.operator.key if self.current is not None else ""

    def matches(self, typed: str) -> Sequence[Find]:
        """The operators that fit; the nearest where none does."""
        shelf = self._shelf
        finds = search_suggestions.suggestions_for(self.wanted, self._typed, shelf.recent, shelf.favourites)
        self._fits = bool(finds)
        return finds or search_suggestions.nearest(self.wanted, self._typed)

    def row_data(self, row: Find, role: int) -> object:
        """Its title, and all of it with what was typed for the painter."""
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.operator.title
            case _ if role == FIND:
                return row
            case _:
                return self._typed.text if role == TYPED else None

    def narrow(self, typed: str) -> None:
        """List what fits; where nothing does, the nearest, of which none is lit."""
        self._typed = filters.read(typed)
        self._is_narrowing = True
        super().narrow(typed)
        words = search_suggestions.hint(typed, self._typed) or ("" if typed.strip() else GRAMMAR)
        if not self._fits and not self._typed.wrong:
            words = f"Nothing fits “{typed.strip()}”." + (" Did you mean" if self.rows else "")
        self.hint.setText(words)
        self.hint.setVisible(bool(words))
        if not self._fits:
            self.list.go(-1)
        self._is_narrowing = False
        self.show_current()

    def _on_list_current_changed(self) -> None:
        """Show what is lit; of what is lit while the list is narrowed, the last."""
        if not self._is_narrowing:
            super()._on_list_current_changed()

    def show_current(self) -> None:
        """Show how the current row is written, its card, and what it does."""
        self._fit_height()
        operator: Operator | None = self.current.operator if self.current is not None else None
        text = signature(operator) if operator is not None else ""
        self.preview.show_operator(operator, self._says(operator.key) if operator is not None else "")
        self._place_preview()
        self.signature.setText(in_two_lines(text, QFontMetrics(self.signature.font()), WIDTH - 2 * MARGIN - 10))

    def take(self) -> None:
        """The current row is meant."""
        key = self.documented_operator()
        if key and self._open:
            self.leave()
            self.chosen.emit(key)

    def leave(self) -> None:
        """It is over, with its preview."""
        if self._open:
            self.preview.hide()
            self.preview.deleteLater()
        super().leave()

    def page_rows(self) -> int:
        """As many as are seen at once."""
        return ROWS

    def claims(self, event: QKeyEvent) -> bool:
        """The key of favourites means the row that is lit."""
        return _is_star(event)

    def own_key(self, event: QKeyEvent) -> bool:
        """Tab completes a condition, else it takes; a key makes the row a favourite, or no longer."""
        if _is_star(event):
            if self.documented_operator():
                self._shelf.toggle(self.documented_operator())
            return True
        if event.key() != Qt.Key.Key_Tab:
            return False
        if text := search_suggestions.complete_condition(self.field.text()):
            self.field.setText(text)
        else:
            self.take()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A star of a row is clicked."""
        if watched is self.list.viewport() and self._press_star(event):
            return True
        return super().eventFilter(watched, event)

    def _press_star(self, event: QEvent) -> bool:
        """A press on the star of a row makes it a favourite, or no longer, and chooses nothing."""
        pressed = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease)
        if not isinstance(event, QMouseEvent) or event.type() not in pressed:
            return False
        at = event.position().toPoint()
        index = self.list.indexAt(at)
        if not index.isValid() or not star_place(self.list.visualRect(index)).contains(at):
            return False
        if event.type() != QEvent.Type.MouseButtonRelease:
            self._shelf.toggle(self.rows[index.row()].operator.key)
        return True

    def _on_list_clicked(self, index: QModelIndex) -> None:
        self.by_mouse = True
        super()._on_list_clicked(index)

    def _fit_height(self) -> None:
        """As high as what is shown."""
        count, policy = len(self.rows), Qt.ScrollBarPolicy
        self.list.setVisible(count > 0)
        self.list.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if count > ROWS else policy.ScrollBarAlwaysOff)
        self.list.setFixedHeight(max(1, min(count, ROWS)) * ROW_HEIGHT)
        self.signature.setVisible(self.current is not None)
        self.hint.setMinimumHeight(0)  # else what was said before counts
        self.hint.setFixedHeight(max(HINT, self.hint.heightForWidth(WIDTH - 2 * MARGIN)))
        shown = [self.hint.height()] * (not self.hint.isHidden()) + [self.list.height()] * (count > 0)
        shown += [self.signature.height()] * (not self.signature.isHidden())
        self.setFixedSize(WIDTH, 2 * MARGIN + FIELD + sum(SPACING + height for height in shown))

    def _place_preview(self) -> None:
        """Beside the search, within the window."""
        if self.isVisible():
            self.preview.stand_beside(self.geometry(), self._room.rect())


def _is_star(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_B and event.modifiers() == Qt.KeyboardModifier.ControlModifier


def in_two_lines(text: str, metrics: QFontMetrics, width: int) -> str:
    """A signature in at most two lines, broken behind a comma, a bracket or a dot; "…" where more would follow."""
    if metrics.horizontalAdvance(text) <= width:
        return text
    fits = next(k for k in range(len(text), 0, -1) if metrics.horizontalAdvance(text[:k].rstrip()) <= width)
    cut = max(text.rfind(sign, 0, fits) + 1 for sign in ",(.") or fits
    return f"{text[:cut].rstrip()}\n{metrics.elidedText(text[cut:].strip(), Qt.TextElideMode.ElideRight, width)}"


def _sheet(theme: Theme) -> str:
    return (
        f"QFrame#canvas_search {{ background: {theme.surface}; border: 1px solid {theme.card_edge};"
        " border-radius: 9px; }"
        f"QListView {{ background: {theme.surface}; border: 0; outline: 0; }}"
    )
