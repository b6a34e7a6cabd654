"""Leads a person through a first program: shows a card, watches the document, goes on by itself."""

from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDockWidget, QTabBar, QWidget

from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.canvas.paint.interaction_painter import hint_box
from gradstudio.ui.canvas.popups.search_popup import SearchPopup
from gradstudio.ui.canvas.popups.search_preview import SearchPreview
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.tour.tour_card import TourCard
from gradstudio.ui.tour.tour_steps import STEPS

DOCKS: Final = ("inspector", "code")
SETTLE_MS: Final = 150
"""The card looks for another place when what it may cover has been still so long."""
SEARCH_MOVES: Final = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide)
AIR_PX: Final = 48.0
"""Around the cards that are made for a person."""
SEARCH_WEIGHT: Final = 4
"""What is typed into is worse to hide than what stands there."""


class Tour(QObject):
    """One walk through the steps, from `begin` until it is done or left.

    Attributes:
        number: index of the step that is shown; None: the tour is over, or has not begun.
    """

    def __init__(self, window: WindowHost, parent: QObject) -> None:
        """Nothing is shown yet."""
        super().__init__(parent)
        self._window = window
        self._session: Session | None = None
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self._place)
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
        for happened in _signals(self._session):
            happened.connect(self._look)
        window.documents.shown.connect(self._on_documents_shown)
        self._moves = window.canvas.view_changed.connect(self._settle.start)
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
        window = self._window
        for happened in _signals(self._session):
            happened.disconnect(self._look)
        window.documents.shown.disconnect(self._on_documents_shown)
        QObject.disconnect(self._moves)
        self._settle.stop()
        self.card.ring.deleteLater()
        window.frame.removeEventFilter(self)
        self.card.hide()
        self.card.deleteLater()
        self.card, self.number, self._session = None, None, None

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        if self.card is not None:
            self.card.set_theme(theme)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The card keeps its place and makes way; Esc that nothing else had a use for leaves the tour."""
        if watched is not self._window.frame:
            if event.type() in SEARCH_MOVES:
                self._settle.start()
        elif event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            QTimer.singleShot(0, self, self._place)
        elif event.type() == QEvent.Type.ChildAdded:
            self._settle.start()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.leave()
            return True
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------------ inner workings

    def _show(self) -> None:
        if self.card is None or self.number is None:
            return
        step, last = STEPS[self.number], self.number == len(STEPS) - 1
        if step.place in DOCKS:
            self._window.frame.docks.bring_forward(step.place)
        if last:
            go_on = "Finish"
        elif step.make:
            go_on = "Do it for me"
        elif step.done:
            go_on = "Skip"
        else:
            go_on = "Next"
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
        self.card.point_at(target, place == "canvas", self._room(), self._to_be_seen())
        self.card.ring_around(target if "." in place and widget is not frame.toolbar else None)

    def _room(self) -> QRect:
        """Of the window, what lies between the toolbar and the status bar."""
        frame = self._window.frame
        top, bottom = frame.toolbar.geometry().bottom(), frame.statusBar().geometry().top()
        return QRect(0, top, frame.width(), bottom - top)

    def _to_be_seen(self) -> list[QRect]:
        """What the card had better not hide: the search with its preview, what stands on the canvas, docks."""
        frame, canvas = self._window.frame, self._window.canvas
        found = []
        for kind in (SearchPopup, SearchPreview):
            for widget in frame.findChildren(kind):
                widget.installEventFilter(self)
                if widget.isVisible():
                    found += SEARCH_WEIGHT * [QRect(widget.mapTo(frame, QPoint(0, 0)), widget.size())]
        found += self._docks_to_be_seen()
        view, corner = canvas.viewport().rect(), canvas.viewport().mapTo(frame, QPoint(0, 0))
        if canvas.scene.placement.extent() is None:
            hint = hint_box(view.width(), view.height())
            found.append(QRect(round(hint.x), round(hint.y), round(hint.width), round(hint.height)).translated(corner))
        for left, top, right, bottom in canvas.scene.placement.corners:
            (x, y), (to_x, to_y) = canvas.camera.to_view(left, top), canvas.camera.to_view(right, bottom)
            shown = QRect(round(x), round(y), round(to_x - x), round(to_y - y)).intersected(view)
            if not shown.isEmpty():
                found.append(shown.translated(corner))
        return found

    def _docks_to_be_seen(self) -> list[QRect]:
        """Where the step speaks of a dock: that one and all others, tabs between them included."""
        if self.number is None or STEPS[self.number].place not in DOCKS:
            return []
        frame = self._window.frame
        docks = [dock for dock in frame.findChildren(QDockWidget) if dock.isVisible() and not dock.isFloating()]
        bars = [bar for bar in frame.findChildren(QTabBar) if bar.isVisible() and bar.parentWidget() is frame]
        return [QRect(one.mapTo(frame, QPoint(0, 0)), one.size()) for one in (*docks, *bars)]

    def _widget(self, place: str) -> QWidget:
        window = self._window
        if place == "canvas":
            return window.canvas
        if "." not in place:
            return window.frame.docks[place]
        return window.toolbar.button(place) or window.frame.toolbar

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
        """What later steps need is made for who skips it; that leads on by itself, as by hand."""
        number, session = self.number, self._session
        make = STEPS[number].make if number is not None else None
        if make is not None and session is not None:
            make(session)
            canvas = self._window.canvas
            if (made := canvas.scene.placement.extent()) is not None:
                canvas.navigation.show_box(made.grown(AIR_PX))
        if self.number == number:
            self._go_on()

    def _on_documents_shown(self, _tab: object) -> None:
        if self._session is not None and self._window.session is not self._session:
            self.end()


def _signals(session: Session) -> tuple[SignalInstance, ...]:
    """What may have done a step."""
    return (
        session.graph_store.edited,
        session.results.changed,
        session.results.moment_moved,
        session.run.state_changed,
    )
