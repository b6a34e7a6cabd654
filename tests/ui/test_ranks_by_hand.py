"""A program in several processes, as a person has it: asked for in the Run menu, looked at rank by rank, and back."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gradstudio.document.runs.kept_run import KeptRun, kept_runs
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.ranks.arrival_words import duration_words
from gradstudio.scene.card.parameter_rows import leaf_rows
from gradstudio.ui.dialogs.processes.processes_dialog import ProcessesDialog
from tests.ui.desk import Desk
from tests.ui.trusted import open_trusted, run_to_the_end

pytestmark = pytest.mark.usefixtures("engines_are_forks")
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
threading.Event().wait(2.0 * rank)
loss.backward()
"""


@pytest.fixture
def text() -> str:
    return TEXT


@pytest.fixture
def processes(desk: Desk, qtbot: QtBot, tmp_path: Path, text: str) -> Iterator[None]:
    open_trusted(desk, qtbot, tmp_path, text)
    run_on(desk, 2)
    desk.until(lambda: desk.session.run.state.busy)
    if text is not LEARNING:
        desk.until(lambda: bool(desk.session.run.state.outcome) and not desk.session.run.state.busy)
        assert desk.session.run.state.outcome == "done", "Run here runs"
    yield
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: desk.session.engine.ready)


def run_on(desk: Desk, count: int) -> None:
    """So many processes here, as a person chooses them."""

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ProcessesDialog)
        dialog.here.count.setValue(count)
        QTest.keyClick(dialog.here.count, Qt.Key.Key_Return)
        if dialog.isVisible():
            dialog.reject()

    QTimer.singleShot(0, answer)
    desk.window.actions["run.processes"].trigger()
    desk.window.frame.activateWindow()
    desk.until(desk.window.frame.isActiveWindow)


def shown(desk: Desk, name: str) -> TensorRecord:
    outputs = desk.session.results.outputs(desk.node(name))
    assert outputs is not None and isinstance(outputs[0], TensorRecord)
    return outputs[0]


def words_on(desk: Desk, name: str) -> str:
    """What its card says in the place of numbers."""
    desk.rest()
    (section,) = desk.window.canvas.scene.updates.well(desk.node(name)).sections
    assert section.value is not None
    return section.value.text


@pytest.mark.usefixtures("processes")
def test_ranks_are_run_and_looked_at_one_after_another(desk: Desk) -> None:
    bar = desk.window.toolbar
    assert bar.rank_list is not None and bar.rank_list.isVisible() and bar.rank_list.count() == 3
    assert bar.device.currentText() == "2 processes · cpu"
    run_to_the_end(desk)
    assert desk.session.run.state.outcome == "done"
    x, y = shown(desk, "x").summary, shown(desk, "y").summary
    assert x.value == [1.0, 1.0, 1.0] and x.spread is not None and not x.spread.is_equal
    assert y.spread is not None and y.spread.ranks == 2
    (reduced,) = [item for item, node in desk.graph.nodes.items() if node.operator == "torch.distributed.all_reduce"]
    (behind,) = desk.session.results.outputs(reduced) or ()
    assert isinstance(behind, TensorRecord) and behind.summary.value == [6.0, 6.0, 6.0], "as it is behind the sum"
    bar.rank_list.activated.emit(1)
    desk.until(lambda: shown(desk, "x").summary.value == [2.0, 2.0, 2.0])
    assert shown(desk, "x").summary.spread == x.spread and not desk.session.run.state.busy
    bar.rank_list.activated.emit(2)
    desk.until(lambda: words_on(desk, "x") == "Δ ≥ 1")
    assert bar.rank_list.currentText() == "all" and words_on(desk, "y") == "Δ ≥ 2"
    bar.rank_list.activated.emit(0)
    desk.until(lambda: shown(desk, "x").summary.value == [1.0, 1.0, 1.0])
    assert bar.rank_list.currentText() == "rank 0" and words_on(desk, "x") == ""


@pytest.mark.usefixtures("processes")
def test_the_way_back_is_one_process_again(desk: Desk) -> None:
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    bar = desk.window.toolbar
    assert bar.rank_list is not None and not bar.rank_list.isVisible() and bar.device.currentText() == "cpu"


def seconds_late(came: Range) -> str:
    """By how much rank 1 came later than rank 0, two seconds but for what a busy machine makes of them, in words."""
    assert (came.least_rank, came.most_rank) == (0, 1) and came.most - came.least > 0.5
    return duration_words(came.most - came.least)


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("text", [TRAINING])
def test_the_all_reduce_is_a_step_of_the_timeline_forward_and_back(desk: Desk) -> None:
    run_to_the_end(desk)
    (backward,) = [item for item, node in desk.graph.nodes.items() if node.operator == "torch.Tensor.backward"]
    row = desk.session.results.row(backward)
    assert row is not None and row.came is not None
    late = desk.window.canvas.scene.stack.cards[backward].extras.late
    assert late == f"rank 1: {seconds_late(row.came)} late", "its card says who came late to the backward"
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
    reduction = timeline.ticks[place].autograd.reduction
    words = f"Rank 1 came {seconds_late(reduction.arrivals)} later than rank 0."
    assert words in [line.text for line in section.autograd.lines]
    assert desk.session.results.grad(desk.node("net"), 0, "weight").grad.value == [[1.5] * 3]
    actions["run.step_back"].trigger()
    desk.until(lambda: desk.session.attention.moment == place - 1)
    assert desk.session.results.grad(desk.node("net"), 0, "weight").grad.value == [[1.0] * 3]
    actions["run.step"].trigger()
    desk.until(lambda: desk.session.attention.moment == place)


LEARNING = """import torch
import torch.distributed
from torch import nn, optim

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
torch.manual_seed(0)
net = nn.Linear(3, 1)
model = nn.parallel.DistributedDataParallel(net)
opt = optim.SGD(net.parameters(), lr=0.01)
for step in range(100_000_000):
    x = torch.randn(2, 8, 3).select(0, rank)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def uncut(turns: int) -> list[float]:
    """The losses of rank 0 by torch alone, in one process that learns what both bring."""
    torch.manual_seed(0)
    net, found = torch.nn.Linear(3, 1), []
    weights = list(net.parameters())
    opt = torch.optim.SGD(weights, lr=0.01)
    for _ in range(turns):
        x = torch.randn(2, 8, 3)
        losses = [(net(own) - own.sum(1, keepdim=True)).square().mean() for own in x]
        grads = [torch.autograd.grad(loss, weights) for loss in losses]
        for weight, zero, one in zip(weights, *grads, strict=True):
            weight.grad = (zero + one) / 2
        opt.step()
        found.append(losses[0].item())
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("text", [LEARNING])
def test_a_rank_is_killed_and_the_training_goes_on_with_the_curve_of_one_that_was_not_cut(desk: Desk) -> None:
    def newest() -> KeptRun | None:
        assert desk.session.runs_folder is not None
        return next(kept_runs(desk.session.runs_folder), None)

    def learnt() -> int:
        run = newest()
        return run.learnt_turns if run is not None else 0

    desk.until(learnt)
    assert desk.session.engine.hello is not None
    leader = psutil.Process(desk.session.engine.hello.pid)
    ranks = {one.cmdline()[-1]: one for one in leader.children() if "--rank=" in one.cmdline()[-1]}
    ranks["--rank=1"].kill()
    menus = desk.window.room.status_menus
    desk.until(lambda: menus.offer is not None and menus.offer.isVisible())
    run, before, state = newest(), learnt(), desk.session.run.state
    assert state.outcome == "died" and state.reason.startswith("Rank 1 was killed by SIGKILL")
    assert run is not None and run.state == "ended" and menus.offer is not None
    assert menus.offer.accept.text() == f"Continue from turn {before:,}"
    menus.offer.accept.click()  # others begin meanwhile: it waits for them
    desk.until(lambda: learnt() > before)
    now = newest()
    assert now is not None and now.id == run.id and now.state == "running"
    desk.window.actions["run.stop"].trigger()
    desk.until(lambda: not desk.session.run.state.busy)
    state = desk.session.run.state
    assert (state.outcome, state.reason, state.live) == ("stopped", "", True), "none was ended for it"
    curves = desk.session.results.tables.curves
    steps, losses = curves.points(curves.names[0])
    assert len(steps) > before and np.array_equal(steps, np.arange(len(steps)))
    assert np.array_equal(losses, np.array(uncut(len(steps))))


SHARDED = """import torch
import torch.distributed
from torch import nn, optim
from torch.distributed.fsdp import fully_shard

torch.distributed.init_process_group("gloo")
torch.manual_seed(0)
net = nn.Linear(4, 6)
fully_shard(net)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(8.0).reshape(2, 4) / 10
loss = (net(x) ** 2).mean()
loss.backward()
weight = net.weight
"""


def sharded_by_hand() -> torch.nn.Linear:
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 6)
    (net(torch.arange(8.0).reshape(2, 4) / 10) ** 2).mean().backward()
    return net


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("text", [SHARDED])
def test_a_part_is_called_one_on_its_card_and_the_whole_is_gathered_when_it_is_asked_for(desk: Desk) -> None:
    run_to_the_end(desk)
    desk.rest()
    net = sharded_by_hand()
    assert net.weight.grad is not None
    state = desk.window.canvas.scene.state
    leaves = leaf_rows(desk.session.results, desk.node("net"), state.shown, unfolded=False)
    rows = {row.path: row for row in leaves.rows}
    assert rows["weight"].shape == "[3, 4] of [6, 4]" and rows["bias"].shape == "[3] of [6]"
    assert rows["weight"].state == "value" and rows["weight"].grad is not None
    torch.testing.assert_close(torch.tensor(rows["weight"].grad.value), net.weight.grad[:3])
    desk.click("weight")
    page = desk.window.inspector.details.values.value
    facts = [label.text() for label in page.pairs.findChildren(QLabel) if label.isVisibleTo(page)]
    assert facts[facts.index("part") + 1] == "Shard(0) over 2 ranks"
    assert "[3, 4] of [6, 4]" in facts and any(text.startswith("parts on 2 ranks") for text in facts)
    assert page.whole.isVisible() and not page.whole.isChecked() and page.model.rowCount() == 3
    page.whole.click()
    assert page.model.rowCount() == 6
    page.model.index(0, 0).data()
    desk.until(lambda: page.model.index(5, 3).data() != "…")
    cells = [[float(page.model.index(row, column).data()) for column in range(4)] for row in range(6)]
    torch.testing.assert_close(torch.tensor(cells), net.weight.detach(), atol=1e-4, rtol=1e-3)
    page.whole.click()
    assert page.model.rowCount() == 3


PARALLEL = """import torch
import torch.distributed
from torch import nn, optim
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

torch.distributed.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
first = nn.Linear(4, 6)
last = nn.Linear(6, 2)
net = nn.Sequential(first, nn.ReLU(), last)
parallelize_module(net, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
weight = net[0].weight
opt = optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.ones(8, 4)).square().mean()
loss.backward()
opt.step()
"""


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("text", [PARALLEL])
def test_tensor_parallel_shows_the_part_and_the_whole_and_its_optimizer_is_not_said_to_be_idle(desk: Desk) -> None:
    state = desk.window.canvas.scene.state
    parts = {("net", "0.weight"): "[3, 4] of [6, 4]", ("first", "weight"): "[3, 4] of [6, 4]"}
    parts |= {("net", "2.weight"): "[2, 3] of [2, 6]", ("last", "weight"): "[2, 3] of [2, 6]"}
    for (name, path), words in parts.items():
        leaves = leaf_rows(desk.session.results, desk.node(name), state.shown, unfolded=True)
        assert {row.path: row.shape.partition(" v")[0] for row in leaves.rows}[path] == words, name
    desk.rest()
    desk.session.problems.refresh()
    assert not [one.title for one in desk.session.problems.problems]
