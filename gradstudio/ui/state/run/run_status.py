"""The one place that says where the run stands: whoever moves it sets it here, whoever shows it listens here."""

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.slide import Slide


class RunStatus(QObject):
    """Holds a `RunState`, and says in words why something was not done.

    Attributes:
        slide: the slider that a run follows.

    Signals:
        changed(object): the new `RunState`.
        refused(object): a verb was refused; the words why.
        noted(object): other words about the run.
    """

    changed = Signal(object)
    refused = Signal(object)
    noted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing runs, nothing is live."""
        super().__init__(parent)
        self.state = RunState()
        self.slide = Slide(lambda: self.state.busy, self)

    def set(self, **changes: object) -> None:
        """Replace fields of the state, and announce it."""
        self.state = msgspec.structs.replace(self.state, **changes)
        self.changed.emit(self.state)

    def reset(self) -> None:
        """Nothing runs, nothing is live: another document."""
        self.state = RunState()
        self.changed.emit(self.state)
