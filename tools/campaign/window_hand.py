"""A hand before a real window without a screen: it drops, wires, types, moves, deletes and takes back, at random.

Run as a module it waits for lines of JSON, and forks a window for each: a window that is to be killed costs no start.
"""

import gc
import hashlib
import itertools
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

import psutil
from PySide6.QtCore import QEvent, QEventLoop, QMimeData, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from gradstudio.document.file import dumps
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.scene.items import PortRef
from gradstudio.ui import theme as themes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.canvas.gestures.operator_drop import MIME
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings

OPERATORS = ("torch.randn", "torch.ones", "operator.add", "torch.relu", "operator.matmul", "torch.cat")
TEXTS = ("3", "(2, 3)", "0.5", "True", "[1, 2]", "(64,)")
LONGEST_PAUSE_MS = 120
SETTLE_MS = 1500
SHORT_MS = 10
LONGEST_RUN_MS = 300
"""Behind the click on Run an engine lives up to so long."""
PATIENCE_MS = 120_000
PROGRAM = "import torch\nx = torch.ones(64, 64)\nfor step in range(40):\n    x = x @ x / 64.0\ny = x.sum()\n"
LEFT = Qt.MouseButton.LeftButton
NO_KEY = Qt.KeyboardModifier.NoModifier
TOLD = "told"
"""The file that a window writes to: what it did, a line each."""


def digest(graph: Graph) -> str:
    """A document in short, to compare two of them."""
    return hashlib.sha256(dumps(graph).encode()).hexdigest()[:16]


class WindowHand:
    """A window with a document, and somebody who works in it."""

    def __init__(self, folder: Path, generator: Random, engine: list[str] | None = None) -> None:
        """Open a window whose settings, state and recovery lie in this folder; it has no engine where none is given."""
        self._application = QApplication(sys.argv[:1])
        settings = Settings(folder / "settings")
        theme = themes.find(settings.preferences.theme, settings.folder).theme
        themes.apply(self._application, theme)
        self._frame = Frame(settings, theme)
        self._frame.resize(1280, 800)
        self._frame.show()
        self.client = client = EngineClient(engine, spare=False)
        self.window = MainWindow(self._frame, Session(client), settings, theme)
        self._has_engine = engine is not None
        if engine is not None:
            client.start()
        self._generator = generator
        self.recovery = settings.state_folder / "recovery"

    @property
    def graph(self) -> Graph:
        """What is on the canvas."""
        return self.window.session.graph_store.graph

    @property
    def _viewport(self) -> QWidget:
        return self.window.canvas.viewport()

    def rest(self, milliseconds: float) -> None:
        """Let the window do what it has to do, for so long."""
        loop = QEventLoop()
        QTimer.singleShot(int(milliseconds), loop, loop.quit)
        loop.exec()

    def standing(self) -> tuple[int, ...]:
        """Bytes held, references to None and True, descriptors, threads, processes, bytes held by the engine."""
        gc.collect()
        process = psutil.Process()
        children = process.children(recursive=True)
        held = sum(child.memory_info().rss for child in children)
        references = sys.getrefcount(None) + sys.getrefcount(True)
        counts = process.num_fds(), process.num_threads(), len(children)
        return (process.memory_info().rss, references, *counts, held)

    def gesture(self) -> str:
        """One gesture at random; its name."""
        nodes = list(self.graph.nodes)
        gestures = (self._drop, self._drop, self._wire, self._wire, self._type, self._type, self._move, self._take_back)
        chosen = self._generator.choice(gestures) if len(nodes) > 2 else self._drop
        if self._has_engine and self._generator.random() < 0.4:
            chosen = self._run
        if len(nodes) > 25:
            chosen = self._delete
        chosen(nodes)
        return chosen.__name__.strip("_")

    def wait_until(self, holds: Callable[[], bool]) -> bool:
        """Let the window work until something holds; whether it does."""
        for _ in range(PATIENCE_MS // SHORT_MS):
            if holds():
                return True
            self.rest(SHORT_MS)
        return False

    def lose_engine(self) -> str:
        """Kill the engine at a moment of chance of a run, then run again; what is wrong with the window, or ""."""
        run, client = self.window.session.run, self.client
        before, engine = digest(self.graph), client.hello.pid if client.hello is not None else 0
        run.restart()
        self.rest(self._generator.random() * LONGEST_RUN_MS)
        os.kill(engine, signal.SIGKILL)
        if not self.wait_until(lambda: client.ready and client.hello is not None and client.hello.pid != engine):
            return "no engine follows"
        if not self.wait_until(lambda: not run.state.busy):
            return f"it still waits for the engine that is gone: {run.state}"
        if digest(self.graph) != before:
            return "the document is another"
        return "" if self.has_run() else f"the next run does not end: {run.state}"

    def has_run(self) -> bool:
        """Run to the end; whether it came there."""
        run = self.window.session.run
        run.restart()
        return self.wait_until(lambda: not run.state.busy) and run.state.outcome == "done" and run.state.at_end

    def values(self) -> str:
        """What every node gave, in short."""
        timeline = self.window.session.results.tables.timeline
        rows = [row for node in timeline.nodes() if (row := timeline.row(node)) is not None]
        said = [(row.node, [one.summary for one in row.outputs if isinstance(one, TensorRecord)]) for row in rows]
        return hashlib.sha256(repr(said).encode()).hexdigest()[:16]

    def _drop(self, _nodes: list[ItemId]) -> None:
        data = QMimeData()
        data.setData(MIME, self._generator.choice(OPERATORS).encode())
        room = self._viewport.size()
        point = QPoint(
            self._generator.randrange(20, room.width() - 20), self._generator.randrange(20, room.height() - 20)
        )
        copy = Qt.DropAction.CopyAction
        QApplication.sendEvent(self._viewport, QDragEnterEvent(point, copy, data, LEFT, NO_KEY))
        QApplication.sendEvent(self._viewport, QDropEvent(QPointF(point), copy, data, LEFT, NO_KEY))

    def _wire(self, nodes: list[ItemId]) -> None:
        scene = self.window.canvas.scene
        source, target = self._generator.choice(nodes), self._generator.choice(nodes)
        layout, outputs = scene.placement.layout(target), scene.placement.layout(source)
        if layout is None or outputs is None or not layout.inputs or not outputs.outputs:
            return
        port = self._generator.choice(layout.inputs).path
        self._drag(
            scene.placement.anchor(PortRef(source, "output", "", 0)),
            scene.placement.anchor(PortRef(target, "input", port)),
        )

    def _type(self, nodes: list[ItemId]) -> None:
        item = self._generator.choice(nodes)
        box, layout = self.window.canvas.scene.placement.box(item), self.window.canvas.scene.placement.layout(item)
        fields = [row.field for row in layout.inputs if row.field is not None] if layout is not None else []
        if box is None or not fields:
            return
        field = self._generator.choice(fields)
        at = self._view(box.x + field.x + 8, box.y + field.y + 9)
        QTest.mouseDClick(self._viewport, LEFT, NO_KEY, at)
        QTest.mouseRelease(self._viewport, LEFT, NO_KEY, at)
        editor = self.window.canvas.in_place.editor
        if isinstance(editor, QLineEdit):
            editor.selectAll()
            QTest.keyClicks(editor, self._generator.choice(TEXTS))
            QTest.keyClick(editor, Qt.Key.Key_Return)

    def _move(self, nodes: list[ItemId]) -> None:
        box = self.window.canvas.scene.placement.box(self._generator.choice(nodes))
        if box is not None:
            start = box.x + 90, box.y + 12
            self._drag(
                start, (start[0] + self._generator.uniform(-80, 80), start[1] + self._generator.uniform(-80, 80))
            )

    def _take_back(self, _nodes: list[ItemId]) -> None:
        stack = self.window.session.graph_store.undo_stack
        again = stack.canRedo() and self._generator.random() < 0.5
        QTest.keyClick(self.window.canvas, Qt.Key.Key_Escape)
        store = self.window.session.graph_store
        store.settle()
        (stack.redo if again else stack.undo)()

    def _run(self, _nodes: list[ItemId]) -> None:
        run = self.window.session.run
        self._generator.choice((run.run, run.stop, run.forward, lambda: run.do("step")))()

    def _delete(self, _nodes: list[ItemId]) -> None:
        canvas = self.window.canvas
        canvas.selection.select_all()
        canvas.selection_commands.delete_selection()

    def _view(self, x: float, y: float) -> QPoint:
        at = self.window.canvas.camera.to_view(x, y)
        return QPoint(round(at[0]), round(at[1]))

    def _drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        QTest.mousePress(self._viewport, LEFT, NO_KEY, self._view(*start))
        for share in (0.3, 0.7, 1.0):
            at = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
            point = QPointF(self._view(*at))
            place = self._viewport.mapToGlobal(point)
            event = QMouseEvent(QEvent.Type.MouseMove, point, place, Qt.MouseButton.NoButton, LEFT, NO_KEY)
            QApplication.sendEvent(self._viewport, event)
        QTest.mouseRelease(self._viewport, LEFT, NO_KEY, self._view(*end))


def work(folder: Path, seed: str, engine: list[str] | None, round_of: int = 0) -> None:
    """Work until somebody kills this process; each edit and each gesture is told as soon as it is over.

    Args:
        engine: what starts one; None: the window has none.
        round_of: behind so many gestures a new document begins, and what is there is told; 0: never.
    """
    generator = Random(seed)
    told = os.open(folder / TOLD, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    hand = WindowHand(folder, generator, engine)

    def tell(*words: object) -> None:
        os.write(told, (" ".join(map(str, words)) + "\n").encode())

    hand.rest(50)
    hand.window.session.graph_store.edited.connect(lambda _: tell("edit", digest(hand.graph)))
    tell("ready", hand.recovery, digest(hand.graph))
    for number in itertools.count(1):
        tell("gesture", hand.gesture())
        hand.rest(generator.random() * LONGEST_PAUSE_MS)
        if round_of and number % round_of == 0:
            hand.window.session.graph_store.load(Graph())
            hand.rest(SETTLE_MS)
            tell("standing", *hand.standing())


def outlive(folder: Path, seed: str, engine: list[str]) -> None:
    """Lose one engine after another, each in the middle of a run; how the window takes it is told."""
    told = os.open(folder / TOLD, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    hand = WindowHand(folder, Random(seed), engine)
    hand.window.session.graph_store.load(read_script(PROGRAM).graph)
    hand.wait_until(lambda: hand.client.ready)
    was_right, expected = hand.has_run(), hand.values()
    os.write(told, f"ready {was_right}\n".encode())
    while True:
        reason = hand.lose_engine()
        if not reason and hand.values() != expected:
            reason = "the next run gives other values"
        os.write(told, f"lost {reason}\n".encode())


def serve() -> None:
    """Fork a window for each line of standard input; say its process, and how it ended."""
    for line in sys.stdin:
        asked = json.loads(line)
        process = os.fork()
        if not process:
            words = os.open(Path(asked["folder"]) / "words", os.O_WRONLY | os.O_CREAT)
            os.dup2(words, 1)
            os.dup2(words, 2)
            try:
                if asked["outlives"]:
                    outlive(Path(asked["folder"]), asked["seed"], asked["engine"])
                else:
                    work(Path(asked["folder"]), asked["seed"], asked["engine"], asked["round_of"])
            except BaseException:  # noqa: BLE001 - whatever comes is what is looked for
                traceback.print_exc()
            finally:
                os._exit(1)
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
