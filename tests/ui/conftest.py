"""A session without an engine process, and the look of the window."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import MultiSignalBlocker, SignalBlocker

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.ui import theme as themes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme
from tests.helpers import garbage
from tests.helpers.patience import PATIENCE_MS
from tests.ui.desk import Desk, standing

Add = Callable[..., ItemId]


class PatientBot(QtBot):
    """Waits longer than the five seconds of pytest-qt: a busy machine is no failure."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        garbage.collect_when_due()
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, *signal: object, timeout: int = PATIENCE_MS, **how: object) -> SignalBlocker:
        return super().waitSignal(*signal, timeout=timeout, **how)

    def waitSignals(self, *signals: object, timeout: int = PATIENCE_MS, **how: object) -> MultiSignalBlocker:
        return super().waitSignals(*signals, timeout=timeout, **how)

    def waitExposed(self, widget: QWidget, *, timeout: int = PATIENCE_MS) -> object:
        return super().waitExposed(widget, timeout=timeout)

    def waitActive(self, widget: QWidget, *, timeout: int = PATIENCE_MS) -> object:
        return super().waitActive(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture(autouse=True)
def _no_button_stays_pressed(qapp: QApplication) -> Iterator[None]:
    """Releases what the test pressed: `QTest.mouseDClick` sends no release, and Qt keeps one state for all tests."""
    yield
    for button in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton):
        if QGuiApplication.mouseButtons() & button:
            QTest.mouseRelease(QWidget(), button)
    assert QGuiApplication.mouseButtons() == Qt.MouseButton.NoButton


@pytest.fixture(autouse=True)
def _what_was_closed_is_gone(qapp: QApplication) -> Iterator[None]:
    """Deletes what a test closed: no event loop runs between tests, and every style sheet is given to all widgets."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True, scope="session")
def _index_of_the_library() -> None:
    """Builds it at once: each window would begin it anew in its idle moments, and be closed before it is whole."""
    assert catalogue.load().index


@pytest.fixture
def dark(qapp: QApplication) -> Theme:
    theme = themes.theme("dark")
    themes.apply(qapp, theme)
    return theme


@pytest.fixture
def session(qtbot: QtBot) -> Session:
    """A document whose engine was never started: its results are put in by hand."""
    return Session(EngineClient(spare=False))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings")


@pytest.fixture
def add(session: Session) -> Add:
    """Adds a node of an operator with literals, as a gesture would."""

    def make(key: str, **literals: str) -> ItemId:
        edits, item = recipes.add_operator(session.graph_store.graph, key, 0, 0)
        session.graph_store.submit(edits, "Add")
        for path, text in literals.items():
            assert session.graph_store.attempt(recipes.set_literal, "Set", item, path, text)
        return item

    return make


@pytest.fixture
def frame(qtbot: QtBot, settings: Settings, dark: Theme) -> Frame:
    made = Frame(settings, dark)
    made.setWindowState(Qt.WindowState.WindowNoState)
    made.resize(1280, 800)
    qtbot.addWidget(made, before_close_func=lambda frame: setattr(frame, "may_close", lambda: True))
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.fixture
def window(frame: Frame, session: Session, settings: Settings, dark: Theme) -> MainWindow:
    """The whole window around the session."""
    return MainWindow(frame, session, settings, dark)


@pytest.fixture(scope="module")
def desk(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A whole window with the real engine, one for all tests of a file: torch is imported once."""
    with standing(qapp, tmp_path_factory.mktemp("settings")) as made:
        yield made
