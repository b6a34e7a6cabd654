"""Moving through a run of 1,000 nodes: CPU milliseconds from another moment to the painted canvas, offscreen.

The run is a forward over all nodes and a backward of three autograd nodes each, with a gradient on every wire.
"""

import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtWidgets import QApplication

from benchmarks._graphs import random_dag
from benchmarks.canvas_painting import _canvas
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, WireGrad
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Preview, Summary, TensorRecord
from gradstudio.scene.camera import Camera
from gradstudio.ui.state.results.result_store import ResultStore

NODES = 1000
SIZE = (1400, 900)
MOVES = 40
GOAL_MS = 16
COMPARED = f"CPU time, median of {MOVES}"


def measure() -> list[dict[str, Any]]:
    """Steps and jumps, at 100 % and with the whole graph in view; and what the store alone takes."""
    app = QApplication.instance() or QApplication([])
    graph = random_dag(NODES)
    canvas = _canvas(graph)
    canvas.resize(*SIZE)
    canvas.show()
    app.processEvents()
    results: ResultStore = canvas.session.results
    _record(results, graph)
    attention, ticks = canvas.session.attention, len(results.timeline.ticks)
    generator = random.Random(1)
    jumps = [generator.randrange(ticks) for _ in range(MOVES)]
    begin = ticks // 2
    steps = [begin + k for k in range(MOVES)]
    rows = []
    for name, camera in (("at 100 %", Camera(1.0, *_middle(graph))), ("fitted", None)):
        canvas.navigation.fit_all() if camera is None else canvas.navigation.set_camera(camera)
        canvas.navigation.zooming = False
        canvas.viewport().repaint()
        for kind, moments in (("step", steps), ("jump", jumps)):

            def move(moment: int) -> None:
                attention.look_at(moment)
                canvas.viewport().repaint()

            rows.append(_row(f"timeline: {kind} to repaint {name}, 1,000 nodes", _median(move, moments)))
    results.blockSignals(True)
    rows.append(_row("timeline: every value and gradient at a moment", _median(lambda m: _read(results, m), jumps)))
    canvas.hide()
    canvas.deleteLater()
    app.processEvents()
    return rows


def _middle(graph: Graph) -> tuple[float, float]:
    place = graph.places[f"n{NODES // 2}"]
    return place.x - 500, place.y - 400


def _record(results: ResultStore, graph: Graph) -> None:
    generator = np.random.default_rng(0)
    values = [_summary(value) for value in generator.normal(size=(NODES, 16, 16)).astype(np.float32)]
    results.tables.begin(True)
    results.tables.add_rows(
        Row(
            step=k + 1,
            node=ItemId(f"n{k}"),
            outputs=(TensorRecord(device="cpu", summary=values[k], requires_grad=True),),
        )
        for k in range(NODES)
    )
    rows, wires = [], []
    for k in reversed(range(NODES)):
        node = ItemId(f"n{k}")
        for part in range(3):
            made = (EdgeValue(node=node),) if part == 0 else ()
            rows.append(
                AutogradRow(
                    backward=1, autograd="AddBackward0", node=node, id=len(rows), incoming=(values[k],), values=made
                )
            )
        wires += [
            WireGrad(source=w.source, target=node, port=w.port, place=len(rows) - 1, grad=values[k])
            for w in graph.wires_to(node)
        ]
    results.tables.add_backward(
        BackwardTraced(revision=1, rows=tuple(rows), wires=tuple(wires), backward=1, statement=ItemId("backward"))
    )
    results.tables.pace.flush()


def _summary(values: np.ndarray[Any, np.dtype[np.float32]]) -> Summary:
    preview = Preview(16, 16, values.tobytes())
    return Summary(
        dtype="float32", shape=(16, 16), minimum=float(values.min()), maximum=float(values.max()),
        mean=float(values.mean()), rms=float(np.sqrt((values**2).mean())), preview=preview,
    )  # fmt: skip


def _read(results: ResultStore, moment: int) -> None:
    results.attention.look_at(moment)
    for k in range(NODES):
        node = ItemId(f"n{k}")
        results.row(node)
        results.grad(node)


def _median(move: Callable[[int], None], moments: list[int]) -> float:
    times = []
    for moment in moments:
        start = time.process_time()
        move(moment)
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def _row(name: str, measured: float) -> dict[str, Any]:
    return {
        "name": name,
        "measured": round(measured, 2),
        "goal": GOAL_MS,
        "unit": "ms",
        "ok": measured <= GOAL_MS,
        "compared_with": COMPARED,
    }
