"""The Code dock: the Python of the canvas, always current, typed into, its selection linked with the canvas."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from gradstudio.graph.edits import AddBlock, AddNode, Edits
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.groups.definitions import group_holding, setup_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import code_of
from gradstudio.program.model import Program
from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.code import text_replacement
from gradstudio.ui.docks.code.code_editor import EMPTY_WORDS, MUTED_WORDS, CodeEditor
from gradstudio.ui.docks.code.code_hints import NO_HINT, Hint, HintMode, LineHints
from gradstudio.ui.docks.code.code_status import CodeStrip
from gradstudio.ui.docks.code.code_sync import LiveText, Merge
from gradstudio.ui.docks.code.item_spans import ItemSpans
from gradstudio.ui.docks.code.line_marks import LineMarks
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.ui.docks.code.code_completion import Completion

LINKED_MS: Final = 40
"""A selection of lines that grows selects its nodes this often."""
READER: Final = "reader"
"""The idle work that loads what reads a text."""
NOTHING_YET: Final = "pass"
"""What a new card of code holds."""


def merge_text(graph: Graph, text: str, anew: bool) -> Edits:
    """The edits that make a graph mean what a text says; `anew`: all cards may move."""
    from gradstudio.document.python.merge_edits import merge

    return merge(graph, text, anew=anew)


class CodePanel(QWidget):
    """The compiled program without its report, and what a person makes of it.

    Signals:
        said(object): something to say in the status bar.
        left(): the keys are to go back to the canvas.
        hints_changed(object): a person chose another `HintMode`.
        added(object): what was typed has put these items on the canvas, the one at the cursor first; also none.
    """

    said = Signal(object)
    left = Signal()
    hints_changed = Signal(object)
    added = Signal(object)

    def __init__(
        self, session: Session, theme: Theme, parent: QWidget | None = None, *, merge: Merge = merge_text
    ) -> None:
        """Listen to the session's program, selection and results."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self._hints = LineHints(session.results)
        self._following = False
        self.editor = CodeEditor(theme, session.idle, self)
        self.live = LiveText(self.editor, session, merge)
        self.marks = LineMarks(self.editor, session, theme)
        self.strip = CodeStrip(theme, self)
        self._linked = Throttle(LINKED_MS, self)
        self._later = CatchUp(self, self.marks.mark)
        self.setFocusProxy(self.editor)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.editor, 1)
        column.addWidget(self.strip)
        self.editor.hint_of, self.editor.tip_at = self.hint_of, self.tip_at
        self.live.may_say = lambda: not self._completes()
        session.run.code_question.in_dock = lambda line: self.marks.lines.shown(line)
        self.editor.gutter.has_statement = lambda line: self.statement_at(line) is not None
        self.set_theme(theme)
        self._listen()
        self._listen_to_parts()
        self._on_live_changed()
        session.run.shapes.show_to(self.show_program)  # a document is filled before anything is built for it

    def _listen(self) -> None:
        session = self._session
        session.run.program_changed.connect(self.show_program)
        session.attention.selection_changed.connect(self._on_selection_changed)
        session.results.changed.connect(self._on_results_changed)
        session.results.moment_moved.connect(self._on_results_moment_moved)
        session.scope.changed.connect(self._on_scope_changed)
        session.debug.changed.connect(self.marks.mark)
        session.graph_store.replaced.connect(self.marks.mark)
        session.graph_store.replaced.connect(self._invite)
        session.run.state_changed.connect(self._on_run_state_changed)

    def _listen_to_parts(self) -> None:
        editor, live, strip = self.editor, self.live, self.strip
        live.changed.connect(self._on_live_changed)
        live.applied.connect(self._on_live_applied)
        editor.typed.connect(self._fit_lines)
        editor.view_moved.connect(self.marks.follow_view)
        editor.escaped.connect(self._on_editor_escaped)
        editor.focus_changed.connect(self._on_editor_focus_changed)
        editor.cursorPositionChanged.connect(self._on_editor_cursor_moved)
        editor.walked.connect(self._linked.request)
        editor.released.connect(self._link)
        editor.gutter.pressed.connect(self._on_gutter_pressed)
        self._linked.due.connect(self._link)
        strip.hints_chosen.connect(self.choose_hints)
        strip.copy_asked.connect(self.copy_all)
        strip.discard_asked.connect(self.discard)
        strip.keep_asked.connect(live.keep)
        strip.place_asked.connect(self._go_to_error)
        strip.left_copied.connect(self._on_strip_left_copied)
        strip.left_dropped.connect(live.drop_left_behind)

    # ------------------------------------------------------------------ what others ask

    @property
    def hints(self) -> HintMode:
        """What stands behind the lines."""
        return self._hints.mode

    @cached_property
    def completion(self) -> "Completion":
        """The words that could follow what is typed; made when the editor has the keys for the first time."""
        from gradstudio.ui.docks.code.code_completion import Completion

        return Completion(self.editor, self._theme, self._names)

    def show_program(self, program: Program) -> None:
        """Show a program; cursor, selection and scroll position stay."""
        self.marks.places = ItemSpans((*program.spans, *(span for inside in program.insides for span in inside.spans)))
        self._hints.clear()
        self.live.show(program)
        self._invite()

    def copy_all(self) -> None:
        """Put the whole text on the clipboard."""
        QApplication.clipboard().setText(self.editor.text + "\n")
        self.said.emit("Copied the program")

    def choose_hints(self, mode: object) -> None:
        """Show other hints behind the lines, and tell whoever remembers them."""
        self.show_hints(mode)  # type: ignore[arg-type]  # a signal's object
        self.hints_changed.emit(mode)

    def show_hints(self, mode: HintMode) -> None:
        """Show other hints behind the lines."""
        self._hints.show(mode)
        self.strip.show_hints(mode)
        self.editor.viewport().update()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = self.marks.theme = theme
        self.editor.set_theme(theme)
        self.strip.set_theme(theme)
        if "completion" in vars(self):
            self.completion.set_theme(theme)
        self.marks.mark()

    def go_to_code(self, item: ItemId) -> None:
        """The cursor to the first line of an item's code; all of it is selected when it is nothing yet."""
        program, node = self._session.run.program, self._session.graph_store.graph.nodes[item]
        if not self.live.is_applied or not any(one.node == item for one in program.codes):
            return
        block = self.editor.document().findBlockByNumber(self.marks.line_of(item) - 1)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + len(block.text()) - len(block.text().lstrip()))
        if code_of(node) == NOTHING_YET:
            cursor.setPosition(block.position() + len(block.text()), QTextCursor.MoveMode.KeepAnchor)
        self.editor.setTextCursor(cursor)
        self.editor.ensureCursorVisible()

    def discard(self) -> None:
        """Show the program in place of what is not applied."""
        self.live.discard()
        self.said.emit("Discarded what was not applied: Ctrl+Z in the Code dock brings it back")

    def may_leave(self) -> bool:
        """Ask, when something typed is not applied and would be lost with the window."""
        if self.live.apply():
            return True
        from PySide6.QtWidgets import QMessageBox

        button = QMessageBox.StandardButton
        box = QMessageBox(self.window())
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Code dock")
        box.setText("Leave without what you typed in the Code dock?")
        reason = str(self.live.error) if self.live.error is not None else "The canvas changed the same line."
        box.setInformativeText(f"It is not applied. {reason}")
        box.setStandardButtons(button.Discard | button.Cancel)
        box.setDefaultButton(button.Cancel)
        return box.exec() == button.Discard

    def item_at(self, position: int) -> ItemId | None:
        """The innermost item whose text covers a character; else the one that begins on its line."""
        line, column = text_replacement.place(self.editor.document(), position)
        shown = self.marks.lines.program(line)
        if not shown or self.marks.lines.is_spelled_otherwise(line):
            return self.marks.places.statement_at(shown)
        return self.marks.places.item_at(shown, column)

    def statement_at(self, line: int) -> ItemId | None:
        """The item whose statement begins on a line (from 1): not a part written inside it."""
        return self.marks.places.statement_at(self.marks.lines.program(line))

    def hint_of(self, line: int) -> Hint:
        """What to paint behind a line; nothing behind one that is being typed."""
        if self.hints == "off" or self.marks.lines.is_touched(line):
            return NO_HINT
        node = self.marks.places.ending_at(self.marks.lines.program_end(line))
        return self._hints.of(node) if node is not None else NO_HINT

    def tip_at(self, line: int, column: int) -> str:
        """What to say of a place: why it cannot be read, why its line fails, what its word is."""
        from html import escape

        from gradstudio.ui.docks.code.code_tooltips import item_tip

        for error in self.live.error.all if self.live.error is not None and self.live.shows_error else ():
            if line == min(error.line, self.marks.lines.count):
                return f"<b>Not applied</b><br>{escape(error.reason)}"
        shown = self.marks.lines.program(line)
        if not shown or self.marks.lines.is_touched(line):
            return ""
        is_exact = column >= 0 and not self.marks.lines.is_spelled_otherwise(line)
        item = self.marks.places.exactly_at(shown, column) if is_exact else self.marks.places.ending_at(shown)
        return item_tip(self._session, item) if item is not None else ""

    def _last_line_of(self, item: ItemId) -> int:
        span = self.marks.places.of.get(item)
        return self.marks.lines.shown(span.end_line) if span is not None else 0

    def _names(self) -> list[str]:
        """What the program binds."""
        graph = self._session.graph_store.graph
        names = [name for node in graph.nodes.values() for name in node.names]
        return names + [block.variable for block in graph.blocks.values()]

    # ------------------------------------------------------------------ from the session

    def _invite(self) -> None:
        """An empty document says what can be done here; one whose program is still to come says nothing."""
        graph = self._session.graph_store.graph
        muted = any(node.muted for node in graph.nodes.values()) or any(one.muted for one in graph.blocks.values())
        if not graph.nodes and not graph.blocks:
            words = EMPTY_WORDS
        else:
            words = MUTED_WORDS if muted else ""
        self.editor.setPlaceholderText(words)

    def _mark(self) -> None:
        """Mark the lines, when the panel is seen."""
        if not self._later.puts_off():
            self.marks.mark_if_changed()

    def _on_selection_changed(self) -> None:
        if not self._following and not self.editor.hasFocus():
            line = self.marks.first_chosen_line()
            if line:
                self.editor.setTextCursor(QTextCursor(self.editor.document().findBlockByNumber(line - 1)))
                self.editor.ensureCursorVisible()
        self._mark()  # what is in view by now

    def _on_results_changed(self, nodes: object) -> None:
        told = nodes if isinstance(nodes, frozenset) else frozenset[ItemId]()
        changed = self._hints.tell(told)
        self._mark()
        self.editor.repaint_lines(None if changed is None else map(self._last_line_of, changed))

    def _on_results_moment_moved(self) -> None:
        """Mark the statement that is looked at and bring it into view; whose hints are others, was told before."""
        self._mark()
        if line := self.marks.active_line():
            self.editor.show_line(line)

    def _on_scope_changed(self) -> None:
        """Bring the line into view at which the group begins that is stepped into, of a class its forward."""
        definition = self._session.scope.definition
        if definition is None:
            return
        inside = definition.graph.nodes.keys() - set(setup_of(definition))
        line = min(filter(None, map(self.marks.line_of, inside)), default=0)
        texts = self.editor.lines[:line]
        while texts and not texts[-1].lstrip().startswith("def "):
            texts.pop()
        if texts:
            self.editor.show_line(len(texts))

    def _on_run_state_changed(self, state: RunState) -> None:
        """Bring the line into view at which the run paused or failed."""
        if state.busy or not state.outcome or not state.next_node:
            return
        failures = self._session.results.failures if state.outcome == "failed" else ()
        failed = [self.marks.failing_line(failure) for failure in failures[-1:] if failure.place]
        next_lines = [self.marks.line_of(item) for item in reversed(path_of(state.next_node))]  # at a call's outputs
        if line := next(filter(None, [*failed, *next_lines]), 0):
            self.editor.show_line(line)

    # ------------------------------------------------------------------ from the text

    def _on_live_changed(self) -> None:
        self.marks.error = self.live.error if self.live.shows_error else None
        self._fit_lines()
        self.marks.mark()
        self._show_state()
        self.editor.viewport().update()

    def _fit_lines(self) -> None:
        self.marks.lines = self.live.line_map()

    def _show_state(self) -> None:
        self.strip.copy_button.setVisible(bool(self.editor.text))
        self.strip.show_state(self.live, focused=self.editor.hasFocus(), line=self.editor.line)

    def _on_live_applied(self, edits: object) -> None:
        """What is new or was changed at the cursor is selected."""
        assert isinstance(edits, tuple)
        graph = self._session.graph_store.graph
        added = [edit.node.id for edit in edits if isinstance(edit, AddNode)]
        added += [edit.block.id for edit in edits if isinstance(edit, AddBlock)]
        here = self.statement_at(self.editor.line)
        if edits and here is not None and here in graph:
            self._following = True
            self._session.attention.select((here,))
            self._following = False
        self.added.emit(tuple(sorted(added, key=lambda item: item != here)))

    def _completes(self) -> bool:
        return "completion" in vars(self) and self.completion.isVisible()

    def _on_editor_focus_changed(self, has_focus: bool) -> None:
        if has_focus and "completion" not in vars(self):
            self.completion  # noqa: B018  # for its effect: keys are its own first
            from gradstudio.document.python.reader_imports import import_slices

            self._session.idle.begin(READER, import_slices())  # a pause of the typing waits for what reads it
        self._show_state()

    def _on_editor_escaped(self, again: object) -> None:
        """The keys go back to the canvas, at the second press while something is not applied; no text is lost."""
        if again or self.live.apply():
            self.left.emit()
        else:
            self.said.emit("Not applied yet: Esc again goes to the canvas, and what you typed stays here")

    def _on_editor_cursor_moved(self) -> None:
        if self.editor.hasFocus():
            self._show_state()

    def _link(self) -> None:
        """Select the nodes of the lines that are selected, or of the place of the cursor."""
        if not self.live.is_applied:
            return
        cursor, graph, attention = self.editor.textCursor(), self._session.graph_store.graph, self._session.attention
        first, last = text_replacement.lines_of(cursor)
        self._following = True
        if first != last:
            lines = self.marks.lines
            places = self.marks.places
            found = [places.statement_at(lines.program(line)) for line in range(first, last + 1)]
            attention.select([item for item in found if item is not None and item in graph])
        elif not cursor.hasSelection():
            item = self.item_at(cursor.position())
            if item is not None and item in graph and attention.selection != {item}:
                attention.reveal(item)
        self._following = False

    def _on_gutter_pressed(self, line: int) -> None:
        """A click in the margin sets a breakpoint before the statement, or takes it away."""
        node = self.statement_at(line)
        graph = self._session.graph_store.graph
        if node is not None and (node in graph.nodes or group_holding(graph, node)):
            self._session.debug.toggle(node)

    def _go_to_error(self) -> None:
        if self.live.error is not None:
            self.editor.go_to(self.live.error.line, self.live.error.column)
            self.editor.setFocus()

    def _on_strip_left_copied(self) -> None:
        QApplication.clipboard().setText(self.live.left_behind + "\n")
        self.said.emit("Copied what was typed for the document before")
        self.live.drop_left_behind()

    def sizeHint(self) -> QSize:
        return QSize(420, 180)
