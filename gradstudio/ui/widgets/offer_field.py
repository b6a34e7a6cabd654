"""What is offered in the status bar: words of what has happened, a button that does something about it, and a no."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer, RunStatus
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.ui.app.window.status_parts import StatusWords

NO = "Not now"


class OfferField(QWidget):
    """Stands until it is answered, or something else runs.

    Signals:
        stands(bool): it is seen now, or not any more.
    """

    stands = Signal(bool)

    def __init__(self, status: RunStatus, theme: Theme, words: "StatusWords", parent: QWidget | None = None) -> None:
        """Hidden; it goes when something runs. `words` are those of the bar, before the buttons."""
        super().__init__(parent)
        self._offer: Offer | None = None
        self.words = words
        words.setProperty("role", "warning")
        self.accept, self.decline = QPushButton(self), QPushButton(NO, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GAP, 0, theme.GAP, 0)
        row.addWidget(self.words, 1)
        for button in (self.accept, self.decline):
            row.addWidget(button)
        status.changed.connect(self._on_status_changed)
        self.accept.clicked.connect(self._on_accept_clicked)
        self.decline.clicked.connect(self._on_decline_clicked)
        self.hide()

    def show_offer(self, offer: Offer | None) -> None:
        """Show it; None takes it away."""
        self._offer = offer
        self.setVisible(offer is not None)
        if offer is not None:
            self.words.show_words(offer.words)  # cut where the window is narrow; what is clicked is not
            self.accept.setText(offer.action)
            for button in (self.accept, self.decline):
                button.setMinimumWidth(button.sizeHint().width())
            self.words.setToolTip(f"{offer.why}\n{offer.words} {offer.action}?".lstrip())
            self.setToolTip(self.words.toolTip())
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """With the room of all words."""
        buttons = super().sizeHint()
        return QSize(buttons.width() + self.words.wanted_width, buttons.height())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.stands.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.stands.emit(False)

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
