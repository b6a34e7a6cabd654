"""Says that a program was run or saved without text that stands in the Code dock and could not be read."""

from PySide6.QtCore import QObject

from gradstudio.protocol.messages.events import Log
from gradstudio.ui.app.window.status_bar import StatusBar
from gradstudio.ui.docks.code.code_sync import LiveText
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session


class CodeSyncWarning(QObject):
    """Listens to the runs of a session; whoever saves asks `saved`."""

    def __init__(self, session: Session, live: LiveText, status: StatusBar) -> None:
        """What waits to be read is read before a run begins."""
        super().__init__(live)
        self._session, self._live, self._status = session, live, status
        self._was_busy, self._words = False, ""
        session.run.status.preparing.connect(live.flush)
        session.run.state_changed.connect(self._on_run_state_changed)
        session.run.status.refused.connect(self._on_run_refused)

    def saved(self) -> str:
        """What is not in the document that is about to be saved; "" when all is."""
        words = self._live.unapplied("saved")
        self._tell(words)
        return words

    def _tell(self, words: str) -> None:
        if words:
            self._session.engine.tell(Log(level="warning", text=words))

    def _on_run_state_changed(self, state: RunState) -> None:
        """The log says it as the run begins, the status bar when the run has nothing more to say there."""
        if state.busy and not self._was_busy:
            self._words = self._live.unapplied("run")
            self._tell(self._words)
        elif self._was_busy and not state.busy and self._words:
            self._status.say(self._words)
        self._was_busy = state.busy

    def _on_run_refused(self, _reason: object) -> None:
        if words := self._live.unapplied("run"):
            self._status.say(words)
