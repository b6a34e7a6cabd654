"""What is offered in the status bar: words of what has happened, a button that does something about it, and a no."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer, RunStatus
from gradstudio.ui.theme import Theme

NO = "Not now"


class OfferWords(QLabel):
    """One line that ends in "…" where it has no room; `full` is all of it."""

    def __init__(self, role: str) -> None:
        """Nothing is said yet."""
        super().__init__()
        self.full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)

    def show_words(self, text: str) -> None:
        """Say something else."""
        self.full = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """The room of all of it."""
        margins = self.contentsMargins()
        width = self.fontMetrics().horizontalAdvance(self.full) + margins.left() + margins.right() + 2
        return QSize(width, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As much of it as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.contentsRect().width()
        self.setText(self.fontMetrics().elidedText(self.full, Qt.TextElideMode.ElideRight, room))


class OfferField(QWidget):
    """Stands until it is answered, or something else runs."""

    def __init__(self, status: RunStatus, theme: Theme, parent: QWidget | None = None) -> None:
        """Hidden; it goes when something runs."""
        super().__init__(parent)
        self._offer: Offer | None = None
        self.words = OfferWords("warning")
        self.accept, self.decline = QPushButton(self), QPushButton(NO, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GAP, 0, theme.GAP, 0)
        for widget in (self.words, self.accept, self.decline):
            row.addWidget(widget)
        self.words.setMinimumWidth(1)  # they are cut where the window is narrow, what is clicked is not
        status.changed.connect(self._on_status_changed)
        self.accept.clicked.connect(self._on_accept_clicked)
        self.decline.clicked.connect(self._on_decline_clicked)
        self.hide()

    def show_offer(self, offer: Offer | None) -> None:
        """Show it; None takes it away."""
        self._offer = offer
        self.setVisible(offer is not None)
        if offer is not None:
            self.words.show_words(offer.words)
            self.accept.setText(offer.action)
            for button in (self.accept, self.decline):
                button.setMinimumWidth(button.sizeHint().width())
            self.setToolTip(f"{offer.why}\n{offer.words} {offer.action}?".lstrip())

    def _on_status_changed(self, state: RunState) -> None:
        if state.busy:
            self.show_offer(None)

    def _on_accept_clicked(self) -> None:
        offer, self._offer = self._offer, None
        self.hide()
        if offer is not None:
            offer.accept()

    def _on_decline_clicked(self) -> None:
        offer, self._offer = self._offer, None
        self.hide()
        if offer is not None:
            offer.decline()
