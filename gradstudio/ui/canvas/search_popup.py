"""The quick search: type a few letters at the cursor, press Enter, and the operator is there."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gradstudio.operators.catalogue import load
from gradstudio.operators.model import Operator
from gradstudio.operators.search import Find
from gradstudio.ui.canvas.search_rows import FIND, ROW_HEIGHT, TYPED, WIDTH, RowPainter
from gradstudio.ui.panels.signature import signature
from gradstudio.ui.state.shelf import Shelf
from gradstudio.ui.theme import Theme, mono_font, ui_font

ROWS: Final = 8
MARGIN: Final = 8
SPACING: Final = 6
FIELD: Final = 30
HINT: Final = 20
SIGNATURE: Final = 34
"""Heights: of the field, of "Did you mean", and at least of the current row's signature in two lines."""
LIMIT: Final = 40
RECENT_SHOWN: Final = 5
WANTED_FIRST: Final = (
    "operator.add", "operator.mul", "operator.matmul", "operator.sub", "operator.truediv", "operator.pow",
    "torch.Tensor.sum", "torch.Tensor.mean", "torch.relu", "torch.nn.functional.relu", "torch.sigmoid", "torch.tanh",
    "torch.exp", "torch.softmax", "torch.nn.functional.softmax", "torch.nn.functional.mse_loss",
    "torch.nn.functional.cross_entropy", "torch.Tensor.backward", "torch.nn.Linear", "torch.Tensor.reshape",
    "torch.Tensor.T", "operator.getitem", "torch.Tensor.detach", "torch.Tensor.to", "torch.Tensor.grad",
)  # fmt: skip
"""What one usually wants at the end of a wire, before anything was typed."""
STARTED_WITH: Final = ("torch.tensor", "torch.randn", "torch.zeros", "torch.ones", "torch.arange", "python.literal")
"""What one usually wants where no wire waits."""
_KEEPS_OPEN = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
Fits = Callable[[Operator], bool]


class SearchPopup(QFrame):
    """A field and a list of operators over the canvas.

    Signals:
        chosen(object): an operator key.
        closed(): it is over, with or without a choice.
    """

    chosen = Signal(object)
    closed = Signal()

    def __init__(
        self, parent: QWidget, theme: Theme, fits: Fits | None = None, title: str = "", shelf: Shelf | None = None
    ) -> None:
        """`fits` leaves out operators that a waiting wire cannot use."""
        super().__init__(parent)
        self._fits, self._open, self._room = fits, True, parent
        self._shelf = shelf or Shelf(parent=self)
        self.setObjectName("canvas_search")
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(title or f"Search {len(load()):,} operators…")
        self.field.setFont(ui_font(13))
        self.field.installEventFilter(self)
        self.field.setFixedHeight(FIELD)
        self.list = self._empty_list(theme)
        self.hint = QLabel("", self)
        self.hint.setProperty("role", "dim")
        self.hint.setFixedHeight(HINT)
        self.signature = self._signature_label()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(SPACING)
        for widget in (self.field, self.hint, self.list, self.signature):
            layout.addWidget(widget)
        self.setStyleSheet(_sheet(theme))
        self.field.textChanged.connect(self._on_field_text_changed)
        self._fill("")

    def _empty_list(self, theme: Theme) -> QListWidget:
        rows = QListWidget(self)
        rows.setItemDelegate(RowPainter(theme, self._shelf, rows))
        rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        rows.setUniformItemSizes(True)
        rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
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
        return tuple(self.list.item(row).data(FIND).operator.key for row in range(self.list.count()))

    def documented_operator(self) -> str:
        """The key of the row that is lit, which F1 explains; "" for none."""
        row = self.list.currentRow()
        return str(self.list.item(row).data(FIND).operator.key) if row >= 0 else ""

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

    def _on_list_current_row_changed(self, row: int) -> None:
        """Show how the current row is written."""
        self._fit_height()
        text = signature(self.list.item(row).data(FIND).operator) if row >= 0 else ""
        self.signature.setText(in_two_lines(text, QFontMetrics(self.signature.font()), WIDTH - 2 * MARGIN - 10))

    def _on_field_text_changed(self, text: str) -> None:
        self._fill(text)

    def _fill(self, query: str) -> None:
        finds = list(self._found(query))
        nothing = not finds
        if nothing:
            finds = [Find(row) for row in load().index.nearest(query) if self._fits is None or self._fits(row)]
        self.list.clear()
        for find in finds:
            row = QListWidgetItem(find.operator.title, self.list)
            row.setData(FIND, find)
            row.setData(TYPED, query)
        self.hint.setText(f"Nothing fits “{query.strip()}”." + (" Did you mean" if finds else ""))
        self.hint.setVisible(nothing)
        self.list.setCurrentRow(-1 if nothing else 0)
        self._on_list_current_row_changed(self.list.currentRow())

    def _fit_height(self) -> None:
        """As high as what is shown."""
        count, policy = self.list.count(), Qt.ScrollBarPolicy
        self.list.setVisible(count > 0)
        self.list.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if count > ROWS else policy.ScrollBarAlwaysOff)
        self.list.setFixedHeight(max(1, min(count, ROWS)) * ROW_HEIGHT)
        self.signature.setVisible(self.list.currentRow() >= 0)
        shown = [HINT] * (not self.hint.isHidden()) + [self.list.height()] * (count > 0)
        shown += [self.signature.height()] * (not self.signature.isHidden())
        self.setFixedSize(WIDTH, 2 * MARGIN + FIELD + sum(SPACING + height for height in shown))

    def _found(self, query: str) -> Iterator[Find]:
        finds: Iterable[Find]
        if query.strip():
            limit = LIMIT if self._fits is None else len(load())
            finds = load().index.find(query, limit=limit, preferred=self._shelf.preferred)
        else:
            finds = map(Find, self._at_hand())
        return islice((find for find in finds if self._fits is None or self._fits(find.operator)), LIMIT)

    def _at_hand(self) -> Iterator[Operator]:
        """Before anything is typed: used last, favourites, what is usual here, then all the others."""
        usual = WANTED_FIRST if self._fits is not None else (*STARTED_WITH, *WANTED_FIRST)
        catalogue = load()
        keys = dict.fromkeys((*self._shelf.recent[:RECENT_SHOWN], *self._shelf.favourites, *usual))
        first = {key: row for key in keys if (row := catalogue.entry(key)) is not None}
        return chain(first.values(), (row for row in catalogue if row.key not in first))

    def _take(self, row: QListWidgetItem | None) -> None:
        if row is None or not self._open:
            return
        self._open = False
        key = row.data(FIND).operator.key
        self.hide()
        self.closed.emit()
        self.chosen.emit(key)
        self.deleteLater()


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
