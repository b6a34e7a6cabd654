"""Where the rooms of the documents stand in the frame: one page each in the middle, in the docks and at the bottom."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstudio.ui.app.window.document_window import DocumentWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.widgets.page_stack import PageStack


class Workbench(QWidget):
    """The middle of the window: the row of tabs above the canvas in front."""

    def __init__(self, frame: Frame, *above: QWidget) -> None:
        """Take the middle and the bottom of the frame; `above` are rows over the canvas, from the top."""
        super().__init__(frame)
        self._frame = frame
        self._middle, self._bottom = PageStack(self), PageStack(frame)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for row in above:
            column.addWidget(row)
        column.addWidget(self._middle, 1)
        bar = frame.statusBar()
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.addPermanentWidget(self._bottom, 1)
        frame.fill_middle(self)

    def add(self, room: DocumentWindow) -> None:
        """Give a room its pages; none of them is shown yet."""
        self._middle.take_in(room.workspace)
        self._bottom.take_in(room.status)
        self._frame.docks.take_in(room.panels)

    def turn_to(self, room: DocumentWindow) -> None:
        """Turn to the pages of a room."""
        self._middle.turn_to(room.workspace)
        self._bottom.turn_to(room.status)
        self._frame.docks.turn_to(room.panels)

    def remove(self, room: DocumentWindow) -> None:
        """Take the pages of a room away; it closes."""
        self._middle.take_out(room.workspace)
        self._bottom.take_out(room.status)
        self._frame.docks.take_out(room.panels)
