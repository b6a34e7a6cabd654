"""What the selected node printed and drew: its lines, and its figures as wide as the dock."""

from typing import Final

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.drawn_figures import Figured
from gradstudio.scene.printout import Printout
from gradstudio.ui.canvas.paint.card.printout_painter import paint_figure_picture
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.form_layout import Section

MOST_LINES: Final = 12
"""So many lines are seen at once."""


class FigureView(QWidget):
    """One figure, as wide as there is room and no wider than it is."""

    def __init__(self, figured: Figured, theme: Theme, parent: QWidget | None = None) -> None:
        """Show a figure for the ground of a theme."""
        super().__init__(parent)
        self.figured = figured
        self._theme = theme
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(figured.title or "Figure")
        self.setToolTip(figured.title)

    def sizeHint(self) -> QSize:
        return QSize(self.figured.picture.width, self.figured.picture.height)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, 30)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        picture = self.figured.picture
        return min(picture.height, width * picture.height // max(1, picture.width))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_figure_picture(painter, self._theme, self.figured.picture, QRectF(self.rect()))
        painter.end()


class PrintoutSection(Section):
    """Hidden while the node has said nothing."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No node yet."""
        super().__init__("Printed and drawn", parent)
        self._session, self._theme = session, theme
        self._printout: Printout | None = None
        self.lines = QPlainTextEdit()
        self.lines.setReadOnly(True)
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFont(mono_font())
        self.lines.setTabChangesFocus(True)
        self.lines.setAccessibleName("What it printed")
        self.figures = QWidget()
        self._column = QVBoxLayout(self.figures)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.add(self.lines)
        self.add(self.figures)
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show what a node has said so far."""
        printout = self._session.results.printout(item)
        self.setVisible(bool(printout))
        if printout == self._printout:
            return
        before, self._printout = self._printout, printout
        text = "\n".join(printout.text)
        self.lines.setVisible(bool(text))
        self.lines.setPlainText(text)
        self.lines.moveCursor(QTextCursor.MoveOperation.End)
        self.lines.moveCursor(QTextCursor.MoveOperation.StartOfLine)
        rows = min(MOST_LINES, len(printout.text)) + 1
        self.lines.setFixedHeight(rows * self.lines.fontMetrics().lineSpacing() + 12)
        if before is None or before.figures != printout.figures:
            self._show_figures(printout)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        if self._printout is not None:
            self._show_figures(self._printout)

    def _show_figures(self, printout: Printout) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for figured in reversed(printout.figures):
            self._column.addWidget(FigureView(figured, self._theme, self.figures))
        self.figures.setVisible(bool(printout.figures))
