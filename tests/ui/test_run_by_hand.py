"""Running and debugging with the keys and the mouse, in the whole window and with the real engine."""

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.scene.items import PortRef
from gradstudio.scene.words.tooltips import wire_text
from tests.ui.desk import Desk

Key, Button, Keys = Qt.Key, Qt.MouseButton, Qt.KeyboardModifier
SQUARED = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
z = y ** 2
loss = z.sum()
loss.backward()
"""


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(SQUARED)
    desk.window.canvas.setFocus()


@pytest.mark.feature(20)
def test_before_a_run_every_port_knows_its_shape(desk: Desk) -> None:
    desk.until(lambda: desk.session.results.inference(desk.node("z")))
    known = desk.session.results.inference(desk.node("z"))
    assert known is not None and known.shape == (2,)
    assert desk.value("z") is None


@pytest.mark.feature(57)
def test_ctrl_f10_runs_to_the_selected_node_and_no_further(desk: Desk) -> None:
    desk.click("y")
    desk.key(Key.Key_F10, Keys.ControlModifier)
    desk.until(lambda: desk.value("y") == [2.0, 4.0])
    desk.rest()
    assert desk.value("z") is None
    assert desk.session.run.state.next_node == desk.node("z")


@pytest.mark.feature(58)
def test_an_edit_greys_what_ran_and_undo_makes_it_current_again(desk: Desk) -> None:
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == 20.0)
    desk.rest()
    assert not desk.session.results.stale(desk.node("loss"))
    desk.click("y")
    desk.key(Key.Key_Delete)
    desk.until(lambda: desk.session.results.stale(desk.node("loss")))
    assert desk.value("loss") == 20.0
    desk.key(Key.Key_Z, Keys.ControlModifier)
    desk.until(lambda: not desk.session.results.stale(desk.node("loss")))


@pytest.mark.feature(59, 60, 61)
def test_f10_steps_on_and_shift_f10_back_and_the_node_is_lit(desk: Desk) -> None:
    desk.key(Key.Key_F10)
    desk.until(lambda: desk.value("x") == [1.0, 2.0])
    desk.rest()
    assert desk.session.run.state.next_node == desk.node("y")
    desk.key(Key.Key_F10)
    desk.until(lambda: desk.value("y") == [2.0, 4.0])
    desk.rest()
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == 20.0)
    desk.rest()
    seen = desk.window.canvas.viewport().grab().toImage()
    steps = []
    for _ in range(3):
        desk.key(Key.Key_F10, Keys.ShiftModifier)
        steps.append(desk.session.attention.moment)
    assert None not in steps and steps == sorted(steps, reverse=True)
    assert desk.session.results.active is not None
    assert desk.window.canvas.viewport().grab().toImage() != seen


@pytest.mark.feature(62)
def test_f9_pauses_the_run_before_the_node(desk: Desk) -> None:
    desk.click("z")
    desk.key(Key.Key_F9)
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("y") == [2.0, 4.0])
    desk.rest()
    assert desk.value("z") is None and desk.session.run.state.next_node == desk.node("z")
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == 20.0)


@pytest.mark.feature(64, 65)
def test_the_pointer_over_a_wire_reads_its_kept_value_shape_and_dtype(desk: Desk) -> None:
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == 20.0)
    desk.rest()
    canvas = desk.window.canvas
    canvas.navigation.fit_all()
    wire = desk.graph.wires_to(desk.node("z"))[0]
    start = canvas.scene.placement.anchor(PortRef(wire.source, "output", "", 0))
    end = canvas.scene.placement.anchor(PortRef(wire.target, "input", wire.port))
    at = QPointF(*canvas.camera.to_view((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    move = QMouseEvent(
        QEvent.Type.MouseMove, at, canvas.viewport().mapToGlobal(at), Button.NoButton, Button.NoButton, Keys.NoModifier
    )
    QApplication.sendEvent(canvas.viewport(), move)
    assert canvas.lit.hovered_wire == wire
    words = wire_text(canvas.scene, wire)
    assert "2" in words and "float32" in words and "4" in words


@pytest.mark.feature(66)
def test_a_run_puts_the_numbers_on_the_cards(desk: Desk) -> None:
    before = desk.window.canvas.viewport().grab().toImage()
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == 20.0)
    desk.rest()
    assert desk.window.canvas.viewport().grab().toImage() != before
    grad = desk.session.results.grad(desk.node("x"))
    assert grad is not None and grad.grad is not None and grad.grad.value == [8.0, 16.0]


@pytest.mark.feature(67)
def test_a_failure_stands_at_its_node_and_the_list_leads_there(desk: Desk) -> None:
    desk.open("import torch\na = torch.randn(3)\nb = torch.randn(4)\nc = a @ b\n")
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.results.failure(desk.node("c")))
    desk.rest()
    desk.until(lambda: desk.session.problems.of(desk.node("c")))


@pytest.mark.feature(69, 70)
def test_a_run_gives_each_node_its_time_and_its_bytes(desk: Desk) -> None:
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == 20.0)
    desk.rest()
    desk.key(Key.Key_8, Keys.AltModifier)
    assert desk.window.overlays["cost"]
    assert desk.session.results.seconds(desk.node("z"))[0] > 0
    desk.until(lambda: desk.session.memory.newest("process"))


@pytest.mark.feature(71)
def test_shift_f5_interrupts_a_run_and_the_window_goes_on(desk: Desk) -> None:
    desk.open("import torch\nx = torch.zeros(2)\nfor i in range(10_000_000):\n    x = x + 1\n")
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.busy)
    desk.key(Key.Key_F5, Keys.ShiftModifier)
    desk.rest()
    desk.until(lambda: desk.session.engine.ready)
