"""Another moment is read when it is seen: cards, wires and labels are right whenever they come into view."""

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.camera import Camera
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.scene_painter import LEAP
from gradstudio.ui.canvas.session_sync import PIECE
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.edit.test_canvas_debugging import Squared, labels, number

FAR = 6000.0


def large() -> TensorRecord:
    """A tensor whose numbers need more room than a result is expected to."""
    value = [[float(4 * i + j) for j in range(4)] for i in range(4)]
    summary = Summary(dtype="float32", shape=(4, 4), minimum=0.0, maximum=15.0, value=value)
    return TensorRecord(device="cpu", summary=summary, requires_grad=True, grad_fn="ReluBackward0")


def small(value: float) -> TensorRecord:
    return TensorRecord(device="cpu", summary=number(value))


@pytest.fixture
def squared(hand: Hand) -> Squared:
    return Squared(hand)


@pytest.fixture
def far(hand: Hand) -> tuple[Hand, ItemId, ItemId]:
    """A node in view and one far off; both ran three times, the far one with a number, a matrix, a number."""
    near, other = hand.add("torch.relu", 40, 40), hand.add("torch.relu", FAR, FAR)
    source = hand.add("torch.zeros", -400, 40)
    for node in (near, other):
        hand.session.graph_store.submit(
            recipes.connect(hand.session.graph_store.graph, source, 0, node, "input"), "Wire"
        )
    hand.session.attention.select(())
    look_at(hand, 0.0, 0.0)
    records = [(near, small(1.0)), (other, small(1.0)), (near, small(2.0)), (other, large()),
               (near, small(3.0)), (other, small(3.0))]  # fmt: skip
    rows = [Row(step=k, node=node, outputs=(record,)) for k, (node, record) in enumerate(records)]
    hand.session.results.tables.add_rows(rows)
    hand.session.results.tables.pace.flush()
    hand.shot()
    return hand, near, other


def look_at(hand: Hand, x: float, y: float) -> None:
    hand.canvas.navigation.set_camera(Camera(1.0, x, y))
    hand.canvas.navigation.zooming = False


def moment(hand: Hand, tick: int | None) -> None:
    """Look at a moment without following its node."""
    hand.session.attention.look_at(tick)
    look_at(hand, 0.0, 0.0)
    hand.shot()


def fresh_shot(hand: Hand) -> QImage:
    """What a canvas shows that has kept nothing."""
    layer = hand.canvas.layer
    layer.set_style(hand.canvas.canvas_style)
    layer.hurried = False
    hand.canvas.scene.updates.catch_up()
    hand.canvas.repaint_scene()
    return hand.shot()


def test_a_card_that_comes_into_view_says_what_was_at_the_moment(far: tuple[Hand, ItemId, ItemId]) -> None:
    hand, near, other = far
    for tick in (4, 2, 0):
        moment(hand, tick)
        look_at(hand, FAR - 100, FAR - 100)
        hand.shot()
        record = hand.session.results.outputs(other)
        told = [section.value for section in hand.canvas.scene.updates.well(other).sections]
        assert bool(told) == (record is not None)
        assert hand.shot() == fresh_shot(hand)
    assert hand.canvas.scene.updates.row(near) == hand.session.results.row(near)


def test_a_card_out_of_view_has_its_room_when_it_is_seen(far: tuple[Hand, ItemId, ItemId]) -> None:
    hand, _, other = far
    scene = hand.canvas.scene
    before = scene.placement.room(other)
    hand.session.attention.look_at(3)
    look_at(hand, FAR - 100, FAR - 100)
    hand.shot()
    grown = scene.placement.box(other)
    assert before is not None
    assert grown is not None
    assert grown.height > before.height - scene.stack.cards[other].result_height
    assert grown.height == scene.stack.cards[other].drawn_height
    assert scene.updates.well(other).height == scene.stack.cards[other].drawn


def test_back_now_cards_have_the_size_they_had(far: tuple[Hand, ItemId, ItemId]) -> None:
    hand, _, _ = far
    before = hand.canvas.scene.placement.bounds.copy()
    for tick in (3, 0):
        hand.session.attention.look_at(tick)
        hand.canvas.scene.updates.catch_up()
    hand.session.attention.look_at(None)
    assert (hand.canvas.scene.placement.bounds == before).all()


def test_when_the_person_rests_every_card_is_measured(far: tuple[Hand, ItemId, ItemId]) -> None:
    hand, near, other = far
    scene = hand.canvas.scene
    moment(hand, 3)
    hand.canvas.navigation.settle_timer.timeout.emit()
    assert not scene.updates.catch_up()
    assert scene.stack.cards[other].height > scene.stack.cards[near].height


def test_many_cards_are_measured_a_few_at_a_time(hand: Hand, qtbot: QtBot) -> None:
    nodes = [hand.add("torch.zeros", FAR, FAR + 200 * k) for k in range(2 * PIECE + 1)]
    look_at(hand, 0.0, 0.0)
    tables, scene = hand.session.results.tables, hand.canvas.scene
    tables.add_rows([Row(step=k, node=node, outputs=(large(),)) for k, node in enumerate((*nodes, nodes[0]))])
    tables.pace.flush()
    before = scene.stack.cards[nodes[1]].height
    hand.session.attention.look_at(len(nodes) - 1)
    hand.canvas.navigation.settle_timer.timeout.emit()
    assert scene.updates.is_behind
    qtbot.waitUntil(lambda: not scene.updates.is_behind)
    assert all(scene.stack.cards[node].height > before for node in nodes[1:])
    box = scene.placement.box(nodes[1])
    assert box is not None and box.height == scene.stack.cards[nodes[1]].drawn_height


def test_wires_have_the_colour_of_the_moment_when_they_are_seen(squared: Squared) -> None:
    squared.run()
    hand, scene = squared.hand, squared.hand.canvas.scene
    hand.shot()
    k = scene.wiring.index[squared.over]
    known = scene.looks.by_code[scene.looks.codes[k]]
    assert known.known
    look_at(hand, FAR, FAR)
    hand.session.attention.look_at(0)
    look_at(hand, 0.0, 0.0)
    hand.shot()
    assert not scene.looks.by_code[scene.looks.codes[k]].known
    hand.session.attention.look_at(None)
    hand.shot()
    assert scene.looks.by_code[scene.looks.codes[k]] == known


def test_to_and_fro_shows_the_same_pictures_again(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    look_at(hand, 0.0, 0.0)
    shots: dict[int, QImage] = {}
    for tick in (0, 2, 4, 2, 0, 4):
        hand.session.attention.look_at(tick)
        shot = hand.shot()
        assert shots.setdefault(tick, shot) == shot
        assert fresh_shot(hand) == shot
    assert shots[0] != shots[4]


def test_plates_show_each_moment_as_if_they_were_painted_anew(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    hand.canvas.navigation.set_camera(Camera(DISTANT - 0.1, 0.0, 0.0))
    hand.canvas.navigation.zooming = False
    shots: dict[int, QImage] = {}
    for tick in (0, 2, 4, 2, 0, 4):
        hand.session.attention.look_at(tick)
        shot = hand.shot()
        assert shots.setdefault(tick, shot) == shot
        assert fresh_shot(hand) == shot
    assert shots[0] != shots[4]


def test_what_lies_below_the_cards_is_shifted_with_the_view(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    for tick, x, y in ((4, 0.0, 0.0), (3, 0.0, 0.0), (3, 60.0, 0.0), (2, 60.0, -45.0), (0, 0.0, 30.0), (0, 5.0, 0.0)):
        hand.session.attention.look_at(tick)
        look_at(hand, x, y)
        hand.canvas.repaint_scene()
        hand.shot()
        hand.canvas.repaint_scene()
        shot = hand.shot()
        assert shot == fresh_shot(hand)


def test_what_lies_below_the_cards_is_kept_when_an_edit_moves_nothing(hand: Hand) -> None:
    source, reader = hand.add("torch.full", 40, 40), hand.add("torch.relu", 400, 120)
    hand.wire(source, reader, "input")
    graph = hand.session.graph_store.graph
    hand.session.graph_store.submit(recipes.set_literal(graph, source, "fill_value", "1.25"), "Set fill_value")
    for _ in range(3):
        hand.canvas.repaint_scene()
        hand.shot()
    below = hand.canvas.layer._below
    kept = below._picture
    assert kept is not None
    for text in ("2.25", "3.25"):  # as a slider that moves
        hand.session.graph_store.submit(recipes.set_literal(graph, source, "fill_value", text), "Set fill_value")
        shot = hand.shot()
        assert below._picture is kept
    assert shot == fresh_shot(hand)
    hand.session.graph_store.submit(recipes.move(graph, {reader: (460.0, 200.0)}), "Move")
    shot = hand.shot()
    assert below._picture is not kept and shot == fresh_shot(hand)


def test_a_label_comes_back_where_it_was(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    placed = hand.canvas.layer.labels
    hand.shot()
    before = placed.of(squared.over)
    assert before is not None
    hand.session.attention.look_at(0)
    hand.shot()
    assert placed.of(squared.over) is None
    hand.session.attention.look_at(None)
    hand.shot()
    assert placed.of(squared.over) == before
    assert labels(hand)[squared.over] == before.text


def test_a_leap_is_finished_by_the_pictures_that_follow(hand: Hand) -> None:
    items = [hand.add("torch.relu", 120 * (k % 6), 120 * (k // 6)) for k in range(2 * LEAP + 6)]
    hand.session.attention.select(())
    look_at(hand, FAR, FAR)
    rows = [Row(step=k, node=item, outputs=(small(float(k)),)) for k, item in enumerate(items)]
    hand.session.results.tables.add_rows(rows)
    hand.session.results.tables.pace.flush()
    hand.canvas.viewport().repaint()
    hand.session.attention.look_at(len(rows) - 1)
    look_at(hand, 0.0, 0.0)
    hand.canvas.viewport().repaint()
    assert hand.canvas.layer.unfinished
    for _ in range(4):
        hand.canvas.finish_timer.timeout.emit()
        hand.canvas.viewport().repaint()
    assert not hand.canvas.layer.unfinished
    assert hand.shot() == fresh_shot(hand)
