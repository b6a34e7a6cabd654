"""The History dock: every step of the document, the one that stands marked; a click or an arrow key goes there."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme, icon

REFRESH_MS = 30
SAVED = "As it was saved"


class HistoryPanel(QWidget):
    """Undo and redo as a list: older steps above, what was taken back dim below."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Follow the session's history; results are not part of it, and stay."""
        super().__init__(parent)
        self._store, self._session, self._theme = session.graph_store, session, theme
        self._filling = False
        self.list = QListWidget(self)
        self.list.setAccessibleName("Steps of the document")
        self.list.setUniformItemSizes(True)
        self.setFocusProxy(self.list)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 0, 4, 0)
        column.addWidget(self.list)
        self._throttle = Throttle(REFRESH_MS, self)
        self._throttle.due.connect(self.refresh)
        self._store.history_changed.connect(self._throttle.request)
        self._store.replaced.connect(self._throttle.request)
        self._store.clean_changed.connect(self._throttle.request)
        self.list.currentRowChanged.connect(self._on_list_current_row_changed)
        self.refresh()

    def refresh(self) -> None:
        """Show the history as it stands."""
        stack, shown = self._store.undo_stack, self.list
        texts = [self._first_words(), *(stack.text(number) for number in range(stack.count()))]
        self._filling = True
        while shown.count() > len(texts):
            shown.takeItem(shown.count() - 1)
        while shown.count() < len(texts):
            shown.addItem(QListWidgetItem())
        for number, text in enumerate(texts):
            self._show_step(shown.item(number), text, number)
        shown.setCurrentRow(stack.index())
        shown.scrollToItem(shown.currentItem())
        self._filling = False

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    # ------------------------------------------------------------------ inner workings

    def _first_words(self) -> str:
        if self._session.path is not None:
            return f"Open {self._session.path.name}"
        return f"Open {self._session.subject}" if self._session.subject else "New document"

    def _show_step(self, item: QListWidgetItem, text: str, number: int) -> None:
        stack = self._store.undo_stack
        is_now, is_ahead = number == stack.index(), number > stack.index()
        font = QFont(self.list.font())
        font.setBold(is_now)
        font.setItalic(is_ahead)
        item.setText(text)
        item.setFont(font)
        item.setForeground(self._theme.color("text_dim" if is_ahead else "text"))
        clean = number == stack.cleanIndex() and self._session.path is not None
        item.setIcon(icon("save", self._theme, "text_dim") if clean else icon("step", self._theme, "text_dim"))
        when = "What was taken back; a click makes it again" if is_ahead else "A click goes back to here"
        item.setToolTip("\n".join([*([SAVED] if clean else []), "The document as it stands" if is_now else when]))

    def _on_list_current_row_changed(self, row: int) -> None:
        """A person chose a step: undo or redo as far as that."""
        if not self._filling and row >= 0:
            self._store.go_to(row)
