"""Graph ▸ Add training with…: what is chosen in the dialog stands in the program, and learns."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from gradstudio.program.write import write_script
from gradstudio.ui.dialogs.training.training_dialog import TrainingDialog
from tests.ui.desk import Desk

LOSS = """import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(64, 2)
y = (X[:, 0] > 0).long()
net = nn.Linear(2, 2)
loss = F.cross_entropy(net(X), y)
"""


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LOSS)


def ask(desk: Desk, act: Callable[[TrainingDialog], None]) -> list[TrainingDialog]:
    """The command, and what a person does in its dialog; the dialogs that came."""
    seen: list[TrainingDialog] = []

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TrainingDialog)
        seen.append(dialog)
        act(dialog)

    QTimer.singleShot(0, answer)
    desk.window.actions["graph.ask_training"].trigger()
    return seen


def test_what_is_chosen_stands_in_the_program_and_learns(desk: Desk) -> None:
    def choose(dialog: TrainingDialog) -> None:
        dialog.epochs.setValue(4)
        dialog.optimizer.setCurrentText("SGD")
        QTest.keyClicks(dialog.rate, "0.2")
        dialog.schedule.setCurrentIndex(1)
        QTest.keyClicks(dialog.clip, "1.0")
        dialog.accumulate.setValue(2)
        dialog.mixed.setChecked(True)
        dialog.accept()

    assert ask(desk, choose)
    text = write_script(desk.graph)
    for line in (
        "optimizer = optim.SGD(net.parameters(), lr=0.2, momentum=0.9)",
        "scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)",
        "(loss / 2).backward()",
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
        "    scheduler.step()",
    ):
        assert line.replace("torch.nn", "nn") in text.replace("torch.nn", "nn"), text
    assert "torch.autocast(" in text and "for epoch in range(4):" in text
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert desk.session.run.state.outcome == "done"


def test_a_number_that_is_none_is_said_and_nothing_is_added(desk: Desk) -> None:
    def choose(dialog: TrainingDialog) -> None:
        add = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
        for text, is_good in (("-1", False), ("fast", False), ("1e-3", True)):
            dialog.rate.setText(text)
            assert add.isEnabled() == is_good and dialog.said.isVisible() != is_good
        dialog.reject()

    assert ask(desk, choose)
    assert "optimizer" not in write_script(desk.graph)


def test_where_nothing_can_be_trained_no_question_is_asked(desk: Desk) -> None:
    desk.open("import torch\nx = torch.randn(3)\ny = x.sum()\n")
    refused: list[str] = []
    desk.session.run.status.refused.connect(refused.append)
    desk.window.actions["graph.ask_training"].trigger()  # a dialog would wait for ever
    assert "nothing to train" in refused[0]
