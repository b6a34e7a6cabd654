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


TRAINING = """import threading

import torch
import torch.distributed
from torch import nn

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
torch.manual_seed(0)
net = nn.Linear(3, 1)
model = nn.parallel.DistributedDataParallel(net)
x = torch.ones(2, 3) * (rank + 1)
loss = model(x).mean()
threading.Event().wait(0.5 * rank)
loss.backward()
"""


@pytest.fixture
def text() -> str:
    return TEXT


@pytest.fixture
def processes(desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Iterator[None]:
    open_trusted(desk, qtbot, tmp_path, text)
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


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("text", [TRAINING])
def test_the_all_reduce_is_a_step_of_the_timeline_forward_and_back(desk: Desk) -> None:
    run_to_the_end(desk)
    (backward,) = [item for item, node in desk.graph.nodes.items() if "backward" in node.literals.get("name", "")]
    late = desk.window.canvas.scene.stack.cards[backward].extras.late
    assert late.startswith("rank 1: 0.5"), "its card says who came late to the backward"
    timeline = desk.session.results.timeline
    (place,) = [
        tick.index for tick in timeline.ticks if tick.autograd is not None and tick.autograd.reduction is not None
    ]
    assert timeline.ticks[place].node == desk.node("model")
    section = desk.window.inspector.details.backward
    actions = desk.window.actions
    while desk.session.attention.moment != place:
        actions["run.step_back"].trigger()
        desk.rest()
    desk.click("model")
    desk.until(lambda: "all-reduce of bucket 1 over 2 ranks" in section.where.text())
    names = [line.name for line in section.arrives.lines if line.kind in ("value", "sum")]
    assert names[:3] == ["rank 0", "rank 1", "= mean"]
    zero, one, mean = (line.summary.value for line in section.arrives.lines[1:4] if line.summary is not None)
    assert (zero, one, mean) == ([[1.0] * 3], [[2.0] * 3], [[1.5] * 3])
    assert any(line.text.startswith("Rank 1 came 0.5") for line in section.autograd.lines)
    assert desk.session.results.grad(desk.node("net"), 0, "weight").grad.value == [[1.5] * 3]
    actions["run.step_back"].trigger()
    desk.until(lambda: desk.session.attention.moment == place - 1)
    assert desk.session.results.grad(desk.node("net"), 0, "weight").grad.value == [[1.0] * 3]
    actions["run.step"].trigger()
    desk.until(lambda: desk.session.attention.moment == place)
