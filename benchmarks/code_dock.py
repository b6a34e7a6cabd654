"""The Code dock: milliseconds from an edit on the canvas to its painted line, and from typed text to a new graph."""

import os
import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks._graphs import long_chain, random_dag, transformer
from benchmarks._window import wait_until
from gradstudio.graph.edits import apply_all

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from gradstudio.graph.edits import Edits
    from gradstudio.graph.model import Graph, ItemId
    from gradstudio.ui.docks.code.panel import CodePanel
    from gradstudio.ui.state.session import Session

STATEMENTS = 1000
GOAL_MS, KEY_GOAL_MS, APPLY_GOAL_MS = 30, 16, 50
EDITS, WARM_UP, KEYS, NEW_NODES = 40, 6, 60, 10
PATIENCE_S = 120.0


def measure() -> list[dict[str, Any]]:
    """The dock alone and with an engine that infers shapes, over programs of 1,000 statements."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from gradstudio.ui import theme as themes

    application = QApplication([])
    themes.apply(application, themes.theme("dark"))
    rows = []
    for kind in ("literal", "rename"):
        rows += _of_edits(application, kind, random_dag(STATEMENTS), engine=False)
        rows += _of_edits(application, kind, random_dag(STATEMENTS), engine=True)
    for name, graph in (("sums", random_dag(STATEMENTS)), ("chain", long_chain(STATEMENTS)[0])):
        rows += _of_typing(application, name, graph)
    rows += _of_typing(application, "transformer", transformer(STATEMENTS)[0])
    return rows


def _dock(application: "QApplication", graph: "Graph", engine: bool) -> "tuple[Session, CodePanel]":
    from gradstudio.ui import theme as themes
    from gradstudio.ui.docks.code.panel import CodePanel
    from gradstudio.ui.state.run.engine_client import EngineClient
    from gradstudio.ui.state.session import Session

    session = Session(EngineClient(spare=False))
    panel = CodePanel(session, themes.theme("dark"))
    panel.resize(900, 400)
    panel.show()
    if engine:
        session.engine.start()
        wait_until(application, lambda: session.engine.ready, PATIENCE_S)
    session.graph_store.load(graph)
    wait_until(application, lambda: panel.editor.blockCount() > STATEMENTS, PATIENCE_S)
    if engine:
        last = list(graph.nodes)[-1]
        wait_until(application, lambda: session.results.inference(last) is not None, PATIENCE_S)
    _idle(application, 0.3)
    return session, panel


def _of_edits(application: "QApplication", kind: str, graph: "Graph", *, engine: bool) -> list[dict[str, Any]]:
    """From `GraphStore.submit` to the end of the painting that shows the new text."""
    from gradstudio.graph import recipes

    draws = recipes.add_operator(graph, "torch.full", 0, 0)
    apply_all(graph, draws[0])
    session, panel = _dock(application, graph, engine)
    painted = _Painted(panel)
    items = [item for item, node in graph.nodes.items() if node.operator == "operator.add"]
    times = []
    for k in range(EDITS):
        item = items[k * 20 % len(items)] if kind == "rename" else draws[1]
        edits, words = (
            (recipes.rename(graph, item, (f"edited_{k}",)), f"\nedited_{k} = ")
            if kind == "rename"
            else (recipes.set_literal(graph, item, "fill_value", f"{k}.25"), f", {k}.25")
        )
        times.append(_timed_edit(application, session, panel, painted, item, edits, words))
    session.engine.close()
    panel.deleteLater()
    _idle(application, 0.1)
    counted = sorted(times[WARM_UP:])
    words = f"{len(counted)} edits, CPU time of the window"
    name = f"code dock: {kind} to painted line, {'engine ready' if engine else 'alone'}"
    return [
        _row(f"{name}, median", statistics.median(counted), GOAL_MS, words),
        _row(f"{name}, 9 of 10", counted[len(counted) * 9 // 10], GOAL_MS, words),
    ]


class _Painted:
    """When a panel's text was last painted, and what it said then."""

    def __init__(self, panel: "CodePanel") -> None:
        self.at, self.text = 0.0, ""
        editor = panel.editor
        paint = editor.paintEvent

        def painted(event: Any) -> None:
            paint(event)
            self.at, self.text = time.process_time(), editor.text

        editor.paintEvent = painted  # type: ignore[method-assign]  # only to know when


def _timed_edit(
    application: "QApplication",
    session: "Session",
    panel: "CodePanel",
    painted: _Painted,
    item: "ItemId",
    edits: "Edits",
    words: str,
) -> float:
    from PySide6.QtCore import QEventLoop

    panel.editor.show_line(panel.marks.line_of(item))
    _idle(application, 0.06)
    begun, deadline = time.process_time(), time.monotonic() + PATIENCE_S
    session.graph_store.submit(edits, "Edit")
    while words not in painted.text:
        application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        if time.monotonic() > deadline:
            raise TimeoutError("the edit was not painted")
    return (painted.at - begun) * 1e3


def _of_typing(application: "QApplication", name: str, graph: "Graph") -> list[dict[str, Any]]:
    """A key in the middle of the text, and what its application to the graph costs at the pause."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from gradstudio.ui.docks.code.panel import READER

    session, panel = _dock(application, graph, engine=False)
    editor = panel.editor
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton)  # as a hand does before it types
    editor.go_to(STATEMENTS // 2, 10**6)
    wait_until(application, lambda: not session.idle.has(READER), PATIENCE_S)  # what reads the text is loaded
    keys = []
    for letter in ("  # " + "why " * KEYS)[:KEYS]:
        begun = time.process_time()
        QTest.keyClicks(editor, letter)
        application.processEvents()
        keys.append((time.process_time() - begun) * 1e3)
    begun = time.process_time()
    assert panel.live.apply(), panel.live.error
    took = (time.process_time() - begun) * 1e3
    added = [_new_node(application, panel, k) for k in range(NEW_NODES)]
    session.engine.close()
    panel.deleteLater()
    _idle(application, 0.1)
    keys.sort()
    return [
        _row(
            f"code dock: a key to painted text, {name}, 9 of 10",
            keys[KEYS * 9 // 10],
            KEY_GOAL_MS,
            f"{KEYS} keys, CPU time",
        ),
        _row(f"code dock: typed text to edited graph, {name}", took, APPLY_GOAL_MS, "once, at the pause, CPU time"),
        _row(
            f"code dock: a typed line to a new node, {name}",
            statistics.median(added[1:]),
            APPLY_GOAL_MS,
            f"median of {NEW_NODES - 1}, CPU time",
        ),
    ]


def _new_node(application: "QApplication", panel: "CodePanel", number: int) -> float:
    """A line behind another, which reads what that binds: until the graph has it and the text of the program stands."""
    editor = panel.editor
    editor.go_to(STATEMENTS // 2 + 7 * number, 10**6)
    cursor = editor.textCursor()
    name = cursor.block().text().partition(" = ")[0]
    cursor.insertText(f"\nfresh_{number} = torch.relu({name})")
    editor.setTextCursor(cursor)
    application.processEvents()
    begun = time.process_time()
    assert panel.live.apply(), panel.live.error
    took = (time.process_time() - begun) * 1e3
    _idle(application, 0.3)
    return took


def _idle(application: "QApplication", seconds: float) -> None:
    until = time.monotonic() + seconds
    wait_until(application, lambda: time.monotonic() > until, seconds + 5)


def _row(name: str, measured: float, goal: float, compared: str) -> dict[str, Any]:
    return {
        "name": name,
        "measured": round(measured, 1),
        "goal": goal,
        "unit": "ms",
        "ok": measured <= goal,
        "compared_with": compared,
    }
