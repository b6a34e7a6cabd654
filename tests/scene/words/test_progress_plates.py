"""Plates that say how far loops are cover no title, and not one another."""

from itertools import combinations

import pytest

from gradstudio.program.reading.reader import read_script
from gradstudio.scene.camera import Camera
from gradstudio.scene.card.frame_titles import title_in
from gradstudio.scene.geometry import FRAME_TITLE, Box
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import LoopTurn, NoResults
from gradstudio.scene.scene import Scene
from gradstudio.scene.words.progress_plates import progress_plates
from tests.helpers.drawing import EvenMeasure

NESTED = """import torch
w = torch.ones(3)
for epoch in range(20):
    for i in range(45):
        x = torch.sin(w)
        y = torch.cos(x)
    with torch.no_grad():
        z = w.sum()
"""
WIDE = Box(-5000, -5000, 10_000, 10_000)


@pytest.mark.parametrize("zoom", [1.5, 1.0, 0.6, 0.3, 0.1])
def test_nested_loops_are_told_beside_their_titles(zoom: float) -> None:
    meter = EvenMeasure()
    graph = read_script(NESTED).graph
    scene = Scene(graph, NoResults(), Shown(), meter)
    loops = [item for item in graph.order() if item in graph.blocks and graph.blocks[item].kind == "for"]
    told = [LoopTurn(loop, "turn 3 of 20", "5 a second", "2 min 0 s left", 0.15) for loop in loops]
    camera, is_far = Camera(0, 0, zoom), zoom < 0.5
    plates = progress_plates(told, scene, camera, WIDE, is_far=is_far)
    assert len(plates) == 2 or zoom < 0.2
    assert not [pair for pair in combinations(plates, 2) if pair[0].box.meets(pair[1].box)]
    for frame in () if is_far else scene.placement.frames.values():
        shown = camera.box_to_view(frame.box)
        text = title_in(meter, frame.layout.title, "block", frame.box.width)
        title = Box(shown.x + 8, shown.y, meter.width(text, "block") * zoom, FRAME_TITLE * zoom)
        assert not any(plate.box.meets(title) for plate in plates), frame.layout.title


def test_a_plate_stays_in_sight_where_its_frame_goes_on_beside_it() -> None:
    graph = read_script(NESTED).graph
    scene = Scene(graph, NoResults(), Shown(), EvenMeasure())
    frame = max(scene.placement.frames.values(), key=lambda one: one.box.width)
    seen = Box(frame.box.x, frame.box.y, frame.box.width * 0.7, 400)
    (plate,) = progress_plates(
        [LoopTurn(frame.item, "turn 3", "", "", 0.0)], scene, Camera(0, 0, 1), seen, is_far=False
    )
    assert plate.box.right < seen.right and plate.words == "turn 3"
