"""The picture of a program stays where it is when the program runs for the first time, and all of it is seen."""

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk
from tests.ui.gestures import come_to_rest

SMALL = """
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()
y.backward()
"""
LOOP = """
import torch
w = torch.tensor(2.0, requires_grad=True)
for k in range(3):
    loss = (w - 1.0) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
"""


@pytest.mark.parametrize("text", [SMALL, LOOP], ids=["small", "loop"])
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=str)
def test_the_first_run_moves_nothing_on_the_canvas(desk: Desk, qtbot: QtBot, text: str, size: tuple[int, int]) -> None:
    desk.sit_down(qtbot)
    desk.window.frame.resize(*size)
    desk.window.actions["file.new"].trigger()
    desk.sit_down(qtbot)
    desk.open(text)
    desk.rest()
    come_to_rest(desk)
    canvas, height = desk.window.canvas, desk.window.canvas.viewport().height()
    camera = canvas.camera
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    come_to_rest(desk)
    assert canvas.viewport().height() < height, "the timeline has come"
    assert canvas.camera == camera
    boxes = [canvas.scene.placement.box(item) for item in desk.graph.nodes]
    lowest = max(camera.to_view(0.0, box.bottom)[1] for box in boxes if box is not None)
    assert lowest <= canvas.viewport().height() or not canvas.navigation.shows_all
