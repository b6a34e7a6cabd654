"""The middle of the window: the canvas, the timeline under it, and a band that says when the past is shown."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSplitter, QVBoxLayout, QWidget

from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.timeline.panel import TimelinePanel

BAND_PX = 28
HANDLE_PX = 4
ROOMY_PX = 560
"""Less height than this has a small window for both; the timeline is as low as it may be there."""


class Workspace(QWidget):
    """Canvas above, timeline below, as tall as it was left.

    Signals:
        timeline_switched(): the timeline was shown or hidden.
    """

    timeline_switched = Signal()

    def __init__(self, canvas: QWidget, panel: TimelinePanel, attention: Attention, settings: Settings) -> None:
        """Put both together."""
        super().__init__()
        self._canvas = canvas
        self._panel = panel
        self._attention = attention
        self._settings = settings
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setObjectName("workspace")
        self.splitter.setHandleWidth(HANDLE_PX)
        self.splitter.addWidget(canvas)
        self.splitter.addWidget(panel)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setCollapsible(0, False)
        self.splitter.setCollapsible(1, False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self.band = _Band(self, attention)
        canvas.installEventFilter(self)
        panel.setVisible(settings.preferences.timeline)
        self._sized = False
        self.splitter.splitterMoved.connect(self._on_splitter_moved)
        panel.said.connect(self._on_panel_said)

    @property
    def shows_timeline(self) -> bool:
        """Whether the timeline is there."""
        return not self._panel.isHidden()

    def toggle_timeline(self) -> None:
        """Show or hide the timeline, and remember it."""
        self._panel.setVisible(not self.shows_timeline)
        self._settings.change(timeline=self.shows_timeline)
        self.timeline_switched.emit()

    def take_up_preference(self) -> None:
        """Show or hide the timeline as it was chosen last, in whatever tab that was."""
        if self.shows_timeline != self._settings.preferences.timeline:
            self._panel.setVisible(self._settings.preferences.timeline)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The band lies over the canvas's upper edge."""
        if watched is self._canvas and event.type() == QEvent.Type.Resize:
            self._place_band()
        return super().eventFilter(watched, event)

    # ------------------------------------------------------------------ inner workings

    def _place_band(self) -> None:
        self.band.setFixedSize(self._canvas.width(), BAND_PX)  # its words then never ask the window for room
        self.band.raise_()

    def _share(self) -> None:
        usual = self._panel.sizeHint().height() if self.height() >= ROOMY_PX else 0
        wanted = max(self._settings.preferences.timeline_px or usual, self._panel.minimumHeight())
        self.splitter.setSizes([max(self.height() - wanted - HANDLE_PX, 1), wanted])

    def _on_splitter_moved(self, _position: int, _index: int) -> None:
        self._settings.change(timeline_px=self._panel.height())

    def _on_panel_said(self, words: object) -> None:
        self.band.say(str(words))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not (self._sized and self._settings.preferences.timeline_px):
            self._sized = True
            self.splitter.setGeometry(self.rect())  # now: it shares what it has
            self._share()
        self._place_band()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc that ends nothing on the canvas leads back to now."""
        if event.key() == Qt.Key.Key_Escape and self._attention.moment is not None:
            self._attention.look_at_now()
            event.accept()
            return
        super().keyPressEvent(event)


class _Band(QFrame):
    """Says that the canvas shows an earlier moment; hidden while it shows now."""

    def __init__(self, parent: QWidget, attention: Attention) -> None:
        super().__init__(parent)
        self._attention, self._text = attention, ""
        self.setObjectName("past_band")
        self.words, self.back = QLabel(self), QPushButton("Back to now", self)
        self.back.setToolTip("Show the end of all that ran again  (Esc on the canvas)")
        self.back.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.back.clicked.connect(attention.look_at_now)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        row.addWidget(self.words, 1)
        row.addWidget(self.back)
        self.hide()

    def say(self, text: str) -> None:
        """Show the words of a moment; hide when it is now."""
        self._text = text
        if self._attention.moment is not None:
            self.words.setMinimumWidth(1)
            self._elide()
        self.setVisible(self._attention.moment is not None)

    def _elide(self) -> None:
        room = self.width() - self.back.sizeHint().width() - 30
        metrics = self.words.fontMetrics()
        shown = metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, room)
        self.words.setText(shown)
        self.words.setToolTip(self._text if shown != self._text else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()
