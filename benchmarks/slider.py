"""A slider that moves one literal of 50 nodes that run: wall milliseconds from the move to the painted loss, offscreen.

The engine is the real process: each move is an edit, a program sent, a run forward and backward from nothing with
every value and gradient summarised, and the canvas painted with the new loss on its card.
"""

import os
import statistics
import time
from typing import Any

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from benchmarks._whole_window import SIZE, running_engine, whole_window
from benchmarks._window import cpu_s, wait_until
from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.scene import value_format
from gradstudio.scene.camera import Camera
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session

CELLS = 8
"""Of five nodes and a sum each; with the input, the scale and the backward they are 50 nodes."""
MOVES = 60
WARM_UP = 10
GOAL_MS = 33
MOVING_S = 3.0
GOLDEN = 0.618
"""Parts of the slider's way that each move goes on: no two losses look the same."""
PATIENCE_S = 10
PAUSE_S = 0.05
"""Between two moves that are timed alone."""


def measure() -> list[dict[str, Any]]:
    """Single moves on the canvas and in the whole window; how many go through when the slider always moves."""
    app = QApplication.instance() or QApplication([])
    rows: list[dict[str, Any]] = []
    for measured in (_on_canvas, _in_window):
        with running_engine() as engine:
            rows += measured(app, engine)
    return rows


def _on_canvas(app: Any, engine: EngineClient) -> list[dict[str, Any]]:
    session = Session(engine)
    canvas = CanvasView(session, Overlays(session), themes.theme("dark"))
    canvas.resize(*SIZE)
    canvas.show()
    slider = _Slider(app, session, canvas)
    canvas.navigation.set_camera(slider.at_hundred())
    rows = slider.rows("canvas")
    canvas.navigation.fit_all()
    rows += slider.rows("canvas, fitted")
    canvas.hide()
    canvas.deleteLater()
    app.processEvents()
    return rows


def _in_window(app: Any, engine: EngineClient) -> list[dict[str, Any]]:
    with whole_window(app, engine) as window:
        slider = _Slider(app, window.session, window.canvas)
        window.canvas.navigation.set_camera(slider.at_hundred())
        return slider.rows("whole window")


class _Slider:
    """Moves the scale of a document and watches the card of its loss."""

    def __init__(self, app: Any, session: Session, canvas: CanvasView) -> None:
        self._app, self._session, self._canvas = app, session, canvas
        self._moves, self.scale, self.loss = 0, ItemId(""), ItemId("")
        self._painted_at, self._shown = 0.0, ""
        self._heartbeat = QTimer()
        self._heartbeat.start(500)  # no wait for events is for ever
        paint = canvas.paintEvent

        def painted(event: Any) -> None:
            frame = canvas.picture.frame
            paint(event)
            if canvas.picture.frame is not frame:
                self._painted_at, self._shown = time.perf_counter(), self._read()

        canvas.paintEvent = painted  # type: ignore[method-assign]  # only to know when
        wait_until(app, lambda: session.engine.ready, PATIENCE_S)
        self.scale, self.loss = _draw(session)
        assert len(session.graph_store.graph.nodes) == 50
        session.attention.select((self.scale,))
        session.run.run()
        wait_until(app, lambda: not session.run.state.busy, PATIENCE_S)

    def at_hundred(self) -> Camera:
        """The canvas at 100 %, with the card of the loss in the midst."""
        box, view = self._canvas.scene.placement.box(self.loss), self._canvas.viewport()
        assert box is not None
        return Camera(1.0, round(box.x - view.width() / 2), round(box.y - view.height() / 2))

    def rows(self, where: str) -> list[dict[str, Any]]:
        """The figures."""
        self._canvas.navigation.zooming = False
        self._canvas.viewport().repaint()
        timed = [self._timed() for _ in range(WARM_UP + MOVES)][WARM_UP:]
        times, spent = zip(*timed, strict=True)
        tenth = statistics.quantiles(times, n=10)[-1]
        shown, sent = self._always()
        every = f"wall time of {MOVES} moves"
        return [
            _row(f"slider: move to painted loss, {where}, median", statistics.median(times), every),
            _row(f"slider: move to painted loss, {where}, 9 of 10", tenth, every),
            _row(f"slider: CPU time of it, {where}", statistics.median(spent), "of the window and the engine together"),
            {
                "name": f"slider: losses painted a second while it moves, {where}",
                "measured": round(shown / MOVING_S, 1),
                "goal": None,
                "unit": "1/s",
                "ok": None,
                "compared_with": f"{sent / MOVING_S:.0f} moves a second",
            },
        ]

    def _read(self) -> str:
        """The number on the card of the loss that was just painted, or on its plate."""
        if self._canvas.camera.zoom < DISTANT:
            records = self._session.results.outputs(self.loss)
            return value_format.number(records[0].summary.value) if records else ""
        pictures = self._canvas.layer._pixmaps.get(self.loss)  # the newest one first
        display = pictures[0].shown[1].sections[0].value if pictures and pictures[0].shown[1].sections else None
        return display.text if display is not None else ""

    def _move(self) -> None:
        self._moves += 1
        graph, text = self._session.graph_store.graph, f"{0.05 + 0.2 * (self._moves * GOLDEN % 1.0):.4f}"
        self._session.run.follow(recipes.set_literal(graph, self.scale, "data", text), "Slide data", "slide")

    def _timed(self) -> tuple[float, float]:
        """Milliseconds from a move to the end of the painting that shows another loss: wall time, CPU time."""
        until = time.perf_counter() + PAUSE_S
        wait_until(self._app, lambda: time.perf_counter() > until and not self._session.run.state.busy, PATIENCE_S)
        before, begun, spent = self._shown, time.perf_counter(), cpu_s(self._session.engine.pid)
        self._move()
        while self._shown in ("", before):
            self._app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.perf_counter() > begun + PATIENCE_S:
                raise TimeoutError("the new loss was not painted")
        return (self._painted_at - begun) * 1e3, (cpu_s(self._session.engine.pid) - spent) * 1e3

    def _always(self) -> tuple[int, int]:
        """Painted losses and moves of a slider that gives another value every 8 ms, as a mouse does."""
        timer, first, last, shown = QTimer(), self._moves, self._shown, 0
        timer.timeout.connect(self._move)
        timer.start(8)
        until = time.perf_counter() + MOVING_S
        while time.perf_counter() < until:
            self._app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            shown, last = shown + (self._shown not in ("", last)), self._shown
        timer.stop()
        wait_until(self._app, lambda: not self._session.run.state.busy, PATIENCE_S)
        return shown, self._moves - first


def _draw(session: Session) -> tuple[ItemId, ItemId]:
    """Cells of ``tanh(h @ w * scale)`` whose means are summed, and a backward; the scale and the loss."""
    scale = _add(session, "torch.tensor", 0, 0, data="0.1", requires_grad="True")
    hidden = _add(session, "torch.randn", 0, 1, size="(32, 32)")
    loss = None
    for k in range(CELLS):
        weight = _add(session, "torch.randn", 1 + k, 0, size="(32, 32)", requires_grad="True")
        product = _add(session, "operator.matmul", 1 + k, 1, a=hidden, b=weight)
        scaled = _add(session, "operator.mul", 1 + k, 2, a=product, b=scale)
        hidden = _add(session, "torch.tanh", 1 + k, 3, input=scaled)
        mean = _add(session, "torch.mean", 1 + k, 4, input=hidden)
        loss = mean if loss is None else _add(session, "operator.add", 1 + k, 5, a=loss, b=mean)
    assert loss is not None
    session.graph_store.attempt(recipes.append_backward, "Append backward", loss)
    return scale, loss


def _add(session: Session, key: str, column: int, row: int, **arguments: str) -> ItemId:
    """A node with literals, and wires from other nodes where an argument is the id of one."""
    store = session.graph_store
    edits, item = recipes.add_operator(store.graph, key, 270.0 * column, 250.0 * row)
    store.submit(edits, "Add")
    for path, value in arguments.items():
        if value in store.graph.nodes:
            done = store.attempt(recipes.connect, "Connect", ItemId(value), 0, item, path)
        else:
            done = store.attempt(recipes.set_literal, "Set", item, path, value)
        assert done, (key, path, value)
    return item


def _row(name: str, measured: float, compared: str) -> dict[str, Any]:
    return {
        "name": name,
        "measured": round(measured, 1),
        "goal": GOAL_MS,
        "unit": "ms",
        "ok": measured <= GOAL_MS,
        "compared_with": compared,
    }
