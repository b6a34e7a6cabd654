"""Checkpoints by hand: a training is kept as a file, and goes on from it in the window."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from safetensors import safe_open

from tests.ui.desk import Desk
from tests.ui.test_keys_alone import type_into_the_file_dialog

LINE = """import torch
from torch import optim
torch.manual_seed(1)
x = torch.randn(8, 2)
w = torch.zeros(2, requires_grad=True)
opt = optim.SGD([w], lr=0.1, momentum=0.9)
for step in range(3):
    noisy = x + torch.randn(8, 2)
    loss = ((noisy @ w - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LINE)


def run(desk: Desk) -> object:
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    return desk.value("loss")


@pytest.mark.qt_log_ignore("does not support", extend=True)  # the dialog's list of files, offscreen
def test_what_was_kept_goes_on_as_if_it_had_never_stopped(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "three.safetensors"
    run(desk)
    met = type_into_the_file_dialog(desk, path)
    desk.window.actions["run.checkpoint"].trigger()
    desk.until(path.exists)
    with safe_open(path, "pt") as file:
        assert {"state.w", "optimizer.opt.0.momentum_buffer", "random"} <= set(file.keys())
    assert len(met) == 1
    desk.open(LINE.replace("range(3)", "range(9)"))
    whole = run(desk)
    desk.open(LINE.replace("range(3)", "range(9)") + "\n")
    type_into_the_file_dialog(desk, path)
    desk.window.actions["run.continue"].trigger()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    desk.rest()
    assert desk.value("loss") == whole and whole is not None


def test_nothing_is_kept_of_what_was_not_run_and_why_is_said(desk: Desk) -> None:
    desk.window.actions["run.checkpoint"].trigger()
    assert "run it first" in desk.said
