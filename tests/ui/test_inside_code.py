"""Step Into on a call of code: what it called of torch is gone through, forward and back, line by line."""

from pathlib import Path

import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.ui.docks.inspector.code_section import InsideSection
from gradstudio.ui.docks.messages.problems_panel import ProblemsPanel
from gradstudio.ui.state.results.code_calls import call_at
from tests.ui.desk import Desk, Key, Keys
from tests.ui.trusted import open_trusted, run_to_the_end

CODE = """import torch

x = torch.tensor([0.5, -2.0, 3.0], requires_grad=True)


class Grow:
    def __call__(self, v):
        while v.norm() < 20:
            v = torch.relu(v * 2) + 1
        return v


grow = Grow()
y = grow(x)
loss = y.sum()
loss.backward()
"""

SLIP = """import torch
from torch import nn
import torch.nn.functional as F


class Trainer:
    def fit(self):
        torch.manual_seed(0)
        net = nn.Linear(3, 4)
        p = F.softmax(net(torch.ones(2, 3)), dim=1)
        loss = F.cross_entropy(p, torch.tensor([0, 1]))
        loss.backward()


trainer = Trainer()
trainer.fit()"""


@pytest.fixture
def program(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Desk:
    open_trusted(desk, qtbot, tmp_path, CODE)
    return desk


def press(desk: Desk, key: Key, keys: Keys = Keys.NoModifier) -> None:
    desk.until(lambda: desk.window.actions["run.step"].isEnabled() and not desk.session.run.state.busy)
    ran = len(desk.session.results.timeline.ticks)
    moment = desk.session.results.moment
    desk.key(key, keys)
    results = desk.session.results
    desk.until(
        lambda: not desk.session.run.state.busy and (ran, moment) != (len(results.timeline.ticks), results.moment)
    )


def inside(desk: Desk) -> InsideSection:
    inspector = desk.window.inspector
    inspector.refresh()
    return inspector.details.inside


def shown(section: InsideSection) -> list[tuple[str, list[list[str]]]]:
    """Each line, and the calls under it."""
    found = []
    for place in range(section.tree.topLevelItemCount()):
        line = section.tree.topLevelItem(place)
        rows = [line.child(number) for number in range(line.childCount())]
        found.append((line.text(0), [[row.text(column) for column in range(4)] for row in rows]))
    return found


def head(desk: Desk) -> int:
    """The line of the Code dock in which the loop begins."""
    lines = desk.window.code.editor.text.splitlines()
    return next(number for number, line in enumerate(lines, 1) if "while" in line)


def words(desk: Desk) -> tuple[str, int]:
    """What is looked at was called by that name, so many lines behind the loop's head."""
    call = call_at(desk.session.results)
    assert call is not None
    line = desk.window.room.panels["code"].marks.active_line()  # type: ignore[attr-defined]
    return call.word, line - head(desk)


def test_step_into_goes_from_call_to_call_and_out_behind_the_card(program: Desk) -> None:
    for _ in range(3):
        press(program, Key.Key_F10)
    press(program, Key.Key_F11)
    assert program.session.results.active is not None
    assert program.session.results.active.node == program.node("y")
    assert words(program) == ("norm", 0)
    seen = []
    for _ in range(4):
        press(program, Key.Key_F11)
        seen.append(words(program))
    assert seen == [("lt", 0), ("mul", 1), ("relu", 1), ("add", 1)]
    press(program, Key.Key_F11, Keys.ShiftModifier)
    assert program.session.results.moment is None
    assert program.session.run.state.next_node == program.node("loss")


def test_step_into_goes_into_the_card_that_is_selected(program: Desk) -> None:
    run_to_the_end(program)
    program.session.attention.select((program.node("y"),))
    press(program, Key.Key_F11)
    assert words(program) == ("norm", 0)
    press(program, Key.Key_F11)
    assert words(program) == ("lt", 0)
    press(program, Key.Key_F11, Keys.ShiftModifier)
    active = program.session.results.active
    assert active is not None and active.node == program.node("y"), "behind it"
    press(program, Key.Key_F11)
    active = program.session.results.active
    assert active is not None and active.node == program.node("loss"), "on from there, not into it once more"


def test_step_into_a_selected_card_that_has_not_run_runs_to_it(program: Desk) -> None:
    program.session.attention.select((program.node("y"),))
    press(program, Key.Key_F11)
    assert words(program) == ("norm", 0)
    assert program.session.run.state.next_node == program.node("loss")
    program.session.attention.select((program.node("grow"),))
    program.key(Key.Key_F11)
    assert "nothing inside" in program.said


def test_the_inspector_lists_the_calls_by_line_and_a_click_looks_at_one(program: Desk) -> None:
    run_to_the_end(program)
    program.session.attention.select((program.node("y"),))
    section = inside(program)
    lines = shown(section)
    first = head(program)
    assert [line for line, _ in lines[:2]] == [
        f"{first}  while v.norm() < 20:",
        f"{first + 1}  v = torch.relu(v * 2) + 1",
    ]
    assert [row[0] for row in lines[1][1]] == ["mul", "relu", "add"]
    x = torch.tensor([0.5, -2.0, 3.0], requires_grad=True)
    doubled = x * 2
    doubled.retain_grad()
    v = torch.relu(doubled) + 1
    while v.norm() < 20:
        v = torch.relu(v * 2) + 1
    v.sum().backward()
    grad = doubled.grad
    assert grad is not None
    assert lines[1][1][0][1] == "[3]"
    assert lines[1][1][0][3].split(", ") == [f"{number:g}" for number in grad.tolist()]
    row = section.tree.topLevelItem(1).child(1)
    place = section.tree.visualItemRect(row).center()
    QTest.mouseClick(section.tree.viewport(), Qt.MouseButton.LeftButton, Keys.NoModifier, place)
    assert words(program) == ("relu", 1)
    assert "relu in v = torch.relu(v * 2) + 1" in program.window.timeline.words


def test_the_backward_goes_back_through_the_lines(program: Desk) -> None:
    run_to_the_end(program)
    timeline = program.session.results.timeline
    tick = next(entry for entry in timeline.ticks if entry.autograd is not None and "relu" in entry.node)
    program.session.attention.look_at(tick.index)
    assert words(program) == ("relu", 1)
    program.session.attention.select((program.node("y"),))
    section = inside(program)
    (current,) = section.tree.selectedItems()
    assert current.text(0) == "relu"


def test_what_is_drawn_has_no_inside(program: Desk) -> None:
    run_to_the_end(program)
    program.session.attention.select((program.node("x"),))
    assert inside(program).isHidden()


def test_a_click_on_what_is_wrong_inside_of_code_leads_to_its_line(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    open_trusted(desk, qtbot, tmp_path, SLIP)
    run_to_the_end(desk)
    desk.session.problems.refresh()
    (problem,) = [one for one in desk.session.problems.problems if "softmax" in one.title]
    panel = desk.window.room.panels["problems"]
    assert isinstance(panel, ProblemsPanel)
    desk.window.frame.docks["problems"].show()
    desk.window.frame.docks["problems"].raise_()
    desk.until(lambda: panel.model.rowCount() > 0)
    index = panel.model.index(desk.session.problems.problems.index(problem), 0)
    QTest.mouseClick(
        panel.view.viewport(),
        Qt.MouseButton.LeftButton,
        Keys.NoModifier,
        panel.view.visualRect(index).topLeft() + QPoint(12, 8),
    )
    line = desk.window.room.panels["code"].marks.active_line()  # type: ignore[attr-defined]
    assert "F.cross_entropy" in desk.window.code.editor.text.splitlines()[line - 1]
