"""At a node that torch refuses: the button of its first fix, the sizes that clash, and the words on a click."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from gradstudio.advice.diagnosis.size_conflicts import operands_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.scene.camera import Camera
from gradstudio.ui.canvas.popups.quick_fixes import MAX_CARDS_AFAR
from gradstudio.ui.state.results.latest_value import latest_values
from gradstudio.ui.theme import ui_font
from tests.ui.canvas.conftest import Hand

WORDS = "mat1 and mat2 shapes cannot be multiplied (5x4 and 5x3)"


def refused(hand: Hand) -> tuple[ItemId, ItemId, ItemId]:
    """A product of [5, 4] and [5, 3], as inference tells of it."""
    a, b = hand.add("torch.randn", 40, 60, size="(5, 4)"), hand.add("torch.randn", 40, 360, size="(5, 3)")
    y = hand.add("operator.matmul", 500, 100)
    hand.wire(a, y, "a")
    hand.wire(b, y, "b")
    shapes = ((a, (5, 4)), (b, (5, 3)))
    ports = [PortInference(node=item, dtype="float32", shape=shape) for item, shape in shapes]
    hand.session.results.tables.set_inference((*ports, PortInference(node=y, refusal=WORDS)))
    hand.session.problems.refresh()
    return a, b, y


@pytest.mark.feature(68)
def test_a_refused_node_has_a_button_that_is_one_undo_step(hand: Hand) -> None:
    a, _b, y = refused(hand)
    (pill,) = hand.canvas.remedies.pills()
    assert pill.problem.node == y
    name = hand.graph.nodes[a].names[0]
    assert pill.fix.title == f"Transpose {name} ({name}.T)"
    steps = len(hand.undo_texts)
    at = pill.rect.center().toPoint()
    QTest.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert hand.undo_texts[steps:] == [pill.fix.title]
    wire = hand.graph.wire_into(y, "a")
    assert wire is not None and wire.source != a
    hand.session.graph_store.undo_stack.undo()
    wire = hand.graph.wire_into(y, "a")
    assert wire is not None and wire.source == a


def test_the_button_is_whole_and_over_no_other_card(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    box = hand.canvas.scene.placement.box(y)
    assert box is not None
    neighbour = hand.add("torch.relu", box.x, box.bottom + 4)
    (pill,) = hand.canvas.remedies.pills()
    room = QFontMetricsF(ui_font(12)).horizontalAdvance(pill.fix.title)
    assert pill.rect.width() > room
    other = hand.canvas.scene.placement.box(neighbour)
    assert other is not None
    shown = hand.canvas.camera.box_to_view(other)
    assert not pill.rect.intersects(QRectF(shown.x, shown.y, shown.width, shown.height))


def test_the_button_of_a_card_at_the_edge_is_in_view(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    box, camera, port = hand.canvas.scene.placement.box(y), hand.canvas.camera, hand.canvas.viewport()
    assert box is not None
    left = box.x - (port.width() - 60) / camera.zoom  # only the card's left edge is seen
    hand.canvas.navigation.set_camera(replace(camera, x=left))
    (pill,) = hand.canvas.remedies.pills()
    assert QRectF(port.rect()).contains(pill.rect)


def test_the_button_is_not_under_what_floats_over_the_canvas(hand: Hand) -> None:
    refused(hand)
    (pill,) = hand.canvas.remedies.pills()
    floating = QWidget(hand.canvas.viewport())
    floating.setGeometry(pill.rect.toRect().adjusted(-5, 4, 5, 60))
    floating.show()
    (moved,) = hand.canvas.remedies.pills()
    assert not moved.rect.intersects(QRectF(floating.geometry()))
    floating.hide()
    assert hand.canvas.remedies.pills() == (pill,)


def test_the_button_covers_no_card_around_its_own(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    around = hand.canvas.scene.placement.box(y)
    assert around is not None
    spots = [(dx, dy) for dx in (-150, 0, 150) for dy in (-110, 110)] + [(190, 0)]
    for dx, dy in spots:
        hand.add("torch.relu", around.x + dx, around.y + dy)
    covered = _boxes(hand)
    (pill,) = hand.canvas.remedies.pills()
    assert not any(pill.rect.intersects(box) for box in covered)


def test_where_there_is_no_room_for_the_title_the_button_is_short_and_without_any_there_is_none(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    (whole,) = hand.canvas.remedies.pills()
    wall = QWidget(hand.canvas.viewport())
    port = hand.canvas.viewport().rect()
    box = hand.canvas.scene.placement.box(y)
    assert box is not None
    card = hand.canvas.camera.box_to_view(box)
    wall.setGeometry(round(card.x) + 80, 0, port.width(), port.height())
    wall.show()
    before = QWidget(hand.canvas.viewport())
    before.setGeometry(0, 0, round(card.x) - 6, port.height())
    before.show()
    (short,) = hand.canvas.remedies.pills()
    assert (whole.words, short.words) == (whole.fix.title, "Fix")
    assert short.rect.width() < 75
    wall.setGeometry(port)
    assert not hand.canvas.remedies.pills()


def _boxes(hand: Hand) -> list[QRectF]:
    """Every card as it is drawn, view pixels."""
    found = [hand.canvas.scene.placement.box(item) for item in hand.graph.nodes]
    shown = [hand.canvas.camera.box_to_view(box) for box in found if box is not None]
    return [QRectF(box.x, box.y, box.width, box.height) for box in shown]


def test_the_button_is_painted_and_lights_up(hand: Hand) -> None:
    refused(hand)
    (pill,) = hand.canvas.remedies.pills()
    at = pill.rect.center().toPoint()
    role = hand.canvas.canvas_style.color("warning")
    corner = pill.rect.topRight().toPoint()
    dark = hand.shot().pixelColor(corner.x() - 12, at.y())
    hand.move(hand.canvas.camera.to_scene(at.x(), at.y()), Qt.MouseButton.NoButton)
    lit = hand.shot().pixelColor(corner.x() - 6, at.y())
    assert dark != lit
    assert lit == role


@pytest.mark.feature(67)
def test_a_click_on_the_card_shows_the_words_and_every_fix(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    hand.click(hand.header(y))
    panel = hand.canvas.trouble
    assert panel is not None and panel.isVisible()
    assert panel.words.text() == WORDS
    assert "torch is expected to refuse this" in panel.title.text()
    assert "float32 [5, 4]" in panel.explanation.text()
    assert not hand.canvas.remedies.pills()
    steps = len(hand.undo_texts)
    QTest.mouseClick(panel.fixes.buttons[0], Qt.MouseButton.LeftButton)
    assert len(hand.undo_texts) == steps + 1
    assert not panel.isVisible()


def test_the_words_go_with_the_next_thing_that_is_done(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    panel = hand.canvas.trouble
    assert panel is not None
    hand.click(hand.header(y))
    hand.click((900, 650))
    assert not panel.isVisible()
    hand.click(hand.header(y))
    hand.key(Qt.Key.Key_Escape)
    assert not panel.isVisible()
    hand.click(hand.header(y))
    hand.wheel((400, 400), 1)
    assert not panel.isVisible()


def test_a_card_without_a_problem_shows_none(hand: Hand) -> None:
    a, _b, _y = refused(hand)
    hand.click(hand.header(a))
    assert hand.canvas.trouble is not None and not hand.canvas.trouble.isVisible()


def test_the_sizes_that_clash_are_named(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    told = operands_of(hand.graph, y, WORDS, latest_values(hand.session.results))
    assert [(each.port, each.shape, each.clashing) for each in told] == [("a", (5, 4), {1}), ("b", (5, 3), {0})]


def test_from_afar_a_refused_card_still_says_torchs_words(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    hand.session.results.tables.pace.flush()
    hand.canvas.navigation.set_camera(Camera(0.42, 0.0, 0.0))
    hand.canvas.navigation.zooming = False
    hand.canvas.repaint_scene()
    box, image = hand.canvas.scene.placement.box(y), hand.shot()
    assert box is not None
    shown = hand.canvas.camera.box_to_view(box)
    body = [(x, v) for x in range(round(shown.x) + 4, round(shown.right) - 4)
            for v in range(round(shown.y) + 20, round(shown.bottom) - 4)]  # fmt: skip
    colors = [image.pixelColor(x, v) for x, v in body]
    assert sum(color.red() - color.blue() > 40 for color in colors) > 20


@pytest.mark.parametrize("zoom", [0.33, 0.2])
def test_from_afar_a_refused_card_still_has_its_button(hand: Hand, zoom: float) -> None:
    """As *Home* leaves it in a program of a dozen cards."""
    _a, _b, y = refused(hand)
    box = hand.canvas.scene.placement.box(y)
    assert box is not None
    hand.canvas.navigation.set_camera(Camera(zoom, box.x - 300 / zoom, box.y - 200 / zoom))
    (pill,) = hand.canvas.remedies.pills()
    assert pill.problem.node == y
    QTest.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=pill.rect.center().toPoint())
    assert hand.undo_texts[-1] == pill.fix.title


def test_from_afar_among_very_many_cards_there_are_no_buttons(hand: Hand) -> None:
    _a, _b, y = refused(hand)
    for k in range(MAX_CARDS_AFAR):
        hand.add("torch.relu", 40 + 30 * (k % 20), 700 + 30 * (k // 20))
    box = hand.canvas.scene.placement.box(y)
    assert box is not None
    hand.canvas.navigation.set_camera(Camera(0.2, box.x - 1500, box.y - 1000))
    assert hand.canvas.remedies.pills() == ()


def test_what_only_repeats_the_card_is_not_said_over_its_neighbours(hand: Hand) -> None:
    card = hand.add("torch.relu", 200, 100)
    hand.session.results.tables.set_incomplete({card: "'input' is empty"})
    hand.session.problems.refresh()
    assert [problem.kind for problem in hand.session.problems.of(card)] == ["incomplete"]
    hand.click(hand.header(card))
    panel = hand.canvas.trouble
    assert panel is not None and not panel.isVisible()
