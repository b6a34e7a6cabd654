"""Each wire says what came back along it, where the words cover no card and no other words."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gradstudio.document import file
from gradstudio.graph import recipes
from gradstudio.paths import examples
from gradstudio.scene.camera import LEAST_READABLE
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.wire.wire_labels import WireLabels, frame_lines
from tests.helpers.drawing import Drawing

EVERYTHING = Box(-2000.0, -2000.0, 6000.0, 6000.0)


def spread(drawing: Drawing) -> None:
    x, y, z = drawing.add("torch.randn", 0, 200), drawing.add("torch.relu", 420, 0), drawing.add("torch.mul", 840, 200)
    for source, target, port in ((x, y, "input"), (x, z, "input"), (y, z, "other")):
        drawing.connect(source, target, port)
    for wire in drawing.scene.wiring.wires:
        drawing.send_back(wire, 3.0)


def test_before_a_backward_no_wire_says_anything(drawing: Drawing) -> None:
    drawing.chain("torch.randn", "torch.relu")
    assert WireLabels(drawing.scene).near(EVERYTHING, 1.0) == []


def test_labels_cover_no_card_and_not_one_another(drawing: Drawing) -> None:
    spread(drawing)
    found = WireLabels(drawing.scene).near(EVERYTHING, 1.0)
    assert [label.text for _, label in found] == ["3", "3", "3"]
    boxes = [label.box for _, label in found]
    cards = [drawing.box(item) for item in drawing.scene.stack.ids]
    assert not any(box.meets(card) for box in boxes for card in cards)
    assert not any(one.meets(other) for one, other in combinations(boxes, 2))


def test_other_numbers_take_the_place_of_the_old_ones(drawing: Drawing) -> None:
    spread(drawing)
    labels = WireLabels(drawing.scene)
    labels.near(EVERYTHING, 1.0)
    wire = drawing.scene.wiring.wires[0]
    drawing.send_back(wire, 5.0)
    found = dict(labels.near(EVERYTHING, 1.0))
    assert found[wire].text == "5"
    assert labels.of(wire) == found[wire]


def test_from_far_and_while_paused_there_are_none(drawing: Drawing) -> None:
    spread(drawing)
    labels = WireLabels(drawing.scene)
    assert labels.near(EVERYTHING, 0.1) == []
    labels.paused = True
    assert labels.near(EVERYTHING, 1.0) == []
    assert labels.of(drawing.scene.wiring.wires[0]) is None


def test_all_of_its_words_stand_where_its_label_does_or_are_tied_to_the_wire(drawing: Drawing) -> None:
    spread(drawing)
    labels, wire = WireLabels(drawing.scene), drawing.scene.wiring.wires[0]
    labels.near(EVERYTHING, 1.0)
    whole = labels.whole(wire, "3.0000 and many more words", 1.0)
    assert whole.text == "3.0000 and many more words"
    assert whole.box.width > 100


def test_a_wire_says_nothing_that_the_card_it_comes_from_says(drawing: Drawing) -> None:
    x, y, z = (drawing.add(key, 420 * k, 0) for k, key in enumerate(("torch.randn", "torch.relu", "torch.relu")))
    drawing.connect(x, y, "input")
    drawing.connect(y, z, "input")
    for wire in drawing.scene.wiring.wires:
        drawing.send_back(wire, 3.0)
    drawing.tell_gradient(y, "value", 3.0)
    drawing.tell_gradient(x, "accumulated", 5.0)
    found = [wire.source for wire, _ in WireLabels(drawing.scene).near(EVERYTHING, 1.0)]
    assert found == [x]


def test_each_wire_of_a_fork_says_its_part(drawing: Drawing) -> None:
    spread(drawing)
    for item in drawing.scene.stack.ids:
        drawing.tell_gradient(item, "value", 6.0)
    fork = drawing.scene.stack.ids[0]
    found = WireLabels(drawing.scene).near(EVERYTHING, 1.0)
    assert [wire.source for wire, _ in found] == [fork, fork]


def test_no_label_stands_on_a_title_or_an_edge_of_a_frame_nor_over_the_edge_of_the_picture(drawing: Drawing) -> None:
    spread(drawing)
    drawing.do(recipes.wrap(drawing.graph, [drawing.scene.stack.ids[1]], "no_grad"))
    for wire in drawing.scene.wiring.wires:
        drawing.send_back(wire, 3.0)
    found = WireLabels(drawing.scene).near(EVERYTHING, 1.0)
    (frame,) = drawing.scene.placement.frames.values()
    assert found
    assert not any(
        label.box.meets(line) for _, label in found for line in frame_lines(frame, drawing.scene.state.meter)
    )
    box = found[0][1].box
    cut = Box(box.x + 3.0, box.y - 300.0, 2000.0, 2000.0)
    assert found[0][0] not in dict(WireLabels(drawing.scene).near(cut, 1.0))


@pytest.mark.parametrize("zoom", [0.45, LEAST_READABLE, 1.0])
@pytest.mark.parametrize("path", sorted(examples().glob("*.gsg")), ids=lambda path: path.stem)
def test_a_number_lies_on_no_other_wire_than_its_own(drawing: Drawing, path: Path, zoom: float) -> None:
    drawing.scene.rebuild(file.load(path))
    scene = drawing.scene
    scene.routes.catch_up()
    for wire in scene.wiring.wires:
        drawing.send_back(wire, 3.0)
    found = WireLabels(scene).near(Box(-5000.0, -5000.0, 20000.0, 20000.0), zoom)
    assert found
    for wire, label in found:
        own = scene.wiring.ends[wire.target, wire.port]
        for number, points in enumerate(scene.routes.paths):
            on_it = any(label.box.contains(x, y) for x, y in _fine(points))
            assert number == own or not on_it, (wire, scene.wiring.wires[number], label)
        near = label.box.grown(label.box.height / 2)
        assert label.foot is not None or any(near.contains(x, y) for x, y in _fine(scene.routes.paths[own]))


def _fine(points: Floats) -> list[tuple[float, float]]:
    return [(x, y) for x, y in np.linspace(points[:-1], points[1:], 50).reshape(-1, 2).tolist()]
