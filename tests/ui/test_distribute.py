"""Graph ▸ Distribute…: what several processes need is put into the program, and taken away by one undo."""

import pytest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from gradstudio.program.write import write
from gradstudio.ui.actions.training_command import WAYS
from gradstudio.ui.canvas.menus.card_menu import item_rows
from tests.program.forms.training.test_distributed_training import EPOCHS
from tests.ui.desk import Desk

WRAPPED = "replica = nn.parallel.DistributedDataParallel(model)"
SHARDED = "torch.distributed.fsdp.fully_shard(model)"


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(EPOCHS)


def text(desk: Desk) -> str:
    return write(desk.graph).code


@pytest.mark.parametrize(("way", "line"), list(zip(WAYS, (WRAPPED, SHARDED), strict=True)))
def test_it_is_one_undo_entry(desk: Desk, way: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QInputDialog, "getItem", lambda *_args, **_words: (way, True))
    before = text(desk)
    desk.window.actions["graph.distribute"].trigger()
    assert line in text(desk) and "rank == 0" in text(desk)
    desk.window.actions["edit.undo"].trigger()
    assert text(desk) == before


def test_what_cannot_be_distributed_is_said_and_nobody_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(QInputDialog, "getItem", lambda *_args, **_words: asked.append(_args) or ("", False))
    refused: list[str] = []
    desk.open("import torch\nx = torch.ones(3)\n")
    desk.session.run.status.refused.connect(refused.append)
    desk.window.actions["graph.distribute"].trigger()
    assert not asked and "no backward in a loop" in refused[0]


def test_the_cards_of_a_training_lead_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QInputDialog, "getItem", lambda *_args, **_words: ("", False))
    wanted: list[str] = []
    desk.window.canvas.command_requested.connect(wanted.append)
    offered = {}
    for item in desk.graph.nodes:
        rows = [row for row in item_rows(desk.window.canvas, item) if isinstance(row, tuple) and len(row) == 2]
        offered[desk.graph.nodes[item].operator] = [does for text, does in rows if text.startswith("Distribute")]
    assert {key for key, does in offered.items() if does} == {
        "torch.optim.Adam", "torch.optim.Optimizer.zero_grad", "torch.Tensor.backward", "torch.optim.Optimizer.step"
    }  # fmt: skip
    offered["torch.Tensor.backward"][0]()
    assert wanted == ["graph.distribute"]
