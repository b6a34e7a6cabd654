"""Wires around which nothing is another are not led again; all is as if every wire had been led at once."""

import random

import numpy as np
import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId, Place
from gradstudio.scene.arrays import wire_paths
from gradstudio.scene.geometry import Floats
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.route_memo import RouteMemo
from gradstudio.scene.wire.routing import MOST_WIRES, each_routed
from gradstudio.scene.wire.wire_options import WireOptions, WireStyle
from tests.helpers.drawing import Drawing
from tests.scene.wire.test_many_routes import some_edit, some_sums

CARDS, STEPS = 40, 16


def few_cards() -> Graph:
    """So few that wires are led around cards, which stand close."""
    graph = some_sums(CARDS)
    for item, place in graph.places.items():
        graph.places[item] = Place(place.x * 0.8, place.y * 0.7)
    return graph


def as_led_at_once(scene: Scene, drawing: Drawing) -> None:
    fresh = Scene(drawing.graph, drawing.results, scene.state.shown, scene.state.meter)
    fresh.show_wires(scene.wiring.view)
    for each in (scene, fresh):
        each.routes.catch_up(None)
    assert scene.wiring.wires == fresh.wiring.wires
    differ = np.abs(scene.routes.paths - fresh.routes.paths).max((1, 2))
    assert not differ.any(), {scene.wiring.wires[k]: differ[k] for k in differ.nonzero()[0]}


@pytest.mark.parametrize("style", ["curved", "angled", "straight"])
@pytest.mark.parametrize("seed", range(2))
def test_after_each_edit_wires_run_as_if_all_had_been_led_at_once(seed: int, style: WireStyle) -> None:
    drawing, generator = Drawing(few_cards()), random.Random(seed)
    scene = drawing.scene
    scene.show_wires(WireOptions(style=style))
    assert 40 < len(scene.wiring.wires) <= MOST_WIRES
    for _ in range(STEPS):
        edits = some_edit(generator, drawing.graph)
        apply_all(drawing.graph, edits)
        scene.apply(edits)
        if generator.random() < 0.7:  # else the next edit comes before all of them are led
            as_led_at_once(scene, drawing)
    as_led_at_once(scene, drawing)


def test_what_is_put_far_away_leads_no_wire_again_and_what_is_put_near_only_those_around_it() -> None:
    scene, memo = Drawing(few_cards()).scene, RouteMemo()
    wires, index = scene.wiring.wires, scene.stack.index
    here = np.array(scene.placement.corners)
    cards = np.concatenate([here, here + 20_000.0])  # the same twice, far from each other
    ends = np.array([(index[wire.source], index[wire.target]) for wire in wires])
    source, target = np.concatenate([ends, ends + len(here)]).T
    left, right = cards[source], cards[target]
    plain = wire_paths(left[:, [2, 1]] + (0, 20), right[:, :2] + (0, 40), left, right)

    def led(*more: tuple[float, float, float, float]) -> tuple[Floats, list[int]]:
        paths = plain.copy()
        return paths, list(each_routed(paths, np.array([*cards, *more]), source, target, memo=memo))

    first, every = led()
    assert len(every) == len(plain) and (first != plain).any()
    again, none = led((90000.0, 0.0, 90200.0, 90.0))
    assert none == [] and (again == first).all()
    x, y = plain[every[0]].mean(0)
    beside, some = led((x - 20, y - 20, x + 20, y + 20))
    assert 0 < len(some) <= len(wires) and (beside != first).any()
    back, _ = led()
    assert (back == first).all()


def test_a_wire_alone_on_a_canvas_is_led_once(drawing: Drawing) -> None:
    x, total = drawing.add("torch.randn", 0, 0), drawing.add("torch.sum", 700, 0)
    drawing.add("torch.ones", 320, -30)
    drawing.connect(x, total, "input")
    before = drawing.scene.routes.paths.copy()
    drawing.do(recipes.add_operator(drawing.graph, "torch.ones", 9000.0, 9000.0)[0])
    assert (drawing.scene.routes.paths == before).all()
    drawing.do(recipes.move(drawing.graph, {ItemId(total): (700.0, 300.0)}))
    assert not (drawing.scene.routes.paths == before).all()
