"""The canvas alone by a key, and everything back by the same key; the timeline before a run."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.timeline.timeline_header import HEIGHT_PX


def press(window: MainWindow) -> None:
    """What the key and the entry of the menu do."""
    window.actions["view.canvas_only"].trigger()


def test_one_key_leaves_the_canvas_alone_and_brings_exactly_the_same_back(qtbot: QtBot, window: MainWindow) -> None:
    frame, action = window.frame, window.actions["view.canvas_only"]
    height = frame.docks["inspector"].height()
    frame.docks["memory"].hide()
    qtbot.waitUntil(lambda: frame.docks["inspector"].height() > height)

    def stands() -> dict[str, tuple[bool, QRect]]:
        seen = (dock for dock in frame.docks if not dock.visibleRegion().isEmpty())
        return {dock.objectName(): (dock.isHidden(), dock.geometry()) for dock in seen}

    before = stands()
    width = window.canvas.width()
    assert action.shortcut() == QKeySequence("Ctrl+Alt+F")
    assert action in frame.menus["View"].actions()
    press(window)
    assert [dock.objectName() for dock in frame.docks if not dock.isHidden()] == []
    assert window.timeline.isHidden()
    qtbot.waitUntil(lambda: window.canvas.width() > width)
    assert action.isChecked()
    frame.docks["library"].show()
    press(window)
    qtbot.waitUntil(lambda: stands() == before)
    assert not window.timeline.isHidden()
    assert not action.isChecked()


def test_what_is_put_aside_is_there_at_the_next_start(window: MainWindow, settings: Settings) -> None:
    press(window)
    window.frame.layout_keeper.save()
    assert not window.frame.docks["library"].isHidden()
    assert Settings(settings.folder).preferences.timeline


def test_reset_layout_brings_everything_back(window: MainWindow) -> None:
    press(window)
    window.actions["view.reset_layout"].trigger()
    assert not window.frame.docks["memory"].isHidden()
    assert not window.timeline.isHidden()
    assert not window.shell.canvas_only.is_on()


def test_the_timeline_has_its_room_before_anything_ran(window: MainWindow) -> None:
    assert window.timeline.height() >= window.timeline.least_px > HEIGHT_PX
    assert not window.timeline.strip.isHidden()
