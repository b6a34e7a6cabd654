"""The small card of the tour: points at a place, says what to do there, and never takes the keys."""

from typing import Final

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygon
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gradstudio.ui.panels.inspector.form import label
from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.model import scaled

WIDTH_PX: Final = 320
TIP_PX: Final = 12
"""Room around the card, in which its tip points."""
INSET_PX: Final = 8


class TourCard(QWidget):
    """Lies over the window beside what it speaks of.

    Signals:
        skipped(): on with the next step. `left(): no more of the tour.
    """

    skipped = Signal()
    left = Signal()

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        """An empty card; `say` fills it."""
        super().__init__(parent)
        self._theme, self._target, self._parent = theme, QRect(), parent
        self.number, self.title = label("", "dim"), label("", "title", wrap=True)
        self.words = QLabel(self)
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.words.setWordWrap(True)
        self.next, self.end = QPushButton("Skip", self), QPushButton("End tour", self)
        self.end.setToolTip("No more of the tour  (Esc); Help ▸ Tour brings it back")
        for button in (self.next, self.end):
            button.setAutoDefault(False)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.next.clicked.connect(self.skipped)
        self.end.clicked.connect(self.left)
        row = QHBoxLayout()
        row.addWidget(self.number, 1)
        row.addWidget(self.end)
        row.addWidget(self.next)
        column = QVBoxLayout(self)
        pad = TIP_PX + 14
        column.setContentsMargins(pad, pad - 2, pad, pad - 2)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.words)
        column.addLayout(row)
        self.setFixedWidth(scaled(WIDTH_PX) + 2 * TIP_PX)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.update()

    def say(self, number: str, title: str, words: str, go_on: str) -> None:
        """Show a step; `go_on` is the word on the button that leads on."""
        self.number.setText(number)
        self.title.setText(title)
        self.words.setText(words)
        self.next.setText(go_on)
        self.setAccessibleName(f"Tour, {number}: {title}")
        self.setAccessibleDescription(words)
        self.adjustSize()

    def point_at(self, target: QRect, inside: bool) -> None:
        """Stand beside a rectangle of the parent, or in its lower left corner when it is large."""
        self.adjustSize()
        self._target = QRect() if inside else target
        self.move(corner(target, self.rect(), self._parent.rect(), inside))
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, body = self._theme, self.rect().adjusted(TIP_PX, TIP_PX, -TIP_PX, -TIP_PX)
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.setBrush(theme.color("surface_raised"))
        painter.drawRoundedRect(body, theme.CARD_RADIUS, theme.CARD_RADIUS)
        if not self._target.isNull():
            tip = self._tip(body)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent"))
            painter.drawPolygon(tip)
        painter.end()

    def _tip(self, body: QRect) -> QPolygon:
        """A triangle on the side towards the target."""
        at = self._target.translated(-self.pos()).center()
        x = max(body.left() + 20, min(at.x(), body.right() - 20))
        y = max(body.top() + 20, min(at.y(), body.bottom() - 20))
        if at.y() < body.top():
            points = [QPoint(x - 9, body.top()), QPoint(x + 9, body.top()), QPoint(x, body.top() - 10)]
        elif at.y() > body.bottom():
            points = [QPoint(x - 9, body.bottom()), QPoint(x + 9, body.bottom()), QPoint(x, body.bottom() + 10)]
        elif at.x() > body.right():
            points = [QPoint(body.right(), y - 9), QPoint(body.right(), y + 9), QPoint(body.right() + 10, y)]
        else:
            points = [QPoint(body.left(), y - 9), QPoint(body.left(), y + 9), QPoint(body.left() - 10, y)]
        return QPolygon(points)


def corner(target: QRect, card: QRect, room: QRect, inside: bool) -> QPoint:
    """Upper left corner of a card that speaks of a target, within a room and beside the target where there is place."""
    if inside:
        return QPoint(target.left() + INSET_PX, target.bottom() - card.height() - INSET_PX)
    x = target.center().x() - card.width() // 2
    if target.bottom() + card.height() <= room.bottom():
        y = target.bottom()
    elif target.top() - card.height() >= room.top():
        y = target.top() - card.height()
    else:
        x, y = target.left() - card.width(), target.top() + INSET_PX
    x = max(room.left(), min(x, room.right() - card.width()))
    return QPoint(x, max(room.top(), min(y, room.bottom() - card.height())))
