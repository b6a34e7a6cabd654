"""A program in several processes, as a person has it: asked for in the Run menu, looked at rank by rank, and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages.records import TensorRecord
from tests.ui.desk import Desk
from tests.ui.trusted import open_trusted, run_to_the_end

TEXT = """import torch
import torch.distributed

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
x = torch.ones(3) * (rank + 1)
y = x * 2
torch.distributed.all_reduce(y)
"""


@pytest.fixture
def processes(desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    open_trusted(desk, qtbot, tmp_path, TEXT)
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (2, True))
    desk.window.actions["run.processes"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    yield
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: desk.session.engine.ready)


def shown(desk: Desk, name: str) -> TensorRecord:
    outputs = desk.session.results.outputs(desk.node(name))
    assert outputs is not None and isinstance(outputs[0], TensorRecord)
    return outputs[0]


@pytest.mark.usefixtures("processes")
def test_ranks_are_run_and_looked_at_one_after_another(desk: Desk) -> None:
    bar = desk.window.toolbar
    assert bar.rank_list is not None and bar.rank_list.isVisible() and bar.rank_list.count() == 2
    assert bar.device.currentText() == "2 processes · cpu"
    run_to_the_end(desk)
    assert desk.session.run.state.outcome == "done"
    x, y = shown(desk, "x").summary, shown(desk, "y").summary
    assert x.value == [1.0, 1.0, 1.0] and x.spread is not None and not x.spread.is_equal
    assert y.spread is not None and y.spread.ranks == 2
    bar.rank_list.activated.emit(1)
    desk.until(lambda: shown(desk, "x").summary.value == [2.0, 2.0, 2.0])
    assert shown(desk, "x").summary.spread == x.spread and not desk.session.run.state.busy
    bar.rank_list.activated.emit(0)
    desk.until(lambda: shown(desk, "x").summary.value == [1.0, 1.0, 1.0])


@pytest.mark.usefixtures("processes")
def test_the_way_back_is_one_process_again(desk: Desk) -> None:
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    bar = desk.window.toolbar
    assert bar.rank_list is not None and not bar.rank_list.isVisible() and bar.device.currentText() == "cpu"
