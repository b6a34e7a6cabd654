"""The line of the Runs dock that says how far a sweep is, with Cancel."""

from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QToolButton, QWidget

from gradstudio.ui.state.runs.run_list import RunList
from gradstudio.ui.state.runs.sweep_process import SweepProcess

BAR_PX, BAR_HEIGHT_PX = 120, 8
STARTING: Final = "{count} trainings: their engines start…"


class SweepStrip(QWidget):
    """Seen while a sweep is under way."""

    def __init__(self, sweep: SweepProcess, runs: RunList, parent: QWidget) -> None:
        """Follow a sweep."""
        super().__init__(parent)
        self._sweep, self._runs = sweep, runs
        self.words, self.bar, self.cancel = QLabel(self), QProgressBar(self), QToolButton(self)
        self.bar.setFixedSize(BAR_PX, BAR_HEIGHT_PX)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Trainings that have ended")
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.cancel.setText("Cancel sweep")
        self.cancel.setObjectName("dock_button")
        self.cancel.setToolTip("End it; what was trained by then is kept")
        self.cancel.clicked.connect(sweep.cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 10, 0)
        row.addWidget(self.bar)
        row.addWidget(self.words, 1)
        row.addWidget(self.cancel)
        self.refresh()

    def refresh(self) -> None:
        """Say how far it is."""
        sweep, order = self._sweep, self._sweep.order
        self.setVisible(sweep.is_running)
        if order is None or not sweep.is_running:
            return
        self.bar.setRange(0, order.count)
        self.bar.setValue(sweep.done)
        best = sweep.best
        if not sweep.lines:
            self.words.setText(STARTING.format(count=order.count))
            return
        words = f"{sweep.done} of {order.count} trained, {len(sweep.lines) - sweep.done} under way"
        if best is not None:
            words += f" · best so far: {self._runs.label(best)} ({sweep.figure(best):.4g})"
        self.words.setText(words)
