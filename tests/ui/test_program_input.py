"""A program that calls `input()` asks in the status bar: the line is typed there, Enter gives it, Stop ends the run."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk, Key, Keys
from tests.ui.trusted import open_trusted

CODE = """import torch

name = input("How many? ")
x = torch.ones(int(name))
if x.sum() > 2:
    exit()
y = x * 2
"""


@pytest.fixture
def asked(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Desk:
    open_trusted(desk, qtbot, tmp_path, CODE)
    desk.until(lambda: desk.window.actions["run.run"].isEnabled())
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.results.tables.asked is not None)
    return desk


def test_a_line_is_typed_and_the_keys_go_back(asked: Desk) -> None:
    field = asked.window.status.input_field
    assert (field.isVisible(), field.question.text()) == (True, "How many?")
    assert QApplication.focusWidget() is field.line
    asked.type("2")
    asked.until(lambda: not asked.session.run.state.busy)
    assert asked.session.results.printout(asked.node("name")).text == ("How many? 2",)
    assert not field.isVisible()
    assert QApplication.focusWidget() is asked.window.canvas
    assert asked.value("y") == [2.0, 2.0]


def test_what_a_program_ends_itself_for_is_said(asked: Desk) -> None:
    asked.type("3")
    asked.until(lambda: not asked.session.run.state.busy)
    assert asked.window.status.message.full == "The program ended itself at “exit()”: what follows was not run."
    assert asked.session.results.outputs(asked.node("y")) is None


def test_a_code_that_a_program_ends_itself_with_is_said(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    open_trusted(desk, qtbot, tmp_path, "import torch\nimport sys\n\nx = torch.ones(2)\nsys.exit(3)\n")
    desk.until(lambda: desk.window.actions["run.run"].isEnabled())
    desk.key(Key.Key_F5)
    desk.until(lambda: bool(desk.session.results.failures) and not desk.session.run.state.busy)
    assert "The program ended itself with code 3: what follows was not run" in desk.window.status.message.full
    assert "failed" not in desk.window.status.message.full


def test_stop_ends_what_waits_and_the_engine_stays(asked: Desk) -> None:
    engine = asked.session.engine.pid
    asked.key(Key.Key_F5, Keys.ShiftModifier)
    asked.until(lambda: not asked.session.run.state.busy)
    assert asked.session.run.state.outcome == "stopped"
    assert asked.session.engine.pid == engine
    assert not asked.window.status.input_field.isVisible()


def test_nobody_types_any_more(asked: Desk) -> None:
    asked.press(Key.Key_D, Keys.ControlModifier)
    asked.until(lambda: not asked.session.run.state.busy)
    assert asked.session.run.state.outcome == "failed"
    assert "EOFError" in asked.session.results.failures[-1].what
