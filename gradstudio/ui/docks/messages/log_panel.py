"""The Log dock: what happened, in order; a click goes to the node."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Checked
from gradstudio.protocol.messages.events import Event, Hello, Log, Printed, Warned
from gradstudio.scene import value_format
from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.messages.message_model import Entry, EntryModel, Severity, did_not_run, left_out, name_of
from gradstudio.ui.docks.messages.message_view import EntryView
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon

NOWHERE = ItemId("")
MAX_NAMES = 6
MOST_REPEATED = 3
"""Lines above that of a run, which may have said why it ended."""
VERB_WORDS = {
    "run": "Run",
    "forward": "Forward",
    "backward": "Backward",
    "step": "Step",
    "zero_grad": "Zero grad",
}
OUTCOME_WORDS = {"done": "", "stopped": ": stopped", "failed": ": failed", "refused": ": refused", "died": ": lost"}


class LogPanel(QWidget):
    """All that happened, in order."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to everything in the session that has something to say."""
        super().__init__(parent)
        self._session = session
        self._run_state = session.run.state
        self.model = EntryModel(self)
        self.view = EntryView(self.model, "Nothing has happened yet.", theme, self)
        self._is_behind = False
        self._bar: Entry | None = None
        self._later = CatchUp(self, self.view.scrollToBottom)
        self._clear = QToolButton(self.view)
        self._clear.setToolTip("Clear the log")
        self._clear.setAccessibleName("Clear the log")
        self._clear.clicked.connect(lambda: self.model.replace(()))
        self._clear.setIcon(icon("clear", theme, "text_dim"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self._listen()

    def add(self, severity: Severity, text: str, node: ItemId = NOWHERE) -> None:
        """Put a line into the log."""
        where = name_of(self._session.graph_store.graph, node) if node else ""
        at_end = self.view.is_at_end()
        first, _, rest = text.strip("\n").partition("\n")
        self.model.add(Entry(severity, first, node, where, text))
        for line in rest.splitlines():
            self.model.add(Entry(severity, line, node, where, "", continued=True))
        self._is_behind = at_end or self._is_behind
        if self._is_behind and not self._session.run.status.slide.moves:
            self._scroll()

    def _scroll(self) -> None:
        """Bring the newest line into view, if the last one was."""
        if self._is_behind and not self._later.puts_off():
            self.view.scrollToBottom()
        self._is_behind = False

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._clear.setIcon(icon("clear", theme, "text_dim"))
        self.view.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._clear.move(self.width() - self._clear.sizeHint().width() - 14, 2)

    # ------------------------------------------------------------------ slots

    def _listen(self) -> None:
        session = self._session
        self.view.node_chosen.connect(session.attention.reveal)
        session.results.tables.printed.connect(self._on_results_printed)
        session.results.tables.warned.connect(self._on_results_warned)
        session.run.state_changed.connect(self._on_run_state_changed)
        session.run.status.slide.rested.connect(self._scroll)
        session.engine.received.connect(self._on_engine_received)
        session.run.questions.answered.connect(self._on_run_answered)
        session.engine.died.connect(self._on_engine_died)

    def _on_run_answered(self, answer: object) -> None:
        """A gradcheck came back: the verdict, what differs, and what was left out and why."""
        if not isinstance(answer, Checked):
            return
        wrong = [row for row in answer.rows if not row.ok]
        self.add("warning" if wrong or not answer.rows else "info", self._session.experiments.verdict)
        for row in wrong:
            numbers = f"autograd {value_format.number(row.analytical, 6)}, differences"
            self.add("warning", f"by {row.name}: {numbers} {value_format.number(row.numerical, 6)}", row.node)
        for left in answer.left_out:
            self.add("info", left.reason, left.node)
        if answer.rows and answer.error:
            self.add("info", answer.error)

    def _on_engine_died(self, how: str) -> None:
        words = how if self._session.engine.place else f"The engine ended: {how}. The document is safe."
        self.add("error", words)

    def _on_results_printed(self, printed: Printed) -> None:
        """Bars of progress are one line that is another while they move."""
        entries = self.model.entries
        if self._bar is not None and entries and entries[-1] is self._bar:
            self.model.drop_last()
        text = printed.text.rpartition("\n")[2] if printed.passing else printed.text
        self.add("print", text, printed.node)
        self._bar = entries[-1] if printed.passing else None

    def _on_results_warned(self, warned: Warned) -> None:
        self.add("warning", f"{warned.category}: {warned.message}", warned.node)

    def _on_engine_received(self, event: Event) -> None:
        if isinstance(event, Log):
            self.add(event.level, event.text)
        elif isinstance(event, Hello) and event.ready:
            names = ", ".join(device.title or device.name for device in event.devices)
            self.add("info", f"Engine ready: torch {event.torch}, Python {event.python}, {names}")

    def _on_run_state_changed(self, state: RunState) -> None:
        before, self._run_state = self._run_state, state
        if not (before.busy and not state.busy and state.outcome):
            return
        if state.verb == "zero_grad" and state.outcome == "done":
            return  # the engine has said it, and on how many leaves
        title = VERB_WORDS.get(state.verb, state.verb) + OUTCOME_WORDS.get(state.outcome, "")
        severity: Severity = "error" if state.outcome in ("failed", "died") else "info"
        seconds = f"  {_duration(state.seconds)}" if state.seconds else ""
        number = f"  pass {state.pass_number}" if state.pass_number > 1 else ""
        reason = f"  {told}" if (told := self._not_said(state.reason)) else ""
        self.add(severity, f"{title}{number}{seconds}{reason}")
        self._say_left_out(state)
        for failure in self._session.results.failures if state.outcome == "failed" else ():
            self.add("error", failure.explanation or failure.what, failure.failed.node)
            if failure.explanation:
                self.add("info", failure.what, failure.failed.node)

    def _not_said(self, reason: str) -> str:
        """A reason without what stands in the lines right above it, where the engine has said that already."""
        for entry in self.model.entries[-MOST_REPEATED:]:
            words = entry.text.rstrip(".")
            if words and reason.startswith(words):
                rest = reason.removeprefix(words).lstrip(".; ")
                return rest[:1].upper() + rest[1:]
        return reason

    def _say_left_out(self, state: RunState) -> None:
        """A run over less than what is drawn says so."""
        graph = self._session.graph_store.graph
        if left := [row.node for row in left_out(graph, self._session.run.program, state)]:
            names = ", ".join(name_of(graph, node) for node in left[:MAX_NAMES])
            more = f" and {len(left) - MAX_NAMES} more" if len(left) > MAX_NAMES else ""
            self.add("warning", f"{did_not_run(len(left))}: {names}{more}. See Problems.", left[0])


def _duration(seconds: float) -> str:
    """``12.3 ms`` below a second, ``1.2 s`` above."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
