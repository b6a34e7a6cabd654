"""Cards from afar: letters that can be read, fields that can be used, and nothing empty before a run."""

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord
from gradstudio.scene.camera import LEAST_READABLE, Camera
from gradstudio.scene.card.card_layout import MORE_ROW, PADDING, ROW, CardLayout
from gradstudio.scene.card.parameter_rows import ParameterRow, ParameterRows
from gradstudio.scene.card.result_sections import ResultSections, Section
from gradstudio.scene.card.section_heights import EDGE, LINE
from gradstudio.scene.hit_test import LEAST_FIELD_ZOOM, PLATE_HEAD, plate_literals
from gradstudio.scene.value_format import norm_words
from gradstudio.ui.canvas.paint.card.card_painter import paint_upper
from gradstudio.ui.canvas.paint.card.distant_card import paint_distant_card
from gradstudio.ui.canvas.paint.card.field_painter import field_rect
from gradstudio.ui.canvas.paint.card.parameter_row_painter import paint_parameter_rows
from gradstudio.ui.canvas.paint.card.result_section_painter import paint_result_sections
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.scene_painter import card_state
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.test_painted_numbers import texts_of

ROLES = ("title", "subtitle", "label", "small", "small_italic", "badge", "mono", "mono_italic", "mono_small",
         "number", "number_small", "gradient", "block")  # fmt: skip
LEAST_PX = 11
SHAPES = (("weight", (7, 3)), ("bias", (3,)))


def look_from(hand: Hand, zoom: float) -> None:
    hand.canvas.navigation.set_camera(Camera(zoom, 0.0, 0.0))
    hand.canvas.navigation.zooming = False


def run(hand: Hand, item: ItemId, value: float) -> None:
    """A node gave a number, and a backward sent one to it."""
    number = Summary(dtype="float32", shape=(), minimum=value, maximum=value, value=value)
    record = TensorRecord(device="cpu", summary=number, requires_grad=True)
    tables = hand.session.results.tables
    tables.add_rows([Row(step=0, node=item, outputs=(record,))])
    tables.set_gradients([GradRow(node=item, state="value", grad=number)], whole=True)
    tables.pace.flush()


@pytest.mark.parametrize("zoom", [1.0, 0.95, 0.9, 0.84, 0.8, 0.79, 0.7, 0.69, 0.67, LEAST_READABLE])
def test_no_letter_of_a_card_with_rows_is_smaller_on_the_screen_than_eleven_pixels(dark: Theme, zoom: float) -> None:
    style = CanvasStyle(dark)
    sizes = {role: style.at(zoom).meter.font(role).pixelSize() * zoom for role in ROLES}
    assert min(sizes.values()) >= LEAST_PX - 1e-6, sizes


@pytest.mark.parametrize("zoom", [1.0, 0.8, 0.7, LEAST_READABLE])
@pytest.mark.parametrize("role", ["label", "small", "mono"])
def test_the_letters_of_a_row_touch_none_of_the_next(dark: Theme, zoom: float, role: str) -> None:
    letters = QPainterPath()
    letters.addText(0.0, 0.0, CanvasStyle(dark).at(zoom).meter.font(role), "fd1(_gy,")
    assert letters.boundingRect().height() <= min(ROW, MORE_ROW) - 1.0


def test_a_file_opens_at_a_zoom_at_which_fields_are_drawn_and_can_be_used() -> None:
    assert LEAST_READABLE == DISTANT == LEAST_FIELD_ZOOM


@pytest.mark.parametrize("zoom", [0.8, 0.7, LEAST_READABLE])
def test_literals_are_typed_and_switches_turned_on_small_cards(hand: Hand, zoom: float) -> None:
    item = hand.add("torch.tensor", 40, 40, data="2.0", requires_grad="True")
    look_from(hand, zoom)
    hand.click(hand.field(item, "requires_grad"))
    assert hand.graph.nodes[item].literals.get("requires_grad", "False") == "False"
    hand.click(hand.field(item, "data"))
    editor = hand.canvas.in_place.editor
    assert editor is not None
    editor.setText("5.0")  # type: ignore[attr-defined]  # a line
    hand.key(Qt.Key.Key_Return, to=editor)
    assert hand.graph.nodes[item].literals["data"] == "5.0"


def test_before_a_run_nothing_empty_stands_below_the_ports_and_the_room_is_kept(hand: Hand) -> None:
    item, below = hand.add("torch.tensor", 40, 40, data="2.0"), hand.add("torch.relu", 40, 400)
    hand.session.attention.select(())
    scene = hand.canvas.scene
    box, room = scene.placement.box(item), scene.placement.room(item)
    assert box is not None and room is not None
    assert box.height == scene.stack.cards[item].layout.height < room.height
    empty = (room.x + 20.0, (box.bottom + room.bottom) / 2)
    ground = hand.shot().pixelColor(hand.view(room.right + 120.0, empty[1]))
    hand.click(empty)
    assert not hand.session.attention.selection
    places, bounds = dict(hand.graph.places), scene.placement.bounds.copy()
    run(hand, item, 3.0)
    after = scene.placement.box(item)
    assert after is not None and box.height < after.height <= room.height
    assert hand.shot().pixelColor(hand.view(after.x + 150.0, after.bottom - 4.0)) != ground
    assert hand.graph.places == places and scene.placement.box(below) is not None
    index = scene.stack.index
    assert (scene.placement.bounds[index[below]] == bounds[index[below]]).all()


def test_a_card_named_as_its_operator_says_its_title_once(hand: Hand) -> None:
    once, twice = hand.add("torch.square", 40, 40), hand.add("torch.square", 40, 300)
    assert hand.session.graph_store.attempt(recipes.rename, "Rename", once, ("square",))
    assert hand.session.graph_store.attempt(recipes.rename, "Rename", twice, ("area",))
    cards = hand.canvas.scene.stack.cards
    assert (cards[once].layout.names, cards[once].layout.subtitle) == ("square", "")
    assert (cards[twice].layout.names, cards[twice].layout.subtitle) == ("area", "square")


@pytest.mark.parametrize("zoom", [0.7, 0.5])
def test_a_bypassed_card_is_marked_at_every_distance(hand: Hand, zoom: float) -> None:
    x, item = hand.add("torch.tensor", 40, 40, data="2.0"), hand.add("torch.relu", 400, 40)
    hand.wire(x, item, "input")
    hand.session.attention.select(())
    look_from(hand, zoom)
    before = hand.shot()
    assert hand.session.graph_store.attempt(recipes.set_bypassed, "Bypass", frozenset({item}), True)
    assert hand.shot() != before


def test_a_module_from_afar_says_how_many_numbers_it_learns_and_its_class_once(hand: Hand, dark: Theme) -> None:
    card = hand.add("torch.nn.Linear", 40, 40)
    module = hand.canvas.scene.stack.cards[card].layout.module
    assert module is not None
    leaves = {name: TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=shape)) for name, shape in SHAPES}
    record = ModuleRecord(class_name="Linear", parameters=leaves)
    hand.session.results.tables.add_rows([Row(step=0, node=card, outputs=(record,))])
    hand.session.results.tables.pace.flush()

    def paint(painter: QPainter) -> None:
        rect = QRectF(0, 0, 120, 80)
        paint_distant_card(painter, CanvasStyle(dark), hand.canvas.scene, card, rect, 0.5)

    texts = texts_of(paint)
    assert "24 parameters" in texts
    assert texts.count("Linear") <= 1


@pytest.mark.parametrize("zoom", [0.66, 0.59, 0.5, 0.4])
def test_the_literal_on_a_plate_is_typed_where_it_stands(hand: Hand, zoom: float) -> None:
    item = hand.add("torch.tensor", 40, 40, data="2.0")
    look_from(hand, zoom)
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    at = (box.x + box.width / 2, box.y + (max(24 * zoom, PLATE_HEAD) + 6) / zoom)
    hand.click(at)
    editor = hand.canvas.in_place.editor
    assert editor is not None
    editor.setText("5.0")  # type: ignore[attr-defined]  # a line
    hand.key(Qt.Key.Key_Return, to=editor)
    assert hand.graph.nodes[item].literals["data"] == "5.0"


def test_every_written_literal_has_a_line_on_a_plate_and_after_a_run_those_that_leave_room_for_the_value(
    hand: Hand, dark: Theme
) -> None:
    item = hand.add("torch.linspace", 40, 40, start="0.25", end="2.0")
    scene = hand.canvas.scene
    assert [row.path for row in plate_literals(scene, item, 60.0)] == ["start", "end", "steps"]
    assert [row.path for row in plate_literals(scene, item, 14.0)] == ["start"]
    number = hand.add("torch.tensor", 40, 300, data="2.0", requires_grad="True")
    run(hand, number, 2.0)
    for room, shown in ((70.0, ["data", "requires_grad"]), (46.0, ["data"]), (32.0, [])):
        assert [row.path for row in plate_literals(scene, number, room)] == shown

        def paint(painter: QPainter, high: float = room + 17) -> None:
            rect = QRectF(0, 0, 170, high)
            paint_distant_card(painter, CanvasStyle(dark), scene, number, rect, 0.5)

        texts = texts_of(paint)
        assert "2" in texts
        assert sum(text in ("data 2.0", "requires_grad True") for text in texts) == len(shown)


@pytest.mark.parametrize("zoom", [0.8, 0.7, LEAST_READABLE])
def test_the_word_before_a_switch_is_whole(hand: Hand, zoom: float) -> None:
    item = hand.add("torch.randn", 40, 40, size="(64, 20)")
    card, style = hand.canvas.scene.stack.cards[item], hand.canvas.canvas_style.at(zoom)
    (row,) = [row for row in card.layout.fields() if row.path == "requires_grad"]
    end = row.x + PADDING + style.meter.width(row.label, "label")
    rect = field_rect(style, row, end + 4, card.layout.width - PADDING)
    assert rect is not None and rect.left() >= end


@pytest.mark.parametrize("zoom", [1.0, 0.8, LEAST_READABLE])
def test_numbers_of_an_optimizer_stand_in_their_well_and_not_over_the_rows_above(dark: Theme, zoom: float) -> None:
    rows = (("lr", "0.1"), ("momentum", "0"), ("dampening", "0"))
    section = Section(LINE * len(rows) + EDGE, rows=rows)
    layout = CardLayout(ItemId("opt"), "opt", "SGD", "optim", (), (), 120.0, 60.0)
    well = ResultSections(section.height + EDGE, (section,))
    image = QImage(120, 160, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    paint_result_sections(painter, CanvasStyle(dark).at(zoom), layout, well)
    painter.end()
    inked = [y for y in range(160) if any(image.pixelColor(x, y).alpha() for x in range(120))]
    assert layout.height <= min(inked) and max(inked) <= layout.height + well.height + 2


def test_a_short_name_leaves_its_gradient_the_room_it_needs(dark: Theme) -> None:
    """``bias [8] ▼`` alone says nothing."""
    grad = Summary(dtype="float32", shape=(8,), minimum=-0.4, maximum=0.4, rms=0.203)
    row = ParameterRow(
        path="bias", y=0.0, height=29.0, dtype="float32", shape="[8]", values=(), guessed=False, buffer=False,
        learns=True, state="value", gradient=norm_words(grad), sentence="", grad=grad,
    )  # fmt: skip
    rows, style = ParameterRows((row,)), CanvasStyle(dark).at(LEAST_READABLE)
    texts = texts_of(lambda painter: paint_parameter_rows(painter, style, rows, 0.0, 202.0))
    assert norm_words(grad) in texts and any(text.startswith("bias") for text in texts)


@pytest.mark.parametrize("zoom", [1.0, 0.8, 0.7, LEAST_READABLE])
@pytest.mark.parametrize("key", ["torch.optim.SGD", "torch.optim.Adam", "torch.nn.Linear", "torch.randn"])
def test_the_word_for_what_an_output_is_stands_there_whole_or_not_at_all(
    hand: Hand, dark: Theme, key: str, zoom: float
) -> None:
    item, scene, style = hand.add(key, 40, 40), hand.canvas.scene, CanvasStyle(dark).at(zoom)
    layout = scene.stack.cards[item].layout
    state = card_state(scene, style, item)
    texts = texts_of(lambda painter: paint_upper(painter, style, layout, scene.updates.well(item), state))
    assert not [text for text in texts if text.endswith("…")]
