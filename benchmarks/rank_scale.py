"""A training on 1,000 ranks in a whole window: bytes a second, CPU of a frame; and what the ranks' tree takes for it.

The ranks are made up, and have neither torch nor a network: `benchmarks._rank_tree`. The messages, their bytes, and the
window that reads and paints them, offscreen, are the real ones; the program has 256 statements in a loop. A frame is
whatever the window does before it could answer a person again, if it did anything.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from benchmarks._rank_tree import climb, rank_frames
from benchmarks._scale import WORK_S, Seat
from benchmarks._whole_window import whole_window
from benchmarks._window import wait_until
from gradstudio.graph.model import ItemId
from gradstudio.protocol.framing import Decoder
from gradstudio.protocol.messages.events import Event, Traced
from gradstudio.scene.camera import Camera
from gradstudio.ui.state.run.engine_client import EngineClient

RANKS = 1000
IN_VIEW = 20
"""Values of which the tree's own figures are taken."""
HEADS, DEPTH = 16, 4
WATCH_S = 10.0
PATIENCE_S = 120
GOAL_MS, GOAL_BYTES = 16, 1_000_000


class Watched(NamedTuple):
    """What the window did for so many seconds.

    Attributes:
        frames_ms: CPU of each.
        tellings: of values in view.
    """

    seconds: float
    received_bytes: int
    cpu_s: float
    frames_ms: list[float]
    tellings: int


def program_text(heads: int) -> str:
    """A training whose loop has as many chains side by side, of four statements for each of four layers."""
    names = [(head, layer) for head in range(heads) for layer in range(DEPTH)]
    lines = ["import torch", "", "x = torch.randn(32, 32)"]
    lines += [f"w{head}_{layer} = torch.randn(32, 32, requires_grad=True)" for head, layer in names]
    lines.append("for t in range(1000000):")
    for head, layer in names:
        source, name = f"h{head}_{layer - 1}" if layer else "x", f"{head}_{layer}"
        lines += [
            f"    a{name} = {source} @ w{name}",
            f"    b{name} = torch.tanh(a{name})",
            f"    c{name} = b{name} * 0.5",
            f"    h{name} = c{name} + {source}",
        ]
    total = " + ".join(f"h{head}_{DEPTH - 1}" for head in range(heads))
    return "\n".join([*lines, f"    loss = ({total}).mean()", "    loss.backward()"]) + "\n"


def measure() -> list[dict[str, Any]]:
    """At 100 %, and with the whole program in view; then the tree, and all ranks without one."""
    rows = []
    with ranks_in_window(RANKS, HEADS) as person:
        for where, zoom in (("100 %", 1.0), ("40 %", 0.4)):
            in_view = look(person, zoom)
            rows += _window_rows(f"{where}, {in_view} in view", watch(person, WATCH_S))
    return [*rows, *_tree_rows()]


@contextmanager
def ranks_in_window(ranks: int, heads: int) -> Iterator[Seat]:
    """A window whose engine is the root of a tree of ranks, with the program open."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    engine = EngineClient([sys.executable, "-m", "benchmarks._rank_tree", str(ranks)], spare=False)
    try:
        engine.start()
        with whole_window(app, engine) as window, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "training.py"
            path.write_text(program_text(heads))
            window.file.open_path(path)
            person = Seat(app, window)
            window.load_plot_later()
            wait_until(app, lambda: window.memory.plot is not None, PATIENCE_S)
            wait_until(app, lambda: engine.ready and len(person.session.graph_store.graph.nodes) > heads, PATIENCE_S)
            yield person
    finally:
        engine.close()


def node_called(person: Seat, name: str) -> ItemId:
    """The node that binds a name."""
    return next(node.id for node in person.session.graph_store.graph.nodes.values() if name in node.names)


def look(person: Seat, zoom: float) -> int:
    """The midst of the program at a scale; how many nodes are in view."""
    person.rest()
    navigation = person.canvas.navigation
    box, view = person.canvas.scene.placement.box(node_called(person, "b8_1")), person.canvas.viewport()
    x, y = box.x + 80 - view.width() / 2 / zoom, box.y + 60 - view.height() / 2 / zoom
    navigation.set_camera(Camera(zoom, round(x), round(y)))
    navigation.zooming = False
    person.canvas.viewport().repaint()
    return len(navigation.visible_items())


def watch(person: Seat, seconds: float) -> Watched:
    """Run, watch from the first telling on, and stop."""
    received, tellings = [0], [0]
    client = person.session.engine.client
    decoder = client._engine._decoder
    feed = decoder.feed

    def counted(data: bytes) -> list[Event]:
        received[0] += len(data)
        messages = feed(data)
        tellings[0] += sum(isinstance(message, Traced) for message in messages)
        return messages

    decoder.feed = counted  # only to count
    person.session.run.restart()
    wait_until(person.app, lambda: tellings[0] > 1, PATIENCE_S)
    received[0] = tellings[0] = 0
    frames_ms, begun, cpu = [], time.perf_counter(), time.process_time()
    while (passed := time.perf_counter() - begun) < seconds:
        before = time.thread_time()
        person.app.processEvents()
        spent = time.thread_time() - before
        if spent > WORK_S:
            frames_ms.append(spent * 1e3)
        time.sleep(0.001)
    found = Watched(passed, received[0], time.process_time() - cpu, frames_ms, tellings[0])
    decoder.feed = feed
    person.session.run.stop()
    wait_until(person.app, lambda: not person.session.run.state.busy, PATIENCE_S)
    return found


def _window_rows(where: str, found: Watched) -> list[dict[str, Any]]:
    told = f"{found.tellings / found.seconds:.1f} messages of values a second, load {os.getloadavg()[0]:.1f}"
    tenth = statistics.quantiles(found.frames_ms, n=10)[-1]
    over = sum(each > GOAL_MS for each in found.frames_ms)
    every = f"CPU of {len(found.frames_ms)} frames, {over} of them over {GOAL_MS} ms"
    name = f"ranks: {RANKS:,}, {where}"
    return [
        _row(f"{name}, KB a second", found.received_bytes / found.seconds / 1e3, GOAL_BYTES / 1e3, "KB/s", told),
        _row(f"{name}, a frame, median", statistics.median(found.frames_ms), GOAL_MS, "ms", every),
        _row(f"{name}, a frame, 9 of 10", tenth, GOAL_MS, "ms", every),
        _row(f"{name}, a frame, slowest", max(found.frames_ms), GOAL_MS, "ms", every),
        _row(f"{name}, share of a core", 100 * found.cpu_s / found.seconds, None, "%", "CPU of the window"),
    ]


def _tree_rows() -> list[dict[str, Any]]:
    """One telling through the tree, and the same without one."""
    frames = rank_frames([ItemId(f"n{k}") for k in range(IN_VIEW)], 0, RANKS)
    whole, layers = climb(frames)
    begun = time.thread_time()
    Decoder(Event).feed(b"".join(frames))  # type: ignore[arg-type]  # a union
    singly = (time.thread_time() - begun) * 1e3
    name, compared = f"ranks: {RANKS:,}, a telling of {IN_VIEW} values and gradients", f"{len(layers)} layers"
    longest = sum(layer.seconds for layer in layers) * 1e3
    heaviest = max(layer.received_bytes for layer in layers) / 1e3
    return [
        _row(f"{name}, from the root", len(whole) / 1e3, None, "KB", compared),
        _row(f"{name}, without a tree", sum(map(len, frames)) / 1e3, None, "KB", "all ranks to the window"),
        _row(f"{name}, read without a tree", singly, GOAL_MS, "ms", "CPU of the decoder alone"),
        _row(f"{name}, up the tree", longest, None, "ms", f"CPU of the slowest join of each of {compared}"),
        _row(f"{name}, most that one rank receives", heaviest, None, "KB", compared),
    ]


def _row(name: str, measured: float, goal: float | None, unit: str, compared: str) -> dict[str, Any]:
    ok = None if goal is None else measured <= goal
    return {
        "name": name, "measured": round(measured, 1), "goal": goal, "unit": unit, "ok": ok, "compared_with": compared,
    }  # fmt: skip
