"""The margin of the Code dock: line numbers, breakpoints as dots, an arrow where one looks, a cross where it failed."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from gradstudio.protocol.messages.debugging import Breakpoint
from gradstudio.protocol.timeline.run_timeline import Phase
from gradstudio.ui.canvas.paint.breakpoint_painter import paint_dot
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme

DOT_PX, ARROW_PX, CROSS_PX = 9, 8, 6
DOT_RADIUS_PX, WIRE_DOT_RADIUS_PX = 5.5, 4.2
"""As on the canvas: of a node's own breakpoint, and of one of a wire that begins at it."""
LEFT_PX, RIGHT_PX = 18, 16
"""Room for the dots, and for the arrow."""
WORDS = "Click: pause before this statement, or no longer"


class Gutter(QWidget):
    """Beside the text, as high as it.

    Attributes:
        stops, points: breakpoints by line; False: all there are switched off.
        failing: by line, why its statement failed.
        unread: the line that cannot be read; 0: none.
        has_statement: whether a statement begins on a line.

    Signals:
        pressed(int): a click at a line, from 1.
    """

    pressed = Signal(int)

    def __init__(self, editor: QPlainTextEdit, theme: Theme) -> None:
        """Without marks."""
        super().__init__(editor)
        self._editor, self._theme, self._style = editor, theme, CanvasStyle(theme)
        self.stops: dict[int, bool] = {}
        self.points: dict[int, Breakpoint] = {}
        self.failing: dict[int, str] = {}
        self.unread, self.unread_words = 0, ""
        self.has_statement: Callable[[int], bool] = lambda _line: False
        self.active: int | None = None
        self.phase: Phase = "forward"
        self._hovered = 0
        self.setMouseTracking(True)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme, self._style = theme, CanvasStyle(theme)
        self.update()

    def show_marks(
        self, stops: dict[int, bool], active: int | None, phase: Phase, points: dict[int, Breakpoint] | None = None
    ) -> None:
        """Show breakpoints by line (False: switched off), each by the sign of its kind, and the line looked at."""
        points = points or {}
        if (stops, points) != (self.stops, self.points):
            self.update()
        elif (active, phase) != (self.active, self.phase):
            for line in (self.active, active):
                self.update(self.place_of(line or 0))
        self.stops, self.points, self.active, self.phase = stops, points, active, phase

    def show_troubles(self, failing: dict[int, str], unread: int, words: str) -> None:
        """Show a cross at lines that failed, and a wavy sign at the line that cannot be read."""
        if (failing, unread, words) != (self.failing, self.unread, self.unread_words):
            self.failing, self.unread, self.unread_words = failing, unread, words
            self.update()

    def sizeHint(self) -> QSize:
        digits = max(2, len(str(max(1, self._editor.blockCount()))))
        return QSize(self._editor.fontMetrics().horizontalAdvance("9") * digits + LEFT_PX + RIGHT_PX, 0)

    def place_of(self, line: int) -> QRect:
        """Where a line's margin lies, widget pixels; empty when it is out of view."""
        editor = self._editor
        block = editor.document().findBlockByNumber(line - 1)
        if line - 1 < editor.firstVisibleBlock().blockNumber() or not (block.isValid() and block.isVisible()):
            return QRect()
        top = editor.blockBoundingGeometry(block).translated(editor.contentOffset()).top()
        place = self._place(block, top)
        return place if top <= self.height() else QRect()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            line = self._number_at(QPointF(event.pos()))
            reason = self.unread_words if line == self.unread else self.failing.get(line, "")
            QToolTip.showText(event.globalPos(), reason or (WORDS if self.has_statement(line) else ""), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        line = self._line_at(event.position())
        if line and event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit(line)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._line_at(event.position()))

    def leaveEvent(self, event: object) -> None:
        self._hover(0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), self._theme.color("surface"))
        painter.setFont(self._editor.font())
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if self._editor.document().characterCount() > 1:
            for line, place in self._lines(event.rect().bottom()):
                if place.bottom() < event.rect().top():
                    continue
                troubled = line in self.failing or line == self.unread
                painter.setPen(self._theme.color("danger") if troubled else QColor(self._theme.syntax.line_number))
                painter.drawText(place.adjusted(0, 0, -RIGHT_PX, 0), right, str(line))
                self._draw_stop(painter, line, place)
                if line == self.active:
                    self._draw_arrow(painter, place)
                elif troubled:
                    self._draw_cross(painter, place)
        painter.end()

    # ------------------------------------------------------------------ inner workings

    def _draw_stop(self, painter: QPainter, line: int, place: QRect) -> None:
        if line not in self.stops and line != self._hovered:
            return
        point = self.points.get(line)
        if point is not None:
            at = QPointF(LEFT_PX / 2, place.center().y() + 0.5)
            radius = WIRE_DOT_RADIUS_PX if point.target else DOT_RADIUS_PX
            paint_dot(painter, self._style, at, radius, point, enabled=self.stops[line])
            return
        color = self._theme.color("danger")
        if line not in self.stops:
            color.setAlpha(90)
        filled = self.stops.get(line, True)
        painter.setPen(Qt.PenStyle.NoPen if filled else QPen(color, 1.5))
        painter.setBrush(color if filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF((LEFT_PX - DOT_PX) / 2, place.center().y() - DOT_PX / 2 + 0.5, DOT_PX, DOT_PX))

    def _draw_arrow(self, painter: QPainter, place: QRect) -> None:
        """▶ forward, ◀ backward."""
        half = ARROW_PX / 2
        middle = QPointF(place.right() - RIGHT_PX / 2 + 1, place.center().y() + 0.5)
        way = 1 if self.phase == "forward" else -1
        corners = [QPointF(-half * way, -half), QPointF(half * way, 0), QPointF(-half * way, half)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(self.phase))
        painter.drawPolygon(QPolygonF([middle + corner for corner in corners]))

    def _draw_cross(self, painter: QPainter, place: QRect) -> None:
        """✕: the statement failed, or cannot be read."""
        middle = QPointF(place.right() - RIGHT_PX / 2 + 1, place.center().y() + 0.5)
        pen = QPen(self._theme.color("danger"), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        for way in (1, -1):
            arm = QPointF(CROSS_PX / 2, way * CROSS_PX / 2)
            painter.drawLine(middle - arm, middle + arm)

    def _lines(self, bottom: int) -> Iterator[tuple[int, QRect]]:
        """Numbers from 1 and places of the lines in view."""
        editor = self._editor
        block = editor.firstVisibleBlock()
        top = editor.blockBoundingGeometry(block).translated(editor.contentOffset()).top()
        while block.isValid() and top <= bottom:
            height = editor.blockBoundingRect(block).height()
            if block.isVisible():
                yield block.blockNumber() + 1, self._place(block, top)
            top += height
            block = block.next()

    def _place(self, block: QTextBlock, top: float) -> QRect:
        """Without the margin of the document that the last block has below it."""
        layout = block.layout()
        line = layout.lineAt(0) if layout.lineCount() else self._editor.blockBoundingRect(block)
        return QRect(0, round(top), self.width(), round(line.height()))

    def _number_at(self, place: QPointF) -> int:
        """The line at a place; 0 when there is none."""
        y = int(place.y())
        return next((number for number, area in self._lines(y) if area.top() <= y <= area.bottom()), 0)

    def _line_at(self, place: QPointF) -> int:
        """The line with a statement at a place; 0 when there is none."""
        line = self._number_at(place)
        return line if self.has_statement(line) else 0

    def _hover(self, line: int) -> None:
        if line != self._hovered:
            self._hovered = line
            self.setCursor(Qt.CursorShape.PointingHandCursor if line else Qt.CursorShape.ArrowCursor)
            self.update()
