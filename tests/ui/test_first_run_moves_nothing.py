"""The picture of a program stays where it is when the program runs for the first time, and all of it is seen."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from gradstudio.paths import examples
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
    canvas, camera = desk.window.canvas, desk.window.canvas.camera
    places = _places(desk)
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    come_to_rest(desk)
    assert len(desk.window.timeline.strip.cells), "the timeline shows the run"
    assert canvas.camera == camera
    assert _places(desk) == places
    boxes = [canvas.scene.placement.box(item) for item in desk.graph.nodes]
    lowest = max(camera.to_view(0.0, box.bottom)[1] for box in boxes if box is not None)
    assert lowest <= canvas.viewport().height()


@pytest.mark.parametrize("path", sorted(examples().glob("*.gsg")), ids=lambda path: path.stem)
def test_the_first_run_of_an_example_moves_no_card_frame_or_wire(desk: Desk, qtbot: QtBot, path: Path) -> None:
    desk.sit_down(qtbot)
    desk.window.documents.open(path)
    results, graph = desk.session.results, desk.graph
    desk.until(lambda: any(results.inference(item) is not None for item in graph.nodes))
    come_to_rest(desk)
    before, camera = _picture(desk), desk.window.canvas.camera
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end or results.failures)
    come_to_rest(desk)
    after = _picture(desk)
    assert desk.window.canvas.camera == camera
    assert results.outputs(next(iter(graph.nodes)))
    assert after == before


def _picture(desk: Desk) -> dict[object, tuple[float, ...]]:
    """Where cards, frames and wires are."""
    scene, graph = desk.window.canvas.scene, desk.graph
    rooms = {item: scene.placement.room(item) for item in (*graph.nodes, *graph.blocks)}
    boxes = {item: (box.x, box.y, box.width, box.height) for item, box in rooms.items() if box is not None}
    paths = [tuple(path.ravel().tolist()) for path in scene.routes.paths]
    return {**boxes, **dict(zip(scene.wiring.wires, paths, strict=True))}


def test_a_problem_moves_no_tab(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\nx = torch.tensor([0.0], requires_grad=True)\ny = torch.sqrt(x).sum()\ny.backward()\n")
    desk.rest()
    before = _tabs(desk)
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.window.room.problem_count == 1)
    assert desk.window.frame.docks["problems"].windowTitle() == "Problems (1)"
    assert _tabs(desk) == before


def _tabs(desk: Desk) -> list[QRect]:
    bars = [
        bar for bar in desk.window.frame.findChildren(QTabBar) if "Log" in [bar.tabText(k) for k in range(bar.count())]
    ]
    return [bar.tabRect(k) for bar in bars for k in range(bar.count())]


def _places(desk: Desk) -> list[QRect]:
    """Where everything stands in the window; of docks in one place the one in front may be another."""
    window = desk.window
    parts = [
        window.canvas.viewport(),
        window.timeline,
        window.timeline.strip,
        window.status.counts,
        window.status.light,
    ]
    frame = window.frame
    docks = [QRect(dock.mapTo(frame, QPoint()), dock.size()) for dock in frame.docks if dock.isVisible()]
    seen = sorted((dock for dock in docks if frame.rect().intersects(dock)), key=lambda one: one.getRect())
    return [*(QRect(part.mapTo(frame, QPoint()), part.size()) for part in parts), *seen]
