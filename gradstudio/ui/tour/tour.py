"""Leads a person through a first program: shows a card, watches the document, goes on by itself."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QToolButton, QWidget

from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.tour.card import TourCard
from gradstudio.ui.tour.steps import STEPS

if TYPE_CHECKING:
    from gradstudio.ui.main_window import MainWindow


class Tour(QObject):
    """One walk through the steps, from `begin` until it is done or left.

    Attributes:
        number: index of the step that is shown; None: the tour is over, or has not begun.
    """

    def __init__(self, window: "MainWindow") -> None:
        """Nothing is shown yet."""
        super().__init__(window)
        self._window = window
        self._session: Session | None = None
        self.number: int | None = None
        self.card: TourCard | None = None

    def begin(self) -> None:
        """Show the first step, on an empty canvas."""
        window = self._window
        self.end()
        if window.session.graph_store.graph.nodes or not window.session.is_untouched:
            window.file.new()
        self._session, self.number = window.session, 0
        self.card = card = TourCard(window.frame, window.theme)
        card.skipped.connect(self._on_card_skipped)
        card.left.connect(self.leave)
        session = self._session
        for happened in (
            session.graph_store.edited,
            session.results.changed,
            session.results.moment_moved,
            session.run.state_changed,
        ):
            happened.connect(self._look)
        window.documents.shown.connect(self._on_documents_shown)
        window.frame.installEventFilter(self)
        self._show()
        window.canvas.setFocus()

    def leave(self) -> None:
        """No more of it; it does not come again by itself."""
        self._window.settings.change(tour_done=True)
        self.end()

    def end(self) -> None:
        """Take the card away and watch no longer."""
        if self.card is None or self._session is None:
            return
        session, window = self._session, self._window
        for happened in (
            session.graph_store.edited,
            session.results.changed,
            session.results.moment_moved,
            session.run.state_changed,
        ):
            happened.disconnect(self._look)
        window.documents.shown.disconnect(self._on_documents_shown)
        window.frame.removeEventFilter(self)
        self.card.hide()
        self.card.deleteLater()
        self.card, self.number, self._session = None, None, None

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        if self.card is not None:
            self.card.set_theme(theme)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The card keeps its place; Esc that nothing else had a use for leaves the tour."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            QTimer.singleShot(0, self, self._place)
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.leave()
            return True
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------------ inner workings

    def _show(self) -> None:
        if self.card is None or self.number is None:
            return
        step, last = STEPS[self.number], self.number == len(STEPS) - 1
        if step.place in ("inspector", "code"):
            self._window.frame.docks.bring_forward(step.place)
        go_on = "Finish" if last else "Skip" if step.done is not None else "Next"
        self.card.say(f"{self.number + 1} of {len(STEPS)}", step.title, step.words, go_on)
        self.card.show()
        self._place()
        QTimer.singleShot(0, self, self._place)

    def _place(self) -> None:
        if self.card is None or self.number is None:
            return
        place = STEPS[self.number].place
        widget = self._widget(place)
        frame = self._window.frame
        target = QRect(widget.mapTo(frame, QPoint(0, 0)), widget.size())
        self.card.point_at(target, inside=place == "canvas")

    def _widget(self, place: str) -> QWidget:
        window = self._window
        if place == "canvas":
            return window.canvas
        if "." not in place:
            return window.frame.docks[place]
        button = window.frame.toolbar.widgetForAction(window.actions[place])
        return button if isinstance(button, QToolButton) and button.isVisible() else window.frame.toolbar

    def _go_on(self) -> None:
        if self.number is None or self.number + 1 == len(STEPS):
            self.leave()
            return
        self.number += 1
        self._show()

    def _look(self, *_what: object) -> None:
        if self.number is None or self._session is None:
            return
        done = STEPS[self.number].done
        if done is not None and done(self._session):
            self._go_on()

    def _on_card_skipped(self) -> None:
        self._go_on()

    def _on_documents_shown(self, _tab: object) -> None:
        if self._session is not None and self._window.session is not self._session:
            self.end()
