"""The zoom figure of the status bar as a person uses it, and what is kept of how the canvas moves."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.settings import Settings
from tests.ui.conftest import Add


@pytest.mark.feature(49)
@pytest.mark.parametrize(("text", "zoom"), [("Zoom to 50 %", 0.5), ("Zoom to 200 %", 2.0), ("Zoom to 100 %", 1.0)])
def test_a_click_on_the_zoom_figure_offers_zooms(
    qtbot: QtBot, window: MainWindow, add: Add, text: str, zoom: float
) -> None:
    add("torch.randn")
    window.canvas.navigation.fit_all()
    button = window.status.zoom
    assert button.popupMode() == QToolButton.ToolButtonPopupMode.InstantPopup
    next(action for action in button.menu().actions() if action.text() == text).trigger()
    qtbot.waitUntil(lambda: window.canvas.navigation.zoom == zoom)
    assert window.status.zoom.text() == f"{zoom * 100:.0f} %"
    assert window.status.zoom.accessibleName() == f"Zoom {zoom * 100:.0f} %"


@pytest.mark.feature(49)
def test_home_and_f_are_keys_of_the_menu_too(qtbot: QtBot, window: MainWindow, add: Add) -> None:
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    first = add("torch.randn")
    second = add("torch.relu")
    window.canvas.card_arrangement.drop_moved({second: (6000.0, 4000.0)}, {})
    window.canvas.setFocus()
    window.canvas.selection.select(frozenset({first}))
    QTest.keyClick(window.canvas, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: window.canvas.navigation.zoom < 0.3 and not window.canvas.navigation.travel.is_moving)
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: window.canvas.navigation.zoom == 1.0 and not window.canvas.navigation.travel.is_moving)
    box = window.canvas.scene.placement.box(first)
    assert box is not None
    seen = window.canvas.camera.seen(window.canvas.viewport().width(), window.canvas.viewport().height())
    assert seen.contains(*box.center)


def test_how_the_wheel_and_the_view_move_is_kept(window: MainWindow, settings: Settings) -> None:
    assert window.canvas.navigation.travel.smooth and not window.canvas.wheeling.scrolls
    window.actions["view.wheel_scrolls"].trigger()
    window.actions["view.reduced_motion"].trigger()
    again = Settings(settings.folder).preferences
    assert (again.wheel, again.reduced_motion) == ("scrolls", True)
    assert (
        window.canvas.wheeling.scrolls
        and window.canvas.gliding.reduced_motion
        and not window.canvas.navigation.travel.smooth
    )


def test_what_was_chosen_in_one_tab_holds_in_the_others(window: MainWindow) -> None:
    first = window.canvas
    window.actions["file.new"].trigger()
    assert window.canvas is not first
    window.actions["view.reduced_motion"].trigger()
    assert window.canvas.gliding.reduced_motion
    window.documents.show(window.documents.tabs[0])
    assert window.canvas is first and first.gliding.reduced_motion
