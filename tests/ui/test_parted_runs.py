"""A run goes back, a literal is changed, it learns on: what is drawn and kept from there is what was learnt then."""

from pathlib import Path

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot
from safetensors import safe_open

from gradstudio.document.runs.kept_run import KeptRun, kept_runs
from gradstudio.graph.model import ItemId
from gradstudio.graph.recipes import set_literal
from gradstudio.ui.state.results.curve_store import CurveStore
from tests.ui.desk import Desk
from tests.ui.docks.curves.test_curves import KEY, LOOP, turned

TURNS, BACK = 200, 120
LINE = f"""import torch
from torch import optim
torch.manual_seed(1)
x = torch.randn(8, 2)
w = torch.zeros(2, requires_grad=True)
opt = optim.SGD([w], lr=0.01)
for step in range({TURNS}):
    noisy = x + torch.randn(8, 2)
    loss = ((noisy @ w - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def plain(rate_behind: float) -> tuple[list[float], list[float]]:
    """The losses, and what is learnt, by torch alone; the rate is another one behind turn `BACK`."""
    torch.manual_seed(1)
    x = torch.randn(8, 2)
    w = torch.zeros(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.01)
    losses = []
    for step in range(TURNS):
        if step == BACK:
            opt.param_groups[0]["lr"] = rate_behind
        loss = ((x + torch.randn(8, 2)) @ w - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, w.tolist()


@pytest.fixture
def path(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Path:
    desk.sit_down(qtbot)
    desk.open(LINE)
    path = tmp_path / "line.gsg"
    desk.session.save(path)
    return path


def runs(path: Path) -> list[KeptRun]:
    return list(kept_runs(path.with_name("line.runs")))


def run_to_end(desk: Desk, path: Path, count: int) -> KeptRun:
    """Run, until as many runs are kept, all of them finished and with what they have learnt."""
    desk.session.run.run()
    desk.until(lambda: len(runs(path)) == count and all(one.state == "finished" for one in runs(path)))
    desk.until(lambda: runs(path)[0].learnt_turns == TURNS)
    return runs(path)[0]


def go_back(desk: Desk) -> None:
    """As a double click on the curve does."""
    loss = desk.node("loss")
    desk.session.results.timeline.cut(0)  # nothing is recorded: the turn has to be gone to
    desk.session.turns.go_to(ItemId(desk.graph.parents[loss]), loss, (BACK - 1,))
    desk.until(lambda: desk.session.run.state.verb == "go_to_turn" and desk.session.run.state.outcome == "done")


def check(run: KeptRun, rate_behind: float) -> None:
    """Curve, last number and parameters are those of torch."""
    losses, learnt = plain(rate_behind)
    turns, values = run.curves()["loss"]
    assert turns.tolist() == list(range(TURNS)) and values == pytest.approx(losses, rel=1e-5)
    assert run.record.last["loss"] == pytest.approx(losses[-1], rel=1e-5)
    with safe_open(run.folder / "parameters.safetensors", "np") as file:
        assert file.get_tensor("state.w") == pytest.approx(np.array(learnt), rel=1e-5)


def test_what_is_learnt_otherwise_from_an_earlier_turn_on_is_a_run_of_its_own(desk: Desk, path: Path) -> None:
    first = run_to_end(desk, path, 1)
    go_back(desk)
    assert desk.session.graph_store.attempt(set_literal, "Set lr", desk.node("opt"), "lr", "0.1")
    desk.until(lambda: desk.session.results.tables.curves.marks)
    second = run_to_end(desk, path, 2)
    assert second.id != first.id
    check(runs(path)[1], 0.01)
    check(second, 0.1)
    assert runs(path)[1].record.marks == () and runs(path)[1].record.literals["opt.lr"] == "0.01"
    assert second.record.marks == (f"from turn {BACK + 1}: opt: lr 0.01 → 0.1",)
    assert second.record.literals["opt.lr"] == "0.1" and "lr=0.1" in second.program()
    curves = desk.session.results.tables.curves
    assert curves.points(curves.names[0])[1].tolist() == pytest.approx(plain(0.1)[0], rel=1e-5)


def test_a_run_that_is_looked_at_in_an_earlier_turn_stays_as_it_ended(desk: Desk, path: Path) -> None:
    run_to_end(desk, path, 1)
    go_back(desk)
    assert runs(path)[0].state == "finished"
    check(run_to_end(desk, path, 1), 0.01)
    curves = desk.session.results.tables.curves
    assert curves.points(curves.names[0])[1].tolist() == pytest.approx(plain(0.01)[0], rel=1e-5)


def test_points_behind_a_change_go_when_the_first_of_them_is_learnt_anew() -> None:
    store = CurveStore()
    store.add(turned(0, [5.0, 4.0, 3.0, 2.0], around=()))
    store.mark({LOOP: 3}, "opt: lr 0.1 → 0.2")
    store.mark({LOOP: 2}, "opt: lr 0.2 → 0.3")
    assert store.parts and len(store.points((LOOP, KEY))[0]) == 4
    store.add(turned(2, [9.0]))
    assert not store.parts
    assert [part.tolist() for part in store.points((LOOP, KEY))] == [[0, 1, 2], [5.0, 4.0, 9.0]]
    assert [mark.number for mark in store.marks] == [2] and store.largest((LOOP, KEY)) == 9.0


def test_a_change_at_the_newest_turn_takes_nothing_away() -> None:
    store = CurveStore()
    store.add(turned(0, [5.0, 4.0], around=()))
    store.mark({LOOP: 3}, "opt: lr 0.1 → 0.2")
    assert not store.parts
    store.add(turned(2, [3.0, 2.0]))  # of the first it was not told before the change
    assert store.points((LOOP, KEY))[1].tolist() == [5.0, 4.0, 3.0, 2.0]
