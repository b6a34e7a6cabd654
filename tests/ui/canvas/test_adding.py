"""Adding by mouse and keys: every way into the search, its grammar, its suggestions, stars and previews."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from gradstudio.operators.catalogue.loader import load
from gradstudio.ui.canvas.menus.context_menu import context_menu
from gradstudio.ui.canvas.popups.search_popup import SearchPopup
from gradstudio.ui.canvas.popups.search_row_delegate import star_place
from gradstudio.ui.state.library.connection_statistics import ConnectionStatistics
from tests.ui.canvas.conftest import CONTROL, Hand

Key = Qt.Key
Button = Qt.MouseButton


def popup_of(hand: Hand) -> SearchPopup:
    popup = hand.canvas.searching.popup
    assert popup is not None
    return popup


def typed(hand: Hand, text: str) -> SearchPopup:
    popup = popup_of(hand)
    QTest.keyClicks(popup.field, text)
    return popup


def operators(hand: Hand) -> list[str]:
    return [node.operator for node in hand.graph.nodes.values()]


# ------------------------------------------------------------------ ways in


@pytest.mark.feature(1)
@pytest.mark.parametrize("key", [Key.Key_Tab, Key.Key_Space])
def test_a_key_opens_the_search_and_enter_adds(hand: Hand, key: Qt.Key) -> None:
    hand.key(key)
    typed(hand, "relu")
    hand.key(Key.Key_Return, to=popup_of(hand).field)
    assert operators(hand) == ["torch.relu"] and hand.undo_texts == ["Add relu"]


@pytest.mark.feature(1)
def test_space_held_for_a_drag_pans_and_opens_nothing(hand: Hand) -> None:
    before = hand.canvas.camera
    QTest.keyPress(hand.canvas, Key.Key_Space)
    hand.drag((400, 300), (460, 340))
    QTest.keyRelease(hand.canvas, Key.Key_Space)
    assert hand.canvas.camera != before and hand.canvas.searching.popup is None


@pytest.mark.feature(1)
def test_the_context_menu_adds_by_name_and_by_search(hand: Hand) -> None:
    hand.canvas.shelf.toggle("torch.erf")

    canvas, at = hand.canvas, (400.0, 300.0)
    menu = context_menu(canvas, canvas.input_dispatcher.hit(canvas.input_dispatcher.at(hand.view(*at))), *at)
    add = menu.actions()[0].menu()
    assert isinstance(add, QMenu) and menu.actions()[0].text() == "Add"
    entry = next(action for action in add.actions() if action.text().startswith("erf\t"))
    entry.trigger()
    assert operators(hand) == ["torch.erf"]
    (place,) = hand.graph.places.values()
    assert (place.x, place.y) == pytest.approx((400, 300), abs=1)
    add.actions()[0].trigger()
    assert hand.canvas.searching.popup is not None


# ------------------------------------------------------------------ finding


@pytest.mark.feature(2)
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("matmull", "torch.matmul"),
        ("sofmax", "torch.softmax"),
        ("matrix multiply", "torch.matmul"),
        ("mm", "torch.mm"),
        ("ce", "torch.nn.functional.cross_entropy"),
        ("mse", "torch.nn.functional.mse_loss"),
        ("@", "operator.matmul"),
    ],
)
def test_slips_initials_and_everyday_words_find_it_first(hand: Hand, text: str, key: str) -> None:
    hand.key(Key.Key_Tab)
    assert key in typed(hand, text).operators()[:2]


@pytest.mark.feature(2)
def test_loss_finds_losses(hand: Hand) -> None:
    hand.key(Key.Key_Tab)
    first = typed(hand, "loss").operators()[:6]
    assert all(load()[key].category == "Losses" for key in first)


@pytest.mark.feature(3)
def test_a_wire_dropped_from_an_output_is_wired_to_what_takes_it(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.drag(hand.output(x), (600, 400))
    popup = typed(hand, "sum")
    hand.key(Key.Key_Return, to=popup.field)
    (new,) = set(hand.graph.nodes) - {x}
    (wire,) = hand.graph.wires.values()
    assert (wire.source, wire.target) == (x, new) and hand.undo_texts[-1] == "Add sum"


@pytest.mark.feature(3)
def test_a_wire_dropped_from_an_input_is_wired_from_what_gives_it(hand: Hand) -> None:
    y = hand.add("torch.relu", 500, 200)
    hand.drag(hand.input(y, "input"), (100, 400))
    popup = popup_of(hand)
    assert "torch.Tensor.backward" not in popup.operators()
    typed(hand, "randn")
    hand.key(Key.Key_Return, to=popup.field)
    (wire,) = hand.graph.wires.values()
    assert hand.graph.nodes[wire.source].operator == "torch.randn" and wire.target == y


@pytest.mark.feature(3)
def test_a_wire_from_a_size_lists_what_gives_sizes_and_the_value_says_the_same(hand: Hand) -> None:
    hand.canvas.shelf.use("torch.sigmoid")
    x = hand.add("torch.randn", 600, 200, size="(4, 3)")
    hand.drag(hand.input(x, "size"), (90, 460))
    popup = popup_of(hand)
    assert popup.operators()[:3] == ("python.literal", "torch.Tensor.shape", "torch.Tensor.size")
    assert not {"torch.sigmoid", "torch.exp", "torch.tensor"} & set(popup.operators())
    hand.key(Key.Key_Return, to=popup.field)
    (wire,) = hand.graph.wires.values()
    assert (wire.target, wire.port) == (x, "size")
    assert hand.graph.nodes[wire.source].literals == {"value": "(4, 3)"}


@pytest.mark.feature(3)
def test_a_card_wired_backwards_comes_with_its_output_to_the_pointer_wholly_in_view(hand: Hand) -> None:
    y = hand.add("torch.relu", 700, 200)
    for at in ((500, 450), (60, 690)):
        hand.drag(hand.input(y, "input"), at)
        popup = typed(hand, "randn")
        hand.key(Key.Key_Return, to=popup.field)
        new = hand.graph.wires[y, "input"].source
        assert hand.output(new) == pytest.approx(at, abs=1.0)
        hand.canvas.navigation.travel.finish()
        box = hand.canvas.scene.placement.box(new)
        assert box is not None
        seen = hand.canvas.camera.box_to_view(box)
        assert seen.x >= 0 and seen.right <= 1000 and seen.bottom <= 700
        hand.session.graph_store.undo_stack.undo()


@pytest.mark.feature(5)
def test_conditions_narrow_the_list_with_and_without_words(hand: Hand) -> None:
    hand.key(Key.Key_Tab)
    popup = typed(hand, "in:tensor out:bool")
    assert {"torch.isnan", "torch.eq"} <= set(popup.operators())
    assert not {"torch.relu", "torch.randn"} & set(popup.operators())
    popup.field.clear()
    typed(hand, "cat:loss -out:module mean")
    found = popup.operators()
    assert found and all(load()[key].category == "Losses" for key in found)
    assert not any(key.startswith("torch.nn.") and "functional" not in key for key in found)


@pytest.mark.feature(5)
def test_tab_completes_a_condition_and_the_hint_tells_what_there_is(hand: Hand) -> None:
    hand.key(Key.Key_Tab)
    popup = popup_of(hand)
    assert "in:tensor" in popup.hint.text()
    typed(hand, "out:bo")
    assert "bool" in popup.hint.text()
    hand.key(Key.Key_Tab, to=popup.field)
    assert popup.field.text() == "out:bool " and not hand.graph.nodes


@pytest.mark.feature(5)
@pytest.mark.parametrize("text", ["form:x relu", "out:zebra"])
def test_an_unknown_condition_is_told_with_those_there_are(hand: Hand, text: str) -> None:
    hand.key(Key.Key_Tab)
    popup = typed(hand, text)
    assert popup.hint.isVisible()
    assert ("in:" in popup.hint.text()) if "form" in text else ("tensor" in popup.hint.text())


@pytest.mark.feature(4)
def test_what_was_wired_before_is_suggested_first_and_marked(hand: Hand) -> None:
    for y in (100, 300):
        a, b = hand.add("torch.randn", 40, y), hand.add("torch.erf", 400, y)
        hand.drag(hand.output(a), hand.input(b, "input"))
    x = hand.add("torch.randn", 40, 520)
    hand.drag(hand.output(x), (600, 560))
    popup = popup_of(hand)
    assert popup.operators()[0] == "torch.erf"
    hand.key(Key.Key_Escape, to=popup.field)
    hand.canvas.selection.select(frozenset({x}))
    hand.key(Key.Key_Tab)
    assert popup_of(hand).operators()[0] == "torch.erf"


@pytest.mark.feature(4)
def test_before_anything_was_wired_the_usual_is_suggested(hand: Hand) -> None:
    item = hand.add("torch.nn.Linear", 40, 100)
    hand.drag(hand.output(item), (600, 400))
    assert popup_of(hand).operators()[0] == "torch.relu"


@pytest.mark.feature(4)
def test_behind_data_that_is_made_linear_means_the_layer() -> None:
    habits = ConnectionStatistics()
    assert habits.after("group:spirals")[0] == habits.after("shipped:two_moons")[0] == "torch.nn.Linear"
    assert habits.after("group:mine") == ()


def test_habits_fade_are_capped_and_survive(hand: Hand) -> None:
    habits = hand.canvas.searching.habits
    habits.restore([("torch.randn", "torch.erf", 1.0)])
    a = hand.add("torch.randn", 40, 100)
    for k in range(12):
        b = hand.add("torch.sin", 400, 100.0 + k)
        hand.wire(a, b, "input")
    assert habits.after("torch.randn")[0] == "torch.sin"
    kept = {(one, other): count for one, other, count in habits.kept}
    assert kept["torch.randn", "torch.erf"] < 1.0
    again = ConnectionStatistics()
    again.restore(habits.kept)
    assert again.after("torch.randn") == habits.after("torch.randn")
    hand.session.graph_store.undo_stack.undo()
    assert habits.kept == again.kept


# ------------------------------------------------------------------ favourites and previews


@pytest.mark.feature(6)
def test_a_star_is_set_by_key_and_by_mouse_and_chooses_nothing(hand: Hand) -> None:
    hand.key(Key.Key_Tab)
    popup = typed(hand, "matmul")
    first, second = popup.operators()[:2]
    hand.key(Key.Key_B, CONTROL, to=popup.field)
    row = popup.list.visualRect(popup.list.index_of(1))
    QTest.mouseClick(popup.list.viewport(), Button.LeftButton, pos=star_place(row).center())
    assert list(hand.canvas.shelf.favourites) == [first, second]
    assert not hand.graph.nodes and popup.isVisible()
    QTest.mouseClick(popup.list.viewport(), Button.LeftButton, pos=star_place(row).center())
    assert list(hand.canvas.shelf.favourites) == [first]


@pytest.mark.feature(8)
def test_beside_the_search_stands_the_card_and_what_the_operator_does(hand: Hand) -> None:
    hand.canvas.resize(1000, 700)
    hand.double_click((300, 200))
    popup = typed(hand, "matmul")
    preview = popup.preview
    assert preview.isVisible() and preview.key == popup.operators()[0]
    assert not preview.geometry().intersects(popup.geometry())
    assert hand.canvas.rect().contains(preview.geometry())
    assert "other" in preview.words.text() and preview.picture.pixmap().width() > 100
    hand.key(Key.Key_Down, to=popup.field)
    assert preview.key == popup.operators()[1]
    hand.key(Key.Key_Escape, to=popup.field)
    assert not preview.isVisible()


@pytest.mark.feature(8)
@pytest.mark.parametrize("at", [(60, 60), (960, 660), (960, 60), (500, 680)])
def test_the_preview_stays_in_the_window(hand: Hand, at: tuple[float, float]) -> None:
    hand.double_click(at)
    popup = typed(hand, "conv2d")
    assert hand.canvas.rect().contains(popup.preview.geometry())
    assert not popup.preview.isVisible() or not popup.preview.geometry().intersects(popup.geometry())
