"""Parts of the status bar: its words, the engine's light, and the button with the few zooms one wants."""

from collections.abc import Iterable, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QColor, QFontMetrics, QMouseEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.ui.theme.model import UI_SIZE_PX, scale_px, ui_font

SMALL_PX: Final = UI_SIZE_PX - 2
"""Letters of words that take two lines."""
SIDES_PX: Final = 14
NOWHERE: Final = ItemId("")
MUCH_PX: Final = 440
"""Words that want more than that are glad of two lines."""
LONG_WORD: Final = "torch.distributed.all_reduce"
"""Two lines want so much more than one half each: no word is broken."""
LEAST_PX: Final = 40
"""So much room words have at least, however narrow the window is."""


class StatusWords(QLabel):
    """A line that takes a second one, of small letters, where it is too long; what is cut all the same ends in "…".

    It goes to a node when it is about one.

    Attributes:
        full: all of it, which its tooltip has too.
        node: the node; "" mostly.

    Signals:
        node_chosen(object): it was clicked.
    """

    node_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing is said."""
        super().__init__("", parent)
        self.full, self.node = "", NOWHERE
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setMinimumHeight(2 * QFontMetrics(ui_font(SMALL_PX)).height())  # a second line moves nothing

    def show_words(self, text: str, node: ItemId = NOWHERE) -> None:
        """Show a line; a click on it goes to the node, when there is one."""
        self.full, self.node = text, node
        self.setToolTip(f"{text}\n\nClick to go to the node." if node else text)
        self.setCursor(Qt.CursorShape.PointingHandCursor if node else Qt.CursorShape.ArrowCursor)
        self._fit()

    @property
    def wanted_width(self) -> int:
        """In which all of it is read, in two lines where one would be long; pixels."""
        line, small = QFontMetrics(ui_font()), QFontMetrics(ui_font(SMALL_PX))
        two_lines = small.horizontalAdvance(self.full) // 2 + small.horizontalAdvance(LONG_WORD)
        return min(line.horizontalAdvance(self.full), max(two_lines, scale_px(MUCH_PX))) + 2 * SIDES_PX

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.node and event.button() == Qt.MouseButton.LeftButton:
            self.node_chosen.emit(self.node)

    def _fit(self) -> None:
        """One line in usual letters, else two in small ones, of as many whole words as there is room for."""
        room = max(self.contentsRect().width() - SIDES_PX, LEAST_PX)
        is_long = QFontMetrics(ui_font()).horizontalAdvance(self.full) > room
        font = ui_font(SMALL_PX) if is_long else ui_font()
        if font != self.font():
            self.setFont(font)
        self.setText(_two_lines(self.full, QFontMetrics(font), room) if is_long else self.full)


class Light(QWidget):
    """A coloured dot and words."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.dot, self.words = QLabel(self), QLabel("", self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.dot)
        layout.addWidget(self.words)

    def show_light(self, words: str, color: QColor) -> None:
        """Show a state."""
        pixmap = QPixmap(16, 16)
        pixmap.fill(QColor(0, 0, 0, 0))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(color)
        painter.drawEllipse(1, 1, 14, 14)
        painter.end()
        pixmap.setDevicePixelRatio(2.0)
        self.dot.setPixmap(pixmap)
        self.words.setText(words)
        keep_width(self.words)


class ZoomButton(QToolButton):
    """Shows the zoom; a click opens a menu."""

    def __init__(self, parent: QWidget) -> None:
        """100 %."""
        super().__init__(parent)
        self.setObjectName("zoom")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolTip("Zoom of the canvas: click for fit, 50, 100 and 200 %")
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("300 %") + 30)
        self.setMenu(QMenu(self))
        self.show_zoom(1.0)

    def show_zoom(self, factor: float) -> None:
        """Show the canvas's zoom."""
        text = f"{factor * 100:.0f} %"
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(f"Zoom {text}")

    def offer(self, actions: Iterable[QAction]) -> None:
        """Put commands into the menu."""
        menu = self.menu()
        menu.clear()
        menu.addActions(list(actions))


def keep_width(words: QLabel) -> None:
    """A label that was once so wide stays so: what stands beside it does not move with its words."""
    words.setMinimumWidth(max(words.minimumWidth(), words.sizeHint().width()))


def _two_lines(text: str, metrics: QFontMetrics, room: int) -> str:
    """As many whole words as two lines have room for, with "…" where that is not all."""
    words = text.split(" ")
    first = _fitting(words, metrics, room)
    if first == 0:
        return _cut(text, metrics, room)
    rest = " ".join(words[first:])
    return f"{' '.join(words[:first])}\n{_cut(rest, metrics, room)}".rstrip()


def _fitting(words: Sequence[str], metrics: QFontMetrics, room: int) -> int:
    """So many of the words stand in one line."""
    count, line = 0, ""
    for word in words:
        line = f"{line} {word}".lstrip()
        if metrics.horizontalAdvance(line) > room:
            break
        count += 1
    return count


def _cut(text: str, metrics: QFontMetrics, room: int) -> str:
    """As many whole words as there is room for."""
    cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    whole = cut.removesuffix("…").rpartition(" ")[0].rstrip(",;: ")
    return cut if cut == text or not whole or text.startswith(f"{cut.removesuffix('…')} ") else f"{whole} …"
