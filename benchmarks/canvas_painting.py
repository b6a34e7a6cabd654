"""The canvas with 1,000 nodes and 2,000 wires: CPU milliseconds of repaints, drags, zooms and new values, offscreen."""

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from benchmarks._graphs import random_dag
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, WireGrad
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.records import Preview, Summary, TensorRecord
from gradstudio.scene.camera import Camera
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.document.group_scope import Scope, ShownStore
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.state.results.result_store import ResultStore

NODES = 1000
SIZE = (1400, 900)
REPEATS = 9
COMPARED = "CPU time, median of 9"


def measure() -> list[dict[str, Any]]:
    """All figures of one canvas."""
    app = QApplication.instance() or QApplication([])
    graph = random_dag(NODES)
    start = time.process_time()
    canvas = _canvas(graph)
    canvas.resize(*SIZE)
    canvas.show()
    app.processEvents()  # it is exposed now, and painted
    built = (time.process_time() - start) * 1000
    rows = [_row("canvas: build and first paint, 1,000 nodes", built, 500)]
    hundred = Camera(1.0, *graph_middle(graph))
    _set_results(canvas, 0)
    for name, camera, goal in (("at 100 %", hundred, 16), ("fitted", None, 40)):
        _look(canvas, camera)
        rows.append(_row(f"canvas: full repaint {name}", _median(lambda: _repaint(canvas)), goal))
        rows.append(_row(f"canvas: drag step {name}", _drag(canvas), 4))
        rows.append(_row(f"canvas: wheel step {name}", _wheel(canvas), 9))
        rows.append(_row(f"canvas: another moment {name}", _moments(canvas), 16))
        values = [_new_values(canvas, k + 1) for k in range(REPEATS)]
        rows.append(_row(f"canvas: new values on all nodes, shown, {name}", statistics.median(values), 50))
    canvas.hide()
    canvas.deleteLater()
    app.processEvents()
    return rows


def graph_middle(graph: Graph) -> tuple[float, float]:
    """A scene point in the midst of the nodes."""
    place = graph.places[f"n{NODES // 2}"]
    return place.x - 500, place.y - 400


def _canvas(graph: Graph) -> CanvasView:
    store = GraphStore(graph)
    scope, attention = Scope(store, store), Attention(store)
    session = SimpleNamespace(
        graph_store=store,
        scope=scope,
        shown_store=ShownStore(store, scope, store),
        attention=attention,
        results=ResultStore(store, attention, store),
        idle=IdleWork(store),
    )
    return CanvasView(session, Overlays(store), themes.theme("dark"))


def _look(canvas: CanvasView, camera: Camera | None) -> None:
    if camera is None:
        canvas.navigation.fit_all()
    else:
        canvas.navigation.set_camera(camera)
    canvas.navigation.zooming = False
    _repaint(canvas)


def _frame(canvas: CanvasView) -> None:
    canvas.viewport().repaint()


def _repaint(canvas: CanvasView) -> None:
    canvas.picture.invalidate()
    _frame(canvas)


def _cpu_ms(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1000


def _median(action: Callable[[], object]) -> float:
    action()
    return statistics.median(_cpu_ms(action) for _ in range(REPEATS))


def _drag(canvas: CanvasView) -> float:
    """One move of a card that is being dragged, with its wires."""
    item = canvas.navigation.visible_items()[len(canvas.navigation.visible_items()) // 2]
    box = canvas.scene.placement.box(item)
    assert box is not None
    x, y = canvas.camera.to_view(box.x + 40, box.y + 10)
    _mouse(canvas, QEvent.Type.MouseButtonPress, x, y)
    _mouse(canvas, QEvent.Type.MouseMove, x + 12, y + 8)
    _frame(canvas)

    def step(k: int) -> None:
        _mouse(canvas, QEvent.Type.MouseMove, x + 12 + 9 * k, y + 8 + 9 * k)
        _frame(canvas)

    times = [_cpu_ms(partial(step, k)) for k in range(1, 2 * REPEATS)]
    canvas.input_dispatcher.cancel_gesture()
    _repaint(canvas)
    return statistics.median(times)


def _wheel(canvas: CanvasView) -> float:
    """One notch of the wheel and the frame that follows at once."""
    before = canvas.camera

    def step(k: int) -> None:
        canvas.navigation.set_camera(canvas.camera.zoomed(1.2 if k % 2 else 1 / 1.2, 700, 450))
        _frame(canvas)

    times = [_cpu_ms(partial(step, k)) for k in range(2 * REPEATS)]
    _look(canvas, before)
    return statistics.median(times)


def _mouse(canvas: CanvasView, kind: QEvent.Type, x: float, y: float) -> None:
    button = Qt.MouseButton.LeftButton
    point = QPointF(x, y)
    event = QMouseEvent(
        kind, point, canvas.viewport().mapToGlobal(point), button, button, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(canvas.viewport(), event)


def _set_results(canvas: CanvasView, seed: int) -> None:
    """A 16 x 16 tensor and its gradient on every node, as the engine would tell."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(NODES, 16, 16)).astype(np.float32)
    results = canvas.session.results
    results.tables.add_rows(
        Row(
            step=k,
            node=ItemId(f"n{k}"),
            outputs=(
                TensorRecord(
                    device="cpu", summary=_summary(values[k]), requires_grad=True, is_leaf=False, grad_fn="AddBackward0"
                ),
            ),
        )
        for k in range(NODES)
    )
    results.tables.set_gradients(
        (GradRow(node=ItemId(f"n{k}"), state="value", grad=_summary(values[-k])) for k in range(NODES)), whole=True
    )
    results.tables.pace.flush()


def _summary(values: np.ndarray[Any, np.dtype[np.float32]]) -> Summary:
    preview = Preview(16, 16, values.tobytes())
    return Summary(
        dtype="float32", shape=(16, 16), minimum=float(values.min()), maximum=float(values.max()),
        mean=float(values.mean()), rms=float(np.sqrt((values**2).mean())), preview=preview,
    )  # fmt: skip


def _new_values(canvas: CanvasView, seed: int) -> float:
    """From the announcement of new results to the painted frame."""
    results = canvas.session.results
    results.changed.disconnect(canvas.session_sync._on_results_changed)
    _set_results(canvas, seed)
    results.changed.connect(canvas.session_sync._on_results_changed)
    items = frozenset(canvas.scene.stack.ids)

    def show() -> None:
        results.changed.emit(items)
        _frame(canvas)

    return _cpu_ms(show)


def _record_backward(canvas: CanvasView) -> None:
    """One backward through every node, with a gradient along every wire."""
    wires = canvas.scene.wiring.wires
    order = [ItemId(f"n{k}") for k in reversed(range(NODES))]
    place = {node: k for k, node in enumerate(order)}
    grad = Summary(dtype="float32", shape=(16, 16), minimum=-1.0, maximum=1.0, rms=0.5)
    canvas.session.results.tables.add_backward(
        BackwardTraced(
            revision=0,
            backward=1,
            rows=tuple(AutogradRow(backward=1, autograd="AddBackward0", node=node) for node in order),
            wires=tuple(
                WireGrad(
                    source=w.source, output=w.output, target=w.target, port=w.port, place=place[w.target], grad=grad
                )
                for w in wires
            ),
        )
    )
    canvas.session.results.tables.pace.flush()


def _moments(canvas: CanvasView) -> float:
    """From another moment to the painted frame: along the backward, a step at a time."""
    _record_backward(canvas)
    attention, last = canvas.session.attention, len(canvas.session.results.timeline.ticks) - 1

    def step(k: int) -> None:
        attention.look_at(last - NODES // 2 - k)
        _frame(canvas)

    step(0)
    found = statistics.median(_cpu_ms(partial(step, k)) for k in range(1, 2 * REPEATS))
    attention.look_at(None)
    canvas.session.results.tables.begin(fresh=True)
    _set_results(canvas, 0)
    return found


def _row(name: str, measured: float, goal: float) -> dict[str, Any]:
    return {
        "name": name,
        "measured": round(measured, 2),
        "goal": goal,
        "unit": "ms",
        "ok": measured <= goal,
        "compared_with": COMPARED,
    }
