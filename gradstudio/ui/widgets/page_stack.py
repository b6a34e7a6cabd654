"""Pages of which one is seen, however many there are."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget


class PageStack(QWidget):
    """Has the page in front alone in its layout: those behind it are asked for nothing until they come.

    WORKAROUND(QStackedWidget asks every page for its sizes, and tells each that updates stop and go on when it turns)

    Attributes:
        front: the page that is seen; None before there is one.
    """

    def __init__(self, parent: QWidget) -> None:
        """No page yet."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)  # as a frame has it
        self.front: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def take_in(self, page: QWidget) -> None:
        """Take one more page; the first one is in front."""
        page.hide()
        page.setParent(self)
        if self.front is None:
            self.turn_to(page)

    def turn_to(self, page: QWidget) -> None:
        """Bring a page to the front; keys that went to the one before go to it."""
        before, self.front = self.front, page
        if page is before:
            return
        if before is not None:
            self._column.removeWidget(before)  # first: to show a page lays out what is in there
        self._column.addWidget(page)
        page.show()
        if before is None:
            return
        focused = QApplication.focusWidget()
        if focused is not None and before.isAncestorOf(focused):
            last: QWidget | None = page.focusWidget()
            (last or page).setFocus()
        before.hide()

    def take_out(self, page: QWidget) -> None:
        """A page is needed no more."""
        self._column.removeWidget(page)
        page.hide()
        if page is self.front:
            self.front = None
