"""More room for the Code dock while somebody writes in it, and its own again when the keys are the canvas's."""

from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer

from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.docks.code.panel import CodePanel

SHARE: Final = 1 / 3
"""Of the window's height."""


class CodeDockSize(QObject):
    """Grows the dock at the first key that writes; docks that a person has put somewhere stay as they are."""

    def __init__(self, frame: Frame, code: CodePanel, canvas: CanvasView) -> None:
        """Listen to the keys."""
        super().__init__(code)
        self._frame, self._code, self._canvas = frame, code, canvas
        self._is_grown = False
        code.editor.typed.connect(self._on_editor_typed)
        code.editor.focus_changed.connect(self._on_editor_focus_changed)

    def grow(self) -> None:
        """Give the dock its larger share, unless it has it."""
        dock, area = self._frame.docks["code"], Qt.DockWidgetArea.BottomDockWidgetArea
        wanted = round(SHARE * self._frame.height())
        is_ours = self._frame.layout_keeper.follows == "first" and self._frame.dockWidgetArea(dock) == area
        if is_ours and not dock.isFloating() and dock.height() < wanted:
            self._is_grown = True
            self._frame.docks.set_height("code", wanted)
            self._code.editor.ensureCursorVisible()

    def shrink(self) -> None:
        """Give every dock its own share again, unless a person has sized them since."""
        self._is_grown = False
        if self._frame.layout_keeper.follows == "first":
            self._frame.layout_keeper.apply()

    def _on_editor_typed(self) -> None:
        if self._code.editor.hasFocus() and not self._is_grown:
            self.grow()

    def _on_editor_focus_changed(self, has_focus: object) -> None:
        if not has_focus and self._is_grown:
            QTimer.singleShot(0, self, self._on_focus_settled)

    def _on_focus_settled(self) -> None:
        """Only the canvas needs the room: whoever looks into the log beside comes back."""
        if self._is_grown and self._canvas.hasFocus():
            self.shrink()
