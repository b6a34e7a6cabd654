"""Keys about wires, in the whole window with the focus on the canvas."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import PATH_POINTS
from gradstudio.scene.wire.wire_options import WireOptions, WireStyle
from gradstudio.scene.wire.wire_styles import dotted_path
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add
from tests.ui.test_keys_of_panels import focus, press

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def chain(window: MainWindow, add: Add) -> list[ItemId]:
    """Four nodes in a row, and one that stands alone; the canvas has the focus."""
    store = window.session.graph_store
    items = [add("torch.randn"), *(add("torch.relu") for _ in range(3)), add("torch.randn")]
    for source, target in itertools.pairwise(items[:4]):
        assert store.attempt(recipes.connect, "Wire", source, 0, target, "input")
    store.submit((SetPlaces({item: Place(260.0 * k, 0.0) for k, item in enumerate(items)}),), "Move")
    show_all(window)
    focus(window, window.canvas)
    return items


def show_all(window: MainWindow) -> None:
    """Everything in view, at once and sharp."""
    canvas, box = window.canvas, window.canvas.scene.placement.extent()
    assert box is not None
    canvas.navigation.fit_pending = False
    canvas.navigation.set_camera(Camera(0.9 * canvas.viewport().width() / box.width, box.x - 20, box.y - 20))
    canvas.navigation.zooming = False


def shot(window: MainWindow) -> QImage:
    return window.canvas.viewport().grab().toImage()


def pixel(window: MainWindow, item: ItemId) -> QColor:
    """In the header of a card."""
    box = window.canvas.scene.placement.box(item)
    assert box is not None
    x, y = window.canvas.camera.to_view(box.right - 14, box.y + 12)
    return shot(window).pixelColor(round(x), round(y))


@pytest.mark.feature(24)
def test_l_selects_what_feeds_and_shift_l_what_follows(window: MainWindow, add: Add) -> None:
    items = chain(window, add)
    window.session.attention.select([items[1]])
    press(Key.Key_L)
    assert window.session.attention.selection == set(items[:2])
    window.session.attention.select([items[1]])
    press(Key.Key_L, SHIFT)
    assert window.session.attention.selection == set(items[1:4])


@pytest.mark.feature(24)
def test_t_lights_what_feeds_and_follows_the_selection_and_fades_the_rest(window: MainWindow, add: Add) -> None:
    items = chain(window, add)
    window.session.attention.select([items[1]])
    before = [pixel(window, item) for item in items]
    press(Key.Key_T)
    traced = [pixel(window, item) for item in items]
    assert traced[:4] == before[:4]
    assert traced[4] != before[4]
    assert window.actions["view.trace"].isChecked()
    press(Key.Key_T)
    assert [pixel(window, item) for item in items] == before


@pytest.mark.feature(24)
def test_a_trace_follows_the_selection_and_without_one_nothing_is_faded(window: MainWindow, add: Add) -> None:
    items = chain(window, add)
    window.session.attention.select([items[4]])
    press(Key.Key_T)
    assert window.canvas.wire_commands.traced() is not None
    faded = pixel(window, items[0])
    window.session.attention.select([items[0]])
    assert pixel(window, items[0]) != faded
    QTest.keyClick(window.canvas, Key.Key_Escape)
    assert window.canvas.wire_commands.traced() is None


@pytest.mark.feature(22)
def test_alt_s_lets_two_inputs_change_places(window: MainWindow, add: Add) -> None:
    x, y = add("torch.randn"), add("operator.sub", b="2")
    store = window.session.graph_store
    assert store.attempt(recipes.connect, "Wire", x, 0, y, "a")
    focus(window, window.canvas)
    window.session.attention.select([y])
    press(Key.Key_S, ALT)
    wire = store.graph.wire_into(y, "b")
    assert wire is not None
    assert wire.source == x
    assert store.graph.nodes[y].literals == {"a": "2"}
    assert store.undo_stack.text(store.undo_stack.index() - 1) == "Swap inputs"
    window.session.attention.select([x])
    assert not window.actions["graph.swap_inputs"].isEnabled()
    assert QApplication.focusWidget() is not None


# ------------------------------------------------------------------ how wires are drawn


def far_apart(window: MainWindow, add: Add) -> tuple[ItemId, ItemId]:
    """Two wired cards, one far to the right of the other and lower."""
    x, y = add("torch.randn"), add("torch.relu")
    store = window.session.graph_store
    assert store.attempt(recipes.connect, "Wire", x, 0, y, "input")
    store.submit((SetPlaces({x: Place(0, 0), y: Place(1400, 600)}),), "Move")
    show_all(window)
    window.session.attention.select(())
    focus(window, window.canvas)
    return x, y


def on_wire(window: MainWindow) -> QColor:
    """The colour in the middle of the only wire."""
    x, y = window.canvas.scene.routes.paths[0][10:12].mean(0).tolist()
    at = window.canvas.camera.to_view(x, y)
    return shot(window).pixelColor(round(at[0]), round(at[1]))


@pytest.mark.feature(23)
def test_wires_are_curved_straight_or_right_angled(window: MainWindow, add: Add) -> None:
    far_apart(window, add)
    seen, count = [], window.session.graph_store.undo_stack.count()
    for style in ("straight", "angled", "curved"):
        window.actions[f"view.wires_{style}"].trigger()
        path = window.canvas.scene.routes.paths[0]
        steps = np.abs(np.diff(path, axis=0))
        seen.append(shot(window))
        assert window.actions[f"view.wires_{style}"].isChecked()
        if style == "straight":
            assert np.ptp(steps[:, 1] / steps[:, 0]) < 1e-6
        if style == "angled":
            assert ((steps.min(1) < 1e-6).sum()) >= 12
    assert seen[0] != seen[1] != seen[2] != seen[0]
    assert window.session.graph_store.undo_stack.count() == count
    assert window.settings.preferences.wire_style == "curved"


@pytest.mark.feature(23)
def test_all_wires_are_hidden_or_all_but_those_of_the_selection(window: MainWindow, add: Add) -> None:
    x, _ = far_apart(window, add)
    drawn = on_wire(window)
    window.actions["view.wires_none"].trigger()
    hidden = on_wire(window)
    assert hidden != drawn
    window.session.attention.select([x])
    assert on_wire(window) == hidden
    window.actions["view.wires_selection"].trigger()
    assert on_wire(window) != hidden
    window.session.attention.select(())
    assert on_wire(window) == hidden
    point = window.canvas.scene.routes.paths[0][10].tolist()
    at = window.canvas.input_dispatcher.at(QPoint(*(round(v) for v in window.canvas.camera.to_view(*point))))
    assert window.canvas.input_dispatcher.hit(at).kind == "empty"
    assert window.settings.preferences.wires_shown == "selection"


@pytest.mark.feature(23)
def test_the_middle_of_long_wires_is_faded_and_their_ends_are_not(window: MainWindow, add: Add) -> None:
    far_apart(window, add)
    drawn = on_wire(window)
    window.actions["view.wires_fade"].trigger()
    ground = window.canvas.canvas_style.color("canvas")
    faded = on_wire(window)
    assert abs(faded.lightness() - ground.lightness()) < abs(drawn.lightness() - ground.lightness()) / 2
    assert window.settings.preferences.fade_long_wires
    x, y = window.canvas.scene.routes.paths[0][2].tolist()
    at = window.canvas.camera.to_view(x, y)
    end = shot(window).pixelColor(round(at[0]), round(at[1]))
    assert abs(end.lightness() - ground.lightness()) > abs(faded.lightness() - ground.lightness())


@pytest.mark.feature(23)
def test_how_wires_are_drawn_is_kept_for_the_next_start(
    frame: Frame, session: Session, settings: Settings, dark: Theme
) -> None:
    settings.change(wire_style="angled", wires_shown="selection", fade_long_wires=True)
    window = MainWindow(frame, session, settings, dark)
    assert window.canvas.scene.wiring.view == WireOptions("angled", "selection", True)
    assert window.actions["view.wires_angled"].isChecked()


@pytest.mark.parametrize("style", ["curved", "straight", "angled"])
@pytest.mark.parametrize("dots", [0, 1, 3, 8])
def test_a_path_of_every_style_goes_from_port_to_port_through_its_dots(style: WireStyle, dots: int) -> None:
    rng = np.random.default_rng(dots)
    points = np.concatenate([[[0.0, 0.0]], rng.uniform(0, 500, (dots, 2)), [[500.0, 200.0]]])
    path = dotted_path(style, points)
    assert path.shape == (PATH_POINTS, 2)
    for point in points:
        assert np.abs(path - point).sum(1).min() < 1e-9
