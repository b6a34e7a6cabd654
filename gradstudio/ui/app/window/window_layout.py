"""Keeps the docks in their layout while the window is still finding its size, and remembers it.

A window manager gives a window its size some time after it was shown, and panels that are filled in later change
what the docks want; so the layout is applied again until the person takes the docks in hand.
"""

from collections.abc import Callable
from typing import Literal as OneOf

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QObject, QSize, QTimer
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent, QWindowStateChangeEvent
from PySide6.QtWidgets import QMainWindow

from gradstudio.ui.docks.dock_set import Docks
from gradstudio.ui.state.settings import Settings

LAYOUT_VERSION = 7
MAX_TURNS = 12
"""How often the layout is applied after one cause, at most; two turns are usual."""
LOOKED_AT = (QResizeEvent, QShowEvent, QWindowStateChangeEvent, QMouseEvent, QKeyEvent)
"""Most events of the window are of its actions, and sooner known by their class than by their type."""
Follows = OneOf["first", "saved", "hand"]


class LayoutKeeper(QObject):
    """Applies the first layout, or the one that was left, as often as the window changes its size.

    Attributes:
        follows: "first": the docks keep their share of the window; "saved": they are put as they were left until
            the person first presses a key or a button in the window; "hand": they stay as the person puts them.
        come_back: brings back docks that are put aside for a while, before the layout is remembered or reset.
    """

    def __init__(self, window: QMainWindow, docks: Docks, settings: Settings) -> None:
        """Watch a window; nothing is moved before `restore`."""
        super().__init__(window)
        self._window, self._docks, self._settings = window, docks, settings
        self.follows: Follows = "first"
        self.come_back: Callable[[], None] = _nothing
        self._arranged_px = QSize()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._turns = 0
        docks.taken.connect(self._on_docks_taken)
        window.installEventFilter(self)

    def restore(self) -> None:
        """Take up the layout that was left; the first one where none was."""
        self.follows = "saved" if isinstance(self._saved(), QByteArray) else "first"
        self._arranged_px = QSize()
        if self.follows == "saved":  # put as they were left when the window is shown
            self._docks.arrange(self._window.width())
        self.apply()

    def reset(self) -> None:
        """Put all docks back where they stood at first."""
        self.come_back()
        self.follows, self._arranged_px = "first", QSize()
        self.apply()

    def filled(self) -> None:
        """The panels are in their docks: what was restored before may have been pushed about."""
        self._soon()

    def settle(self) -> None:
        """Lay the docks out now, so that the first picture of the filled window is the one that stays."""
        for _ in range(MAX_TURNS):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)  # panels that were just filled
            before = self._docks.sizes()
            self.apply()
            if self._docks.sizes() == before:
                return

    def save(self) -> None:
        """Remember the layout for the next start."""
        self.come_back()
        store = self._settings.window
        store.setValue("geometry", self._window.saveGeometry())
        store.setValue("state", self._window.saveState(LAYOUT_VERSION))
        store.setValue("size", self._window.size())
        store.setValue("follows", "hand" if self.follows == "saved" else self.follows)
        store.sync()

    def apply(self) -> None:
        """Move the docks to where they belong in a window of this size."""
        if self.follows == "first":
            self._apply_first()
        elif self.follows == "saved":
            self._apply_saved()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Another size, a press between the docks, or the first work in the window."""
        if not isinstance(event, LOOKED_AT):
            return False
        kind = event.type()
        if watched is self._window:
            if kind == QEvent.Type.Show:
                self._window.windowHandle().installEventFilter(self)
            if kind in (QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.WindowStateChange):
                self._soon()
            elif kind == QEvent.Type.MouseButtonPress and self._is_separator(event):
                self._on_docks_taken()
        elif kind in (QEvent.Type.MouseButtonPress, QEvent.Type.KeyPress) and self.follows == "saved":
            self._on_docks_taken()
        return False

    # ------------------------------------------------------------------ inner workings

    def _saved(self) -> object:
        return self._settings.window.value("state")

    def _apply_first(self) -> None:
        size, docks = self._window.size(), self._docks
        at_first = self._arranged_px.isEmpty()
        if at_first or docks.is_wide(self._arranged_px.width()) != docks.is_wide(size.width()):
            docks.arrange(size.width(), () if at_first else docks.closed())
            self._soon()
        self._arranged_px = size
        docks.share(size.width(), size.height())

    def _apply_saved(self) -> None:
        """Put the docks as they were left.

        WORKAROUND(Qt keeps pointers into the state of a maximised window that is not shown yet, and a second
        `restoreState` leaves them dangling, 6.11): nothing is restored before it is shown.
        """
        if not self._window.isVisible():
            return
        state = self._saved()
        if not isinstance(state, QByteArray) or not self._window.restoreState(state, LAYOUT_VERSION):
            self.follows = "first"
            self._apply_first()
            return
        self._docks.settle_lesson()
        left_px = self._settings.window.value("size")
        if self._settings.window.value("follows") == "first" and isinstance(left_px, QSize):
            self.follows, self._arranged_px = "first", left_px  # only closed panels and tabs were changed
            self._apply_first()

    def _is_separator(self, event: QEvent) -> bool:
        """Whether the press is on the window itself, between its docks."""
        return isinstance(event, QMouseEvent) and self._window.childAt(event.position().toPoint()) is None

    def _soon(self) -> None:
        self._turns = MAX_TURNS
        self._timer.start()

    def _on_timer_timeout(self) -> None:
        """Apply, and look again: docks that Qt has yet to lay out do not take their share at once."""
        before = self._docks.sizes()
        self.apply()
        self._turns -= 1
        if self.follows != "hand" and self._turns > 0 and self._docks.sizes() != before:
            self._timer.start()

    def _on_docks_taken(self) -> None:
        self.follows = "hand"
        self._timer.stop()


def _nothing() -> None:
    """Nothing is put aside."""
