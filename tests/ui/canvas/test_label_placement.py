"""Cards seen from afar: the state of a gradient, what a *What if* changed and what a node costs are told there too."""

from typing import get_args

import pytest
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QImage, QPainter

from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, WireGrad
from gradstudio.protocol.messages.debugging import Change, Difference, MemoryByNode, NodeMemory, WhatIfAnswered
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.records import GradState, ModuleRecord
from gradstudio.scene.camera import Camera
from gradstudio.scene.wire.wire_labels import WireLabels
from gradstudio.ui.canvas.paint.card.debug_section_painter import paint_cost
from gradstudio.ui.canvas.paint.card.distant_gradient_signs import has_sign, paint_plate_state, state_of
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.storage_link_painter import storage_words
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.edit.test_canvas_debugging import number, scalar

STATES: tuple[GradState, ...] = get_args(GradState)


def form(style: CanvasStyle, plate: QRectF, state: GradState) -> frozenset[tuple[int, int]]:
    """The pixels of a plate that a state's sign covers, whatever their colour."""
    image = QImage(80, 60, QImage.Format.Format_RGB32)
    image.fill(style.color("card_well"))
    painter = QPainter(image)
    paint_plate_state(painter, style, plate, state)
    painter.end()
    ground = style.color("card_well").rgb()
    return frozenset((x, y) for x in range(80) for y in range(60) if image.pixel(x, y) != ground)


@pytest.mark.parametrize("plate", [QRectF(4, 4, 60, 40), QRectF(4, 4, 26, 21), QRectF(4, 4, 18, 14)])
def test_the_seven_states_have_seven_forms_whatever_their_colours(dark: Theme, plate: QRectF) -> None:
    style = CanvasStyle(dark)
    forms = {form(style, plate, state) for state in STATES}
    assert len(forms) == len(STATES) == 7
    assert all(forms)
    assert has_sign(plate) == (plate.width() > 20)


def at(hand: Hand, zoom: float) -> QImage:
    hand.canvas.navigation.set_camera(Camera(zoom, 0.0, 0.0))
    return hand.shot()


@pytest.mark.parametrize("zoom", [0.5, 0.25, 0.1])
def test_from_afar_a_card_tells_the_state_of_its_gradient(hand: Hand, zoom: float) -> None:
    item = hand.add("torch.relu", 40, 40)
    results, pictures = hand.session.results, []
    hand.session.attention.select(())
    for state in STATES:
        results.tables.clear()
        results.tables.add_rows([Row(step=0, node=item, outputs=(scalar(3.0),))])
        results.tables.set_gradients([GradRow(node=item, state=state, grad=number(2.0))], whole=True)
        results.tables.pace.flush()
        assert state_of(results, item) == state
        pictures.append(at(hand, zoom))
    assert not any(one == other for k, one in enumerate(pictures) for other in pictures[:k])


def test_of_a_modules_parameters_the_gravest_state_is_told(hand: Hand) -> None:
    item = hand.add("torch.nn.Linear", 40, 40)
    results = hand.session.results
    record = ModuleRecord(class_name="Linear", parameters={"weight": scalar(1.0, leaf=True), "bias": scalar(0.0)})
    results.tables.add_rows([Row(step=0, node=item, outputs=(record,))])
    rows = [GradRow(node=item, path="weight", state="value"), GradRow(node=item, path="bias", state="not_reached")]
    results.tables.set_gradients(rows, whole=True)
    assert state_of(results, item) == "not_reached"


def test_a_what_if_is_written_on_a_card_seen_from_afar(hand: Hand) -> None:
    item = hand.add("torch.relu", 40, 40)
    experiments, pictures = hand.session.experiments, []
    for after in (5.0, 7.0):
        change = Change(node=item, index=(), value=after)
        difference = Difference(node=item, before=number(3.0), after=number(after), largest=after - 3.0)
        experiments.set_what_if(WhatIfAnswered(request=1, change=change, differences=(difference,)))
        pictures.append(at(hand, 0.55))
    assert pictures[0] != pictures[1]


def test_costs_are_written_on_a_card_seen_from_afar(hand: Hand) -> None:
    item = hand.add("torch.relu", 40, 40)
    results = hand.session.results
    results.tables.add_rows([Row(step=0, node=item, outputs=(scalar(3.0),))])
    hand.canvas.overlays.switch("cost", True)
    pictures = []
    for memory in (NodeMemory(node=item, alive_bytes=4096), NodeMemory(node=item, freed_step=1)):
        results.tables.set_memory(MemoryByNode(revision=0, rows=(memory,)))
        results.tables.pace.flush()
        pictures.append(at(hand, 0.55))
    assert hand.canvas.scene.stack.cards[item].extras.cost[2] == "freed"
    assert pictures[0] != pictures[1]


def test_costs_that_have_no_room_are_left_out_and_bytes_go_last(dark: Theme) -> None:
    style = CanvasStyle(dark)

    def painted(cost: tuple[str, str, str, str], width: float) -> QImage:
        image = QImage(320, 24, QImage.Format.Format_RGB32)
        image.fill(style.color("card_well"))
        painter = QPainter(image)
        paint_cost(painter, style, cost, QRectF(4, 2, width, 18))
        painter.end()
        return image

    whole = ("12 µs", "34 µs", "4 KiB", "8 KiB")
    assert painted(whole, 300) != painted(("12 µs", "34 µs", "4 KiB", ""), 300)
    assert painted(whole, 60) == painted(("", "", "4 KiB", ""), 60)


def test_words_of_the_storage_overlay_cover_no_card_no_number_and_not_one_another(hand: Hand) -> None:
    base = hand.add("torch.relu", 40, 200)
    others = [hand.add("torch.relu", x, 200) for x in (330, 620)]
    for one, other in zip((base, others[0]), others, strict=True):
        hand.wire(one, other, "input")
    hand.session.attention.select(())
    results, canvas = hand.session.results, hand.canvas
    items = (base, *others)
    results.tables.add_rows([Row(step=k, node=item, outputs=(scalar(3.0, storage=7),)) for k, item in enumerate(items)])
    results.tables.add_backward(
        BackwardTraced(
            revision=0, backward=1, rows=(AutogradRow(backward=1, autograd="ReluBackward0", node=others[0], id=0),),
            wires=tuple(WireGrad(source=one, target=other, port="input", place=0, grad=number(0.5))
                        for one, other in zip((base, others[0]), others, strict=True)),
        )
    )  # fmt: skip
    results.tables.pace.flush()
    canvas.overlays.switch("storage", True)
    scene, camera, seen = canvas.scene, canvas.camera, canvas.camera.seen(1000, 700)
    labels = WireLabels(scene)
    words = [box for _, _, box in storage_words(canvas.canvas_style, scene, camera, seen, labels) if box is not None]
    assert len(words) == len(results.shared_storage()) == 2
    numbers = [camera.box_to_view(label.box) for _, label in labels.near(seen, camera.zoom)]
    cards = [camera.box_to_view(box) for item in items if (box := scene.placement.box(item)) is not None]
    assert len(numbers) == 2
    assert not any(word.meets(box) for word in words for box in (*numbers, *cards))
    assert not any(one.meets(other) for k, one in enumerate(words) for other in words[:k])


def test_the_link_of_a_shared_storage_passes_behind_the_cards_between(hand: Hand) -> None:
    base, between, other = (hand.add("torch.relu", x, y) for x, y in ((40, 20), (60, 240), (80, 480)))
    hand.session.attention.select(())
    results, canvas = hand.session.results, hand.canvas
    results.tables.add_rows(
        [Row(step=k, node=item, outputs=(scalar(3.0, storage=7),)) for k, item in enumerate((base, other))]
    )
    results.tables.pace.flush()
    box = canvas.scene.placement.box(between)
    assert box is not None
    shown = canvas.camera.box_to_view(box)
    card = QRect(round(shown.x) + 2, round(shown.y) + 2, round(shown.width) - 4, round(shown.height) - 4)
    above = card.translated(0, -round(shown.height))
    without = hand.shot()
    canvas.overlays.switch("storage", True)
    linked = hand.shot()
    assert linked.copy(card) == without.copy(card)
    assert linked.copy(above) != without.copy(above)
