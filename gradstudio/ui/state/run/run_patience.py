"""A statement that takes long is named while it does: which, for how long, and how it is ended."""

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from gradstudio.protocol.messages import events
from gradstudio.protocol.messages.progress import Running
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_events import PROGRESS
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import RunStatus

PATIENCE_MS = 3000
"""After so long without a word from the engine a person is told."""
TICK_MS = 500
HEARD = (*PROGRESS, events.Started, events.Printed, events.Loaded)


class RunPatience(QObject):
    """Watches a run that is under way; the tables are told for how long the node at work has been at it.

    Signals:
        waited(object, object): the node at work ("" when the engine has not begun), and whole seconds since it was
            heard of; once a second, and with 0 when it goes on after all.
    """

    waited = Signal(object, object)

    def __init__(
        self, engine: EngineLine, status: RunStatus, tables: ResultTables, parent: QObject | None = None
    ) -> None:
        """Listen to the engine's words and to where the run stands."""
        super().__init__(parent)
        self._tables, self._heard_ms = tables, 0
        self._clock = QElapsedTimer()
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        engine.received.connect(self._on_engine_received)
        status.changed.connect(self._on_status_changed)

    def _on_status_changed(self, state: RunState) -> None:
        works = state.busy and not state.waiting
        if works and not self._timer.isActive():
            self._hear()
            self._timer.start()
        elif not works and self._timer.isActive():
            self._timer.stop()
            self._tell(0)

    def _on_engine_received(self, event: events.Event) -> None:
        if not self._timer.isActive():
            return
        if isinstance(event, HEARD):
            self._hear()
        elif isinstance(event, Running):
            self._tables.set_running(event.node)
            self._hear(int(event.seconds * 1000))

    def _hear(self, since_ms: int = 0) -> None:
        """The engine has spoken; what it is at began so long ago."""
        self._clock.start()
        self._heard_ms = since_ms
        if not since_ms:
            self._tell(0)

    def _on_timer_timeout(self) -> None:
        waited_ms = self._clock.elapsed() + self._heard_ms
        if waited_ms >= PATIENCE_MS:
            self._tell(max(int(waited_ms // 1000), 1))

    def _tell(self, seconds: int) -> None:
        if seconds == self._tables.running_seconds:
            return
        self._tables.set_running_seconds(seconds)
        self.waited.emit(self._tables.running_node, seconds)


def waited_words(where: str, seconds: int) -> str:
    """That a node takes long, and how it is ended: the node by its name, "" when the engine has not begun."""
    what = f"{where} has been running for {seconds} s" if where else f"The engine has not answered for {seconds} s"
    return f"{what}. Stop (Shift+F5) ends it"
