"""A canvas on a session without an engine, and a person's hand on it."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.camera import Camera
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.gestures.operator_drop import MIME
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

Button = Qt.MouseButton
NO_KEY = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


class Hand:
    """Real mouse and key events on the canvas's viewport, aimed in scene pixels."""

    def __init__(self, canvas: CanvasView, session: Session) -> None:
        self.canvas, self.session = canvas, session

    @property
    def graph(self) -> Graph:
        return self.session.graph_store.graph

    @property
    def undo_texts(self) -> list[str]:
        stack = self.session.graph_store.undo_stack
        return [stack.text(k) for k in range(stack.index())]

    def add(self, key: str, x: float, y: float, **literals: str) -> ItemId:
        edits, item = recipes.add_operator(self.graph, key, x, y)
        self.session.graph_store.submit(edits, "Add")
        for path, text in literals.items():
            assert self.session.graph_store.attempt(recipes.set_literal, "Set", item, path, text)
        return item

    def wire(self, source: ItemId, target: ItemId, port: str, output: int = 0) -> None:
        assert self.session.graph_store.attempt(recipes.connect, "Wire", source, output, target, port)

    def view(self, x: float, y: float) -> QPoint:
        at = self.canvas.camera.to_view(x, y)
        return QPoint(round(at[0]), round(at[1]))

    def output(self, item: ItemId, index: int = 0) -> tuple[float, float]:
        return self.canvas.scene.placement.anchor(PortRef(item, "output", "", index))

    def input(self, item: ItemId, path: str) -> tuple[float, float]:
        return self.canvas.scene.placement.anchor(PortRef(item, "input", path))

    def header(self, item: ItemId) -> tuple[float, float]:
        box = self.canvas.scene.placement.box(item)
        assert box is not None
        return box.x + 90, box.y + 12

    def field(self, item: ItemId, path: str) -> tuple[float, float]:
        box, layout = self.canvas.scene.placement.box(item), self.canvas.scene.placement.layout(item)
        assert box is not None
        assert layout is not None
        row = layout.input(path)
        assert row is not None
        assert row.field is not None
        return box.x + row.field.x + 8, box.y + row.field.y + 9

    def press(
        self, at: tuple[float, float], button: Button = Button.LeftButton, keys: Qt.KeyboardModifier = NO_KEY
    ) -> None:
        QTest.mousePress(self.canvas.viewport(), button, keys, self.view(*at))

    def move(
        self, at: tuple[float, float], button: Button = Button.LeftButton, keys: Qt.KeyboardModifier = NO_KEY
    ) -> None:
        point = QPointF(self.view(*at))
        view = self.canvas.viewport()
        event = QMouseEvent(QEvent.Type.MouseMove, point, view.mapToGlobal(point), Button.NoButton, button, keys)
        QApplication.sendEvent(view, event)

    def release(
        self, at: tuple[float, float], button: Button = Button.LeftButton, keys: Qt.KeyboardModifier = NO_KEY
    ) -> None:
        QTest.mouseRelease(self.canvas.viewport(), button, keys, self.view(*at))

    def drag(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        button: Button = Button.LeftButton,
        keys: Qt.KeyboardModifier = NO_KEY,
    ) -> None:
        self.press(start, button, keys)
        for share in (0.3, 0.7, 1.0):
            self.move((start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share), button, keys)
        self.release(end, button, keys)

    def click(self, at: tuple[float, float], keys: Qt.KeyboardModifier = NO_KEY) -> None:
        self.press(at, Button.LeftButton, keys)
        self.release(at, Button.LeftButton, keys)

    def double_click(self, at: tuple[float, float]) -> None:
        QTest.mouseDClick(self.canvas.viewport(), Button.LeftButton, NO_KEY, self.view(*at))

    def wheel(self, at: tuple[float, float], notches: int) -> None:
        point = QPointF(self.view(*at))
        view = self.canvas.viewport()
        event = QWheelEvent(
            point, view.mapToGlobal(point), QPoint(), QPoint(0, 120 * notches), Button.NoButton, NO_KEY,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(view, event)

    def drop(self, key: str, at: tuple[float, float]) -> None:
        """A drag out of the library, let go over the canvas."""
        data = QMimeData()
        data.setData(MIME, key.encode())
        point, copy = self.view(*at), Qt.DropAction.CopyAction
        enter = QDragEnterEvent(point, copy, data, Button.LeftButton, NO_KEY)
        QApplication.sendEvent(self.canvas.viewport(), enter)
        assert enter.isAccepted()
        QApplication.sendEvent(
            self.canvas.viewport(), QDropEvent(QPointF(point), copy, data, Button.LeftButton, NO_KEY)
        )

    def key(self, key: Qt.Key, keys: Qt.KeyboardModifier = NO_KEY, to: QWidget | None = None) -> None:
        QTest.keyClick(to or self.canvas, key, keys)

    def shot(self) -> QImage:
        """What the viewport shows."""
        return self.canvas.viewport().grab().toImage()


def entries(menu: QMenu) -> list[QAction]:
    """All that can be chosen in a menu, in its submenus too, and these themselves."""
    return [action for each in (menu, *menu.findChildren(QMenu)) for action in each.actions()]


@pytest.fixture
def hand(qtbot: QtBot, session: Session, dark: Theme) -> Iterator[Hand]:
    canvas = CanvasView(session, Overlays(), dark)
    qtbot.addWidget(canvas)
    canvas.resize(1000, 700)
    canvas.show()
    canvas.navigation.fit_pending = False
    canvas.navigation.set_camera(Camera(1.0, 0.0, 0.0))
    canvas.navigation.zooming = False
    canvas.setFocus()
    yield Hand(canvas, session)
    canvas.close_editor()
