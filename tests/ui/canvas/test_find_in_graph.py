"""Finding nodes by hand: typed into the bar, walked through by keys, seen on the canvas."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Failed, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.camera import Camera
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.paint.moment_painter import COVERED
from gradstudio.ui.canvas.popups.find_bar import HEIGHT
from gradstudio.ui.state.document.node_search import find_nodes
from gradstudio.ui.state.results.failure import Failure
from tests.ui.canvas.conftest import SHIFT, Hand
from tests.ui.conftest import Add

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier


def ran(hand: Hand, item: ItemId, summary: Summary) -> None:
    record = TensorRecord(device="cpu", summary=summary)
    hand.session.results.tables.add_rows([Row(step=0, node=item, outputs=(record,))])


def program(hand: Hand) -> dict[str, ItemId]:
    """Four cards, two of them far away."""
    items = {
        "weights": hand.add("torch.randn", 100, 100),
        "hidden": hand.add("torch.relu", 400, 100),
        "loss": hand.add("torch.nn.functional.mse_loss", 3000, 100),
        "scale": hand.add("torch.full", 3000, 2000, fill_value="0.125"),
    }
    for name, item in items.items():
        assert hand.session.graph_store.attempt(recipes.rename, "Rename", item, (name,))
    return items


def search(hand: Hand, text: str) -> None:
    hand.canvas.finding.open()
    QTest.keyClicks(hand.canvas.finding.bar.field, text)


def found(hand: Hand) -> set[ItemId]:
    return set(hand.canvas.finding.found)


@pytest.mark.feature(50)
@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("hid", {"hidden"}),
        ("relu", {"hidden"}),
        ("mse loss", {"loss"}),
        ("0.125", {"scale"}),
        ("check this", {"weights"}),
        ("2x3", {"weights"}),
        ("[2, 3]", {"weights"}),
        ("(2,3)", {"weights"}),
        ("2,3", {"weights"}),
        ("2, 3", {"weights"}),
        ("4x5", set()),
        ("0.998", {"weights"}),
        ("0.99", {"weights"}),
        ("-0.9978", {"weights"}),
        ("+0.998", set()),
        ("0.9", {"weights"}),
        ("0.8", set()),
        ("float64", {"hidden"}),
        ("torch.float64", {"hidden"}),
        ("nan", {"hidden"}),
        ("1.75", {"weights"}),
        ("error", {"loss"}),
        ("must match", {"loss"}),
        ("weights 2x3", {"weights"}),
        ("weights nan", set()),
        ("muted", {"scale"}),
    ],
)
def test_what_is_written_and_computed_is_found(hand: Hand, words: str, names: set[str]) -> None:
    items = program(hand)
    assert hand.session.graph_store.attempt(recipes.set_note, "Note", items["weights"], "please check this")
    assert hand.session.graph_store.attempt(recipes.set_muted, "Mute", [items["scale"]], True)
    ran(hand, items["weights"], Summary(dtype="float32", shape=(2, 3), minimum=-0.99786, maximum=1.7501, value=None))
    ran(hand, items["hidden"], Summary(dtype="float64", shape=(4,), nan=1))
    failed = Failed(
        revision=0, node=items["loss"], address="z", line=1, type_name="RuntimeError", message="sizes must match"
    )
    hand.session.results.tables.add_failure(Failure(failed))
    search(hand, words)
    assert found(hand) == {items[name] for name in names}
    assert hand.canvas.finding.bar.count.text() == (f"1 of {len(names)}" if names else "No matches")


@pytest.mark.feature(50)
def test_an_id_is_found_as_a_whole_only(hand: Hand) -> None:
    items = program(hand)
    graph, results = hand.graph, hand.session.results
    assert find_nodes(graph, results, items["loss"]) == (items["loss"],)
    assert find_nodes(graph, results, " ") == ()


@pytest.mark.feature(50)
def test_enter_walks_through_the_matches_and_escape_selects_the_one_looked_at(hand: Hand) -> None:
    items = program(hand)
    search(hand, "s")
    finding, field = hand.canvas.finding, hand.canvas.finding.bar.field
    order = [items["weights"], items["loss"], items["scale"]]
    assert list(finding.found) == order and finding.item == items["weights"]
    assert finding.bar.count.text() == "1 of 3"
    for item in (order[1], order[2], order[0]):
        QTest.keyClick(field, Key.Key_Return)
        assert finding.item == item and hand.canvas.navigation.is_seen(item)
    QTest.keyClick(field, Key.Key_Return, SHIFT)
    QTest.keyClick(field, Key.Key_F3, SHIFT)
    assert finding.item == order[1] and hand.canvas.navigation.is_seen(order[1])
    QTest.keyClick(field, Key.Key_Escape)
    assert not finding.is_open and hand.canvas.attention.selection == {order[1]}


@pytest.mark.feature(50)
def test_alt_enter_selects_all_matches(hand: Hand) -> None:
    items = program(hand)
    search(hand, "torch.nn")
    assert found(hand) == {items["loss"]}
    hand.canvas.finding.bar.field.selectAll()
    QTest.keyClicks(hand.canvas.finding.bar.field, "torch.r")
    QTest.keyClick(hand.canvas.finding.bar.field, Key.Key_Return, ALT)
    assert hand.canvas.attention.selection == {items["weights"], items["hidden"]}
    assert not hand.canvas.finding.is_open


@pytest.mark.feature(50)
def test_matches_are_lit_and_the_rest_is_faded(hand: Hand) -> None:
    items = program(hand)
    before = hand.shot()
    search(hand, "hidden")
    after = hand.shot()
    faded, lit = hand.header(items["weights"]), hand.canvas.scene.placement.box(items["hidden"])
    assert lit is not None
    spot = hand.view(faded[0] + 30, faded[1] - 8)
    ground = hand.canvas.canvas_style.color("canvas")

    def distance(image: object) -> int:
        color = image.pixelColor(spot)  # type: ignore[attr-defined]
        return abs(color.red() - ground.red()) + abs(color.green() - ground.green()) + abs(color.blue() - ground.blue())

    assert distance(after) < distance(before) / 2
    edge = hand.view(lit.x - 5, lit.y + lit.height / 2)
    assert after.pixelColor(edge).rgb() == hand.canvas.canvas_style.color("accent").rgb()


@pytest.mark.feature(50)
def test_where_nothing_matches_no_card_fades_and_it_is_said_what_can_be_found(hand: Hand) -> None:
    items = program(hand)
    before, spot = hand.shot(), hand.view(*hand.header(items["weights"]))
    search(hand, "zebra")
    bar = hand.canvas.finding.bar
    assert hand.shot().pixelColor(spot) == before.pixelColor(spot)
    assert bar.help.isVisible() and "shapes" in bar.help.text() and "shapes" in bar.field.accessibleDescription()
    assert bar.height() > HEIGHT and bar.rect().contains(bar.help.geometry())
    bar.field.clear()
    assert not bar.help.isVisible() and bar.height() == HEIGHT


@pytest.mark.feature(50)
def test_it_follows_what_is_edited_and_computed(qtbot: QtBot, hand: Hand) -> None:
    items = program(hand)
    search(hand, "7x9")
    assert not found(hand)
    ran(hand, items["hidden"], Summary(dtype="float32", shape=(7, 9)))
    qtbot.waitUntil(lambda: found(hand) == {items["hidden"]})
    assert hand.session.graph_store.attempt(recipes.delete, "Delete", [items["hidden"]])
    qtbot.waitUntil(lambda: not found(hand))


@pytest.mark.feature(50)
def test_keys_of_the_window_open_it_and_go_on(window: MainWindow, add: Add) -> None:
    first, second = add("torch.relu"), add("torch.relu")
    assert window.actions["edit.find"].shortcut().toString() == "Ctrl+F"
    window.actions["edit.find"].trigger()
    bar = window.canvas.finding.bar
    assert bar.isVisible() and window.frame.focusWidget() is bar.field
    QTest.keyClicks(bar.field, "relu")
    QTest.mouseClick(bar.buttons["close"], Qt.MouseButton.LeftButton)
    assert window.frame.focusWidget() is window.canvas and window.session.attention.selection == {first}
    window.actions["edit.find_next"].trigger()
    assert window.session.attention.selection == {second}
    window.actions["edit.find_previous"].trigger()
    assert window.session.attention.selection == {first}


def test_the_bar_stands_below_the_band_that_says_the_past_is_shown(hand: Hand) -> None:
    items = program(hand)
    hand.session.results.tables.add_rows([Row(step=0, node=next(iter(items.values())), outputs=())])
    hand.canvas.finding.open()
    usual = hand.canvas.finding.bar.y()
    hand.session.attention.look_at(0)
    assert hand.canvas.finding.bar.y() >= usual + COVERED
    hand.session.attention.look_at_now()
    assert hand.canvas.finding.bar.y() == usual


def test_no_match_lies_below_the_bar(hand: Hand) -> None:
    """Half of what was found, or an edge of it, would look like an empty field of the bar."""
    items = program(hand)
    finding, canvas = hand.canvas.finding, hand.canvas
    finding.open()
    bar = finding.bar.geometry()
    finding.close()
    zoom = canvas.camera.zoom
    for item, offset_px in ((items["hidden"], 4), (items["hidden"], bar.bottom() - 4)):
        box = canvas.scene.placement.box(item)
        assert box is not None
        canvas.navigation.look_from(Camera(zoom, box.x - bar.center().x() / zoom, box.y - offset_px / zoom))
        hand.session.attention.select((items["loss"],))
        search(hand, "i")
        assert {items["hidden"], items["weights"]} <= found(hand)
        shown = canvas.navigation.travel.target.box_to_view(box)
        assert shown.y >= finding.bar.geometry().bottom(), "it is seen below the bar"
        finding.bar.field.clear()
        finding.close()


def test_a_match_is_outlined_as_it_is_drawn_without_the_room_that_is_kept_for_its_results(hand: Hand) -> None:
    items = program(hand)
    placement = hand.canvas.scene.placement
    drawn, room = placement.box(items["weights"]), placement.room(items["weights"])
    assert drawn is not None and room is not None and room.bottom > drawn.bottom + 8, "there is room for a result"
    search(hand, "i")
    assert {items["hidden"], items["weights"]} <= found(hand)
    shot, warning = hand.shot(), hand.canvas.canvas_style.color("warning").rgb()
    hues = {
        shot.pixelColor(hand.view(drawn.x + drawn.width / 2, y)).rgb()
        for y in range(round(drawn.bottom + 8), round(room.bottom + 8))
    }
    assert warning not in hues
