"""A slider under a number: values follow while it moves."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstudio.ui.docks.inspector.editors.number_range import NumberRange, parse_number, range_around

HEIGHT_PX, RADIUS_PX, GROOVE_PX = 16, 5.5, 3.0
FINER = 0.1
WORDS = "Drag: values and gradients follow. Shift goes finer, Esc goes back; a typed number is the new middle."


class NumberSlider(QWidget):
    """A handle on a groove; the range lies around the number that was there or typed.

    Signals:
        moved(object): Python text of the number it stands at now.
        grabbed(): a drag, or a step by key, begins: what is moved until the next is one undo step.
    """

    moved = Signal(object)
    grabbed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Hidden until it has a number."""
        super().__init__(parent)
        self._literal = ""
        self._value = 0.0
        self._range: NumberRange = range_around(0.0)
        self._grabbed: tuple[float, float, str] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setToolTip(WORDS)
        self.setAccessibleName("Slider")
        self.hide()

    def show_literal(self, literal: str) -> None:
        """Stand at a literal; hidden when it is no number. One that came from elsewhere is the new middle."""
        if literal == self._literal:
            return
        number = parse_number(literal)
        self._literal = literal
        self.setVisible(number is not None)
        if number is not None:
            self._value, self._range = float(number), range_around(number)
            self.update()

    def handle_pos(self) -> QPointF:
        """Centre of the handle, widget pixels."""
        reach = self.width() - 2 * RADIUS_PX - 2
        return QPointF(RADIUS_PX + 1 + self._range.place(self._value) * reach, self.height() / 2)

    def sizeHint(self) -> QSize:
        return QSize(80, HEIGHT_PX)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._grabbed = (event.position().x(), self._value, self._literal)
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.grabbed.emit()
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is None:
            return
        fine = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        x = event.position().x()
        per_px = (self._range.high - self._range.low) / max(1.0, self.width() - 2 * RADIUS_PX - 2)
        value = self._grabbed[1] + (x - self._grabbed[0]) * per_px * (FINER if fine else 1.0)
        value = min(max(value, self._range.low), self._range.high)
        self._grabbed = (x, value, self._grabbed[2])
        self._stand_at(self._range.text(value, fine))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grabbed = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1}.get(
            Qt.Key(event.key())
        )
        if event.key() == Qt.Key.Key_Escape and self._grabbed is not None:
            old = self._grabbed[2]
            self._grabbed = None
            self._stand_at(old)
        elif steps is not None:
            fine = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.grabbed.emit()
            step = self._range.step * (FINER if fine and not self._range.whole else 1.0)
            self._stand_at(self._range.text(self._value + steps * step, fine))
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        palette, handle = self.palette(), self.handle_pos()
        left, middle = RADIUS_PX + 1, self.height() / 2 - GROOVE_PX / 2
        painter.setBrush(palette.color(QPalette.ColorRole.Mid))
        painter.drawRoundedRect(QRectF(left, middle, self.width() - 2 * left, GROOVE_PX), 1.5, 1.5)
        painter.setBrush(palette.color(QPalette.ColorRole.Link))
        painter.drawRoundedRect(QRectF(left, middle, handle.x() - left, GROOVE_PX), 1.5, 1.5)
        active = self._grabbed is not None or self.hasFocus()
        painter.drawEllipse(handle, RADIUS_PX if active else RADIUS_PX - 1, RADIUS_PX if active else RADIUS_PX - 1)
        painter.end()

    def _stand_at(self, text: str) -> None:
        number = parse_number(text)
        if number is None or text == self._literal:
            return
        self._literal, self._value = text, float(number)
        self.update()
        self.moved.emit(text)
