"""Stop inside an endless operator: milliseconds until the window answers, and from the kill to a ready engine."""

import os
import statistics
import time
from typing import Any

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtWidgets import QApplication

from gradstudio.graph.edits import AddNode, AddWire
from gradstudio.graph.model import ROOT, ItemId, Node, Wire
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session

ROUNDS = 3
READY_GOAL_MS, ANSWER_GOAL_MS, STOP_GOAL_MS = 50, 16, 300
PATIENCE_S = 40
INSIDE_S = 1.5
"""Until it is surely inside the operator."""


def measure() -> list[dict[str, Any]]:
    """Three figures, medians of a few rounds: the answer, the kill to ready, and the whole of it."""
    app = QApplication.instance() or QApplication([])
    engine = EngineClient()
    session = Session(engine)
    engine.start()
    _draw(session)
    try:
        answers, kills, wholes = zip(*[_round(app, session) for _ in range(ROUNDS)], strict=True)
    finally:
        engine.close()
    return [
        _row("stop: the window answers", statistics.median(answers), ANSWER_GOAL_MS),
        _row("stop: from the kill to a ready engine", statistics.median(kills), READY_GOAL_MS),
        _row("stop: from Stop to a ready engine", statistics.median(wholes), STOP_GOAL_MS),
    ]


def _draw(session: Session) -> None:
    """One operator that does not end for minutes."""
    matrix = Node(id=ItemId("a"), operator="torch.randn", names=("a",), literals={"size": "(5000, 5000)"})
    endless = Node(id=ItemId("b"), operator="torch.linalg.eigvals", names=("b",))
    wire = Wire(ItemId("a"), 0, ItemId("b"), "input")
    session.graph_store.submit((AddNode(matrix, ROOT, 0), AddNode(endless, ROOT, 1), AddWire(wire)), "Draw")


def _round(app: Any, session: Session) -> tuple[float, float, float]:
    """Run an operator that does not end for seconds, stop it, and wait for the spare to take over."""
    engine = session.engine.client
    _until(app, lambda: engine.ready and engine._spare is not None and engine._spare.ready)
    killed: list[float] = []
    kill = engine.kill_and_restart

    def note() -> None:
        killed.append(time.perf_counter())
        kill()

    engine.kill_and_restart = note  # type: ignore[method-assign]  # only to know when
    session.run.run()
    begun = time.monotonic()
    _until(app, lambda: session.run.state.live and time.monotonic() > begun + INSIDE_S)
    first, asked = engine.pid, time.perf_counter()
    session.run.stop()
    answered = time.perf_counter()
    _until(app, lambda: not session.run.state.busy and engine.ready and engine.pid != first)
    ready = time.perf_counter()
    engine.kill_and_restart = kill  # type: ignore[method-assign]  # as it was
    return (answered - asked) * 1e3, (ready - killed[0]) * 1e3, (ready - asked) * 1e3


def _until(app: Any, holds: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        app.processEvents()
        if time.monotonic() > deadline:
            raise TimeoutError("the engine did not come to the state that is to be measured")


def _row(name: str, measured: float, goal: float) -> dict[str, Any]:
    return {
        "name": name,
        "measured": round(measured, 1),
        "goal": goal,
        "unit": "ms",
        "ok": measured <= goal,
        "compared_with": f"median of {ROUNDS}, wall time",
    }
