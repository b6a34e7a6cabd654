"""What a person types in the Code dock becomes edits of the graph; what the canvas changes comes into the text.

The text is in one of four states: the same as the program, typed and waiting for a pause, refused with a reason,
or changed by the canvas on a line that was being typed. Nothing that was typed is taken away unasked.

While a person writes, the text stays as it was written where it means the program: it is printed as the program has
it when the person leaves the dock, but for its imports. What the canvas changes meanwhile comes into it, nothing else.
"""

import time
from collections.abc import Callable
from typing import Literal as OneOf

from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.errors import GradStudioError
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, Place
from gradstudio.graph.operator_rows import holds_autograd
from gradstudio.program.errors import NotReadable
from gradstudio.program.model import Program
from gradstudio.ui.docks.code.code_editor import CodeEditor
from gradstudio.ui.docks.code.line_diff import (
    Hunk,
    LineMap,
    combine_changes,
    error_in,
    hunks,
    own_imports,
    typed_alone,
    with_imports,
)
from gradstudio.ui.docks.code.typed_source import TypedSource
from gradstudio.ui.docks.code.typed_text import TypedMap
from gradstudio.ui.state.session import Session

LiveState = OneOf["same", "typed", "refused", "conflict"]
Merge = Callable[[Graph, str, bool], Edits]
"""Of a document, a text, and whether all cards may be laid out again."""
PAUSE_MS, LONGEST_PAUSE_MS = 300, 1500
"""So long typing rests before the text is read; three times as long as reading took, where that is more."""
PATIENCE_MS = 700
"""So much longer before words are said about the line in which the cursor stands."""
MOST_GIVEN = 50
"""Arrangements that are known as given by the text: those to which undo leads back."""
SEARCH_MS = 1000
"""So long the canvas rests before the text is looked for that a document was read from."""
UNDO_WORDS = "Edit code"


class LiveText(QObject):
    """Keeps an editor's text and a session's graph in step.

    Attributes:
        state: see above; `error` says why it is refused, `shows_error` whether it is time to say so.
        may_say: whether a reason may be told now; not while words are offered.
        left_behind: what was typed and not applied when another document was opened; "" mostly.

    Signals:
        changed(): the state or the program is another.
        applying(): it is about to be.
        applied(object): what was typed is on the canvas; the edits.
    """

    changed = Signal()
    applying = Signal()
    applied = Signal(object)

    def __init__(self, editor: CodeEditor, session: Session, merge: Merge) -> None:
        """Listen to both."""
        super().__init__(editor)
        self._editor = editor
        self._session = session
        self._store = session.graph_store
        self._merge = merge
        self.program: list[str] = [""]
        self._means = ""
        self.state: LiveState = "same"
        self.error: NotReadable | None = None
        self.shows_error = False
        self.may_say: Callable[[], bool] = lambda: True
        self.left_behind, self.left_title = "", ""
        self._title = session.title
        self._own = self._holding = False
        self._imports: list[str] = []
        self._given: list[dict[str, Place]] = []
        self._edit_line, self._edit_number, self._took_ms = 0, 0, 0.0
        self.source = TypedSource(session, merge)
        self._search = self._timer(self._show_source)
        self._pause, self._patience = self._timer(self._on_pause), self._timer(self._say)
        editor.typed.connect(self._on_editor_typed)
        editor.hurried.connect(self.flush)
        editor.undo_asked.connect(self.undo)
        editor.redo_asked.connect(self.redo)
        editor.focus_changed.connect(self._on_editor_focus_changed)
        session.graph_store.replaced.connect(self._on_store_replaced)
        session.path_changed.connect(self._on_session_path_changed)

    @property
    def is_applied(self) -> bool:
        """Whether the canvas means what stands here."""
        return self.state == "same"

    def unapplied(self, deed: str) -> str:
        """What to say when the program is used without what stands here: why, and what was done; "" when it is not.

        Args:
            deed: what was done with the program: "run", "saved".
        """
        self.flush()
        if self.is_applied:
            return ""
        where, reason = "What was typed", "the canvas changed the same line"
        if self.state != "conflict" and self.error is not None:
            where, reason = f"Line {self.error.line}", self.error.reason.rstrip(".")
        rest = f"the program without it was {deed}" if self._store.graph.nodes else f"there was nothing to be {deed}"
        return f"{where} is not applied: {reason}; {rest}."

    # ------------------------------------------------------------------ from the program

    def show(self, program: Program) -> None:
        """The program is another: bring what changed into the text."""
        is_empty = not program.statements and not program.incomplete and not holds_autograd(self._store.graph)
        text = "" if is_empty and not self._editor.hasFocus() else program.code.rstrip("\n")
        if is_empty and text:
            text += "\n\n"  # a line to begin on
        before, self.program = self.program, text.split("\n")
        self._search.stop()
        if self.state == "same":
            self._follow(before)
        elif self.state != "conflict":
            self._take_beside(before)
        self.changed.emit()

    def _follow(self, before: list[str]) -> None:
        """Nothing waits to be applied: all is printed, but while a person writes what was written stays."""
        shown = wanted = self._editor.lines
        if self._editor.hasFocus() and self._own:
            self.source.carry(shown, self.program)
        elif self._editor.hasFocus() and self._holding:
            wanted = self.source.own_words(before, shown, self.program)
        else:
            self.source.follow(self.program)
            wanted = self._as_shown()
            if self.source.is_sought:
                self._search.start(SEARCH_MS)
        self._print(wanted)

    def _as_shown(self) -> list[str]:
        """The text that the program was read from, else the program with the imports that were written."""
        typed = self.source.text
        return list(typed.lines) if typed is not None else with_imports(self._imports, self.program)

    def line_map(self) -> LineMap | TypedMap:
        """Which line of the program each line of the dock shows."""
        typed = self.source.text
        return TypedMap(typed, self._editor.lines) if typed is not None else LineMap(self.program, self._editor.lines)

    def _show_source(self) -> None:
        """Look for the text that the program was read from, and show it."""
        if self.is_applied and not self.source.is_sure:
            self.source.make_sure(self.program)
            self._print(self._as_shown())
            self.changed.emit()

    def _take_beside(self, before: list[str]) -> None:
        """The canvas changed while something waits here: line by line, or both stand and a person decides."""
        meant = self._means.split("\n") if self._holding else before
        theirs = self.source.own_words(before, meant, self.program) if self._holding else self.program
        found = combine_changes(meant, self._editor.lines, theirs)
        if found is None:
            self._set("conflict")
            return
        self._put(found)
        self._means, self._holding = "\n".join(theirs), theirs != self.program
        self._pause.start(self._pause_ms)

    def _print(self, wanted: list[str], *, undoable: bool = False) -> None:
        """Have nothing stand in the dock but what means the program."""
        self._put(hunks(self._editor.lines, wanted), undoable=undoable)
        self._means, self._holding = self._editor.text, wanted != self.program

    def _put(self, found: list[Hunk], *, undoable: bool = False) -> None:
        if found:
            self._editor.put(found, undoable=undoable)

    # ------------------------------------------------------------------ from the hand

    def apply(self) -> bool:
        """Make the canvas mean what stands here; whether it does."""
        self._pause.stop()
        if self.is_applied:
            return True
        text, begun = self._editor.text, time.perf_counter()
        try:
            anew = self._stands_as_given()
            edits = self._edits(anew)
            self._took_ms = (time.perf_counter() - begun) * 1000
            self._submit(edits, text)
            if anew:
                self._given = [*self._given[1 - MOST_GIVEN :], dict(self._store.graph.places)]
        except NotReadable as reason:
            self._refuse(reason)
        except GradStudioError as reason:
            self._refuse(NotReadable(str(reason), self._editor.line))
        return self.is_applied

    def _edits(self, anew: bool) -> Edits:
        """What the text means; what was written before and means the program already is not read again.

        Raises:
            GradStudioError: it means nothing.
        """
        typed = self._editor.lines
        alone = typed_alone(self._means.split("\n"), typed, self.program) if self._holding else typed
        try:
            return self._merged(alone, anew)
        except NotReadable as error:
            placed = error if alone == typed else error_in(error, alone, typed)
            if placed is not None:
                raise placed from None
            return self._merged(typed, anew)

    def _merged(self, lines: list[str], anew: bool) -> Edits:
        return self._merge(self._store.graph, "\n".join(lines).rstrip() + "\n", anew)

    def _stands_as_given(self) -> bool:
        """Whether all cards stand where the text has put them: nobody has moved one."""
        places = self._store.graph.places
        return not places or places in self._given

    def _submit(self, edits: Edits, text: str) -> None:
        """One step of the document's history; typing on one line is one."""
        if self._editor.line != self._edit_line:
            self._edit_line, self._edit_number = self._editor.line, self._edit_number + 1
        self._own = True
        self.applying.emit()
        try:
            self._store.submit(edits, UNDO_WORDS, f"code {self._edit_number}")
            self._means, self.error = text, None
            self._set("same")
            self._editor.forget_typing()
            self.show(self._session.run.program)
            self._imports = own_imports(text.split("\n"), self.program)
        finally:
            self._own = False
        self.applied.emit(edits)

    def _refuse(self, reason: NotReadable) -> None:
        self.error = reason
        self._set("refused")
        if reason.line == self._editor.line and self._editor.hasFocus() and not self.shows_error:
            self._patience.start(PATIENCE_MS)
        else:
            self._say()

    def flush(self) -> None:
        """Do not wait for a pause: something is about to use the program."""
        if self._pause.isActive() and not self._editor.composes:
            self.apply()

    def discard(self) -> None:
        """Print the program in place of what is not applied; the text's own undo brings it back."""
        self._pause.stop()
        self._imports, self.error = [], None
        self._print(self._as_shown(), undoable=True)
        self._set("same")

    def keep(self) -> None:
        """Where the canvas changed the same line: what stands here is what is meant."""
        if self.state == "conflict":
            self._means = ""  # nothing that stands here is known to mean the program
            self._set("typed")
            self.apply()

    def take_back(self, text: str) -> None:
        """Put down again what was typed and not applied when the program ended; the text's undo takes it away."""
        self.show(self._session.run.program)
        self._put(hunks(self._editor.lines, text.split("\n")), undoable=True)
        self._on_editor_typed()

    def undo(self) -> None:
        """Take back what was typed since it was last applied; else the document's last step."""
        if self._editor.document().isUndoAvailable():
            self._editor.undo()
        else:
            self._step(self._store.undo)

    def redo(self) -> None:
        """The other way."""
        if self._editor.document().isRedoAvailable():
            self._editor.redo()
        else:
            self._step(self._store.redo)

    def _step(self, step: Callable[[], None]) -> None:
        self._edit_number += 1
        step()
        self.show(self._session.run.program)

    def drop_left_behind(self) -> None:
        """What was typed for another document is no longer kept."""
        self.left_behind = ""
        self.changed.emit()

    # ------------------------------------------------------------------ slots

    @property
    def _pause_ms(self) -> int:
        return round(min(max(PAUSE_MS, 3 * self._took_ms), LONGEST_PAUSE_MS))

    def _on_editor_typed(self) -> None:
        if self.state == "conflict":
            self.changed.emit()
            return
        if self._editor.text == self._means:
            self._pause.stop()
            self.error = None
            self._set("same")
            return
        self._patience.stop()
        self._set("typed")
        self._pause.start(self._pause_ms)

    def _on_pause(self) -> None:
        if self._editor.composes:
            self._pause.start(self._pause_ms)
        else:
            self.apply()

    def _print_all(self) -> None:
        if self.is_applied and self._holding and self.source.text is None:
            self._print(self._as_shown())
            self.changed.emit()

    def _on_editor_focus_changed(self, has_focus: bool) -> None:
        if has_focus and self._editor.text == "" and self.is_applied:
            self.show(self._session.run.program)
            self._editor.moveCursor(self._editor.textCursor().MoveOperation.End)
        elif has_focus:
            self._show_source()
        else:
            self.flush()
            self._edit_line = 0
            self._print_all()
            if self.is_applied and not self._store.graph.nodes and not self._store.graph.blocks:
                self.show(self._session.run.program)
        self._say()

    def _on_store_replaced(self) -> None:
        """Another document: what waits here was typed for the one before, and is kept beside."""
        if not self.is_applied:
            self.left_behind, self.left_title = self._editor.text, self._title
        for timer in (self._pause, self._patience):
            timer.stop()
        self._given.clear()
        self._search.stop()
        self.source.forget()
        self._imports = []
        self._means, self.error, self._holding = self._editor.text, None, False
        self._set("same")

    def _on_session_path_changed(self) -> None:
        self._title = self._session.title

    def _say(self) -> None:
        if self.state == "refused" and not self.shows_error and not self.may_say():
            self._patience.start(PATIENCE_MS)
            return
        self.shows_error = self.state == "refused"
        self.changed.emit()

    def _set(self, state: LiveState) -> None:
        self.state = state
        if state in ("same", "conflict"):
            self.shows_error = False
        self.changed.emit()

    def _timer(self, due: Callable[[], None]) -> QTimer:
        made = QTimer(self)
        made.setSingleShot(True)
        made.timeout.connect(due)
        return made
