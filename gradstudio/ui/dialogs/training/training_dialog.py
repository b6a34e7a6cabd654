"""Asks how a training that is added learns: how long, by which optimizer, and the switches of its step."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradstudio.graph.recipes.training_target import Target, usual_target
from gradstudio.program.forms.training.training_options import (
    BATCH,
    EPOCHS,
    OPTIMIZERS,
    RATES,
    Optimizer,
    Schedule,
    TrainingOptions,
)
from gradstudio.ui.dialogs.dialog_size import EDGE_PX
from gradstudio.ui.widgets.number_box import NumberBox

Button = QDialogButtonBox.StandardButton
HEAD: Final = "Puts the loss into a loop that learns. Each choice is ordinary lines, to be read and changed afterwards."
NEW: Final = "new: random values, to be replaced"
CHOOSE: Final = "choose…"
TO_CHOOSE: Final = "Choose the target: what the prediction is compared with."
WRONG: Final = "{name}: a number above 0, like {like}."
SCHEDULES: Final[dict[str, Schedule]] = {
    "stays": "",
    "falls along a cosine": "cosine",
    "falls to a tenth, three times": "steps",
}
MOST: Final = 1_000_000
NEVER: Final = "never"
PATIENCE: Final = "So many epochs in a row whose test loss (without a test, the loss) got no better are the last"
COMPILE: Final = "torch.compile, in place: the model keeps its name. The first step takes longer."
ASKS: Final = (
    "With one of these two Run asks first: break and .compile() are code, which the canvas keeps as it stands."
)


class TrainingDialog(QDialog):
    """The usual training stands there; `options` is what was chosen."""

    def __init__(
        self,
        device: str,
        targets: Sequence[Target] = (),
        parent: QWidget | None = None,
        note_of: Callable[[Target, str], str] = lambda _target, _loss: "",
    ) -> None:
        """For a document on a device.

        Args:
            targets: what can be learnt, where that is to be chosen.
            note_of: what else changes when a target is learnt by a loss, in words; "": nothing.
        """
        super().__init__(parent)
        self.setWindowTitle("Add training")
        self._device, self._targets, self._note_of = device, targets, note_of
        self.targets, self.loss = QComboBox(), QComboBox()
        self.epochs, self.batch, self.accumulate = _number(EPOCHS), _number(BATCH), _number(1)
        self.optimizer, self.schedule = QComboBox(), QComboBox()
        self.rate, self.clip = QLineEdit(), QLineEdit()
        self.patience = _number(0, least=0)
        self.mixed, self.compiled = QCheckBox("Forward under autocast"), QCheckBox("Compile the model")
        self.asks, self.said = QLabel(ASKS), QLabel()
        self.buttons = QDialogButtonBox(Button.Ok | Button.Cancel)
        self._fields, self._column = QScrollArea(), QVBoxLayout(self)
        self._build()
        self._check()
        self._fit()

    @property
    def options(self) -> TrainingOptions:
        """What stands there now."""
        return TrainingOptions(
            epochs=self.epochs.value(),
            batch=self.batch.value(),
            optimizer=self._chosen,
            rate=self.rate.text().strip(),
            schedule=SCHEDULES[self.schedule.currentText()],
            clip=self.clip.text().strip(),
            accumulate=self.accumulate.value(),
            patience=self.patience.value(),
            is_compiled=self.compiled.isChecked(),
            is_mixed=self.mixed.isChecked(),
            device=self._device,
        )

    @property
    def target(self) -> Target | None:
        """What is learnt; None where that is not to be chosen, or was not yet."""
        found: Target | None = self.targets.currentData()
        return found

    # ------------------------------------------------------------------ inner workings

    @property
    def _chosen(self) -> Optimizer:
        return OPTIMIZERS[self.optimizer.currentIndex()]

    def _build(self) -> None:
        self.optimizer.addItems(OPTIMIZERS)
        self.schedule.addItems(list(SCHEDULES))
        self.clip.setPlaceholderText("not clipped")
        self.accumulate.setSuffix(" a step")
        self.mixed.setToolTip("bfloat16 on the CPU; on CUDA float16, with a GradScaler")
        head = QLabel(HEAD)
        self.patience.setSpecialValueText(NEVER)
        self.patience.setSuffix(" epochs without a better one")
        self.patience.setToolTip(PATIENCE)
        self.compiled.setToolTip(COMPILE)
        for words in (head, self.asks, self.said):
            words.setWordWrap(True)
            words.setProperty("role", "dim")
        self._offer_targets()
        asked: dict[str, QWidget] = {"Target": self.targets, "Loss": self.loss} if self._targets else {}
        rows: dict[str, QWidget] = {
            **asked,
            "Epochs": self.epochs,
            "Batch size": self.batch,
            "Optimizer": self.optimizer,
            "Learning rate": self.rate,
            "The rate": self.schedule,
            "Clip gradients to norm": self.clip,
            "Accumulate batches": self.accumulate,
            "Mixed precision": self.mixed,
            "Stop early": self.patience,
            "torch.compile": self.compiled,
        }
        fields = QWidget()
        form = self._form = QFormLayout(fields)
        form.setContentsMargins(0, 0, 0, 0)
        for name, widget in rows.items():
            widget.setAccessibleName(name)
            form.addRow(name, widget)
        self.buttons.button(Button.Ok).setText("Add")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = self._column
        column.setSpacing(10)
        column.addWidget(head)
        self._fields.setWidget(fields)
        self._fields.setWidgetResizable(True)
        self._fields.setFrameShape(QScrollArea.Shape.NoFrame)
        bar = self._fields.verticalScrollBar().sizeHint().width()
        self._fields.setMinimumWidth(fields.sizeHint().width() + bar)
        column.addWidget(self._fields, 1)
        column.addWidget(self.asks)
        column.addWidget(self.said)
        column.addWidget(self.buttons)
        self.targets.currentIndexChanged.connect(self._on_target_changed)
        for choice in (self.loss, self.optimizer):
            choice.currentIndexChanged.connect(self._check)
        for field in (self.rate, self.clip):
            field.textChanged.connect(self._check)

    def _offer_targets(self) -> None:
        """What can be learnt; what is surely meant is chosen."""
        for one in self._targets:
            words = f"{one.name} (what the model is given)" if one.is_input else one.name
            self.targets.addItem(words or NEW, one)
        self.targets.setPlaceholderText(CHOOSE)
        place = usual_target(list(self._targets))
        self.targets.setCurrentIndex(-1 if place is None else place)
        self._on_target_changed()

    def _on_target_changed(self) -> None:
        """The losses by which it can be learnt."""
        self.loss.clear()
        self.loss.addItems(self.target.losses if self.target is not None else ())
        self.loss.setEnabled(self.loss.count() > 1)
        self._check()

    def _check(self) -> None:
        """Say what is wrong with a number; the usual rate is that of the optimizer."""
        self.rate.setPlaceholderText(RATES[self._chosen])
        fields = {"Learning rate": (self.rate, RATES[self._chosen]), "Clip gradients": (self.clip, "1.0")}
        wrong = [
            WRONG.format(name=name, like=like) for name, (field, like) in fields.items() if not _is_positive(field)
        ]
        wrong += [TO_CHOOSE] if self._targets and self.target is None else []
        loss = self.loss.currentText()
        note = self._note_of(self.target, loss) if self.target is not None and loss and not wrong else ""
        self.said.setText(" ".join([*wrong, note]).strip())
        self.said.setVisible(bool(wrong or note))
        self.buttons.button(Button.Ok).setEnabled(not wrong)
        if self.isVisible():
            self._fit()

    def _fit(self) -> None:
        """Room for all words and fields; where the screen has less, the fields scroll, and no words are cut."""
        room = self.screen().availableSize().height() - EDGE_PX
        width = max(self.width() if self.isVisible() else 0, self.sizeHint().width())
        fields = self._form.sizeHint().height()
        self._fields.setMinimumHeight(fields)
        needed = self._column.totalHeightForWidth(width)
        self._fields.setMinimumHeight(fields - max(0, needed - room))
        self.resize(width, max(self.height() if self.isVisible() else 0, min(needed, room)))


def _number(value: int, least: int = 1) -> NumberBox:
    box = NumberBox()
    box.setRange(least, MOST)
    box.setValue(value)
    return box


def _is_positive(field: QLineEdit) -> bool:
    """Whether a field is empty, or holds a number that Python reads as it stands."""
    text = field.text().strip()
    if not text:
        return True
    try:
        return text.isascii() and 0 < float(text) < float("inf")
    except ValueError:
        return False
