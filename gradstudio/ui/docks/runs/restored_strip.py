"""The line of the Runs dock that says what came back of a run that was restored, with the way back."""

from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from gradstudio.ui.docks.code.code_status import ElidedLabel
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.runs.restore_run import Restored, take_back
from gradstudio.ui.state.session import Session

RESTORED: Final = "Restored “{label}”: {changes}. {learnt}"
UNCHANGED: Final = "the document is the same"


class RestoredStrip(QWidget):
    """Seen from when a run was restored until the document is edited or runs."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        """Nothing was restored yet."""
        super().__init__(parent)
        self._session = session
        self._restored: Restored | None = None
        self.words, self.back = ElidedLabel(self), QToolButton(self)
        self.back.setText("Take back")
        self.back.setObjectName("dock_button")
        self.back.setToolTip("The document, and what the run before had learnt, as they were")
        self.back.clicked.connect(self._on_back_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 10, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.back)
        self.hide()
        session.graph_store.edited.connect(self._forget)
        session.graph_store.replaced.connect(self._forget)
        session.run.state_changed.connect(self._on_run_state_changed)

    def tell(self, restored: Restored) -> None:
        """Say what came back."""
        self._restored = restored
        changes = " · ".join(restored.changes) or UNCHANGED
        words = RESTORED.format(label=restored.label, changes=changes, learnt=restored.learnt)
        self.words.say(words, is_link=False)
        self.show()

    def _forget(self) -> None:
        self._restored = None
        self.hide()

    # ------------------------------------------------------------------ slots

    def _on_back_clicked(self) -> None:
        restored = self._restored
        self._forget()
        if restored is not None:
            take_back(self._session, restored)

    def _on_run_state_changed(self, state: RunState) -> None:
        if state.busy and state.verb != "continue":
            self._forget()
