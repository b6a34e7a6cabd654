"""The minimap, by hand."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QEnterEvent, QImage, QKeySequence, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Failed
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.settings import Settings
from tests.ui.canvas.conftest import NO_KEY, Hand
from tests.ui.conftest import Add

Left = Qt.MouseButton.LeftButton


def large(hand: Hand) -> list[ItemId]:
    """Cards in three corners, the last one far away, and enough others for a map."""
    for k in range(3):
        hand.add("torch.randn", 2300, 300 + 300 * k)
    return [hand.add("torch.randn", x, y) for x, y in ((0, 0), (2000, 0), (3000, 2000))]


def shown(qtbot: QtBot, hand: Hand) -> Minimap:
    minimap = hand.canvas.minimap
    qtbot.waitUntil(minimap.isVisible)
    return minimap


def on_map(hand: Hand, item: ItemId) -> QPoint:
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    x, y = hand.canvas.minimap.map_camera().camera.to_view(*box.center)
    return QPoint(round(x), round(y))


def middle(hand: Hand) -> tuple[float, float]:
    view = hand.canvas.viewport()
    return hand.canvas.camera.to_scene(view.width() / 2, view.height() / 2)


def picture(minimap: Minimap) -> QImage:
    return minimap.grab().toImage()


def has_near(image: QImage, at: QPoint, color: QColor, reach: int = 10) -> bool:
    spots = (at + QPoint(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1))
    return any(image.rect().contains(spot) and image.pixelColor(spot).rgb() == color.rgb() for spot in spots)


def test_a_view_that_is_about_to_be_fitted_brings_no_map_for_a_moment(qtbot: QtBot, hand: Hand) -> None:
    large(hand)
    canvas = hand.canvas
    canvas.navigation.fit_all()
    canvas.minimap.refresh()
    assert not canvas.minimap.isVisible()
    canvas.resize(canvas.width() // 2, canvas.height() // 2)  # not painted yet, and looking from where it looked
    canvas.minimap.refresh()
    assert not canvas.minimap.isVisible()


@pytest.mark.feature(48)
def test_it_is_there_for_what_is_larger_than_the_view_only(qtbot: QtBot, hand: Hand) -> None:
    hand.add("torch.randn", 40, 40)
    hand.canvas.minimap.refresh()
    assert not hand.canvas.minimap.isVisible()
    large(hand)
    minimap = shown(qtbot, hand)
    port = hand.canvas.viewport()
    assert minimap.geometry().right() < port.width() and minimap.x() > port.width() / 2
    hand.key(Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: not minimap.isVisible())


@pytest.mark.feature(48)
def test_a_click_and_a_drag_in_it_move_the_view_and_its_wheel_zooms(qtbot: QtBot, hand: Hand) -> None:
    items = large(hand)
    minimap = shown(qtbot, hand)
    QTest.mouseClick(minimap, Left, pos=on_map(hand, items[1]))
    box = hand.canvas.scene.placement.box(items[1])
    assert box is not None
    assert middle(hand) == pytest.approx(box.center, abs=30)
    before = middle(hand)
    QTest.mousePress(minimap, Left, pos=on_map(hand, items[1]))
    QTest.mouseMove(minimap, on_map(hand, items[1]) + QPoint(0, 20))
    QTest.mouseRelease(minimap, Left, pos=on_map(hand, items[1]) + QPoint(0, 20))
    moved = 20 / minimap.map_camera().camera.zoom
    assert middle(hand) == pytest.approx((before[0], before[1] + moved), abs=2)
    point = QPointF(20, 20)
    event = QWheelEvent(
        point, minimap.mapToGlobal(point), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, NO_KEY,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(minimap, event)
    assert hand.canvas.navigation.zoom == pytest.approx(1 / 1.2)
    assert not hand.canvas.attention.selection and hand.canvas.input_dispatcher.gesture is None


@pytest.mark.feature(48)
def test_cards_show_category_failure_muting_selection_and_the_next_node(qtbot: QtBot, hand: Hand) -> None:
    items, style = large(hand), hand.canvas.canvas_style
    minimap, results = shown(qtbot, hand), hand.session.results
    plain = style.theme.category_mark(hand.canvas.scene.stack.cards[items[2]].layout.category)
    colors = {"plain": plain, "failed": style.color("danger"), "lit": style.color("accent"), "next": style.color("ok")}

    def seen() -> set[str]:
        image = picture(minimap)
        return {name for name, color in colors.items() if has_near(image, on_map(hand, items[2]), color)}

    QTest.mouseClick(minimap, Left, pos=on_map(hand, items[2]))  # what is out of view is darker
    assert seen() == {"plain"}
    hand.canvas.selection.select(frozenset({items[2]}))
    assert seen() == {"plain", "lit"}
    hand.canvas.selection.clear()
    results.tables.add_failure(
        Failure(Failed(revision=0, node=items[2], address="z", line=1, type_name="E", message="no"))
    )
    assert seen() == {"failed"}
    results.tables.clear()
    results.tables.next_node = items[2]
    assert seen() == {"plain", "next"}
    results.tables.next_node = ItemId("")
    hand.canvas.selection.select(frozenset({items[2]}))
    hand.canvas.card_arrangement.toggle_muted()
    hand.canvas.selection.clear()
    assert hand.graph.nodes[items[2]].muted and seen() == set()


@pytest.mark.feature(48)
def test_it_fades_where_something_is_dragged_near_it_and_lets_it_through(qtbot: QtBot, hand: Hand) -> None:
    items = large(hand)
    minimap = shown(qtbot, hand)
    hand.press(hand.header(items[0]))
    hand.move((300, 200))
    assert minimap.opacity == 1.0
    at = minimap.geometry().center()
    hand.move((at.x() - 30, at.y() - 20))
    assert minimap.opacity < 1.0 and minimap.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    hand.release((at.x() - 30, at.y() - 20))
    assert minimap.opacity < 1.0, "what was moved there is still selected"
    hand.canvas.selection.clear()
    assert minimap.opacity == 1.0
    place = hand.graph.places[items[0]]
    assert place.x > 300 and place.y > 200


@pytest.mark.feature(48)
def test_its_inner_corner_is_dragged_and_its_menu_puts_it_elsewhere(qtbot: QtBot, hand: Hand) -> None:
    large(hand)
    minimap, port = shown(qtbot, hand), hand.canvas.viewport()
    before, end = minimap.size(), minimap.geometry().bottomRight()
    with qtbot.waitSignal(minimap.placed):
        QTest.mousePress(minimap, Left, pos=QPoint(4, 4))
        QTest.mouseMove(minimap, QPoint(44, 24))
        QTest.mouseRelease(minimap, Left, pos=QPoint(44, 24))
    assert minimap.width() < before.width() and minimap.height() < before.height()
    assert minimap.geometry().bottomRight() == end
    menu = minimap.make_menu()
    next(action for action in menu.actions() if action.text() == "Upper left").trigger()
    assert minimap.x() < port.width() / 4 and minimap.y() < port.height() / 4
    next(action for action in menu.actions() if action.text() == "Large").trigger()
    assert minimap.size_px == QSize(340, 230)


@pytest.mark.feature(48)
def test_its_picture_is_made_anew_only_when_something_changes(qtbot: QtBot, hand: Hand) -> None:
    items = large(hand)
    minimap = shown(qtbot, hand)
    picture(minimap)
    kept = minimap._picture._pixmap.cacheKey()
    hand.canvas.navigation.set_camera(hand.canvas.camera.panned(-50, -20))
    hand.canvas.selection.select(frozenset(items))
    picture(minimap)
    assert minimap._picture._pixmap.cacheKey() == kept
    hand.canvas.card_arrangement.nudge(8, 0)
    picture(minimap)
    assert minimap._picture._pixmap.cacheKey() != kept


@pytest.mark.feature(48)
def test_a_key_takes_it_away_and_that_is_kept(qtbot: QtBot, window: MainWindow, add: Add, settings: Settings) -> None:
    far = add("torch.randn")
    for _ in range(5):
        add("torch.relu")
    window.canvas.card_arrangement.drop_moved({far: (5000.0, 4000.0)}, {})
    window.canvas.navigation.zoom_to(1.0)
    qtbot.waitUntil(window.canvas.minimap.isVisible)
    assert window.actions["view.minimap"].shortcut() == QKeySequence("Ctrl+Alt+M")
    window.actions["view.minimap"].trigger()
    assert not window.canvas.minimap.isVisible() and not Settings(settings.folder).preferences.minimap
    window.actions["view.minimap"].trigger()
    assert window.canvas.minimap.isVisible()
    window.canvas.minimap.put("top_right", QSize(200, 140))
    window.canvas.minimap.placed.emit()
    again = Settings(settings.folder).preferences
    assert (again.minimap, again.minimap_corner, again.minimap_px) == (True, "top_right", (200, 140))


@pytest.mark.feature(48)
def test_it_is_small_and_what_is_put_under_it_is_seen(qtbot: QtBot, hand: Hand) -> None:
    large(hand)
    minimap, port = shown(qtbot, hand), hand.canvas.viewport()
    assert minimap.width() <= 0.18 * port.width()
    assert minimap.height() <= 0.2 * port.height()
    assert minimap.opacity == 1.0
    at = minimap.geometry().center()
    hand.drop("torch.relu", hand.canvas.camera.to_scene(at.x(), at.y()))
    assert minimap.opacity < 1.0
    hand.click((300, 500))
    assert minimap.opacity == 1.0


@pytest.mark.feature(48)
def test_over_a_card_it_is_folded_to_a_button_until_the_pointer_comes(qtbot: QtBot, hand: Hand) -> None:
    items = large(hand)
    minimap = shown(qtbot, hand)
    assert not minimap.is_folded
    whole = minimap.geometry()
    box, at = hand.canvas.scene.placement.box(items[1]), whole.center()
    assert box is not None
    hand.canvas.navigation.set_camera(Camera(1.0, box.x - at.x(), box.y - at.y()))
    assert not minimap.is_folded, "the view is moving still"
    qtbot.waitUntil(lambda: minimap.is_folded)
    assert minimap.isVisible() and minimap.opacity == 1.0
    button = minimap.geometry()
    assert minimap.width() < 40 and button.bottom() == whole.bottom()
    assert not hand.canvas.camera.box_to_view(box).meets(Box(button.x(), button.y(), 26, 26))
    spot = QPointF(minimap.rect().center())
    QApplication.sendEvent(minimap, QEnterEvent(spot, spot, QPointF(minimap.mapToGlobal(spot))))
    assert not minimap.is_folded and minimap.geometry().contains(button) and minimap.size() == whole.size()
    opened = minimap.geometry()
    QApplication.sendEvent(minimap, QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(lambda: minimap.is_folded)
    camera = hand.canvas.camera
    QTest.mouseClick(minimap, Left, pos=minimap.rect().center())
    assert minimap.geometry() == opened and hand.canvas.camera == camera
    hand.click((300, 500))
    qtbot.waitUntil(lambda: minimap.is_folded)
    assert minimap.geometry() == button
    hand.canvas.navigation.set_camera(Camera(1.0, 0.0, 0.0))
    qtbot.waitUntil(lambda: minimap.geometry() == whole)


@pytest.mark.feature(48)
def test_over_a_note_it_is_folded_too(qtbot: QtBot, hand: Hand) -> None:
    item = large(hand)[1]
    minimap = shown(qtbot, hand)
    hand.session.graph_store.submit(recipes.set_note(hand.graph, item, "Mind this"), "Note")
    note, at = hand.canvas.scene.placement.notes[item].box, minimap.geometry()
    hand.canvas.navigation.set_camera(Camera(1.0, note.right - at.x() - 2, note.y - at.y() - 2))
    qtbot.waitUntil(lambda: minimap.is_folded)


@pytest.mark.feature(48)
def test_a_few_cards_have_no_map_unless_a_key_asks_for_one(qtbot: QtBot, window: MainWindow, add: Add) -> None:
    far = add("torch.randn")
    add("torch.relu")
    window.canvas.card_arrangement.drop_moved({far: (5000.0, 4000.0)}, {})
    window.canvas.navigation.zoom_to(1.0)
    minimap = window.canvas.minimap
    minimap.refresh()
    assert not minimap.isVisible()
    window.actions["view.minimap"].trigger()
    qtbot.waitUntil(minimap.isVisible)


def test_what_is_brought_into_view_does_not_stand_under_it(qtbot: QtBot, hand: Hand) -> None:
    item = large(hand)[0]
    over, canvas = shown(qtbot, hand).geometry(), hand.canvas
    box = canvas.scene.placement.box(item)
    assert box is not None
    canvas.navigation.set_camera(Camera(1.0, box.x - over.x() + 60, box.y - over.y() + 60))
    assert canvas.navigation.is_seen(item) and not canvas.navigation.is_whole(item)
    canvas.navigation.bring_into_view(item)
    under = canvas.camera.box_to_view(box)
    assert canvas.navigation.is_whole(item) and not under.meets(Box(over.x(), over.y(), over.width(), over.height()))
