"""A whole window around a large program, and a person's hand in it: CPU of a gesture, and of what follows it."""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from benchmarks._whole_window import running_engine, whole_window
from benchmarks._window import wait_until
from gradstudio.graph.edits import AddNode, AddWire, Edit, SetPlaces, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Place, Wire
from gradstudio.scene.camera import Camera
from gradstudio.scene.items import PortRef
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.session import Session

REACH = 20
ROWS = 50
PATIENCE_S = 300
CALM_S = 0.5
"""What a gesture began is over when the window had nothing to do for so long."""
WORK_S = 0.0005
Key, Keys, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton


def wide_program(count: int, seed: int = 7) -> Graph:
    """A leaf, maxima of two of the twenty nodes before each, the last one's sum and its backward."""
    generator, graph = random.Random(seed), Graph()
    edits: list[Edit] = []
    for k in range(count):
        item, node = ItemId(f"n{k}"), _node(k, count)
        edits.append(AddNode(node, ROOT, k))
        edits.append(SetPlaces({item: Place(260.0 * (k // ROWS), 190.0 * (k % ROWS))}))
        if node.operator == "torch.maximum":
            sources = (generator.randrange(max(0, k - REACH), k) for _ in range(2))
            edits += [
                AddWire(Wire(ItemId(f"n{source}"), 0, item, port))
                for source, port in zip(sources, ("input", "other"), strict=True)
            ]
        elif k > 1:
            port = "self" if node.operator == "torch.Tensor.backward" else "input"
            edits.append(AddWire(Wire(ItemId(f"n{k - 1}"), 0, item, port)))
    apply_all(graph, tuple(edits))
    return graph


def _node(k: int, count: int) -> Node:
    item, names = ItemId(f"n{k}"), (f"v{k}",)
    if k == 0:
        literals = {"size": "(2, 3)", "requires_grad": "True"}
        return Node(id=item, operator="torch.randn", names=names, literals=literals)
    if k == count - 1:
        return Node(id=item, operator="torch.Tensor.backward")
    return Node(id=item, operator="torch.sum" if k == count - 2 else "torch.maximum", names=names)


class Seat:
    """A person before a window.

    Attributes:
        first_ms: CPU of the last gesture up to its first picture.
        pause_ms: the longest piece of work behind it, in which the window did not answer.
        total_ms: all of it, of the window's process.
        heartbeat: ends every wait for events; stopped where idling is measured.
    """

    def __init__(self, app: QApplication, window: MainWindow) -> None:
        self.app, self.window = app, window
        self.first_ms = self.pause_ms = self.total_ms = 0.0
        self.heartbeat = QTimer()
        self.heartbeat.start(200)  # no wait for events is for ever

    @property
    def session(self) -> Session:
        """The document in front."""
        return self.window.session

    @property
    def canvas(self) -> Any:
        """The canvas in front."""
        return self.window.canvas

    def at_hundred(self, item: str) -> None:
        """The canvas at 100 % around a card."""
        box, view = self.canvas.scene.placement.box(ItemId(item)), self.canvas.viewport()
        self.canvas.navigation.set_camera(
            Camera(1.0, round(box.x + 80 - view.width() / 2), round(box.y + 60 - view.height() / 2))
        )
        self.canvas.navigation.zooming = False

    def rest(self) -> None:
        """Until the engine has answered and the window has nothing to do."""
        wait_until(self.app, lambda: not self.session.run.state.busy, PATIENCE_S)
        self._follow()

    def time(self, gesture: Callable[[], object]) -> None:
        """Make a gesture, let the window paint, and let it do what it does behind it."""
        before = time.process_time()
        begun = time.thread_time()
        gesture()
        self.canvas.viewport().repaint()
        self.first_ms = (time.thread_time() - begun) * 1e3
        self.pause_ms = self._follow()
        self.total_ms = (time.process_time() - before) * 1e3

    def _follow(self) -> float:
        longest, worked_at = 0.0, time.perf_counter()
        while time.perf_counter() - worked_at < CALM_S or self.session.run.state.busy:
            begun = time.thread_time()
            self.app.processEvents()
            spent = time.thread_time() - begun
            if spent > WORK_S:
                worked_at = time.perf_counter()
            longest = max(longest, spent)
            time.sleep(0.0005)
        return longest * 1e3

    # ------------------------------------------------------------------ the hand

    def header(self, item: str) -> QPoint:
        """The title of a card, in view pixels."""
        box = self.canvas.scene.placement.box(ItemId(item))
        return self.view(box.x + 90, box.y + 12)

    def view(self, x: float, y: float) -> QPoint:
        """A scene point in view pixels."""
        at = self.canvas.camera.to_view(x, y)
        return QPoint(round(at[0]), round(at[1]))

    def port(self, item: str, path: str = "") -> QPoint:
        """The place of an input, or of the output."""
        ref = PortRef(ItemId(item), "input", path) if path else PortRef(ItemId(item), "output", "", 0)
        return self.view(*self.canvas.scene.placement.anchor(ref))

    def press(self, at: QPoint, button: Button = Button.LeftButton) -> None:
        """A button down."""
        QTest.mousePress(self.canvas.viewport(), button, Keys.NoModifier, at)

    def release(self, at: QPoint, button: Button = Button.LeftButton) -> None:
        """A button up."""
        QTest.mouseRelease(self.canvas.viewport(), button, Keys.NoModifier, at)

    def click(self, at: QPoint) -> None:
        """The left button down and up."""
        self.press(at)
        self.release(at)

    def drag(self, start: QPoint, end: QPoint) -> None:
        """From one place to another, in two moves."""
        self.press(start)
        self.move((start + end) / 2)
        self.move(end)
        self.release(end)

    def move(self, at: QPoint, button: Button = Button.LeftButton) -> None:
        """The pointer goes there, with a button down or none."""
        view = self.canvas.viewport()
        event = QMouseEvent(
            QEvent.Type.MouseMove, QPointF(at), view.mapToGlobal(QPointF(at)), Button.NoButton, button, Keys.NoModifier
        )
        QApplication.sendEvent(view, event)

    def wheel(self, at: QPoint, notches: int, keys: Keys = Keys.NoModifier) -> None:
        """Notches of the wheel."""
        view = self.canvas.viewport()
        event = QWheelEvent(
            QPointF(at), view.mapToGlobal(QPointF(at)), QPoint(), QPoint(0, 120 * notches), Button.NoButton, keys,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(view, event)

    def key(self, key: Key, keys: Keys = Keys.NoModifier) -> None:
        """A key on the canvas."""
        QTest.keyClick(self.canvas, key, keys)


@contextmanager
def seat() -> Iterator[Seat]:
    """A whole window with the real engine, as the program builds it."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    with running_engine() as engine, whole_window(app, engine) as window:
        wait_until(app, lambda: window.session.engine.ready, PATIENCE_S)
        window.load_plot_later()
        yield Seat(app, window)
