"""Plates keep their ground while their values change, and look as if they were painted anew."""

import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import Graph
from gradstudio.program.reading.reader import read_script
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.card.plate_ground import plate_name
from gradstudio.ui.canvas.paint.plate_pictures import PlatePictures
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme
from tests.ui.canvas.test_painted_numbers import scene_after_run

ZOOM = 0.5
PROGRAM = """
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
many = torch.linspace(0.0, 1.0, 40)
y = x * 2
loss = y.sum()
loss.backward()
"""


@pytest.fixture
def scene(qtbot: QtBot, dark: Theme) -> Scene:
    graph: Graph = read_script(PROGRAM).graph
    return scene_after_run(graph, dark)


def picture(kept: PlatePictures, scene: Scene, style: CanvasStyle) -> QImage:
    image = QImage(400, 800, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(style.color("canvas"))
    painter = QPainter(image)
    for place, item in enumerate(scene.stack.ids):
        card = scene.stack.cards[item]
        rect = (20, 20 + 90 * place, round(card.layout.width * ZOOM), round(card.drawn_height * ZOOM))
        kept.paint(painter, style, scene, item, rect, ZOOM)
    painter.end()
    return image


def no_values(scene: Scene) -> None:
    scene.state.shown = replace(scene.state.shown, values=False)
    scene.results_changed()


def no_gradients(scene: Scene) -> None:
    scene.state.shown = replace(scene.state.shown, gradients=False)
    scene.results_changed()


def coloured(scene: Scene) -> None:
    scene.colours.colour_by("dtype")


def nothing_more(scene: Scene) -> None:
    scene.state.shown = Shown()
    scene.results_changed()


@pytest.mark.parametrize("change", [no_values, no_gradients, coloured, nothing_more])
def test_a_plate_whose_values_change_looks_as_if_it_were_painted_anew(
    scene: Scene, dark: Theme, change: Callable[[Scene], None]
) -> None:
    style, kept = CanvasStyle(dark), PlatePictures()
    first = picture(kept, scene, style)
    scene.results_changed()
    assert picture(kept, scene, style) == first
    change(scene)
    assert picture(kept, scene, style) == picture(PlatePictures(), scene, style)
    nothing_more(scene)
    scene.colours.colour_by("")
    assert picture(kept, scene, style) == first


def test_the_ground_is_not_painted_again_for_other_values(scene: Scene, dark: Theme) -> None:
    style, kept, called = CanvasStyle(dark), PlatePictures(), list[str]()
    for _ in range(3):
        picture(kept, scene, style)
        no_values(scene)
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        picture(kept, scene, style)
    finally:
        sys.setprofile(None)
    assert called.count("paint_plate_results") == len(scene.stack.ids)
    assert "paint_plate_ground" not in called


def test_a_plate_that_has_texts_is_never_blank(qtbot: QtBot, dark: Theme) -> None:
    lines = ["import torch", "import torch.nn.functional as F", "log_probabilities = torch.randn(2, 3)"]
    lines += ["answers_of_the_batch = torch.tensor([0, 1])", "F.cross_entropy(log_probabilities, answers_of_the_batch)"]
    scene, style = scene_after_run(read_script("\n".join(lines) + "\n").graph, dark), CanvasStyle(dark)
    for zoom in (0.17, 0.21, 0.3, 0.5):
        for item in scene.stack.ids:
            layout = scene.stack.cards[item].layout
            name = plate_name(style.meter, layout, "plate_small", layout.width * zoom - 10.0)
            assert name.strip("…"), (layout.title, zoom)
            begins = (layout.names or layout.title, layout.title)
            assert any(whole.startswith(name.rstrip("…")) for whole in begins)


def test_a_plate_of_what_only_has_a_name_says_its_first_letters(qtbot: QtBot, dark: Theme) -> None:
    text = "import torch\nx = torch.ones(2)\na_long_second_name_of_it = x\n"
    scene, style = scene_after_run(read_script(text).graph, dark), CanvasStyle(dark)
    layout = next(card.layout for card in scene.stack.cards.values() if card.layout.title == "=")
    said = [plate_name(style.meter, layout, "plate_small", float(width)) for width in range(20, 60, 4)]
    assert all(name.startswith("a") for name in said), said
    assert plate_name(style.meter, layout, "plate_small", 16.0) == "="
