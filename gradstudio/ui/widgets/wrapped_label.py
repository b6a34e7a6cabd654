"""A label of several lines that remembers how high it is in a width."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLabel, QWidget


class WrappedLabel(QLabel):
    """Words that go on in the next line.

    Boxes within boxes ask for the height in the same width over and over: 158 times at a start, each of which lays the
    text out again.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        """It has the width that it is given."""
        self._heights_px: dict[int, int] = {}
        super().__init__(text, parent)
        self.setWordWrap(True)

    def setText(self, text: str) -> None:
        self._heights_px.clear()
        super().setText(text)

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights_px:
            self._heights_px[width] = super().heightForWidth(width)
        return self._heights_px[width]

    def event(self, event: QEvent) -> bool:
        if self._heights_px and event.type() in _OTHER_HEIGHT:
            self._heights_px.clear()
        return super().event(event)


_OTHER_HEIGHT = (
    *(QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange, QEvent.Type.StyleChange),
    *(QEvent.Type.ContentsRectChange, QEvent.Type.Polish, QEvent.Type.ScreenChangeInternal),
)
