"""What is painted: errors, states, far and near, scrolled and sharp, as a picture."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces, apply_all
from gradstudio.graph.model import Graph, ItemId, Place
from gradstudio.protocol.messages.events import Failed, GradRow, Row, Warned
from gradstudio.protocol.messages.records import Preview, Summary, TensorRecord
from gradstudio.scene.camera import FIT_MARGIN, OPENING_ZOOM, Camera
from gradstudio.scene.overlay_registry import OVERLAYS, Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.paint import picture_export
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.card_shadows import MARGIN
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.theme import Theme, ThemeName, theme
from tests.ui.canvas.conftest import Hand


def pixels(image: QImage) -> np.ndarray:
    """`(rows, columns, 3)` red, green, blue."""
    made = image.convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(made.constBits(), np.uint8).reshape(made.height(), made.bytesPerLine() // 4, 4)
    return data[:, : made.width(), 2::-1].astype(int)


def has(image: QImage, color: QColor, least: int = 5) -> bool:
    """Whether the colour stands in at least so many pixels."""
    wanted = np.array([color.red(), color.green(), color.blue()])
    return int((np.abs(pixels(image) - wanted).sum(2) <= 12).sum()) >= least


def scalar(value: float, grad_fn: str | None = None) -> TensorRecord:
    summary = Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, rms=value, value=value)
    return TensorRecord(device="cpu", summary=summary, requires_grad=True, is_leaf=grad_fn is None, grad_fn=grad_fn)


def ran(hand: Hand, item: ItemId, record: TensorRecord) -> None:
    hand.session.results.tables.add_rows([Row(step=0, node=item, outputs=(record,))])
    hand.session.results.tables.pace.flush()


def chain(hand: Hand) -> list[ItemId]:
    items = [hand.add("torch.randn", 40, 100)]
    for k in range(3):
        items.append(hand.add("torch.relu", 300 + 260 * k, 100 + 60 * k))
        hand.wire(items[-2], items[-1], "input")
    hand.session.attention.select(())
    return items


def test_an_empty_canvas_says_what_to_do(hand: Hand) -> None:
    assert has(hand.shot(), hand.canvas.canvas_style.color("text"), 50)


def test_a_failure_outlines_its_card_and_says_why_before_torchs_words(hand: Hand) -> None:
    item = hand.add("torch.matmul", 300, 200)
    hand.session.attention.select(())
    danger = hand.canvas.canvas_style.color("danger")
    assert not has(hand.shot(), danger)
    failed = Failed(revision=0, node=item, address="y", line=3, type_name="RuntimeError", message="shapes 2x3 and 2x3")
    hand.session.results.tables.add_failure(Failure(failed, "The inner sizes differ."))
    hand.session.results.tables.pace.flush()
    assert has(hand.shot(), danger, 100)
    assert hand.canvas.scene.updates.well(item).problem == ("The inner sizes differ. RuntimeError: shapes 2x3 and 2x3")
    hand.click(hand.header(item))
    panel = hand.canvas.trouble
    assert panel is not None and panel.isVisible()
    assert "shapes 2x3 and 2x3" in panel.words.text()
    assert "inner sizes" in panel.title.text()


def test_what_was_found_is_badged_until_it_is_gone(hand: Hand) -> None:
    item = hand.add("torch.zeros", 300, 200, size="(2,)")
    hand.session.attention.select(())
    ink = hand.canvas.canvas_style.color("danger")
    for alarm in ("", "error", ""):
        hand.session.results.mark_alarms({item: "error"} if alarm else {})
        assert has(hand.shot(), ink, 30) == bool(alarm)


def test_a_warning_is_badged(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    hand.session.attention.select(())
    hand.session.results.tables.add_warning(Warned(node=item, line=1, category="UserWarning", message="deprecated"))
    hand.session.results.tables.pace.flush()
    assert has(hand.shot(), hand.canvas.canvas_style.color("warning"), 30)


def test_a_result_appears_on_its_card_and_fades_when_stale(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    hand.session.attention.select(())
    before = hand.shot()
    ran(hand, item, scalar(3.0))
    fresh = hand.shot()
    assert fresh != before
    hand.session.results.tables.set_stale(True)
    hand.session.results.tables.pace.flush()
    stale = hand.shot()
    assert stale != fresh
    value = slice(272, 294), slice(305, 330)
    assert pixels(stale)[value].max() < pixels(fresh)[value].max()


def test_whatever_changes_on_a_card_it_is_as_if_painted_for_the_first_time(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    results, store = hand.session.results, hand.session.graph_store
    failed = Failed(revision=0, node=item, address="y", line=3, type_name="RuntimeError", message="too large")
    changes = (
        lambda: ran(hand, item, scalar(3.0)),
        lambda: ran(hand, item, scalar(4.0)),
        lambda: ran(hand, item, scalar(5.0, "ReluBackward0")),
        lambda: results.tables.set_gradients([GradRow(node=item, state="value", grad=scalar(8.0).summary)], whole=True),
        lambda: store.submit(recipes.rename(store.graph, item, ("other",)), "Rename"),
        lambda: results.tables.set_stale(True),
        lambda: results.tables.set_stale(False),
        lambda: results.tables.add_warning(Warned(node=item, line=1, category="UserWarning", message="deprecated")),
        lambda: results.tables.add_failure(Failure(failed, "It is too large.")),
        lambda: hand.canvas.overlays.switch("shapes", False),
        lambda: store.submit(recipes.set_muted(store.graph, [item], True), "Mute"),
    )
    for change in changes:
        change()
        results.tables.pace.flush()
        after = hand.shot()
        hand.canvas.layer.set_style(CanvasStyle(theme("dark"), hand.canvas.canvas_style.meter))  # forgets every picture
        hand.canvas.repaint_scene()
        assert hand.shot() == after


def test_gradients_have_a_colour_of_their_own_and_can_be_switched_off(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    hand.session.attention.select(())
    ran(hand, item, scalar(3.0, "ReluBackward0"))
    hand.session.results.tables.set_gradients([GradRow(node=item, state="value", grad=scalar(8.0).summary)], whole=True)
    hand.session.results.tables.pace.flush()
    assert has(hand.shot(), hand.canvas.canvas_style.gradient, 15)
    hand.canvas.overlays.switch("gradients", False)
    assert not has(hand.shot(), hand.canvas.canvas_style.gradient, 15)


@pytest.mark.parametrize(("zoom", "start"), [(1.0, 10), (0.25, 10), (1.0, 10.5), (0.25, 12)])
@pytest.mark.parametrize("shift", [(64, 0), (-40, 30), (0, -128), (-31, 17)])
def test_a_scrolled_picture_is_the_picture_painted_anew(
    hand: Hand, zoom: float, start: float, shift: tuple[int, int]
) -> None:
    chain(hand)
    hand.canvas.navigation.set_camera(Camera(zoom, start, start))
    hand.canvas.navigation.zooming = False
    hand.shot()
    hand.canvas.navigation.set_camera(hand.canvas.camera.panned(*shift))
    scrolled = pixels(hand.shot())
    hand.canvas.repaint_scene()
    anew = pixels(hand.shot())
    assert (np.abs(scrolled - anew).sum(2) > 40).mean() < 0.0005


def test_while_zooming_the_last_frame_is_scaled_and_a_sharp_one_follows(hand: Hand) -> None:
    chain(hand)
    hand.shot()
    hand.wheel((300, 200), 1)
    scaled = hand.shot()
    hand.canvas.navigation.settle_timer.timeout.emit()
    sharp = hand.shot()
    assert sharp != scaled
    hand.canvas.repaint_scene()
    assert hand.shot() == sharp


def test_a_drag_over_a_snapshot_ends_as_a_full_picture(hand: Hand) -> None:
    items = chain(hand)
    at = hand.header(items[1])
    hand.drag(at, (at[0] + 120, at[1] + 240))
    dragged = hand.shot()
    hand.canvas.repaint_scene()
    assert hand.shot() == dragged


@pytest.mark.feature(86)
def test_seen_from_afar_cards_are_plates_with_their_names(hand: Hand) -> None:
    items = chain(hand)
    ran(hand, items[0], scalar(3.0))
    hand.canvas.navigation.set_camera(Camera(0.3, 0, 0))
    hand.canvas.navigation.zooming = False
    shot = hand.shot()
    assert has(shot, hand.canvas.canvas_style.theme.category_color("Random"), 100)
    assert has(shot, hand.canvas.canvas_style.color("header_text"), 10)


def test_both_themes_paint_from_their_roles(hand: Hand) -> None:
    chain(hand)
    light = themes.theme("light")
    assert not has(hand.shot(), light.color("canvas"), 1000)
    hand.canvas.set_theme(light)
    assert has(hand.shot(), light.color("canvas"), 1000)


def test_nothing_is_painted_anew_when_nothing_changed(hand: Hand) -> None:
    chain(hand)
    hand.shot()
    frame = hand.canvas.picture.frame
    hand.shot()
    assert hand.canvas.picture.frame is frame


def test_hundreds_of_cards_in_view_are_painted_in_batches(hand: Hand) -> None:
    graph = hand.graph
    edits, item = recipes.add_operator(graph, "torch.relu", 0, 0)
    hand.session.graph_store.submit(edits, "Add")
    for k in range(1, 200):
        more, other = recipes.add_operator(graph, "torch.relu", 0, 0)
        hand.session.graph_store.submit((*more, SetPlaces({other: Place(260.0 * (k % 20), 200.0 * (k // 20))})), "Add")
    hand.canvas.navigation.fit_all()
    hand.canvas.navigation.zooming = False
    category = hand.canvas.scene.stack.cards[item].layout.category
    assert has(hand.shot(), hand.canvas.canvas_style.theme.category_color(category), 1000)
    assert item in hand.canvas.navigation.visible_items()


# ------------------------------------------------------------------ pictures without a window


def small_graph() -> Graph:
    graph = Graph()
    edits, x = recipes.add_operator(graph, "torch.tensor", 0, 0)
    apply_all(graph, edits)
    edits, y = recipes.add_operator(graph, "torch.relu", 300, 40)
    apply_all(graph, edits)
    apply_all(graph, recipes.connect(graph, x, 0, y, "input"))
    apply_all(graph, recipes.wrap(graph, [y], "no_grad"))
    apply_all(graph, recipes.set_note(graph, x, "look here"))
    return graph


def test_a_picture_shows_everything_at_its_scale(dark: Theme) -> None:
    one = picture_export.render_picture(small_graph(), None, dark)
    two = picture_export.render_picture(small_graph(), None, dark, 2.0)
    assert abs(two.width() - 2 * one.width()) <= 2
    assert has(one, dark.category_color("Creation"), 200)
    assert has(one, dark.color("note"), 500)


def test_a_picture_has_no_shadow_below_a_card_that_has_not_run(dark: Theme) -> None:
    graph = Graph()
    edits, _ = recipes.add_operator(graph, "torch.relu", 0, 0)
    apply_all(graph, edits)
    card = next(iter(Scene(graph, NoResults(), Shown(), CanvasStyle(dark).meter).stack.cards.values()))
    image = picture_export.render_picture(graph, None, dark)
    beside = image.pixelColor(4, image.height() // 2)
    middle = round(picture_export.MARGIN + card.layout.width / 2)
    bottom = picture_export.MARGIN + card.drawn_height
    rows = range(round(bottom + MARGIN), image.height())
    assert card.height - card.drawn_height > 40 and len(rows) > 40  # room is kept there
    assert {image.pixelColor(middle, row).name() for row in rows} == {beside.name()}


def test_an_empty_graph_has_a_picture_too(dark: Theme) -> None:
    assert picture_export.render_picture(Graph(), None, dark).width() > 100


def test_pictures_are_written_as_png_and_svg(dark: Theme, tmp_path: Path) -> None:
    for name in ("a.png", "a.svg"):
        picture_export.save_picture(small_graph(), None, dark, tmp_path / name)
    assert not QImage(str(tmp_path / "a.png")).isNull()
    svg = QSvgRenderer(str(tmp_path / "a.svg"))
    assert svg.isValid()
    assert "look here" in (tmp_path / "a.svg").read_text()
    with pytest.raises(OSError, match="cannot be written"):
        picture_export.save_picture(small_graph(), None, dark, tmp_path / "a.docx")
    with pytest.raises(OSError):
        picture_export.save_picture(small_graph(), None, dark, tmp_path / "no" / "a.svg")


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_a_picture_that_has_no_room_leaves_the_old_one(dark: Theme, tmp_path: Path, name: str) -> None:
    resource = pytest.importorskip("resource")
    picture_export.save_picture(Graph(), None, dark, tmp_path / name)
    before = (tmp_path / name).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        with pytest.raises(OSError, match="untouched"):
            picture_export.save_picture(small_graph(), None, dark, tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / name).read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]


# ------------------------------------------------------------------ heat maps


def summary_of(values: np.ndarray, **more: object) -> Summary:
    data = values.astype(np.float32)
    finite = data[np.isfinite(data)]
    return Summary(
        dtype=str(more.pop("dtype", "float32")), shape=data.shape,
        minimum=float(finite.min()), maximum=float(finite.max()),
        nan=int(np.isnan(data).sum()), posinf=int(np.isposinf(data).sum()), neginf=int(np.isneginf(data).sum()),
        preview=Preview(data.shape[0], data.shape[1], data.tobytes()),
    )  # fmt: skip


def test_zero_has_the_neutral_colour_and_signs_have_theirs(dark: Theme) -> None:
    image = tensor_image.image(summary_of(np.array([[-2.0, 0.0, 2.0]])), dark)
    assert image is not None
    negative, zero, positive = (image.pixelColor(k, 0) for k in range(3))
    assert abs(zero.red() - dark.color("heat_zero").red()) <= 2
    assert negative.name() == dark.color("heat_negative").name()
    assert positive.name() == dark.color("heat_positive").name()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_value_far_out_leaves_the_others_their_colours(dark: Theme, sign: float) -> None:
    usual = np.linspace(-1.0, 1.0, 63) if sign < 0 else np.linspace(0.0, 1.0, 63)
    image = tensor_image.image(summary_of(np.array([[*usual, sign * 1000.0]])), dark)
    assert image is not None
    colours = {image.pixelColor(k, 0).name() for k in range(63)}
    assert len(colours) > 40, "values that differ have colours that differ"
    end = dark.color("heat_negative").name() if sign < 0 else QColor(dark.heat_ramp[-1]).name()
    assert image.pixelColor(63, 0).name() == end


def test_signed_values_are_scaled_about_zero(dark: Theme) -> None:
    image = tensor_image.image(summary_of(np.array([[-1.0, 4.0]])), dark)
    assert image is not None
    assert image.pixelColor(0, 0).name() != dark.color("heat_negative").name()
    assert image.pixelColor(1, 0).name() == dark.color("heat_positive").name()


def test_nan_is_marked_and_does_not_ruin_the_rest(dark: Theme) -> None:
    image = tensor_image.image(summary_of(np.array([[0.0, np.nan, 1.0, np.inf]])), dark)
    assert image is not None
    assert image.pixelColor(1, 0).name() == dark.color("heat_mark").name()
    assert image.pixelColor(0, 0) != image.pixelColor(2, 0)
    assert image.pixelColor(3, 0) == image.pixelColor(2, 0)


def test_bytes_are_shown_as_a_grey_image(dark: Theme) -> None:
    image = tensor_image.image(summary_of(np.arange(64).reshape(8, 8), dtype="uint8"), dark)
    assert image is not None
    color = image.pixelColor(4, 4)
    assert color.red() == color.green() == color.blue() > 0


def test_a_constant_tensor_is_one_colour(dark: Theme) -> None:
    image = tensor_image.image(summary_of(np.full((4, 4), 7.0)), dark)
    assert image is not None
    assert len({image.pixelColor(x, y).name() for x in range(4) for y in range(4)}) == 1


def test_keys_reach_nothing_when_the_canvas_is_empty(hand: Hand) -> None:
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_F, Qt.Key.Key_Home, Qt.Key.Key_F2, Qt.Key.Key_Left):
        hand.key(key)
    assert not hand.graph.nodes


@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (200,), (64, 64), (3, 40, 40)])
def test_nothing_is_written_below_its_card(hand: Hand, shape: tuple[int, ...]) -> None:
    item = hand.add("torch.relu", 300, 100)
    hand.session.attention.select(())
    values = np.random.default_rng(0).normal(size=shape)
    flat = values.reshape(1, -1) if len(shape) < 2 else values.reshape(-1, *shape[-2:])[0]
    data = flat[:32, :32].astype(np.float32)
    summary = Summary(
        dtype="float32", shape=shape, minimum=-1.0, maximum=1.0, rms=1.0, nan=int(values.size > 10),
        value=values.tolist() if values.size <= 64 else None,
        preview=Preview(data.shape[0], data.shape[1], data.tobytes()),
    )  # fmt: skip
    ran(hand, item, TensorRecord(device="cpu", summary=summary, requires_grad=True, is_leaf=False, grad_fn="A"))
    hand.session.results.tables.set_gradients([GradRow(node=item, state="value", grad=summary)], whole=True)
    hand.session.results.tables.pace.flush()
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    below = hand.shot().copy(round(box.x), round(box.bottom) + 8, round(box.width), 60)
    assert not has(below, hand.canvas.canvas_style.color("text"), 1)
    assert not has(below, hand.canvas.canvas_style.gradient, 1)


def test_a_batch_of_pictures_is_a_contact_sheet_in_grey(dark: Theme) -> None:
    data = np.zeros((16 * 8, 8), np.float32)
    data[8:16] = 16.0
    summary = Summary(
        dtype="uint8", shape=(200, 64), minimum=0, maximum=16,
        preview=Preview(128, 8, data.tobytes(), whole=False, tile_rows=8),
    )  # fmt: skip
    image = tensor_image.image(summary, dark)
    assert image is not None
    assert (image.width(), image.height()) == (5 * 9 - 1, 3 * 9 - 1)
    assert image.pixelColor(4, 4).name() == "#000000"
    assert image.pixelColor(9 + 4, 4).name() == "#ffffff"


def test_a_tensor_of_zeros_is_neutral(dark: Theme) -> None:
    image = tensor_image.image(summary_of(np.zeros((1, 32))), dark)
    assert image is not None
    assert image.pixelColor(3, 0).name() == dark.color("heat_zero").name()


def test_a_selected_wire_is_far_stronger_than_one_that_is_not(hand: Hand) -> None:
    items = chain(hand)
    start, end = hand.output(items[0]), hand.input(items[1], "input")
    accent = hand.canvas.canvas_style.color("accent")
    before = count(hand.shot(), accent)
    hand.click(((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    assert hand.canvas.lit.selected_wires
    assert count(hand.shot(), accent) > before + 150


def count(image: QImage, color: QColor) -> int:
    wanted = np.array([color.red(), color.green(), color.blue()])
    return int((np.abs(pixels(image) - wanted).sum(2) <= 12).sum())


def test_an_error_has_several_lines_on_its_card(hand: Hand) -> None:
    item = hand.add("torch.zeros", 300, 100)
    hand.session.attention.select(())
    box = hand.canvas.scene.placement.room(item)
    message = (
        "this would take 3.64 TiB of memory, and 12.1 GiB are free on cpu: make the size smaller or use another dtype"
    )
    failed = Failed(revision=0, node=item, address="y", line=3, type_name="MemoryError", message=message)
    hand.session.results.tables.add_failure(Failure(failed, ""))
    hand.session.results.tables.pace.flush()
    after = hand.canvas.scene.placement.room(item)
    assert after == box
    assert after is not None
    layout = hand.canvas.scene.placement.layout(item)
    assert layout is not None
    shot = hand.shot().copy(round(after.x) + 6, round(after.y + layout.height), round(after.width) - 12, 80)
    inked = (np.abs(pixels(shot) - np.array(hand.canvas.canvas_style.color("danger").getRgb()[:3])).sum(2) <= 60).any(
        axis=1
    )
    lines = int((inked[1:] & ~inked[:-1]).sum())
    assert lines >= 3


def test_an_error_is_written_on_a_card_seen_from_afar(hand: Hand) -> None:
    item = hand.add("torch.zeros", 100, 100)
    hand.session.attention.select(())
    failed = Failed(revision=0, node=item, address="y", line=3, type_name="RuntimeError", message="shapes 2x3 and 2x3")
    hand.session.results.tables.add_failure(Failure(failed, ""))
    hand.session.results.tables.pace.flush()
    hand.canvas.navigation.set_camera(Camera(0.5, 0, 0))
    hand.canvas.navigation.zooming = False
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.box(item))  # type: ignore[arg-type]
    body = hand.shot().copy(round(box.x) + 6, round(box.y) + 22, round(box.width) - 12, round(box.height) - 26)
    danger = np.array(hand.canvas.canvas_style.color("danger").getRgb()[:3])
    inked = (np.abs(pixels(body) - danger).sum(2) <= 90).any(axis=1)
    assert int((inked[1:] & ~inked[:-1]).sum()) >= 2, "several lines of words"


def test_a_failure_out_of_view_is_brought_into_view(hand: Hand) -> None:
    item = hand.add("torch.zeros", 3000, 2000)
    failed = Failed(revision=0, node=item, address="y", line=3, type_name="RuntimeError", message="no")
    hand.session.results.tables.add_failure(Failure(failed, ""))
    hand.session.results.tables.pace.flush()
    assert hand.canvas.navigation.is_seen(item)
    assert hand.canvas.navigation.zoom == 1.0


@pytest.mark.parametrize("zoom", [0.55, 0.4, 0.3])
def test_a_note_shows_its_whole_text_from_afar(hand: Hand, zoom: float) -> None:
    item = hand.add("torch.zeros", 40, 300)
    text = "One step of linear regression. " * 6 + "END"
    hand.canvas.note_commands.set_note(item, text)
    hand.canvas.navigation.set_camera(Camera(zoom, 0, 0))
    hand.canvas.navigation.zooming = False
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.notes[item].box)
    shot = hand.shot()
    last = shot.copy(
        round(box.x) + 3, round(box.bottom - box.height / 4), round(box.width) - 8, round(box.height / 4) - 2
    )
    paper = hand.canvas.canvas_style.color("note")
    assert (np.abs(pixels(last) - np.array(paper.getRgb()[:3])).sum(2) > 40).any()
    below = shot.copy(round(box.x), round(box.bottom) + 2, round(box.width), 8)
    assert not has(below, hand.canvas.canvas_style.color("note_text"), 1)


def test_from_afar_a_norm_is_marked_as_one(hand: Hand) -> None:
    item = hand.add("torch.relu", 40, 40)
    hand.session.attention.select(())
    big = summary_of(np.ones((40, 40)))
    ran(hand, item, TensorRecord(device="cpu", summary=big, requires_grad=True, is_leaf=False, grad_fn="A"))
    hand.session.results.tables.set_gradients([GradRow(node=item, state="value", grad=big)], whole=True)
    hand.session.results.tables.pace.flush()
    hand.canvas.navigation.set_camera(Camera(0.5, 0, 0))
    hand.canvas.navigation.zooming = False
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.box(item))  # type: ignore[arg-type]
    sign = hand.shot().copy(round(box.x) + 6, round(box.bottom) - 18, 12, 13)
    gradient, ground = (
        np.array(color.getRgb()[:3])
        for color in (hand.canvas.canvas_style.gradient, hand.canvas.canvas_style.color("card_well"))
    )
    off = np.abs(pixels(sign) - gradient).sum(2)
    filled, inked = (off <= 30).sum(), (off < np.abs(ground - gradient).sum() * 0.75).sum()
    assert inked >= 8, "bars, thin as the font may draw them"
    assert filled < 30, "no filled triangle"


@pytest.mark.parametrize("only", ["shapes", "dtype_device", "grad_fn", "gradients"])
def test_from_afar_each_overlay_alone_is_written_on_a_card(hand: Hand, only: str) -> None:
    item = hand.add("torch.relu", 40, 40)
    hand.session.attention.select(())
    number = Summary(dtype="float32", shape=(), value=0.25)
    ran(
        hand,
        item,
        TensorRecord(device="cpu", summary=number, requires_grad=True, is_leaf=False, grad_fn="AddBackward0"),
    )
    hand.session.results.tables.set_gradients([GradRow(node=item, state="value", grad=number)], whole=True)
    hand.session.results.tables.pace.flush()
    for row in OVERLAYS:
        hand.canvas.overlays.switch(row.id, row.id == only)
    hand.canvas.navigation.set_camera(Camera(0.56, 0, 0))
    hand.canvas.navigation.zooming = False
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.box(item))  # type: ignore[arg-type]
    left = 18 if only == "gradients" else 6  # behind the sign, before the one in the corner
    body = hand.shot().copy(
        round(box.x) + left, round(box.y) + 16, round(box.width) - left - 20, round(box.height) - 17
    )
    style = hand.canvas.canvas_style
    ink = np.array((style.gradient if only == "gradients" else style.color("text_dim")).getRgb()[:3])
    assert (np.abs(pixels(body) - ink).sum(2) < 150).sum() >= 4


def test_a_gradient_that_is_all_one_number_is_written(hand: Hand) -> None:
    item = hand.add("torch.relu", 40, 40)
    hand.session.attention.select(())
    same = summary_of(np.full((40, 40), 0.03125))
    ran(hand, item, TensorRecord(device="cpu", summary=same, requires_grad=True, is_leaf=False, grad_fn="A"))
    hand.session.results.tables.set_gradients([GradRow(node=item, state="value", grad=same)], whole=True)
    hand.session.results.tables.pace.flush()
    assert has(hand.shot(), hand.canvas.canvas_style.gradient)
    hand.canvas.navigation.set_camera(Camera(0.5, 0, 0))
    hand.canvas.navigation.zooming = False
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.box(item))  # type: ignore[arg-type]
    body = hand.shot().copy(round(box.x) + 6, round(box.y) + 16, round(box.width) - 12, round(box.height) - 18)
    ink = np.array(hand.canvas.canvas_style.color("text").getRgb()[:3])
    assert (np.abs(pixels(body) - ink).sum(2) < 120).any(), "the number, no empty box"


def test_a_long_program_opens_at_its_beginning_where_it_can_be_read(hand: Hand) -> None:
    for k in range(20):
        hand.add("torch.zeros", 300 * k, 260 * (k % 4))
    hand.canvas.session.graph_store.load(hand.graph)
    hand.shot()
    assert hand.canvas.navigation.zoom == OPENING_ZOOM
    first = hand.canvas.scene.stack.ids[0]
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.box(first))  # type: ignore[arg-type]
    assert box.x == pytest.approx(FIT_MARGIN, abs=1)
    all_of_it = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.extent())  # type: ignore[arg-type]
    below = hand.canvas.viewport().height() - all_of_it.bottom
    assert all_of_it.y == pytest.approx(below, abs=1) and box.y >= FIT_MARGIN  # down there is room: in the middle


def contrast(ink: QColor, ground: QColor) -> float:
    """As WCAG 2.2 defines it."""

    def light(color: QColor) -> float:
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((light(ink), light(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["dark", "light"])
def test_what_is_stale_can_be_read(name: ThemeName) -> None:
    style = CanvasStyle(theme(name))
    for ground in ("card_well", "card", "canvas"):
        inks = [style.stale.color(role) for role in ("text", "text_dim", "unknown_value", "danger")]
        for ink in (*inks, style.stale.gradient):
            assert ink.alpha() == 255
            assert contrast(ink, style.color(ground)) >= 4.5 - (0.3 if ground == "canvas" else 0.0)
    assert style.stale.color("text") != style.color("text")


def test_stale_letters_are_painted_opaque(hand: Hand) -> None:
    light = theme("light")
    item = hand.add("torch.relu", 300, 200)
    hand.canvas.set_theme(light)
    hand.session.attention.select(())
    ran(hand, item, scalar(3.0))
    hand.session.results.tables.set_stale(True)
    hand.session.results.tables.pace.flush()
    assert has(hand.shot(), light.color("unknown_value"), 15)


def test_a_node_that_takes_long_says_so_above_its_card(hand: Hand) -> None:
    item = hand.add("torch.randn", 300, 200)
    hand.session.attention.select(())
    tables, color = hand.session.results.tables, hand.canvas.canvas_style.color("ok")
    tables.set_running(item)
    tables.pace.flush()
    before = np.abs(pixels(hand.shot()) - (color.red(), color.green(), color.blue())).sum(2) <= 12
    tables.set_running_seconds(4)
    tables.pace.flush()
    after = np.abs(pixels(hand.shot()) - (color.red(), color.green(), color.blue())).sum(2) <= 12
    assert (after & ~before).sum() > 1000
    columns = np.flatnonzero((after & ~before).any(axis=0))
    assert np.ptp(columns) < hand.canvas.scene.placement.box(item).width * hand.canvas.camera.zoom, "nor beside it"
    tables.set_running_seconds(0)
    tables.pace.flush()
    assert (pixels(hand.shot())[after & ~before] != (color.red(), color.green(), color.blue())).any(axis=1).all()
