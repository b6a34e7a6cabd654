"""Dots are found by their wires, by a point, in a rectangle, and between cards that move."""

from gradstudio.graph import recipes
from gradstudio.graph.model import Wire
from gradstudio.graph.ports.wire_dots import dot_key
from gradstudio.scene.geometry import Box
from tests.helpers.drawing import Drawing


def dotted(drawing: Drawing) -> tuple[Wire, Wire]:
    """Two wires; the first leads through two dots."""
    x, y, z = drawing.chain("torch.randn", "torch.relu", "torch.exp")
    wire = drawing.graph.wires[y, "input"]
    drawing.do(recipes.add_dot(drawing.graph, wire, 0, (200, 160)))
    drawing.do(recipes.add_dot(drawing.graph, wire, 1, (240, 240)))
    assert x == wire.source
    return wire, drawing.graph.wires[z, "input"]


def test_the_dots_of_a_wire_come_from_its_source_on(drawing: Drawing) -> None:
    wire, other = dotted(drawing)
    scene, end = drawing.scene, (wire.target, wire.port)
    assert scene.dots.of(wire) == scene.dots.by_end[end] == [dot_key(end, 0), dot_key(end, 1)]
    assert [scene.dots.place(key) for key in scene.dots.of(wire)] == [(200, 160), (240, 240)]
    assert scene.dots.of(other) == []


def test_the_nearest_dot_within_reach_is_found_with_its_wire(drawing: Drawing) -> None:
    wire, _ = dotted(drawing)
    first, second = drawing.scene.dots.of(wire)
    assert drawing.scene.dots.at(203, 160, 10) == (first, wire)
    assert drawing.scene.dots.at(230, 220, 200) == (second, wire)
    assert drawing.scene.dots.at(0, 0, 10) is None


def test_dots_within_a_rectangle_and_between_cards(drawing: Drawing) -> None:
    wire, other = dotted(drawing)
    first, second = drawing.scene.dots.of(wire)
    assert drawing.scene.dots.inside(Box(190, 150, 20, 20)) == {first}
    assert drawing.scene.dots.between((wire.source, wire.target)) == {first, second}
    assert drawing.scene.dots.between((wire.source, other.target)) == frozenset()


def test_a_dragged_dot_is_where_the_drag_shows_it(drawing: Drawing) -> None:
    wire, _ = dotted(drawing)
    first, _ = drawing.scene.dots.of(wire)
    drawing.scene.drag.show({first: (210.0, 400.0)})
    assert drawing.scene.dots.place(first) == (210, 400)
    drawing.scene.drag.let_go()
    assert drawing.scene.dots.place(first) == (200, 160)


def test_the_dots_go_with_their_wire(drawing: Drawing) -> None:
    wire, _ = dotted(drawing)
    drawing.do(recipes.disconnect(drawing.graph, wire))
    assert not drawing.scene.dots.by_end
