"""Shapes before running on a canvas of 1,000 nodes: from an edit to the painted shape behind it, in the whole window.

The engine is the real process. Each edit changes a literal so that every shape behind it changes; it is over when
the canvas was painted after the answer had come. The settling time of an edit is in it.
"""

import os
import statistics
import time
from typing import Any

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from benchmarks._graphs import long_chain, transformer
from benchmarks._whole_window import running_engine, whole_window
from benchmarks._window import cpu_s, wait_until
from gradstudio.graph import recipes
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.scene.camera import Camera
from gradstudio.ui.state.session import Session

GOAL_MS = 100
EDITS = 15
WARM_UP = 3
PATIENCE_S = 60
PAUSE_S = 0.4
"""Between two edits, so that what the window does later (problems, the code panel) is over."""
PORTS = {
    "torch.randn": ("size", "({}, 512)", "({}, 128, 256)"),
    "torch.narrow": ("length", "{}", "{}"),
    "torch.tile": ("dims", "({}, 1)", "({}, 1, 1)"),
}


def measure() -> list[dict[str, Any]]:
    """Edits at the beginning, in the middle and at the end of two graphs."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    with running_engine() as engine, whole_window(app, engine) as window:
        editing = _Editing(app, window.session, window.canvas)
        rows = editing.rows("chain", *long_chain(), form=1)
        return rows + editing.rows("transformer", *transformer(), form=2)


class _Editing:
    """Edits literals of a document and waits until the shape behind is painted."""

    def __init__(self, app: Any, session: Session, canvas: Any) -> None:
        self._app, self._session, self._canvas = app, session, canvas
        self._edits = 0
        self._watched, self._painted_at, self._shown = ItemId(""), 0.0, None
        self._heartbeat = QTimer()
        self._heartbeat.start(500)  # no wait for events is for ever
        paint = canvas.paintEvent

        def painted(event: Any) -> None:
            frame = canvas.picture.frame
            paint(event)
            if canvas.picture.frame is not frame:
                self._painted_at, self._shown = time.perf_counter(), self._shape()

        canvas.paintEvent = painted
        wait_until(app, lambda: session.engine.ready, PATIENCE_S)

    def rows(self, what: str, graph: Graph, edited: dict[str, ItemId], form: int) -> list[dict[str, Any]]:
        """The figures of one graph."""
        self._session.restore(graph, None)
        self._watched = self._session.graph_store.graph.bodies[ROOT][-1]
        first = time.perf_counter()
        wait_until(self._app, lambda: self._shape() is not None, PATIENCE_S)
        made = [
            _row(f"shapes: {what} of {len(graph.nodes)} nodes, opened", (time.perf_counter() - first) * 1e3, None, "")
        ]
        for view in ("100 %", "fitted"):
            self._look(view)
            for place, node in edited.items():
                times, spent = zip(*[self._timed(node, form) for _ in range(WARM_UP + EDITS)][WARM_UP:], strict=True)
                name = f"shapes: {what}, edit at the {place}, {view}"
                cpu = f"CPU of window and engine: {statistics.median(spent):.0f} ms; worst wall {max(times):.0f} ms"
                made.append(_row(f"{name}, median", statistics.median(times), GOAL_MS, cpu))
        return made

    def _look(self, view: str) -> None:
        canvas = self._canvas
        if view == "fitted":
            canvas.navigation.fit_all()
            return
        box = canvas.scene.placement.box(self._watched)
        canvas.navigation.set_camera(Camera(1.0, round(box.x - canvas.viewport().width() / 2), round(box.y - 300)))

    def _shape(self) -> tuple[int, ...] | None:
        port = self._session.results.inference(self._watched)
        return port.shape if port is not None else None

    def _timed(self, node: ItemId, form: int) -> tuple[float, float]:
        """Milliseconds from an edit to the end of the painting that shows another shape: wall time, CPU time."""
        self._edits += 1
        port, *forms = PORTS[self._session.graph_store.graph.nodes[node].operator]
        until = time.perf_counter() + PAUSE_S
        wait_until(self._app, lambda: time.perf_counter() > until, PATIENCE_S)
        self._canvas.viewport().repaint()
        edits = recipes.set_literal(
            self._session.graph_store.graph, node, port, forms[form - 1].format(16 + self._edits % 100)
        )
        before, spent, begun = self._shape(), cpu_s(self._session.engine.pid), time.perf_counter()
        self._shown = before
        self._session.graph_store.submit(edits, "Set")
        while self._shown == before:
            self._app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.perf_counter() > begun + PATIENCE_S:
                raise TimeoutError("the new shape was not painted")
        return (self._painted_at - begun) * 1e3, (cpu_s(self._session.engine.pid) - spent) * 1e3


def _row(name: str, measured: float, goal: int | None, compared: str) -> dict[str, Any]:
    return {
        "name": name,
        "measured": round(measured, 1),
        "goal": goal,
        "unit": "ms",
        "ok": None if goal is None else measured <= goal,
        "compared_with": compared,
    }
