"""The Code dock: the Python of the canvas, always current, its selection linked with the canvas."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QToolButton, QWidget

from gradstudio.graph.joining import joined
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, Span
from gradstudio.protocol.debugging import Breakpoint
from gradstudio.ui.panels.code_gutter import Gutter
from gradstudio.ui.panels.highlighter import PythonHighlighter
from gradstudio.ui.state.run_controller import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, mono_font

ACTIVE_ALPHA = 70
"""Of the ground of the line that is looked at, so that its text stays readable."""
MOST_REPLACED = 200
"""Lines; of more the whole text is set anew, which is quicker then."""
EMPTY_WORDS = "# The Python of the canvas stands here as soon as there is a node."


class CodePanel(QPlainTextEdit):
    """The compiled program without its report; read-only.

    Signals:
        said(object): something to say in the status bar.
    """

    said = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to the session's program, selection and results."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self._spans: tuple[Span, ...] = ()
        self._following = False
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFont(mono_font(13))
        self.setAccessibleName("Python of the canvas")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setPlaceholderText(EMPTY_WORDS)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._highlighter = PythonHighlighter(self.document(), theme)
        self.gutter = Gutter(self, theme)
        self.copy_button = QToolButton(self)
        self.copy_button.setToolTip("Copy the whole program")
        self.copy_button.setAccessibleName("Copy the whole program")
        self.copy_button.setCursor(Qt.CursorShape.ArrowCursor)
        self.copy_button.clicked.connect(self.copy_all)
        self.set_theme(theme)
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._on_update_request)
        session.run.program_changed.connect(self.show_program)
        session.attention.selection_changed.connect(self._on_selection_changed)
        session.results.changed.connect(self._mark_lines)
        session.results.moment_moved.connect(self._on_results_moment_moved)
        session.debug.changed.connect(self._mark_lines)
        self.gutter.pressed.connect(self._on_gutter_pressed)
        session.graph_store.replaced.connect(self._mark_lines)
        session.run.state_changed.connect(self._on_run_state_changed)

    def show_program(self, program: Program) -> None:
        """Show a program; the scroll position stays."""
        text = program.code.rstrip("\n") if program.statements or program.incomplete else ""
        self._spans = program.spans
        if text != self.toPlainText():
            place = self.verticalScrollBar().value()
            self._put(text)
            self.verticalScrollBar().setValue(place)
        self.copy_button.setVisible(bool(text))
        self._mark_lines()

    def copy_all(self) -> None:
        """Put the whole program on the clipboard."""
        QApplication.clipboard().setText(self.toPlainText() + "\n")
        self.said.emit("Copied the program")

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._highlighter.set_theme(theme)
        self.gutter.set_theme(theme)
        self.copy_button.setIcon(icon("copy", theme, "text_dim"))
        self._fit_gutter()
        self._mark_lines()

    def item_at(self, position: int) -> ItemId | None:
        """The innermost item whose text covers a character; else the one that begins on its line."""
        block = self.document().findBlock(position)
        line, column = block.blockNumber() + 1, position - block.position()
        covering = [span for span in self._spans if _covers(span, line, column)]
        if covering:
            return min(covering, key=_length).node
        return next((span.node for span in self._spans if span.line == line), None)

    def statement_at(self, line: int) -> ItemId | None:
        """The item whose statement begins on a line (from 1): not a part written inside it."""
        spans = [span for span in self._spans if span.line == line]
        return max(spans, key=_length).node if spans else None

    # ------------------------------------------------------------------ inner workings

    def _put(self, text: str) -> None:
        """Put a text in place of the one that stands here; lines that stay are not touched."""
        start, old_end, new_end = self._highlighter.tokenise(text)
        lines, document = text.split("\n"), self.document()
        first, last = document.findBlockByNumber(start), document.findBlockByNumber(old_end - 1)
        if new_end - start <= MOST_REPLACED and last.isValid():
            cursor = QTextCursor(first)
            cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText("\n".join(lines[start:new_end]))
        if document.blockCount() != len(lines) or new_end - start > MOST_REPLACED:
            self.setPlainText(text)

    def _on_results_moment_moved(self) -> None:
        """Mark the statement that is looked at and bring it into view."""
        self._mark_lines()
        if (line := self._active_line()) is not None:
            self.show_line(line)

    def _on_gutter_pressed(self, line: int) -> None:
        """A click in the margin sets a breakpoint before the statement, or takes it away."""
        node = self.statement_at(line)
        if node is not None and node in self._session.graph_store.graph.nodes:
            self._session.debug.toggle(node)

    def _active_line(self) -> int | None:
        active = self._session.results.active
        node = active.node if active is not None else None
        return next((span.line for span in self._spans if span.node == node), None)

    def _on_run_state_changed(self, state: RunState) -> None:
        """Bring the line into view at which the run paused or failed."""
        if state.busy or not state.outcome or not state.next_node:
            return
        span = next((span for span in self._spans if span.node == state.next_node), None)
        if span is not None:
            self.show_line(span.line)

    def show_line(self, line: int) -> None:
        """Scroll until a line (from 1) stands in view with some room around it; the cursor stays."""
        bar, first = self.verticalScrollBar(), self.firstVisibleBlock().blockNumber()
        seen = max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()))
        if not first + 1 < line < first + seen - 1:
            bar.setValue(max(0, line - 1 - seen // 2))

    def _on_selection_changed(self) -> None:
        self._follow(reveal=not self._following)

    def _follow(self, reveal: bool) -> None:
        self._mark_lines()
        if not reveal:
            return
        chosen = self._chosen()
        span = next((span for span in self._spans if span.node in chosen), None)
        if span is not None:
            cursor = QTextCursor(self.document().findBlockByNumber(span.line - 1))
            self.setTextCursor(cursor)
            self.ensureCursorVisible()

    def _chosen(self) -> frozenset[ItemId]:
        """The selected items; both lines of a module and the call on its card."""
        return joined(self._session.graph_store.graph).whole(self._session.attention.selection)

    def _mark_lines(self) -> None:
        results, syntax = self._session.results, self._theme.syntax
        made: list[QTextEdit.ExtraSelection] = []
        failing = {failure.failed.node for failure in results.failures}
        current = {results.next_node, results.running_node}
        for span in self._spans:
            if span.node in failing:
                made.append(self._line_mark(span, syntax.failing))
            elif span.node in current:
                made.append(self._line_mark(span, syntax.running))
        active, line = results.active, self._active_line()
        if active is not None and line is not None:
            ground = self._theme.color(active.phase)
            ground.setAlpha(ACTIVE_ALPHA)
            made.extend(self._line_mark(span, ground) for span in self._spans if span.node == active.node)
        chosen = self._chosen()
        made.extend(self._text_mark(span) for span in self._spans if span.node in chosen)
        self.setExtraSelections(made)
        debug = self._session.debug
        stops: dict[int, bool] = {}
        shown: dict[int, Breakpoint] = {}
        for span in self._spans if debug.breakpoints else ():
            if points := debug.at(span.node):
                stops[span.line] = stops.get(span.line, False) or any(debug.enabled(point.id) for point in points)
                before = (shown[span.line],) if span.line in shown else ()
                shown[span.line] = min((*before, *points), key=_rank)
        self.gutter.show_marks(stops, line, active.phase if active is not None else "forward", shown)

    def _line_mark(self, span: Span, color: str | QColor) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        mark.cursor = QTextCursor(self.document().findBlockByNumber(span.line - 1))
        mark.format.setBackground(QColor(color))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        return mark

    def _text_mark(self, span: Span) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._position(span.line, span.column))
        cursor.setPosition(self._position(span.end_line, span.end_column), QTextCursor.MoveMode.KeepAnchor)
        mark.cursor = cursor
        mark.format.setBackground(QColor(self._theme.syntax.selected))
        return mark

    def _position(self, line: int, column: int) -> int:
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return max(0, self.document().characterCount() - 1)
        return block.position() + min(column, max(0, block.length() - 1))

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter.sizeHint().width(), 0, 0, 0)
        area = self.contentsRect()
        self.gutter.setGeometry(QRect(area.left(), area.top(), self.gutter.sizeHint().width(), area.height()))
        bar = self.verticalScrollBar().width() if self.verticalScrollBar().isVisible() else 0
        self.copy_button.move(area.right() - self.copy_button.sizeHint().width() - bar - 6, area.top() + 4)

    def _on_update_request(self, area: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, area.y(), self.gutter.width(), area.height())

    # ------------------------------------------------------------------ Qt overrides

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_gutter()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self._select_at_cursor()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not self.textCursor().hasSelection():
            self._select_at_cursor()

    def _select_at_cursor(self) -> None:
        item = self.item_at(self.textCursor().position())
        if item is not None and item in self._session.graph_store.graph:
            self._following = True
            self._session.attention.reveal(item)
            self._following = False


def _rank(point: Breakpoint) -> tuple[bool, bool, bool]:
    """Of several at one line the first is shown: a pause before a watch, a node's before a wire's."""
    return not point.stops, bool(point.target), point.phase == "backward"


def _covers(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


def _length(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
