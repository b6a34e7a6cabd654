"""Wheels, touchpads, the border of the view, and gliding, by hand."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QInputDevice, QKeyEvent, QNativeGestureEvent, QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.scene import camera as cameras
from gradstudio.scene.camera import Camera
from gradstudio.ui.canvas.gestures.move_gesture import Move
from gradstudio.ui.state.settings import Preferences
from tests.ui.canvas.conftest import CONTROL, NO_KEY, SHIFT, Hand

Button = Qt.MouseButton
Key = Qt.Key
Phase = Qt.ScrollPhase


def turn(
    hand: Hand,
    angle: QPoint,
    keys: Qt.KeyboardModifier = NO_KEY,
    pixels: QPoint | None = None,
    phase: Phase = Phase.NoScrollPhase,
    at: QPointF | None = None,
) -> None:
    view, point = hand.canvas.viewport(), at or QPointF(300.0, 200.0)
    event = QWheelEvent(point, view.mapToGlobal(point), pixels or QPoint(), angle, Button.NoButton, keys, phase, False)
    QApplication.sendEvent(view, event)


def pinch(hand: Hand, value: float, at: QPointF) -> None:
    device = QPointingDevice(
        "pad",
        7,
        QInputDevice.DeviceType.TouchPad,
        QPointingDevice.PointerType.Finger,
        QInputDevice.Capability.Position,
        5,
        2,
    )
    event = QNativeGestureEvent(Qt.NativeGestureType.ZoomNativeGesture, device, 2, at, at, at, value, QPointF())
    QApplication.sendEvent(hand.canvas.viewport(), event)


def pushed(hand: Hand) -> tuple[float, float]:
    camera = hand.canvas.camera
    return -camera.x * camera.zoom, -camera.y * camera.zoom


@pytest.mark.feature(52)
def test_two_fingers_push_the_scene_and_a_wheel_zooms_at_the_pointer(hand: Hand) -> None:
    turn(hand, QPoint(0, 120), pixels=QPoint(12, -40), phase=Phase.ScrollUpdate)
    assert pushed(hand) == (12, -40) and hand.canvas.navigation.zoom == 1.0
    before = hand.canvas.camera.to_scene(300, 200)
    turn(hand, QPoint(0, 120))
    assert hand.canvas.navigation.zoom == pytest.approx(1.2)
    assert hand.canvas.camera.to_scene(300, 200) == pytest.approx(before)


@pytest.mark.feature(52)
def test_what_turns_both_ways_at_once_is_no_wheel(hand: Hand) -> None:
    turn(hand, QPoint(16, 24))
    assert hand.canvas.navigation.zoom == 1.0 and pushed(hand) == (8, 12)


@pytest.mark.feature(52)
def test_control_zooms_with_two_fingers_and_shift_pushes_sideways(hand: Hand) -> None:
    turn(hand, QPoint(0, 120), CONTROL, QPoint(0, 30), Phase.ScrollUpdate)
    assert hand.canvas.navigation.zoom == pytest.approx(1.2)
    hand.canvas.navigation.set_camera(Camera())
    turn(hand, QPoint(0, -120), SHIFT)
    assert hand.canvas.navigation.zoom == 1.0 and pushed(hand) == (-60, 0)


@pytest.mark.feature(52)
def test_a_wheel_scrolls_where_a_person_prefers_it_and_zooms_with_control(hand: Hand) -> None:
    hand.canvas.take_preferences(Preferences(wheel="scrolls", reduced_motion=True))
    turn(hand, QPoint(0, -120))
    assert hand.canvas.navigation.zoom == 1.0 and pushed(hand) == (0, -60)
    turn(hand, QPoint(0, -120), CONTROL)
    assert hand.canvas.navigation.zoom == pytest.approx(1 / 1.2)


@pytest.mark.feature(52)
def test_a_pinch_zooms_between_the_fingers(hand: Hand) -> None:
    at = QPointF(400, 300)
    before = hand.canvas.camera.to_scene(400, 300)
    pinch(hand, 0.25, at)
    assert hand.canvas.navigation.zoom == pytest.approx(1.25)
    assert hand.canvas.camera.to_scene(400, 300) == pytest.approx(before)


def test_the_wheel_zooms_while_a_card_is_dragged_and_it_stays_under_the_pointer(hand: Hand) -> None:
    item = hand.add("torch.randn", 100, 100)
    start = hand.header(item)
    hand.press(start)
    hand.move((start[0] + 60, start[1] + 40))
    turn(hand, QPoint(0, -240), at=QPointF(hand.view(start[0] + 60, start[1] + 40)))
    assert hand.canvas.navigation.zoom < 1.0
    box, at = hand.canvas.scene.placement.box(item), hand.canvas.input_dispatcher.pointer
    assert box is not None and at is not None and box.contains(at.x, at.y)
    hand.key(Key.Key_Escape)
    assert hand.canvas.scene.placement.box(item).x == 100  # type: ignore[union-attr]


@pytest.mark.feature(53)
def test_a_card_dragged_to_the_border_moves_the_scene_on_and_lands_under_the_pointer(qtbot: QtBot, hand: Hand) -> None:
    item = hand.add("torch.randn", 600, 300)
    start = hand.header(item)
    hand.press(start)
    hand.move((800, 312))
    assert not hand.canvas.border.is_moving
    hand.move((990, 312))
    qtbot.waitUntil(lambda: hand.canvas.camera.x > 40)
    assert hand.canvas.camera.y == 0
    end = hand.canvas.camera.to_scene(990, 312)
    hand.release(end)
    assert not hand.canvas.border.is_moving
    place = hand.graph.places[item]
    assert place.x > 800 and abs(place.x + (start[0] - 600) - end[0]) <= 8
    assert hand.undo_texts == ["Add", "Move x"]


@pytest.mark.feature(53)
def test_it_goes_faster_towards_the_edge_and_stops_at_escape(hand: Hand) -> None:
    item = hand.add("torch.randn", 600, 300)
    hand.press(hand.header(item))
    hand.move((700, 312))
    speeds = []
    for x in (940, 970, 985, 999, 1020):
        hand.canvas.border.feel(x, 312)
        speeds.append(-hand.canvas.border.speed()[0])
    assert speeds[0] == 0 and speeds == sorted(set(speeds))
    hand.move((990, 312))
    assert hand.canvas.border.is_moving
    hand.key(Key.Key_Escape)
    assert not hand.canvas.border.is_moving and hand.graph.places[item].x == 600


@pytest.mark.feature(53)
def test_a_rubber_band_and_a_wire_reach_what_is_out_of_view(qtbot: QtBot, hand: Hand) -> None:
    left, far = hand.add("torch.randn", 300, 200), hand.add("torch.relu", 1150, 190)
    hand.press((280, 150))
    hand.move((600, 300))
    hand.move((1040, 420))
    qtbot.waitUntil(lambda: hand.canvas.attention.selection == {left, far})
    hand.release(hand.canvas.camera.to_scene(1040, 420))
    hand.canvas.navigation.set_camera(Camera())
    hand.press(hand.output(left))
    hand.move((700, 250))
    hand.move((998, 250))
    qtbot.waitUntil(lambda: hand.view(*hand.input(far, "input")).x() < 960)
    hand.move(hand.input(far, "input"))
    hand.release(hand.input(far, "input"))
    assert [(wire.source, wire.target) for wire in hand.graph.wires.values()] == [(left, far)]


def test_a_press_near_the_border_or_a_drag_away_from_it_moves_nothing(hand: Hand) -> None:
    item = hand.add("torch.randn", 820, 300)
    hand.press((990, 312))
    hand.move((985, 330))
    hand.move((970, 330))
    assert not hand.canvas.border.is_moving
    hand.move((999, 330))
    assert hand.canvas.border.is_moving
    hand.key(Key.Key_Escape)
    assert item in hand.graph.nodes


@pytest.mark.feature(49)
def test_home_fits_everything_and_f_the_selection(hand: Hand) -> None:
    first = hand.add("torch.randn", 0, 0)
    hand.add("torch.randn", 4000, 2500)
    hand.key(Key.Key_Home)
    view = hand.canvas.viewport()
    whole = hand.canvas.scene.placement.extent()
    assert whole is not None
    shown = hand.canvas.camera.box_to_view(whole)
    assert shown.x >= 0 and shown.y >= 0 and shown.right <= view.width() and shown.bottom <= view.height()
    hand.canvas.selection.select(frozenset({first}))
    hand.key(Key.Key_F)
    assert hand.canvas.navigation.zoom == 1.0
    box = hand.canvas.scene.placement.room(first)
    assert box is not None
    middle = hand.canvas.camera.to_view(*box.center)
    assert middle == pytest.approx((view.width() / 2, view.height() / 2), abs=20)


def test_the_view_glides_to_where_it_jumps_and_a_key_finds_it_there(qtbot: QtBot, hand: Hand) -> None:
    hand.add("torch.randn", 0, 0)
    hand.add("torch.randn", 4000, 2500)
    hand.canvas.take_preferences(Preferences())
    hand.key(Key.Key_Home)
    assert hand.canvas.navigation.travel.is_moving and hand.canvas.navigation.zoom == 1.0
    target = hand.canvas.navigation.travel.target
    qtbot.waitUntil(lambda: target.zoom < hand.canvas.navigation.zoom < 1.0)
    qtbot.waitUntil(lambda: not hand.canvas.navigation.travel.is_moving)
    assert hand.canvas.camera == target and hand.canvas.navigation.fitted
    hand.canvas.navigation.zoom_to(1.0)
    assert hand.canvas.navigation.travel.is_moving
    hand.key(Key.Key_Shift)
    assert not hand.canvas.navigation.travel.is_moving and hand.canvas.navigation.zoom == 1.0


def test_a_fitted_selection_is_fitted_again_when_the_window_has_another_size(qtbot: QtBot, hand: Hand) -> None:
    first = hand.add("torch.randn", 0, 0)
    hand.add("torch.randn", 4000, 2500)
    canvas = hand.canvas
    canvas.take_preferences(Preferences(reduced_motion=True))

    def middle() -> tuple[float, float]:
        return canvas.camera.to_scene(canvas.viewport().width() / 2, canvas.viewport().height() / 2)

    hand.click(hand.header(first))
    hand.key(Key.Key_F)
    box = canvas.scene.placement.room(first)
    assert box is not None and canvas.navigation.zoom == 1.0 and middle() == pytest.approx(box.center, abs=20)
    canvas.resize(canvas.width() - 120, canvas.height() - 90)
    qtbot.waitUntil(lambda: canvas.navigation.fitted and not canvas.navigation.fit_pending)
    assert canvas.navigation.zoom == 1.0 and middle() == pytest.approx(box.center, abs=20)
    hand.key(Key.Key_Home)
    assert canvas.navigation.zoom < 0.5
    canvas.resize(canvas.width() + 60, canvas.height() + 50)
    qtbot.waitUntil(lambda: canvas.navigation.fitted and not canvas.navigation.fit_pending)
    assert canvas.navigation.zoom < 0.5


def test_nothing_glides_for_whom_motion_is_reduced_nor_under_a_drag(hand: Hand) -> None:
    item = hand.add("torch.randn", 0, 0)
    hand.add("torch.randn", 4000, 2500)
    hand.canvas.take_preferences(Preferences(reduced_motion=True))
    hand.key(Key.Key_Home)
    assert not hand.canvas.navigation.travel.is_moving and hand.canvas.navigation.zoom < 1.0
    hand.canvas.take_preferences(Preferences())
    hand.press(hand.header(item))
    assert isinstance(hand.canvas.input_dispatcher.gesture, Move)
    hand.canvas.navigation.zoom_to(1.0)
    assert not hand.canvas.navigation.travel.is_moving and hand.canvas.navigation.zoom == 1.0
    hand.key(Key.Key_Escape)


def test_the_way_begins_and_ends_at_its_ends_and_what_is_seen_grows_evenly() -> None:
    start, end = Camera(1.0, 0.0, 0.0), Camera(0.25, -100.0, 50.0)
    assert cameras.interpolate(start, end, 0.0, 800) == start
    last = cameras.interpolate(start, end, 1.0, 800)
    assert (last.zoom, last.x, last.y) == pytest.approx((0.25, -100.0, 50.0))
    half = cameras.interpolate(start, end, 0.5, 800)
    assert half.zoom == pytest.approx(0.5)
    assert half.x == pytest.approx(-100.0 * (1600 - 800) / (3200 - 800))
    flat = cameras.interpolate(Camera(1.0, 0, 0), Camera(1.0, 100, 0), 0.25, 800)
    assert (flat.zoom, flat.x) == (1.0, 25.0)


def test_middle_and_space_drags_push_the_scene(hand: Hand) -> None:
    push(hand, Button.MiddleButton)
    assert pushed(hand) == (40, 30)
    QApplication.sendEvent(hand.canvas, _space(QEvent.Type.KeyPress))
    push(hand, Button.LeftButton)
    QApplication.sendEvent(hand.canvas, _space(QEvent.Type.KeyRelease))
    assert pushed(hand) == (80, 60)


def push(hand: Hand, button: Qt.MouseButton) -> None:
    to_scene = hand.canvas.camera.to_scene
    hand.press(to_scene(300, 300), button)
    hand.move(to_scene(340, 330), button)
    hand.release(hand.canvas.camera.to_scene(340, 330), button)


def _space(kind: QEvent.Type) -> QEvent:
    return QKeyEvent(kind, Key.Key_Space, NO_KEY, " ")
