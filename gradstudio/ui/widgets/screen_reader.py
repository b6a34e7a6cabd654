"""What a screen reader is told without being asked: after a walk, a wire, a run."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from gradstudio.graph.text.item_titles import title
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session


def announce(widget: QWidget, words: str) -> None:
    """Let a screen reader say something; nothing is done where none listens."""
    if words and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, words))


class RunAnnouncer(QObject):
    """Says how every verb of a run ended, and what came out."""

    def __init__(self, session: Session, told: Callable[[str], None], parent: QObject | None = None) -> None:
        """Follow the session's runs; `told` is given the words."""
        super().__init__(parent)
        self._session, self._told, self._was_busy = session, told, session.run.state.busy
        session.run.state_changed.connect(self._on_run_state_changed)

    def _on_run_state_changed(self, state: RunState) -> None:
        ended, self._was_busy = self._was_busy and not state.busy, state.busy
        if ended:
            self._told(self.words(state))

    def words(self, state: RunState) -> str:
        """How it ended: "Run done in 0.12 s: loss = 3.25"; what stands beside the failed node when it failed."""
        verb = state.verb.replace("_", " ").capitalize() or "Run"
        graph, results = self._session.shown_store.graph, self._session.results
        if results.failures:
            failure = results.failures[-1]
            node = failure.failed.node
            where = title(graph, node) if node in graph else "a group"
            return f"{verb} failed at {where}: {failure.explanation or failure.what}"
        if state.outcome not in ("done", "breakpoint"):
            return f"{verb} {state.outcome or 'ended'}. {state.reason}".strip()
        if results.next_node in graph and not state.at_end:
            return f"{verb} done. Next: {title(graph, results.next_node)}"
        return f"{verb} done in {state.seconds:.2g} s{self._outcome()}"

    def _outcome(self) -> str:
        """The last named value of the program."""
        from gradstudio.scene.words.statement_description import value_words

        graph, results = self._session.shown_store.graph, self._session.results
        for item in reversed(tuple(graph.order())):
            node = graph.nodes.get(item)
            if node is not None and node.names and (value := value_words(results, item)) and results.outputs(item):
                return f": {title(graph, item)} = {value}"
        return ""
