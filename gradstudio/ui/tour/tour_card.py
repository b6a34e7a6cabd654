"""The small card of the tour: points at a place, says what to do there, and never takes the keys."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygon
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.model import scale_px
from gradstudio.ui.widgets.form_layout import label

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
        self.ring = QFrame(parent)
        self.ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.ring.hide()
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
        self.setFixedWidth(scale_px(WIDTH_PX) + 2 * TIP_PX)

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

    def point_at(self, target: QRect, inside: bool, room: QRect, covers: Sequence[QRect] = ()) -> None:
        """Stand beside a rectangle of the parent, or in a corner of it when it is large; where it covers least.

        It stays where it is while it says the same and hides nothing.
        """
        self.adjustSize()
        is_beside = self._target.isNull() if inside else self._target == target
        self._target = QRect() if inside else target
        here = QRect(self.pos(), self.size())
        if not is_beside or not room.contains(here) or hidden_px(here, covers):
            self.move(place(target, self.rect(), room, inside, covers))
        self.raise_()
        self.update()

    def ring_around(self, target: QRect | None) -> None:
        """Frame what is to be pressed; None: nothing."""
        self.ring.setVisible(target is not None)
        if target is not None:
            edge = self._theme.color("text").name()
            self.ring.setStyleSheet(f"border: 2px solid {edge}; border-radius: 8px; background: transparent;")
            self.ring.setGeometry(target.adjusted(-3, -3, 3, 3))
            self.ring.raise_()

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
        target = self._target.translated(-self.pos())
        at, is_aside = target.center(), target.left() > body.right() or target.right() < body.left()
        x = max(body.left() + 20, min(at.x(), body.right() - 20))
        y = max(body.top() + 20, min(at.y(), body.bottom() - 20))
        if at.y() < body.top() and not is_aside:
            points = [QPoint(x - 9, body.top()), QPoint(x + 9, body.top()), QPoint(x, body.top() - 10)]
        elif at.y() > body.bottom() and not is_aside:
            points = [QPoint(x - 9, body.bottom()), QPoint(x + 9, body.bottom()), QPoint(x, body.bottom() + 10)]
        elif at.x() > body.right():
            points = [QPoint(body.right(), y - 9), QPoint(body.right(), y + 9), QPoint(body.right() + 10, y)]
        else:
            points = [QPoint(body.left(), y - 9), QPoint(body.left(), y + 9), QPoint(body.left() - 10, y)]
        return QPolygon(points)


def place(target: QRect, card: QRect, room: QRect, inside: bool, covers: Sequence[QRect] = ()) -> QPoint:
    """Upper left corner of a card that speaks of a target, in a room: of the good places, that which hides least."""
    points = _inside(target, card) if inside else _beside(target, card, room)
    points += _inside(room.adjusted(0, INSET_PX, 0, -INSET_PX), card)
    held = [
        QPoint(
            max(room.left(), min(point.x(), room.right() - card.width())),
            max(room.top(), min(point.y(), room.bottom() - card.height())),
        )
        for point in points
    ]
    return min(held, key=lambda point: hidden_px(QRect(point, card.size()), covers))


def hidden_px(card: QRect, covers: Sequence[QRect]) -> int:
    """How many pixels of the rectangles that are to be seen a card would hide; its edge of air hides none."""
    body = card.adjusted(TIP_PX, TIP_PX, -TIP_PX, -TIP_PX)
    return sum(met.width() * met.height() for met in (body.intersected(one) for one in covers) if not met.isEmpty())


def _inside(target: QRect, card: QRect) -> list[QPoint]:
    """The corners of a rectangle, the lower left first."""
    left, right = target.left() + INSET_PX, target.right() - card.width() - INSET_PX
    top, bottom = target.top() + INSET_PX, target.bottom() - card.height() - INSET_PX
    return [QPoint(left, bottom), QPoint(right, bottom), QPoint(right, top), QPoint(left, top)]


def _beside(target: QRect, card: QRect, room: QRect) -> list[QPoint]:
    """Below or above a rectangle, where there is room, and left of it, where it may hide less."""
    reach = card.width() // 2 - 2 * TIP_PX - 20
    lefts = [target.center().x() - card.width() // 2 + by for by in (0, -reach, reach)]
    beside = [
        QPoint(target.left() - card.width(), y)
        for y in (target.top() + INSET_PX, target.center().y() - card.height() // 2, target.bottom() - card.height())
    ]
    if target.bottom() + card.height() <= room.bottom():
        return [*(QPoint(x, target.bottom()) for x in lefts), *beside]
    if target.top() - card.height() >= room.top():
        return [*(QPoint(x, target.top() - card.height()) for x in lefts), *beside]
    return beside
