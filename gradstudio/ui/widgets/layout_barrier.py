"""A place in a layout that keeps to itself what its widget would like to have."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget


class LayoutBarrier(QWidget):
    """Gives its widget all of its area, and asks for none.

    A label with new words wants another size, and Qt then lays out everything around it, up to the window with all its
    docks. Words that are shortened to the room there is need none of that.
    """

    def __init__(self, inside: QWidget) -> None:
        """Take `inside` in; it is as wide as the layout lets it be."""
        super().__init__()
        self._inside = inside
        inside.setParent(self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(0, self._inside.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._inside.setGeometry(self.rect())
