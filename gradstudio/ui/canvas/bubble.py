"""A small box of words beside the pointer or a field: why something is refused."""

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

from gradstudio.ui.theme import Theme

LIFE_MS = 4500
WIDTH = 340
GAP = 16


class Bubble(QLabel):
    """Words over the canvas, taken away by a timer or by the next thing a person does."""

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        """Hidden at first."""
        super().__init__(parent)
        self._room = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setWordWrap(True)
        self.setObjectName("canvas_bubble")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours."""
        self._theme = theme
        self._dress("danger")

    def say(self, words: str, at: QPoint, *, role: str = "danger", stays: bool = False) -> None:
        """Show words near a point of the parent, wholly inside of it."""
        self._dress(role)
        if self.text() != words:
            self.setText(words)
        self.setFixedWidth(min(WIDTH, self.fontMetrics().horizontalAdvance(words) + 30))
        self.adjustSize()
        room = self._room.size()
        x = min(max(at.x() + GAP, 4), room.width() - self.width() - 4)
        y = at.y() + GAP if at.y() + GAP + self.height() < room.height() else at.y() - GAP - self.height()
        self.move(max(x, 4), max(y, 4))
        self.show()
        self.raise_()
        self._timer.stop() if stays else self._timer.start(LIFE_MS)

    def _dress(self, role: str) -> None:
        theme = self._theme
        self.setStyleSheet(
            f"QLabel#canvas_bubble {{ background: {theme.surface_raised}; color: {theme.text}; padding: 6px 9px;"
            f" border: 1px solid {theme.color(role).name()}; border-left-width: 3px; border-radius: 5px; }}"
        )
