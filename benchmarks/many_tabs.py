"""Fifty documents in one window cost what the one in front shows; a window that nobody touches costs next to nothing.

CPU of the window: opening a document, coming back to one and an edit in it, beside none and beside many others; another
theme with seven; and the share of a core that the process takes with the Memory dock open while nothing happens.
"""

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer

from benchmarks._scale import PATIENCE_S, Seat, seat, wide_program
from benchmarks._window import wait_until
from gradstudio.document.file import save
from gradstudio.graph import recipes
from gradstudio.protocol.messages.requests import SampleMemory
from gradstudio.ui import theme as themes

NODES, TIMES = 50, 3
COUNTS = (2, 7, 50)
THEMED = 7
SETTLE_S = 0.4
"""What a gesture began is over by then."""
IDLE_S = 8.0
GOALS_MS = {"a drop": 16, "another theme": 300}
IDLE_GOAL = 0.5


def measure() -> list[dict[str, Any]]:
    """Beside one other document, beside six, beside forty-nine."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, seat() as person:
        paths = [Path(folder) / f"document{k}.gsg" for k in range(max(COUNTS))]
        for k, path in enumerate(paths):
            save(wide_program(NODES, seed=k), path)
        gc.freeze()  # as the program does when its window stands
        _sample(person, every_ms=0)
        begin = 0
        for count in COUNTS:
            opened = [
                _cpu_ms(person, lambda path=path: person.window.file.open_path(path)) for path in paths[begin:count]
            ]
            begin = count
            rows.append(_row("a document is opened", count, median(opened[-TIMES:])))
            rows.append(_row("a tab comes to the front", count, median(_next_tab(person) for _ in range(TIMES))))
            rows.append(_row("a drop", count, median(_drop(person) for _ in range(TIMES))))
            if count == THEMED:
                rows.append(_row("another theme", count, min(_theme(person, name) for name in ("light", "dark") * 2)))
        person.window.go_to_dock("memory")
        _sample(person, every_ms=100)
        _settle(person)
        rows.append(_idle(person, max(COUNTS)))
    return rows


def _sample(person: Seat, every_ms: int) -> None:
    """How often the engine tells its memory: its samples are no part of a gesture."""
    person.session.engine.send(SampleMemory(every_ms=every_ms))


def _cpu_ms(person: Seat, gesture: Callable[[], object]) -> float:
    """Of a gesture up to its picture."""
    begun = time.thread_time()
    gesture()
    person.canvas.viewport().repaint()
    spent = (time.thread_time() - begun) * 1e3
    _settle(person)
    return spent


def _settle(person: Seat) -> None:
    until = time.monotonic() + SETTLE_S
    wait_until(person.app, lambda: time.monotonic() > until and not person.session.run.state.busy, PATIENCE_S)


def _next_tab(person: Seat) -> float:
    return _cpu_ms(person, lambda: person.window.documents.step(1))


def _drop(person: Seat) -> float:
    store = person.session.graph_store
    edits = recipes.add_operator(store.graph, "torch.relu", 5000.0, 0.0)[0]
    spent = _cpu_ms(person, lambda: store.submit(edits, "Add"))
    store.undo()
    _settle(person)
    return spent


def _theme(person: Seat, name: themes.ThemeName) -> float:
    """To another theme, with all that is painted because of it."""
    begun = time.thread_time()
    person.window.set_theme(themes.theme(name))
    for _ in range(3):
        person.app.processEvents()
    spent = (time.thread_time() - begun) * 1e3
    _settle(person)
    return spent


def _idle(person: Seat, count: int) -> dict[str, Any]:
    loop = QEventLoop()
    person.heartbeat.stop()
    QTimer.singleShot(round(1000 * IDLE_S), loop.quit)
    before = time.process_time()
    loop.exec()
    share = 100 * (time.process_time() - before) / IDLE_S
    person.heartbeat.start()
    return {
        "name": f"tabs: idle with the Memory dock, {count} are open",
        "measured": round(share, 2),
        "goal": IDLE_GOAL,
        "unit": "% of a core",
        "ok": share <= IDLE_GOAL,
        "compared_with": f"CPU of the window's process in {IDLE_S:.0f} s",
    }


def _row(what: str, count: int, measured: float) -> dict[str, Any]:
    goal = GOALS_MS.get(what)
    return {
        "name": f"tabs: {what}, {count} are open",
        "measured": round(measured, 1),
        "goal": goal,
        "unit": "ms",
        "ok": measured <= goal if goal is not None else None,
        "compared_with": f"CPU of the window, documents of {NODES} nodes",
    }
