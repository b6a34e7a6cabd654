"""The text of the Code dock as a widget: typed into, painted with hints behind its lines. It decides nothing."""

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
)
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from gradstudio.graph.slices import AT_ONCE, Slices
from gradstudio.ui.docks.code import code_keys, text_replacement
from gradstudio.ui.docks.code.code_gutter import Gutter
from gradstudio.ui.docks.code.code_hints import NO_HINT, Hint
from gradstudio.ui.docks.code.line_diff import Hunk, apply_hunks
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.python_highlighter import PythonHighlighter

MOST_REPLACED = 200
"""Lines; of more the whole text is set anew, which is quicker then."""
COLOURS, LINES_AT_ONCE = "colours", 100
"""The work of colouring a long text, and how much of it is done between two stops."""
HINT_GAP_PX = 28
LEAST_HINT_PX = 40
MUTED_WORDS = "# Everything is muted: nothing runs. Unmute a card with M."
EMPTY_WORDS = "# Type or paste Python here: it becomes the canvas. What you build there stands here."
StandardKey = QKeySequence.StandardKey


class CodeEditor(QPlainTextEdit):
    """Python to type in.

    Attributes:
        hint_of: by line (from 1), what to paint behind it.
        tip_at: rich text for a place of the text (line from 1, column); "" for none.
        types_letter: the key under way is a letter, a digit or a dot.
        takes_key: is asked first for every key (a list of completions is open).

    Signals:
        typed(): a person changed the text, not the program.
        undo_asked(), redo_asked(): keys whose meaning depends on whether the text is applied.
        escaped(object): Escape was pressed; whether the key before it was, too.
        hurried(): a command of the window is about to be carried out from here.
        walked(), released(): a person moved the cursor or selects; the mouse did, and is done.
        focus_changed(object): whether the keys come here.
        view_moved(): other lines may be in view.
    """

    typed = Signal()
    undo_asked = Signal()
    redo_asked = Signal()
    escaped = Signal(object)
    hurried = Signal()
    walked = Signal()
    released = Signal()
    focus_changed = Signal(object)
    view_moved = Signal()

    def __init__(self, theme: Theme, idle: IdleWork, parent: QWidget | None = None) -> None:
        """Empty; long texts are coloured by `idle`."""
        super().__init__(parent)
        self._idle = idle
        self.hint_of: Callable[[int], Hint] = lambda _line: NO_HINT
        self.tip_at: Callable[[int, int], str] = lambda _line, _column: ""
        self.takes_key: Callable[[QKeyEvent], bool] = lambda _event: False
        self._theme, self._putting, self._known = theme, False, ""
        self.types_letter = self._escapes = self._is_plain = False
        self.setFont(mono_font(13))
        self.setAccessibleName("Python of the canvas")
        self.setAccessibleDescription(
            "What is typed here changes the canvas. Tab inserts four spaces; Escape goes back to the canvas, pressed "
            "twice while something is not applied, and the text stays."
        )
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.highlighter = PythonHighlighter(self.document(), theme)
        self.gutter = Gutter(self, theme)
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._on_update_request)
        self.textChanged.connect(self._on_text_changed)
        self.verticalScrollBar().valueChanged.connect(self.view_moved)
        self._fit_gutter()

    @property
    def text(self) -> str:
        """What stands here."""
        return self._known

    @property
    def lines(self) -> list[str]:
        """The lines of it."""
        return self._known.split("\n")

    @property
    def line(self) -> int:
        """The line of the cursor, from 1."""
        return self.textCursor().blockNumber() + 1

    def seen_lines(self) -> range:
        """The lines in view, from 1, the last of them perhaps none."""
        first = self.firstVisibleBlock().blockNumber() + 1
        return range(first, first + self._room_lines() + 1)

    @property
    def composes(self) -> bool:
        """Whether an input method has letters under way."""
        return bool(self.textCursor().block().layout().preeditAreaText())

    def put(self, found: Sequence[Hunk], *, undoable: bool = False) -> None:
        """Replace lines for the program; the cursor stays at its word, and what is seen where it is."""
        if not found:
            return
        bar, across = self.verticalScrollBar(), self.horizontalScrollBar()
        top = self.firstVisibleBlock().blockNumber()
        above = sum(len(hunk.lines) - (hunk.end - hunk.start) for hunk in found if hunk.end <= top)
        if not self._known:  # nothing was seen that could stay where it is
            above = 0
        places = bar.value() + above, across.value()
        self._putting = True
        if not undoable:
            self.setUndoRedoEnabled(False)
        if sum(max(hunk.end - hunk.start, len(hunk.lines)) for hunk in found) > MOST_REPLACED and not undoable:
            self._put_all(found)
        else:
            text_replacement.replace(self.document(), found, self.textCursor().position())
        if not undoable:
            self.setUndoRedoEnabled(True)
        self._putting = False
        self._known = self.toPlainText()
        self._fit_bar()
        bar.setValue(places[0])
        across.setValue(places[1])
        if self._is_plain:
            self._is_plain = False
            self._idle.begin(COLOURS, self._colour())

    def forget_typing(self) -> None:
        """What was typed so far is a step of the document's history now, no longer of the text's."""
        self.document().clearUndoRedoStacks()

    def go_to(self, line: int, column: int) -> None:
        """Put the cursor at a place and bring it into view."""
        cursor = self.textCursor()
        cursor.setPosition(text_replacement.position(self.document(), line, column))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def show_line(self, line: int) -> None:
        """Scroll until a line (from 1) stands in view with some room around it; the cursor stays."""
        bar, first = self.verticalScrollBar(), self.firstVisibleBlock().blockNumber()
        seen = self._room_lines()
        if not first + 1 < line < first + seen - 1:
            bar.setValue(max(0, line - 1 - seen // 2))

    def repaint_lines(self, lines: Iterable[int] | None) -> None:
        """Paint lines (from 1) anew that are in view; None: all."""
        view = self.viewport()
        if lines is None:
            view.update()
            return
        for line in lines:
            place = self.gutter.place_of(line)
            view.update(0, place.top(), view.width(), place.height())

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.highlighter.set_theme(theme)
        self.gutter.set_theme(theme)

    # ------------------------------------------------------------------ inner workings

    def _room_lines(self) -> int:
        """So many lines have room in the view."""
        return max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()))

    def _put_all(self, found: Sequence[Hunk]) -> None:
        line, column = text_replacement.place(self.document(), self.textCursor().position())
        lines = apply_hunks(self.lines, found)
        self._is_plain = self.highlighter.is_paused = len(lines) > AT_ONCE
        self.setPlainText("\n".join(lines))
        self.highlighter.is_paused = False
        cursor = self.textCursor()
        cursor.setPosition(text_replacement.position(self.document(), min(line, len(lines)), column))
        self.setTextCursor(cursor)

    def _colour(self) -> Slices[None]:
        """Colour a text that was put in plain: first what is seen, then all of it."""
        self._colour_lines(self.firstVisibleBlock().blockNumber())
        line, count = 0, self.blockCount()
        while line < count:
            yield
            line = max(0, line - max(0, count - self.blockCount()))  # lines may have gone meanwhile
            count = self.blockCount()
            self._colour_lines(line)
            line += LINES_AT_ONCE

    def _colour_lines(self, first: int) -> None:
        block = self.document().findBlockByNumber(first)
        self._putting = True  # a block that is coloured says that the text has changed
        for _ in range(LINES_AT_ONCE):
            if block.isValid():
                self.highlighter.rehighlightBlock(block)
            block = block.next()
        self._putting = False

    def _on_text_changed(self) -> None:
        if self._putting:
            return
        text = self.toPlainText()
        if text != self._known:
            self._known = text
            self.typed.emit()
        self._fit_bar()

    def _fit_gutter(self) -> None:
        width = self.gutter.sizeHint().width()
        if self.viewportMargins().left() != width:
            self.setViewportMargins(width, 0, 0, 0)
        area = self.contentsRect()
        self.gutter.setGeometry(QRect(area.left(), area.top(), width, area.height()))

    def _fit_bar(self) -> None:
        """A bar below the text where a statement is wider than the view; comments alone need none."""
        room = self.viewport().width() - 2 * self.document().documentMargin()
        most = room / max(1, self.fontMetrics().horizontalAdvance("0"))
        lines = self.lines
        is_wide = max(map(len, lines)) > most and any(
            len(line) > most and not line.lstrip().startswith("#") for line in lines
        )
        needed, off = Qt.ScrollBarPolicy.ScrollBarAsNeeded, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setHorizontalScrollBarPolicy(needed if is_wide else off)

    def _on_update_request(self, area: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, area.y(), self.gutter.width(), area.height())

    def _paint_hints(self, painter: QPainter, area: QRect) -> None:
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(offset)
            if place.top() > area.bottom():
                return
            if place.bottom() >= area.top():
                self._paint_hint(painter, block, place)
            block = block.next()

    def _paint_hint(self, painter: QPainter, block: QTextBlock, place: QRectF) -> None:
        hint = self.hint_of(block.blockNumber() + 1)
        left, right = place.left() + self._width_of(block) + HINT_GAP_PX, self.viewport().width() - 8
        if not hint.text or right - left <= LEAST_HINT_PX:
            return
        color = QColor(self._theme.syntax.comment)
        if hint.stale:
            color.setAlpha(120)
        painter.setPen(color)
        text = self.fontMetrics().elidedText(hint.text, Qt.TextElideMode.ElideRight, round(right - left))
        height = block.layout().boundingRect().height()  # the last has a margin
        room = QRectF(left, place.top(), right - left, height)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _width_of(self, block: QTextBlock) -> float:
        layout = block.layout()
        return layout.lineAt(0).naturalTextWidth() + self.document().documentMargin() if layout.lineCount() else 0.0

    def _show_tip(self, event: QHelpEvent) -> None:
        at = self.cursorForPosition(event.pos())
        beyond = event.pos().x() > self.cursorRect(at).left() + self.fontMetrics().averageCharWidth()
        line, column = text_replacement.place(self.document(), at.position())
        below = event.pos().y() > self.cursorRect(at).bottom()
        words = ""
        if not below:
            words = self.tip_at(line, -1 if beyond else column)
        QToolTip.showText(event.globalPos() + QPoint(0, 4), words, self)

    # ------------------------------------------------------------------ Qt overrides

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            names_nothing = event.key() == Qt.Key.Key_F2 and not self.gutter.has_statement(self.line)
            if _is_ours(event) or names_nothing:  # else a card would be renamed that stands elsewhere
                event.accept()
                return True
            handled = super().event(event)
            if not event.isAccepted() and event.key() not in _MODIFIERS:
                self.hurried.emit()
            return handled
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tip(event)
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.takes_key(event):
            return
        if event.matches(StandardKey.Undo):
            self.undo_asked.emit()
        elif event.matches(StandardKey.Redo) or _is_redo(event):
            self.redo_asked.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit(self._escapes)
            self._escapes = True
            return
        elif not code_keys.handle_key(self, event):
            self._press(event)
        self._escapes = False

    def _press(self, event: QKeyEvent) -> None:
        before, text = self.textCursor(), self._known
        letter = event.text()
        self.types_letter = letter.isidentifier() or letter.isdigit() or letter == "."
        super().keyPressEvent(event)
        self.types_letter = False
        after = self.textCursor()
        moved = (before.position(), before.anchor()) != (after.position(), after.anchor())
        if moved and text == self._known:
            self.walked.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._escapes = False
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.MenuBarFocusReason):
            self.focus_changed.emit(False)

    def focusNextPrevChild(self, _next: bool) -> bool:
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_gutter()
        self._fit_bar()
        self.view_moved.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton and self.textCursor().hasSelection():
            self.walked.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.released.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(self.font())
        self._paint_hints(painter, event.rect())
        painter.end()


_MODIFIERS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)


def _is_redo(event: QKeyEvent) -> bool:
    """Both of the window's keys, whatever the platform's own one is."""
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    keys = event.modifiers(), event.key()
    return keys in ((control, Qt.Key.Key_Y), (control | shift, Qt.Key.Key_Z))


def _is_ours(event: QKeyEvent) -> bool:
    """Keys that are commands of the window elsewhere, and mean something in the text."""
    control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
    mine = control and event.key() in (Qt.Key.Key_Slash, Qt.Key.Key_Space)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    mine = mine or (event.modifiers() == both and event.key() == Qt.Key.Key_K)
    return mine or _is_redo(event) or event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
