"""Nothing covers anything: numbers on wires, words at ports, errors of another moment, cards that fixes add."""

from dataclasses import dataclass
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QRect, QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.debugging import Clash, Culprit
from gradstudio.protocol.messages.events import Failed, Row
from gradstudio.protocol.messages.records import PlainRecord, Summary
from gradstudio.scene.camera import LEAST_READABLE, Camera
from gradstudio.scene.card.gradient_terms import part_words
from gradstudio.scene.geometry import Box
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import at_work
from gradstudio.scene.wire.label_placement import place_label
from gradstudio.scene.wire.wire_labels import WireLabel, adds_up, arrival_words, brief, summed
from gradstudio.ui.canvas.paint.card.distant_card import paint_number
from gradstudio.ui.canvas.paint.moment_painter import Stage, tab_place
from gradstudio.ui.canvas.paint.pending_painter import begun_items, has_run, paint_pending
from gradstudio.ui.canvas.paint.picture_export import render_picture
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.edit.test_canvas_debugging import Squared, marked, number
from tests.ui.canvas.test_joined_cards import WEIGHTS, expect_leaves, layer

SVG = "{http://www.w3.org/2000/svg}"
VIEW = Box(0, 0, 1000, 700)


@pytest.fixture
def squared(hand: Hand) -> Squared:
    return Squared(hand)


def label_of(hand: Hand, wire: Wire) -> WireLabel:
    hand.shot()
    label = hand.canvas.layer.labels.of(wire)
    assert label is not None
    return label


def picture_of(hand: Hand, label: WireLabel) -> QImage:
    box = hand.canvas.camera.box_to_view(label.box)
    inside = QRect(round(box.x) + 2, round(box.y) + 2, round(box.width) - 4, round(box.height) - 4)
    return hand.shot().copy(inside)


def closer(squared: Squared, gap: float) -> None:
    """Put y so many pixels behind x, in a row."""
    scene = squared.hand.canvas.scene
    x = scene.placement.box(squared.x)
    assert x is not None
    edits = recipes.move(squared.hand.graph, {squared.y: (x.right + gap, x.y)})
    squared.hand.session.graph_store.submit(edits, "Move")


# ------------------------------------------------------------------ numbers on wires


def crowd(squared: Squared) -> None:
    """So many cards around the wire to y that nothing has room there."""
    closer(squared, 24)
    hand = squared.hand
    x = hand.canvas.scene.placement.box(squared.x)
    assert x is not None
    for dy in (-260, 260):
        hand.add("torch.zeros", x.right - 100, x.y + dy)
        hand.add("torch.zeros", x.right - 100, x.y + dy / 2)
    squared.run()
    hand.session.attention.select(())


def test_a_number_without_room_that_is_lit_stands_beside_the_cards(squared: Squared) -> None:
    crowd(squared)
    squared.hand.shot()
    labels, scene, wire = squared.hand.canvas.layer.labels, squared.hand.canvas.scene, squared.to_y
    x, y = scene.routes.paths[scene.wiring.index[wire]][12].tolist()
    lit = labels.whole(wire, "‖∇‖ 123456", 1.0)
    cards = [box for item in scene.stack.ids if (box := scene.placement.box(item)) is not None]
    assert lit.text == "‖∇‖ 123456"
    assert lit.box.width > 24  # more than the gap between the cards
    assert not any(lit.box.meets(card) for card in cards)
    assert lit.foot == pytest.approx((x, y))


def test_a_number_that_has_no_room_on_a_short_wire_is_tied_to_it(squared: Squared) -> None:
    closer(squared, 24)
    squared.run()
    label = label_of(squared.hand, squared.to_y)
    assert (label.text, label.foot is not None) == ("3", True)
    cards = (squared.hand.canvas.scene.placement.box(item) for item in (squared.x, squared.y, squared.z))
    assert not any(card is not None and card.meets(label.box) for card in cards)


def test_where_nothing_has_room_there_is_no_label_and_nothing_is_painted(squared: Squared) -> None:
    crowd(squared)
    canvas, scene = squared.hand.canvas, squared.hand.canvas.scene
    with_numbers = squared.hand.shot()
    assert canvas.layer.labels.of(squared.to_y) is None
    canvas.overlays.switch("wire_gradients", False)
    x, y = canvas.camera.to_view(*scene.routes.paths[scene.wiring.index[squared.to_y]][11].tolist())
    around = QRect(round(x) - 8, round(y) - 9, 16, 18)
    assert with_numbers.copy(around) == squared.hand.shot().copy(around)


def test_a_lit_wire_is_no_bar_through_its_own_number(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    label = label_of(hand, squared.direct)
    before = picture_of(hand, label)
    hand.session.attention.select((squared.x,))
    assert picture_of(hand, label) == before


def test_numbers_of_a_stale_run_are_pale(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    label = label_of(hand, squared.direct)
    fresh = picture_of(hand, label)
    hand.session.results.tables.set_stale(True)
    hand.session.results.tables.pace.flush()
    assert picture_of(hand, label) != fresh


def test_every_norm_has_one_form_and_counts_come_first() -> None:
    vector = Summary(dtype="float32", shape=(100,), minimum=-1.0, maximum=1.0, rms=0.1414)
    broken = Summary(dtype="float32", shape=(4,), rms=0.5, nan=1, posinf=2)
    assert (brief(vector), part_words(vector)) == ("‖∇‖ 1.41", "‖∇‖ 1.41")
    assert brief(broken) == "1 NaN"
    assert part_words(Summary(dtype="float32", shape=(2,), value=[0.0, 2.0], rms=1.0)) == "[0 2]"
    assert brief(number(14.7612)) == "14.76", "with the digits of the card"
    assert summed([vector, vector], 2) == "2 of 2: ‖∇‖ 1.41, ‖∇‖ 1.41", "norms add up to nothing"
    assert summed([vector], 2) == "1 of 2: ‖∇‖ 1.41, …"
    assert summed([number(1 / 3), number(1 / 3)], 2) == "2 of 2: 0.3333 + 0.3333 ≈ 0.6667"


@pytest.mark.parametrize("text", ["nan", "inf"])
def test_what_is_not_finite_is_no_part_of_a_sum(text: str) -> None:
    odd = Summary(dtype="float32", shape=(), value=text, nan=int(text == "nan"), posinf=int(text == "inf"))
    words = {"nan": "NaN", "inf": "∞"}[text]
    assert not adds_up([number(16.0), odd])
    assert summed([number(16.0), odd], 2) == f"2 of 2: 16, {words}"
    assert arrival_words(odd, [number(16.0), odd]) == f"arrives {words}"
    assert arrival_words(number(3.0), [number(1.0), number(2.0)]) == "arrives 1 + 2 = 3"


# ------------------------------------------------------------------ the tab of the card that is at work


def test_the_tab_of_a_card_covers_no_number_and_no_other_card(squared: Squared) -> None:
    canvas = squared.hand.canvas
    scene, camera = canvas.scene, Camera(1.0, -200.0, -200.0)
    box = scene.placement.box(squared.y)
    assert box is not None
    squared.hand.add("torch.zeros", box.x - 100, box.y + box.height + 6)
    shown = camera.box_to_view(box)
    stage = Stage(
        QPainter(),
        canvas.canvas_style,
        scene,
        camera,
        camera.seen(1600, 1200),
        canvas.layer.labels,
        "10/13 MulBackward0",
    )
    above = tab_place(stage, shown, [])
    assert above.bottom == pytest.approx(shown.y)
    number = Box(above.x - 40, above.y, 45, 15)
    beside = tab_place(stage, shown, [number])
    assert beside.bottom == pytest.approx(shown.y) and not beside.meets(number)
    both = [number, Box(beside.x, beside.y, 60, 15)]
    below = tab_place(stage, shown, both)
    assert below.y == pytest.approx(shown.bottom)


@pytest.mark.parametrize("height", [37, 44])
def test_a_number_seen_from_afar_is_told_on_a_low_card_too(dark: Theme, height: int) -> None:
    style = CanvasStyle(dark)

    def painted(value: float) -> QImage:
        image = QImage(74, height, QImage.Format.Format_RGB32)
        image.fill(style.color("card_well"))
        painter = QPainter(image)
        room = QRectF(0, 0, 74, height).adjusted(7, 20, -5, -4)
        paint_number(painter, style, PlainRecord(class_name="int", what="number", value=value), room, large=True)
        painter.end()
        return image

    assert painted(8) != painted(3)


# ------------------------------------------------------------------ words at ports


@pytest.mark.parametrize("upward", [True, False])
def test_words_at_a_port_cover_neither_its_card_nor_others(upward: bool) -> None:
    card, right = Box(100, 300, 200, 150), Box(316, 290, 200, 200)
    box = place_label((300, 330), card, 120, [card, right], VIEW, upward=upward)
    assert not box.meets(card)
    assert not box.meets(right)
    assert VIEW.contains(box.x, box.y) and VIEW.contains(box.right, box.bottom)


def test_words_at_a_port_stand_beside_it_where_there_is_room() -> None:
    card = Box(100, 300, 200, 150)
    assert place_label((300, 330), card, 120, [card], VIEW, upward=False).x > card.right
    at_the_edge = place_label((990, 330), Box(790, 300, 200, 150), 120, [Box(790, 300, 200, 150)], VIEW, upward=False)
    assert at_the_edge.right <= VIEW.right


def test_a_moment_whose_node_was_deleted_leaves_nothing_behind(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    hand.session.attention.look_at(4)
    assert marked(hand, "backward", 100)
    assert hand.session.graph_store.attempt(recipes.delete, "Delete", (squared.y,))
    assert hand.session.results.active is not None
    assert not marked(hand, "backward", 40)


# ------------------------------------------------------------------ errors are of now


def fail(squared: Squared, item: ItemId, clash: Clash | None = None) -> None:
    failed = Failed(revision=0, node=item, address="z", line=1, type_name="RuntimeError", message="no", clash=clash)
    squared.hand.session.results.tables.add_failure(Failure(failed))
    squared.hand.session.results.tables.pace.flush()


def test_an_error_is_not_shown_at_a_moment_before_it(squared: Squared) -> None:
    squared.run()
    scene = squared.hand.canvas.scene
    fail(squared, squared.z)
    assert scene.updates.well(squared.z).problem_kind == "error"
    squared.hand.session.attention.look_at(0)
    assert scene.updates.well(squared.z).problem_kind == ""
    squared.hand.session.attention.look_at(None)
    assert scene.updates.well(squared.z).problem_kind == "error"


def test_a_clash_is_marked_from_the_write_on(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    clash = Clash(victim=squared.x, autograd="ExpBackward0", version=1, culprits=(Culprit(node=squared.y, version=1),))
    fail(squared, squared.z, clash)
    for moment, is_marked in ((0, False), (1, True)):
        hand.session.attention.look_at(moment)
        assert marked(hand, "danger", 60) == is_marked


def test_the_card_of_the_moment_is_never_one_that_had_not_run(
    squared: Squared, monkeypatch: pytest.MonkeyPatch
) -> None:
    squared.run()
    scene, results = squared.hand.canvas.scene, squared.hand.session.results
    squared.hand.session.attention.look_at(0)
    assert not has_run(scene, squared.z, begun_items(scene))
    monkeypatch.setattr(results, "row", lambda _node: None)  # as of a backward, until it is over
    assert has_run(scene, squared.x, begun_items(scene)) and not has_run(scene, squared.y, begun_items(scene))


@pytest.mark.parametrize("zoom", [1.0, 0.7, LEAST_READABLE])
def test_words_of_what_had_not_run_stand_within_their_cards(squared: Squared, zoom: float) -> None:
    bare = squared.hand.add("torch.Tensor.backward", 40, 500)
    squared.run()
    canvas, tables = squared.hand.canvas, squared.hand.session.results.tables
    tables.add_rows([Row(step=3, node=bare, outputs=())])
    tables.pace.flush()
    squared.hand.session.attention.look_at(0)
    assert not has_run(canvas.scene, bare, begun_items(canvas.scene))
    camera = Camera(zoom, 0.0, 0.0)
    words = pending_words(squared.hand, camera)
    boxes = [camera.box_to_view(box) for item in squared.hand.graph.nodes if (box := canvas.scene.placement.box(item))]
    assert len(words) == 2, "y and z, which have a well"
    assert all(any(box.x < x < box.right and box.y < y < box.bottom for box in boxes) for x, y in words)


def pending_words(hand: Hand, camera: Camera) -> list[tuple[float, float]]:
    """Where each line of words stands that is painted on what had not run, view pixels."""
    data, generator = QBuffer(), QSvgGenerator()
    data.open(QIODevice.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(data)
    generator.setSize(QSize(2000, 2000))
    painter = QPainter(generator)
    paint_pending(painter, hand.canvas.canvas_style, hand.canvas.scene, camera, Box(0, 0, 4000, 4000))
    painter.end()
    tree = ElementTree.fromstring(bytes(data.data().data()).decode())
    return [(float(one.get("x", "")), float(one.get("y", ""))) for one in tree.iter(f"{SVG}text")]


@pytest.mark.parametrize("zoom", [1.0, LEAST_READABLE])
@pytest.mark.parametrize("room", [0.0, 12.0, 40.0])
def test_words_of_what_had_not_run_stand_below_the_rows_of_leaves_that_are_expected(
    squared: Squared, zoom: float, room: float
) -> None:
    hand, scene = squared.hand, squared.hand.canvas.scene
    module, call = layer(hand, x=40, y=500)
    expect_leaves(hand, module, *WEIGHTS)
    squared.run()
    hand.session.attention.look_at(0)
    card = scene.stack.read(call)
    card.drawn = scene.stack.leaves(call).height + room  # with the room that its values had at the newest moment
    assert not has_run(scene, call, begun_items(scene))
    box = scene.placement.box(call)
    assert box is not None and len(scene.stack.leaves(call).rows) == 2
    camera = Camera(zoom, 0.0, 0.0)
    rows_end = zoom * (box.y + card.layout.height + scene.stack.leaves(call).height)
    mine = [y for x, y in pending_words(hand, camera) if zoom * box.x < x < zoom * box.right and y > zoom * box.y]
    assert [y > rows_end for y in mine] == ([True] if room * zoom >= 18.0 else [])


def test_what_runs_now_is_neither_lit_nor_bright_at_a_step_before_it(squared: Squared) -> None:
    squared.run()
    scene, results = squared.hand.canvas.scene, squared.hand.session.results
    squared.hand.session.attention.look_at(0)
    calm = squared.hand.shot()
    results.tables.set_running(squared.z)
    assert not has_run(scene, squared.z, begun_items(scene)) and not at_work(results)
    assert squared.hand.shot() == calm
    squared.hand.session.attention.look_at_now()
    results.tables.set_running(squared.z)
    assert at_work(results) == squared.z


def test_a_picture_has_the_gradients_of_wires_as_the_canvas_has(squared: Squared, dark: Theme) -> None:
    squared.run()
    graph, results = squared.hand.graph, squared.hand.session.results
    with_them = render_picture(graph, results, dark, 1.0, Shown(wire_gradients=True))
    without = render_picture(graph, results, dark, 1.0, Shown(wire_gradients=False))
    assert with_them.size() == without.size() and with_them != without


def test_a_node_that_fails_again_comes_into_view_again(squared: Squared) -> None:
    canvas = squared.hand.canvas
    fail(squared, squared.z)
    box = canvas.scene.placement.box(squared.z)
    assert box is not None
    canvas.navigation.set_camera(canvas.camera.panned(-box.right + 4, 0))  # a sliver of it is left
    assert not canvas.navigation.is_seen(squared.z)
    fail(squared, squared.z)
    assert canvas.navigation.is_seen(squared.z)


# ------------------------------------------------------------------ bytes


@dataclass
class Scales:
    """Counts how often memory is weighed."""

    state: RunState
    weighed: int = 0

    @property
    def questions(self) -> "Scales":
        return self

    def weigh_memory(self) -> None:
        self.weighed += 1


def test_bytes_are_weighed_when_costs_are_shown_and_after_every_pause(hand: Hand) -> None:
    run = hand.session.run
    scales = Scales(run.state)
    hand.canvas.debugging.runner = scales  # type: ignore[assignment]  # only what is asked here
    hand.canvas.overlays.switch("cost", True)
    assert scales.weighed == 1
    for busy in (True, False, False):
        run.state_changed.emit(RunState(busy=busy))
    assert scales.weighed == 2
    hand.canvas.overlays.switch("cost", False)
    for busy in (True, False):
        run.state_changed.emit(RunState(busy=busy))
    assert scales.weighed == 2
