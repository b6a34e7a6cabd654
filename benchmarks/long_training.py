"""A million small turns in a window, curve and path on a card alive: memory of both processes, and what turns cost.

A machine that is too slow for all of them in `LIMIT_S` ends earlier; how many there were is said.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import msgspec
import psutil
from PySide6.QtWidgets import QApplication

from benchmarks._drawing import row
from benchmarks._whole_window import running_engine, whole_window
from benchmarks._window import wait_until
from gradstudio.graph.edits import SetPlaces, apply
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.app.window.main_window import MainWindow

TURNS, SETTLED = 1_000_000, 10_000
LIMIT_S = 500.0
GOAL_MIB, GOAL_SLOWER = 32.0, 1.2
MIB = 1 << 20
PAUSE_S, PATIENCE_S = 0.01, 60.0
TEXT = f"""import torch
w = torch.tensor([3.0, -2.0], requires_grad=True)
for turn in range({TURNS}):
    loss = ((w - torch.rand(2)) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


class Moment(NamedTuple):
    """How far a run was and when, what both processes held (bytes), and the CPU seconds that each had taken."""

    turn: int
    at_s: float
    held: tuple[int, int]
    cpu_s: tuple[float, float]


def measure() -> list[dict[str, Any]]:
    """Growth behind the first turns, and CPU time of the last fifth by that of the first.

    The engine's is taken a turn, that of the window, which shows so many turns a second, a second.
    """
    app = QApplication([])
    with (
        tempfile.TemporaryDirectory() as folder,
        running_engine() as engine,
        whole_window(app, engine) as window,
    ):
        wait_until(app, lambda: window.session.engine.ready, PATIENCE_S)
        moments = train(app, window, Path(folder))
    settled = next(moment for moment in moments if moment.turn >= SETTLED)
    last = moments[-1]
    rows = [
        figure(f"{who}: memory from turn {settled.turn:,} to {last.turn:,}", grown / MIB, GOAL_MIB, "MiB")
        for who, grown in zip(("engine", "window"), differences(last.held, settled.held), strict=True)
    ]
    begin, fifth, fourth, end = (moment_at(moments, share * last.turn) for share in (0.0, 0.2, 0.8, 1.0))
    early, late = ((b.cpu_s[0] - a.cpu_s[0]) / (b.turn - a.turn) for a, b in ((begin, fifth), (fourth, end)))
    rows.append(figure("engine: CPU time a turn, last fifth / first", late / early, GOAL_SLOWER, "x"))
    early, late = ((b.cpu_s[1] - a.cpu_s[1]) / (b.at_s - a.at_s) for a, b in ((begin, fifth), (fourth, end)))
    rows.append(figure("window: CPU time a second, last fifth / first", late / early, GOAL_SLOWER, "x"))
    return rows


def train(app: QApplication, window: MainWindow, folder: Path) -> list[Moment]:
    """Run to the end, or until the time is over."""
    graph = read_script(TEXT).graph
    graph.places = layout_missing(graph)
    card = next(node.id for node in graph.nodes.values() if node.names == ("w",))
    apply(graph, SetPlaces({card: msgspec.structs.replace(graph.places[card], chart="path")}))
    session = window.session
    session.restore(graph, folder / "long_training.gsg")
    assert session.results.tables.charts.wanted == ((card, "path"),), "the path on the card is alive"
    window.go_to_dock("curves")
    app.processEvents()
    window.actions["run.run"].trigger()
    processes = psutil.Process(session.engine.pid), psutil.Process()
    loop = next(iter(graph.blocks))
    moments: list[Moment] = []
    begun = time.monotonic()
    next_s = 0.0
    while not session.run.state.at_end and time.monotonic() - begun < LIMIT_S:
        app.processEvents()
        time.sleep(PAUSE_S)
        turn = session.results.tables.curves.turns_told(loop, ())
        if time.monotonic() >= next_s or (turn >= SETTLED and all(one.turn < SETTLED for one in moments)):
            next_s = time.monotonic() + 1.0
            held = processes[0].memory_info().rss, processes[1].memory_info().rss
            spent = tuple(sum(one.cpu_times()[:2]) for one in processes)
            moments.append(Moment(turn, time.monotonic(), held, (spent[0], spent[1])))
    window.actions["run.stop"].trigger()
    wait_until(app, lambda: not session.run.state.busy, PATIENCE_S)
    return moments


def moment_at(moments: list[Moment], turn: float) -> Moment:
    """The first with so many turns behind it, and what is built up in the first of all."""
    return next(moment for moment in moments if moment.turn >= max(turn, SETTLED))


def differences(last: tuple[int, int], first: tuple[int, int]) -> tuple[int, int]:
    """Of both processes."""
    return last[0] - first[0], last[1] - first[1]


def figure(name: str, measured: float, goal: float, unit: str) -> dict[str, Any]:
    """One of this benchmark."""
    compared = "resident memory" if unit == "MiB" else "CPU time of the process"
    return row(f"long training, {name}", round(measured, 3), goal, unit, compared)
