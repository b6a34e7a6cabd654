"""The quick search: type a few letters at the cursor, press Enter, and the operator is there."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator
from gradstudio.operators.search import filters
from gradstudio.scene.edit import search_suggestions
from gradstudio.scene.edit.search_suggestions import GRAMMAR, Wanted
from gradstudio.ui.canvas.paint.card_picture import CardPictures
from gradstudio.ui.canvas.popups.search_preview import SearchPreview, with_room_beside
from gradstudio.ui.canvas.popups.search_row_delegate import FIND, ROW_HEIGHT, TYPED, WIDTH, RowPainter, star_place
from gradstudio.ui.state.library.favourites import Shelf
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.operator_signature import signature

ROWS: Final = 8
MARGIN: Final = 8
SPACING: Final = 6
FIELD: Final = 30
HINT: Final = 20
SIGNATURE: Final = 34
"""Heights: of the field, of "Did you mean", and at least of the current row's signature in two lines."""
_KEEPS_OPEN = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
ANYTHING: Final = Wanted()


class SearchPopup(QFrame):
    """A field and a list of operators over the canvas, with the current one's card and words beside it.

    Attributes:
        by_mouse: whether the choice was made with the mouse.

    Signals:
        chosen(object): an operator key.
        closed(): it is over, with or without a choice.
    """

    chosen = Signal(object)
    closed = Signal()

    def __init__(
        self,
        parent: QWidget,
        theme: Theme,
        wanted: Wanted = ANYTHING,
        shelf: Shelf | None = None,
        pictures: CardPictures | None = None,
        says: Callable[[str], str] = lambda _key: "",
    ) -> None:
        """`wanted` is what the search is for; `says` gives torch's first sentence on an operator, "" while unknown."""
        super().__init__(parent)
        self.wanted, self.by_mouse = wanted, False
        self._open, self._room, self._says = True, parent, says
        self._shelf = shelf or Shelf(parent=self)
        self.setObjectName("canvas_search")
        self.field = self._search_field(wanted.title or f"Search {len(load()):,} operators…")
        self.list = self._empty_list(theme)
        self.hint = self._hint_label()
        self.signature = self._signature_label()
        self.preview = SearchPreview(parent, theme, pictures or CardPictures())
        for frame in (self, self.preview):  # a click beside the rows leaves the field its focus
            frame.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            frame.setFocusProxy(self.field)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(SPACING)
        for widget in (self.field, self.hint, self.list, self.signature):
            layout.addWidget(widget)
        self.setStyleSheet(_sheet(theme))
        self.field.textChanged.connect(self._on_field_text_changed)
        self._shelf.changed.connect(self.list.viewport().update)
        self._fill("")

    def _search_field(self, words: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setPlaceholderText(words)
        field.setAccessibleName("Search the operators")
        field.setFont(ui_font(13))
        field.installEventFilter(self)
        field.setFixedHeight(FIELD)
        return field

    def _hint_label(self) -> QLabel:
        label = QLabel("", self)
        label.setProperty("role", "dim")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setContentsMargins(4, 0, 4, 0)
        return label

    def _empty_list(self, theme: Theme) -> QListWidget:
        rows = QListWidget(self)
        rows.setItemDelegate(RowPainter(theme, self._shelf, rows, self.wanted.costs))
        rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        rows.setUniformItemSizes(True)
        rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows.viewport().setMouseTracking(True)
        rows.viewport().installEventFilter(self)
        rows.itemClicked.connect(self._on_list_item_clicked)
        rows.currentRowChanged.connect(self._on_list_current_row_changed)
        return rows

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
        return tuple(self.list.item(row).data(FIND).operator.key for row in range(self.list.count()))

    def documented_operator(self) -> str:
        """The key of the row that is lit, which F1 explains; "" for none."""
        row = self.list.currentRow()
        return str(self.list.item(row).data(FIND).operator.key) if row >= 0 else ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows walk the list while the field is typed into; leaving the field closes all; a star is clicked."""
        if watched is self.list.viewport():
            return self._press_star(event) or super().eventFilter(watched, event)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _is_star(event):
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in _KEEPS_OPEN:
            self.close_now()
        return super().eventFilter(watched, event)

    def close_now(self) -> None:
        """Go away without a choice."""
        if self._open:
            self._leave()
            self.closed.emit()

    def _leave(self) -> None:
        self._open = False
        self.hide()
        self.preview.hide()
        self.preview.deleteLater()
        self.deleteLater()

    def _press_star(self, event: QEvent) -> bool:
        """A press on the star of a row makes it a favourite, or no longer, and chooses nothing."""
        pressed = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease)
        if not isinstance(event, QMouseEvent) or event.type() not in pressed:
            return False
        at = event.position().toPoint()
        row = self.list.itemAt(at)
        if row is None or not star_place(self.list.visualItemRect(row)).contains(at):
            return False
        if event.type() != QEvent.Type.MouseButtonRelease:
            self._shelf.toggle(row.data(FIND).operator.key)
        return True

    def _key(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: ROWS, Qt.Key.Key_PageUp: -ROWS}
        key = Qt.Key(event.key())
        if key in steps:
            row = min(max(self.list.currentRow() + steps[key], 0), self.list.count() - 1)
            self.list.setCurrentRow(row)
            return True
        if _is_star(event):
            if self.documented_operator():
                self._shelf.toggle(self.documented_operator())
            return True
        if key == Qt.Key.Key_Tab and (text := search_suggestions.completed(self.field.text())):
            self.field.setText(text)
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self._take(self.list.currentItem())
            return True
        if key == Qt.Key.Key_Escape:
            self.close_now()
            return True
        return False

    def _on_list_item_clicked(self, row: QListWidgetItem) -> None:
        self.by_mouse = True
        self._take(row)

    def _on_list_current_row_changed(self, row: int) -> None:
        """Show how the current row is written, its card, and what it does."""
        self._fit_height()
        operator: Operator | None = self.list.item(row).data(FIND).operator if row >= 0 else None
        text = signature(operator) if operator is not None else ""
        self.preview.show_operator(operator, self._says(operator.key) if operator is not None else "")
        self._place_preview()
        self.signature.setText(in_two_lines(text, QFontMetrics(self.signature.font()), WIDTH - 2 * MARGIN - 10))

    def _on_field_text_changed(self, text: str) -> None:
        self._fill(text)

    def _fill(self, query: str) -> None:
        typed, shelf = filters.read(query), self._shelf
        finds = search_suggestions.found(self.wanted, typed, shelf.recent, shelf.favourites)
        nothing = not finds
        if nothing:
            finds = search_suggestions.nearest(self.wanted, typed)
        self.list.clear()
        for find in finds:
            row = QListWidgetItem(find.operator.title, self.list)
            row.setData(FIND, find)
            row.setData(TYPED, typed.text)
        words = search_suggestions.hint(query, typed) or ("" if query.strip() else GRAMMAR)
        if nothing and not typed.wrong:
            words = f"Nothing fits “{query.strip()}”." + (" Did you mean" if finds else "")
        self.hint.setText(words)
        self.hint.setVisible(bool(words))
        self.list.setCurrentRow(-1 if nothing else 0)
        self._on_list_current_row_changed(self.list.currentRow())

    def _fit_height(self) -> None:
        """As high as what is shown."""
        count, policy = self.list.count(), Qt.ScrollBarPolicy
        self.list.setVisible(count > 0)
        self.list.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if count > ROWS else policy.ScrollBarAlwaysOff)
        self.list.setFixedHeight(max(1, min(count, ROWS)) * ROW_HEIGHT)
        self.signature.setVisible(self.list.currentRow() >= 0)
        self.hint.setMinimumHeight(0)  # else what was said before counts
        self.hint.setFixedHeight(max(HINT, self.hint.heightForWidth(WIDTH - 2 * MARGIN)))
        shown = [self.hint.height()] * (not self.hint.isHidden()) + [self.list.height()] * (count > 0)
        shown += [self.signature.height()] * (not self.signature.isHidden())
        self.setFixedSize(WIDTH, 2 * MARGIN + FIELD + sum(SPACING + height for height in shown))

    def _place_preview(self) -> None:
        """Beside the search, within the window."""
        if self.isVisible():
            self.preview.stand_beside(self.geometry(), self._room.rect())

    def _take(self, row: QListWidgetItem | None) -> None:
        if row is None or not self._open:
            return
        key = row.data(FIND).operator.key
        self._leave()
        self.closed.emit()
        self.chosen.emit(key)


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
        f"QListWidget {{ background: {theme.surface}; border: 0; outline: 0; }}"
    )
