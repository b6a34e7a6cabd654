"""The lesson of a document: which of its steps are done. It looks at what was done, and decides nothing else."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gradstudio import paths
from gradstudio.advice.lesson import Lesson, asks_for_gradient, is_done, lesson_beside, load_lesson
from gradstudio.graph.model import ItemId
from gradstudio.program.write import write_code
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session


class LessonProgress(QObject):
    """Ticks steps off in their order, as soon as they are seen to be done.

    Signals:
        replaced(): another lesson, or none. `changed()`: another step is done, or none any more.
        gradient_wanted(): a card was selected, as a step asks, to read its gradient.
    """

    replaced = Signal()
    changed = Signal()
    gradient_wanted = Signal()

    def __init__(self, session: Session, folder: Path | None = None) -> None:
        """Watch a document."""
        super().__init__(session)
        self._session = session
        self._folder = folder or paths.examples() / "lessons"
        self._stem, self._busy, self._code_that_ran = "", False, ""
        self.lesson: Lesson | None = None
        self.done: set[int] = set()
        self.guesses: dict[int, str] = {}
        session.path_changed.connect(self._on_session_path_changed)
        session.run.state_changed.connect(self._on_run_state_changed)
        for happened in (
            session.results.changed,
            session.results.moment_moved,
            session.graph_store.edited,
            session.attention.selection_changed,
        ):
            happened.connect(self._look)
        self._on_session_path_changed()

    @property
    def current(self) -> int | None:
        """Index of the first step that is not done; None: all are."""
        steps = self.lesson.steps if self.lesson is not None else ()
        return next((number for number in range(len(steps)) if number not in self.done), None)

    def tick(self, number: int, done: bool) -> None:
        """A person says that a step is done, or is not."""
        before = self.current
        (self.done.add if done else self.done.discard)(number)
        self._after(before)
        self.changed.emit()

    def guess(self, number: int, choice: str) -> None:
        """A person says what the next step will show: that is all that this step asks; the next may be done already."""
        self.guesses[number] = choice
        self.tick(number, True)
        self._look()

    # ------------------------------------------------------------------ what a lesson can see

    def ran(self) -> bool:
        """Whether a run of the program as it stands has come to its end since the step began."""
        return bool(self._code_that_ran) and self._code_that_ran == self.code()

    def failed(self) -> bool:
        """Whether the newest run failed."""
        return self._session.run.state.outcome == "failed"

    def looks_back(self) -> bool:
        """Whether a moment before now is looked at."""
        return self._session.results.looking_back

    def selected(self) -> str:
        """Name of the result whose details are shown."""
        node = self._session.graph_store.graph.nodes.get(self._session.attention.current or ItemId(""))
        return node.names[0] if node is not None and node.names else ""

    def code(self) -> str:
        """The program as Python."""
        return write_code(self._session.graph_store.graph)[0]

    def value(self, name: str) -> object:
        """Nested lists of the variable as it stands; None: not known."""
        found: object = None
        for node in self._called(name):
            for record in (self._session.results.outputs(node) or ())[:1]:
                if isinstance(record, TensorRecord) and not self._session.results.stale(node):
                    found = record.summary.value
        return found

    def grad(self, name: str) -> object:
        """Nested lists of its gradient; None: there is none."""
        found: object = None
        for node in self._called(name):
            row = self._session.results.grad(node)
            if row is not None and row.grad is not None and not self._session.results.stale(node):
                found = row.grad.value
        return found

    def _called(self, name: str) -> tuple[ItemId, ...]:
        """The nodes that bind a name, in program order."""
        nodes = self._session.graph_store.graph.nodes.values()
        return tuple(node.id for node in nodes if name in node.names[:1])

    # ------------------------------------------------------------------ inner workings

    def _look(self, *_what: object) -> None:
        lesson, number = self.lesson, self.current
        while lesson is not None and number is not None and is_done(lesson.steps[number], self):
            self.done.add(number)
            self._after(number)
            if asks_for_gradient(lesson.steps[number]):
                self.gradient_wanted.emit()
            number = self.current
            self.changed.emit()

    def _after(self, before: int | None) -> None:
        """Another step begins: what ran before it does not count for it."""
        if self.current != before:
            self._code_that_ran = ""

    def _on_run_state_changed(self, state: RunState) -> None:
        has_ended = self._busy and not state.busy and state.outcome == "done" and state.at_end and not state.stale
        if has_ended and self.lesson is not None:  # a long program is not written for nothing
            self._code_that_ran = self.code()
        self._busy = state.busy
        self._look()

    def _on_session_path_changed(self) -> None:
        stem, path = self._session.example, self._session.path or self._session.read_from
        if stem and stem == self._stem and self.lesson is not None:
            return  # saved under another name
        beside = lesson_beside(path) if path is not None else None
        found = beside or load_lesson(self._folder, stem)
        if stem == self._stem and found is not None and found == self.lesson:
            return  # a text that was saved as a document
        self._stem, self.lesson = stem, found
        self.done.clear()
        self.guesses.clear()
        self._code_that_ran = ""
        self.replaced.emit()
