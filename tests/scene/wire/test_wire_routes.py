"""Wires run from port to port, around what is in their way and through their dots."""

import numpy as np
import pytest

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Wire
from gradstudio.scene.geometry import PATH_POINTS
from gradstudio.scene.wire.wire_options import WireOptions, WireStyle
from tests.helpers.drawing import Drawing

STYLES: tuple[WireStyle, ...] = ("curved", "straight", "angled")


def passing(drawing: Drawing) -> tuple[ItemId, Wire]:
    """A card between the ends of a wire."""
    x, between = drawing.add("torch.randn", 0, 0), drawing.add("torch.ones", 320, -30)
    total = drawing.add("torch.sum", 700, 0)
    return between, drawing.connect(x, total, "input")


def runs_behind(drawing: Drawing, item: ItemId) -> bool:
    (path,), box = drawing.scene.routes.paths, drawing.box(item)
    at = np.linspace(0.0, 1.0, 9)[:, None, None]
    points = (path[:-1] + at * (path[1:] - path[:-1])).reshape(-1, 2)
    inside = (points > (box.x, box.y)).all(1) & (points < (box.right, box.bottom)).all(1)
    return bool(inside.any())


def test_without_wires_there_are_no_paths(drawing: Drawing) -> None:
    drawing.add("torch.randn")
    assert drawing.scene.routes.paths.shape == (0, PATH_POINTS, 2)
    assert drawing.scene.routes.bounds.shape == (0, 4)


def test_a_path_begins_and_ends_at_ports_within_its_bounds(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    (path,), (bounds,) = drawing.scene.routes.paths, drawing.scene.routes.bounds
    assert path[0].tolist() == list(drawing.output(x))
    assert path[-1].tolist() == list(drawing.input(y))
    assert (path >= bounds[:2]).all() and (path <= bounds[2:]).all()


@pytest.mark.parametrize("style", STYLES)
def test_a_wire_goes_around_a_card_and_not_while_one_is_dragged(drawing: Drawing, style: WireStyle) -> None:
    between, wire = passing(drawing)
    drawing.scene.show_wires(WireOptions(style=style))
    assert not runs_behind(drawing, between)
    drawing.scene.drag.show({wire.target: (700.0, 1.0)})
    assert runs_behind(drawing, between)
    drawing.scene.drag.let_go()
    assert not runs_behind(drawing, between)


def test_what_is_led_around_the_same_again_is_the_same(drawing: Drawing) -> None:
    passing(drawing)
    before = drawing.scene.routes.paths.copy()
    drawing.scene.routes.route()
    assert (drawing.scene.routes.paths == before).all()


@pytest.mark.parametrize("style", STYLES)
def test_a_wire_leads_through_its_dots(drawing: Drawing, style: WireStyle) -> None:
    _, y = drawing.chain("torch.randn", "torch.relu")
    wire = drawing.graph.wires[y, "input"]
    drawing.do(recipes.add_dot(drawing.graph, wire, 0, (150, 300)))
    drawing.scene.show_wires(WireOptions(style=style))
    (path,) = drawing.scene.routes.paths
    assert np.abs(path - (150, 300)).sum(1).min() < 1
    assert path[0].tolist() == list(drawing.output(wire.source))


def test_a_new_dot_comes_between_those_of_the_wire_where_the_point_is(drawing: Drawing) -> None:
    x, y = drawing.add("torch.randn", 0, 0), drawing.add("torch.relu", 1200, 0)
    wire = drawing.connect(x, y, "input")
    for k, at in enumerate(((500, 200), (900, 200))):
        drawing.do(recipes.add_dot(drawing.graph, wire, k, at))
    routes = drawing.scene.routes
    assert [routes.dot_index(wire, at, 200) for at in (350, 700, 1050)] == [0, 1, 2]


def crowd(drawing: Drawing) -> list[ItemId]:
    """More wires than are led in the time of a frame, most of them with cards in their way."""
    first = drawing.add("torch.randn", 0, 0)
    items = [drawing.add("torch.relu", 240.0 * (1 + k % 6), 170.0 * (k // 6) - 60 * (k % 2)) for k in range(36)]
    for k, item in enumerate(items):
        drawing.connect(items[k - 7] if k > 6 else first, item, "input")
    drawing.scene.routes.catch_up(None)
    return items


def test_hundreds_of_wires_are_led_bit_by_bit_to_the_ways_that_they_have_when_led_at_once(drawing: Drawing) -> None:
    items = crowd(drawing)
    drawing.move({item: (240.0 * (1 + k % 6), 170.0 * (k // 6) - 50 * (k % 2)) for k, item in enumerate(items)})
    routes, turns = drawing.scene.routes, 0
    assert routes.is_behind
    while routes.is_behind:
        before = drawing.scene.state.geometry_revision
        routes.catch_up()
        turns += 1
    assert turns > 1
    assert drawing.scene.state.geometry_revision == before + 1
    again = Drawing(drawing.graph).scene.routes
    assert not again.is_behind
    np.testing.assert_array_equal(routes.paths, again.paths)
    np.testing.assert_array_equal(routes.bounds, again.bounds)


def test_until_all_are_led_a_wire_between_cards_that_stayed_stays_where_it_was(drawing: Drawing) -> None:
    items = crowd(drawing)
    routes, index = drawing.scene.routes, drawing.scene.wiring.index
    before = routes.paths.copy()
    drawing.move({items[20]: (900.0, 500.0)})
    assert routes.is_behind
    for wire, k in index.items():
        if items[20] not in (wire.source, wire.target):
            np.testing.assert_array_equal(routes.paths[k], before[k])
        else:
            assert not np.array_equal(routes.paths[k], before[k])
            ends = (drawing.output(wire.source), drawing.input(wire.target, wire.port))
            assert (tuple(routes.paths[k][0]), tuple(routes.paths[k][-1])) == ends


def test_what_is_dragged_while_wires_wait_is_led_after_it(drawing: Drawing) -> None:
    items = crowd(drawing)
    routes = drawing.scene.routes
    drawing.move({items[20]: (900.0, 500.0)})
    drawing.scene.drag.show({items[3]: (0.0, 900.0)})
    assert not routes.is_behind
    drawing.scene.drag.let_go()
    routes.catch_up(None)
    np.testing.assert_array_equal(routes.paths, Drawing(drawing.graph).scene.routes.paths)
