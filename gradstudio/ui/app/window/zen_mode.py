"""The canvas alone: all docks and the timeline away, and exactly as they were again."""

from PySide6.QtCore import QByteArray, QSize

from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.app.window.window_layout import LAYOUT_VERSION


class ZenMode:
    """One key takes away what stands around the canvas of a window; the same key brings exactly that back."""

    def __init__(self, window: WindowHost) -> None:
        """Everything stands where it is; what is put aside comes back before the layout is remembered."""
        self._window = window
        self._kept: tuple[QByteArray, QSize, bool] | None = None
        window.frame.layout_keeper.come_back = self.leave

    def toggle(self) -> None:
        """Put everything aside, or bring it back."""
        if self.is_on():
            self.leave()
        else:
            self._enter()
        self._window.actions.refresh()

    def is_on(self) -> bool:
        """Whether something was put aside."""
        return self._kept is not None

    def leave(self) -> None:
        """Bring back what was put aside."""
        kept, self._kept = self._kept, None
        if kept is None:
            return
        state, size, had_timeline = kept
        frame, workspace = self._window.frame, self._window.workspace
        frame.restoreState(state, LAYOUT_VERSION)
        if frame.size() != size:
            frame.layout_keeper.apply()
        if had_timeline and not workspace.shows_timeline:
            workspace.toggle_timeline()

    def _enter(self) -> None:
        frame, workspace = self._window.frame, self._window.workspace
        self._kept = frame.saveState(LAYOUT_VERSION), frame.size(), workspace.shows_timeline
        for dock in frame.docks:
            dock.hide()
        if workspace.shows_timeline:
            workspace.toggle_timeline()
        self._window.canvas.setFocus()
