"""The line of the Runs dock that says how a training elsewhere goes, with Stop."""

from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from gradstudio.ui.state.runs.training_process import STOPPING, TrainingProcess

STARTING: Final = "The training {place} starts…"
GOES_ON: Final = "Training {place}: turn {turns:,} · {loss:.4g}"
STOP: Final = "Stop training"
STOP_TIP: Final = "All processes finish their step, keep a checkpoint and end"
AT_ONCE_TIP: Final = "What was learnt since the last checkpoint is lost"
AT_ONCE: Final = "End at once"


class TrainingStrip(QWidget):
    """Seen while a training is under way elsewhere."""

    def __init__(self, training: TrainingProcess, parent: QWidget) -> None:
        """Follow it."""
        super().__init__(parent)
        self._training = training
        self.words, self.stop = QLabel(self), QToolButton(self)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.stop.setObjectName("dock_button")
        self.stop.clicked.connect(training.stop)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 0, 10, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.stop)
        training.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Say how it goes."""
        training, order = self._training, self._training.order
        self.setVisible(training.is_running)
        if order is None or not training.is_running:
            return
        is_stopping = training.stops_since_s is not None
        self.stop.setText(AT_ONCE if is_stopping else STOP)
        self.stop.setToolTip(AT_ONCE_TIP if is_stopping else STOP_TIP)
        self.stop.setEnabled(not is_stopping or training.may_end_at_once)
        loss = training.loss
        if is_stopping:
            words = STOPPING
        else:
            words = STARTING if loss is None else GOES_ON
        self.words.setText(words.format(place=order.place, turns=training.turns, loss=loss))
