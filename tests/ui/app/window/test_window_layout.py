"""Where the docks stand: at the first start, while the window changes its size, and at the next start."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme

SIZES = ((1280, 800), (1366, 768), (1920, 1080), (3840, 2160))
Open = Callable[..., MainWindow]


@pytest.fixture
def open_window(qtbot: QtBot, settings: Settings, dark: Theme) -> Open:
    """Starts the window as the program does: shown first, filled then, given its size by others at last."""

    def make(size: tuple[int, int] | None = None, *, maximised: bool = False) -> MainWindow:
        frame = Frame(Settings(settings.folder), dark)
        if not maximised:
            frame.setWindowState(Qt.WindowState.WindowNoState)
        qtbot.addWidget(frame, before_close_func=lambda frame: setattr(frame, "may_close", lambda: True))
        frame.show()
        made = MainWindow(frame, Session(EngineClient(spare=False), frame), frame._settings, dark)
        if size is not None:
            frame.resize(*size)
        settle(qtbot, made)
        return made

    return make


def settle(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.frame.layout_keeper._timer.isActive())


def sizes(window: MainWindow) -> dict[str, QSize]:
    docks = {key: window.frame.docks[key].size() for key in ("library", "inspector", "memory", "code")}
    return {**docks, "canvas": window.canvas.size()}


def drag_between_docks(window: MainWindow, dx: int) -> None:
    """Drag the gap right of the library."""
    frame = window.frame
    edge = frame.docks["library"].geometry()
    start = QPoint(edge.right() + 3, edge.center().y())
    assert frame.childAt(start) is None
    handle, left = frame.windowHandle(), Qt.MouseButton.LeftButton
    QTest.mouseMove(handle, start)
    QTest.mousePress(handle, left, Qt.KeyboardModifier.NoModifier, start)
    QTest.mouseMove(handle, start + QPoint(dx // 2, 0))
    QTest.mouseMove(handle, start + QPoint(dx, 0))
    QTest.mouseRelease(handle, left, Qt.KeyboardModifier.NoModifier, start + QPoint(dx, 0))


def assert_balanced(window: MainWindow) -> None:
    """The canvas is by far the largest; every panel has what it needs."""
    width, height = window.frame.width(), window.frame.height()
    found = sizes(window)
    assert found["canvas"].width() >= 0.6 * width
    assert found["canvas"].height() >= 0.5 * height  # as large as after a run; the code shows six whole lines
    assert found["canvas"].height() + window.timeline.height() >= 0.59 * height
    assert 200 <= found["library"].width() <= 300
    assert 260 <= found["inspector"].width() <= 410
    assert 120 <= found["code"].height() <= 350
    assert 155 <= found["memory"].height() <= 350


@pytest.mark.parametrize("size", SIZES)
def test_at_the_first_start_the_canvas_has_most_of_the_window(open_window: Open, size: tuple[int, int]) -> None:
    assert_balanced(open_window(size))


def test_while_the_window_is_resized_the_docks_keep_their_share(qtbot: QtBot, open_window: Open) -> None:
    window = open_window((1280, 800))
    code, log = window.frame.docks["code"], window.frame.docks["log"]
    for size in (*SIZES, *reversed(SIZES)):
        window.frame.resize(*size)
        settle(qtbot, window)
        assert_balanced(window)
        tabbed = log in window.frame.tabifiedDockWidgets(code)
        assert tabbed == (size[0] < 1600)


def test_reset_layout_changes_nothing_that_was_not_touched(qtbot: QtBot, open_window: Open) -> None:
    window = open_window((1920, 1080))
    before = sizes(window)
    window.actions["view.reset_layout"].trigger()
    settle(qtbot, window)
    assert sizes(window) == before


# Slow: two whole windows each, one after the other.
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_docks_that_were_dragged_stand_there_at_the_next_start(
    qtbot: QtBot, open_window: Open, size: tuple[int, int]
) -> None:
    window = open_window(size)
    before = sizes(window)["library"].width()
    drag_between_docks(window, 70)
    assert window.frame.layout_keeper.follows == "hand"
    assert sizes(window)["library"].width() == before + 70
    window.frame.docks["memory"].close()
    left = sizes(window)
    window.frame.close()
    again = open_window()
    again.frame.resize(*size)  # as a window manager does, late
    settle(qtbot, again)
    assert again.frame.docks["memory"].isHidden()
    found = sizes(again)
    assert {key: found[key] for key in ("library", "code", "canvas")} == {
        key: left[key] for key in ("library", "code", "canvas")
    }


def test_a_maximised_window_comes_back_as_it_was_left(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(maximised=True)
    assert window.frame.isMaximized()
    drag_between_docks(window, 40)
    left = sizes(window)["library"]
    window.frame.close()
    again = open_window(maximised=True)
    assert again.frame.isMaximized() and sizes(again)["library"] == left


def test_a_layout_that_was_never_touched_fits_another_screen_at_the_next_start(open_window: Open) -> None:
    window = open_window((1280, 800))
    window.frame.docks["problems"].close()
    window.frame.close()
    again = open_window((1920, 1080))
    assert_balanced(again)
    assert again.frame.docks["problems"].isHidden() and not again.frame.docks["log"].isHidden()


def test_what_was_dragged_stays_when_the_window_is_resized(qtbot: QtBot, open_window: Open) -> None:
    window = open_window((1280, 800))
    drag_between_docks(window, 60)
    dragged = sizes(window)["library"].width()
    window.frame.resize(1400, 900)
    settle(qtbot, window)
    assert sizes(window)["library"].width() == dragged


def test_a_panel_that_was_closed_stays_closed_when_the_window_grows(qtbot: QtBot, open_window: Open) -> None:
    window = open_window((1280, 800))
    QTest.mouseClick(window.frame.docks["log"].titleBarWidget().close_button, Qt.MouseButton.LeftButton)
    window.frame.resize(1920, 1080)
    settle(qtbot, window)
    assert window.frame.docks["log"].isHidden()
    assert_balanced(window)


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_a_dock_is_floated_and_put_back_with_its_button(qtbot: QtBot, open_window: Open) -> None:
    dock = open_window((1280, 800)).frame.docks["memory"]
    button = dock.titleBarWidget().float_button
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert dock.isFloating() and "back" in button.toolTip()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not dock.isFloating()
