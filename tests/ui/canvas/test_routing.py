"""The canvas leads wires around cards."""

import numpy as np
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.scene.wire.wire_options import WireOptions
from tests.scene.wire.test_routing import STYLES, behind
from tests.ui.canvas.conftest import Hand


def test_the_canvas_leads_wires_around_cards_and_lets_them_go_while_they_are_dragged(hand: Hand) -> None:
    x, between, total = hand.add("torch.randn", 0, 0), hand.add("torch.ones", 320, -60), hand.add("torch.sum", 700, 0)
    hand.wire(x, total, "input")
    scene = hand.canvas.scene
    (k,) = scene.wiring.index.values()
    rect = scene.placement.bounds[scene.stack.index[between]].tolist()
    assert not behind(scene.routes.paths[k], rect)
    scene.drag.show({total: (700.0, 1.0)})
    assert behind(scene.routes.paths[k], rect)
    scene.drag.let_go()
    assert not behind(scene.routes.paths[k], rect)
    for style in STYLES:
        scene.show_wires(WireOptions(style=style))
        assert not behind(scene.routes.paths[k], rect)


def test_a_muted_wire_keeps_its_route(hand: Hand) -> None:
    """It is listed last, and is led around the cards as before."""
    one, other = hand.add("torch.randn", 0, 0), hand.add("torch.randn", 0, 260)
    hand.add("torch.randn", 340, 60)
    hand.add("torch.randn", 340, 330)
    a, b = hand.add("torch.relu", 760, 20), hand.add("torch.relu", 760, 240)
    for source, target in ((one, b), (other, a), (one, a), (other, b)):
        if hand.graph.wire_into(target, "input") is None:
            hand.wire(source, target, "input")
    scene = hand.canvas.scene
    for wire in list(hand.graph.wires.values()):
        before = {known: scene.routes.paths[k].copy() for known, k in scene.wiring.index.items()}
        hand.canvas.wire_commands.toggle_wires_muted((wire,))
        assert wire in scene.wiring.muted
        assert all(np.array_equal(scene.routes.paths[k], before[known]) for known, k in scene.wiring.index.items())


def test_a_canvas_leads_what_waits_for_it_when_it_has_nothing_else_to_do(hand: Hand, qtbot: QtBot) -> None:
    first = hand.add("torch.randn", 0, 0)
    items = [hand.add("torch.relu", 240.0 * (1 + k % 6), 170.0 * (k // 6) - 60 * (k % 2)) for k in range(36)]
    for k, item in enumerate(items):
        hand.wire(items[k - 7] if k > 6 else first, item, "input")
    store, routes = hand.session.graph_store, hand.canvas.scene.routes
    assert store.attempt(recipes.move, "Move", {items[20]: (900.0, 500.0)})
    assert routes.is_behind
    hand.shot()
    qtbot.waitUntil(lambda: not routes.is_behind)
    before = routes.paths.copy()
    hand.canvas.scene.rebuild()
    np.testing.assert_array_equal(before, routes.paths)
