"""A turn that is gone to has its numbers: the run stands there, and its tensors are asked of the engine."""

import pytest
import torch
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QInputDialog
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.results.latest_value import is_as_now
from tests.ui.desk import Desk
from tests.ui.test_parted_runs import BACK, LINE


def plain() -> tuple[torch.Tensor, torch.Tensor]:
    """What `noisy` and `w.grad` are at the end of that turn, by torch alone."""
    torch.manual_seed(1)
    x = torch.randn(8, 2)
    w = torch.zeros(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.01)
    for _ in range(BACK):
        noisy = x + torch.randn(8, 2)
        loss = ((noisy @ w - 1) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    assert w.grad is not None
    return noisy, w.grad


def type_turn() -> None:
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue(str(BACK))
    dialog.accept()


def stands_at_end_of(desk: Desk, turn: int) -> bool:
    """The run was put there, or it was in the record; what it gave is looked at."""
    active = desk.session.results.active
    return not desk.session.run.state.busy and active is not None and active.turns == (turn - 1,)


def test_the_table_of_a_value_is_that_of_the_turn_that_was_gone_to(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LINE)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end)
    noisy = desk.node("noisy")
    QTimer.singleShot(0, type_turn)
    desk.window.actions["run.go_to_turn"].trigger()
    desk.until(lambda: stands_at_end_of(desk, BACK))
    desk.window.actions["run.repeat_turn"].trigger()
    assert desk.session.run.state.busy
    desk.until(lambda: stands_at_end_of(desk, BACK))
    tick = desk.session.results.timeline.made_at(noisy, None, (BACK - 1,))
    assert tick is not None
    desk.session.attention.look_at(tick)
    desk.session.attention.select([noisy])
    desk.window.go_to_dock("inspector")
    inspector = desk.window.room.panels["inspector"]
    assert isinstance(inspector, InspectorPanel)
    page = inspector.details.values.value
    desk.until(lambda: page.model.rowCount() == 8 and page.model.index(0, 0).data())
    shown = float(str(page.model.index(7, 1).data()))
    assert shown == pytest.approx(plain()[0][7, 1].item(), rel=1e-3)
    assert "only the summary" not in page.remark.text()
    desk.session.attention.select([desk.node("w")])
    inspector.refresh()
    assert not is_as_now(desk.session.results, desk.node("w"), 0, "", grad=False)  # the step behind it has changed it


NESTED = """import torch
from torch import optim
torch.manual_seed(1)
w = torch.zeros(2, requires_grad=True)
opt = optim.SGD([w], lr=0.01)
for epoch in range(150):
    for batch in range(5):
        loss = ((w - 1) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_where_it_stands_is_told_by_the_number_on_the_axis_of_the_curves(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(NESTED)
    said = list[str]()
    desk.session.run.status.noted.connect(said.append)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end)
    loss = desk.node("loss")
    desk.session.turns.go_to(ItemId(desk.graph.parents[loss]), loss, (20, 2), anew=True)
    assert desk.session.results.tables.loops.goal == (20, 2)
    desk.rest()
    desk.until(lambda: said and "stands at the end of" in said[-1])
    assert "at the end of turn 103," in said[-1] and "to be at turn 750 again" in said[-1]
    assert not desk.session.results.tables.loops.goal
    said.clear()
    QTimer.singleShot(0, type_turn)  # of the loop around
    desk.session.attention.select([])
    desk.window.actions["run.go_to_turn"].trigger()
    desk.rest()
    desk.until(lambda: said and "stands at the end of" in said[-1])
    assert f"at the end of turn {BACK}," in said[-1]
