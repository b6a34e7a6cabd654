"""A whole window with the real engine, and a person before it; the fixture `desk` gives one to a file of tests."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import Graph, ItemId
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui import theme as themes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings

Key, Keys = Qt.Key, Qt.KeyboardModifier


class Desk:
    """A window with a program, and a person before it."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.qtbot: QtBot | None = None

    @property
    def session(self) -> Session:
        """Of the document in front."""
        return self.window.session

    @property
    def graph(self) -> Graph:
        return self.session.graph_store.graph

    @property
    def said(self) -> str:
        """What stands in the status bar."""
        return self.window.status.message.full

    @property
    def current(self) -> ItemId:
        """The statement that the keys mean."""
        item = self.session.attention.current
        assert item is not None and item in self.session.attention.selection
        return item

    def open(self, text: str) -> None:
        graph = read_script(text).graph
        graph.places = layout_missing(graph)
        self.session.restore(graph, None)
        self.window.canvas.navigation.open_view()

    def sit_down(self, qtbot: QtBot) -> None:
        """Until the engine answers and the window has the keys."""
        self.qtbot = qtbot
        self.until(lambda: self.session.engine.ready)
        self.window.frame.activateWindow()
        self.until(self.window.frame.isActiveWindow)

    def node(self, name: str) -> ItemId:
        return next(item for item, node in self.graph.nodes.items() if name in node.names)

    def key(self, key: Key, keys: Keys = Keys.NoModifier) -> None:
        """A key on the canvas, whatever has the focus."""
        QTest.keyClick(self.window.canvas, key, keys)

    def press(self, key: Key, keys: Keys = Keys.NoModifier) -> None:
        """A key where the focus is, as a keyboard sends it."""
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, key, keys)

    def type(self, text: str) -> None:
        """Letters where the focus is, and Enter."""
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClicks(focused, text)
        self.press(Key.Key_Return)

    def rest(self) -> None:
        """Until the engine has answered."""
        self.until(lambda: not self.session.run.state.busy)

    def until(self, holds: Callable[[], object]) -> None:
        assert self.qtbot is not None
        self.qtbot.waitUntil(lambda: _uncounted(holds))

    def value(self, name: str) -> object:
        outputs = self.session.results.outputs(self.node(name))
        record = outputs[0] if outputs else None
        return record.summary.value if isinstance(record, TensorRecord) else None

    def click(self, name: str) -> None:
        box = self.window.canvas.scene.placement.box(self.node(name))
        assert box is not None
        at = self.window.canvas.camera.to_view(box.x + 30, box.y + 12)
        left = Qt.MouseButton.LeftButton
        QTest.mouseClick(self.window.canvas.viewport(), left, Keys.NoModifier, QPointF(*at).toPoint())


def _uncounted(holds: Callable[[], object]) -> bool:
    """A test that waits asks as often as its machine is slow: that is none of the calls of what it waits for."""
    counter = sys.getprofile()
    sys.setprofile(None)
    try:
        return bool(holds())
    finally:
        sys.setprofile(counter)


@contextmanager
def standing(app: QApplication, folder: Path) -> Iterator[Desk]:
    """A desk with settings in a folder, cleared away at the end."""
    theme, settings = themes.theme("dark"), Settings(folder)
    themes.apply(app, theme)
    frame, engine = Frame(settings, theme), EngineClient(spare=False)
    frame.setWindowState(Qt.WindowState.WindowNoState)
    frame.resize(1280, 800)
    engine.start()
    frame.show()
    yield Desk(MainWindow(frame, Session(engine), settings, theme))
    frame.may_close = lambda: True
    frame.close()
    frame.deleteLater()
