"""CPU time from the start of the process to the first paint, and to the filled window, beside NodeGraphQt.

The window is painted first as a frame and filled directly after; NodeGraphQt paints once, filled.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FRAME, FRAME_GOAL = "window: first paint (frame)", 0.45
FILLED, FILLED_GOAL = "window: filled, with an example painted", 1.0
EXAMPLE = str(ROOT / "examples" / "02_two_paths.gsg")
"""Without a file the window opens on the welcome page, which has no cards."""
ROUNDS = 7
"""Interleaved; the first round only fills the caches and is not counted."""
PEER = "NodeGraphQt==0.6.44"

OURS = """
import os, sys, tempfile, time
from gradstudio.ui.app import library_imports; library_imports.load()  # as the application does first of all
from gradstudio.ui.app import application as app; from gradstudio.ui.app.window import window_frame as main_window_frame
def said():
    heavy = [name for name in ("torch", "numpy", "pyqtgraph", "networkx") if name in sys.modules]
    print("CPU", time.process_time() * 1e3, *heavy, flush=True)
    os._exit(0)
build = main_window_frame.Frame.__init__
def built(frame, *arguments):
    build(frame, *arguments)
    frame.first_painted.connect(said)
main_window_frame.Frame.__init__ = built
app.main(["--config-dir", tempfile.mkdtemp()])
"""

OURS_FILLED = (
    f"EXAMPLE = {EXAMPLE!r}"
    + """
import os, sys, tempfile, time
from gradstudio.ui.app import library_imports; library_imports.load()  # as the application does first of all
from gradstudio.ui.app import application as app; from gradstudio.ui.app.window import window_frame as main_window_frame
def said():
    from PySide6.QtCore import QEvent, QObject
    from gradstudio.ui.canvas.view import CanvasView
    paint = CanvasView.paintEvent
    def painted(canvas, event):
        paint(canvas, event)
        if canvas.scene.graph.nodes:
            heavy = [name for name in ("torch", "numpy", "pyqtgraph", "networkx") if name in sys.modules]
            print("CPU", time.process_time() * 1e3, *heavy, flush=True)
            os._exit(0)
    CanvasView.paintEvent = painted
build = main_window_frame.Frame.__init__
def built(frame, *arguments):
    build(frame, *arguments)
    frame.first_painted.connect(said)
main_window_frame.Frame.__init__ = built
app.main([EXAMPLE, "--config-dir", tempfile.mkdtemp()])
"""
)

THEIRS = """
import os, time
from PySide6 import QtCore, QtWidgets
app = QtWidgets.QApplication([])
from NodeGraphQt import BaseNode, NodeGraph, NodesPaletteWidget, NodesTreeWidget, PropertiesBinWidget
class Basic(BaseNode):
    __identifier__ = "bench"
    NODE_NAME = "basic"
    def __init__(self):
        super().__init__()
        self.add_input("in")
        self.add_output("out")
graph = NodeGraph()
graph.register_node(Basic)
one, two = graph.create_node("bench.Basic"), graph.create_node("bench.Basic", pos=[300, 0])
one.set_output(0, two.input(0))
bins = [kind(node_graph=graph) for kind in (PropertiesBinWidget, NodesTreeWidget, NodesPaletteWidget)]
for bin in bins:
    bin.show()
painted = []
class Watch(QtCore.QObject):
    def eventFilter(self, watched, event):
        if event.type() == QtCore.QEvent.Type.Paint:
            painted.append(1)
        return False
watch = Watch()
graph.viewer().viewport().installEventFilter(watch)
graph.widget.resize(1200, 800)
graph.widget.show()
while not painted:
    app.processEvents()
app.processEvents()
print("CPU", time.process_time() * 1e3, flush=True)
os._exit(0)
"""


def measure() -> list[dict[str, object]]:
    """Two rows, ratios of medians: the frame, and the window filled with a document."""
    with tempfile.TemporaryDirectory() as folder:
        reason = install_peer(Path(folder))
        codes = [OURS, OURS_FILLED] if reason else [OURS, OURS_FILLED, THEIRS]
        rounds = [[cpu_ms(code, Path(folder)) for code in codes] for _ in range(ROUNDS + 1)]
    medians = [statistics.median(times) for times in zip(*rounds[1:], strict=True)]
    theirs = None if reason else medians[2]
    return [row(FRAME, FRAME_GOAL, medians[0], theirs, reason), row(FILLED, FILLED_GOAL, medians[1], theirs, reason)]


def row(name: str, goal: float, ours: float, theirs: float | None, reason: str) -> dict[str, object]:
    """The figure as `dev.py bench` prints it."""
    made: dict[str, object] = {"name": name, "goal": goal, "unit": "x"}
    if theirs is None:
        return made | {"measured": None, "ok": None, "compared_with": f"{ours:.0f} ms alone", "reason": reason}
    ratio = ours / theirs
    compared = f"NodeGraphQt's basic example: {ours:.0f} ms against {theirs:.0f} ms of CPU, medians of {ROUNDS}"
    return made | {"measured": ratio, "ok": ratio <= goal, "compared_with": compared}


def install_peer(folder: Path) -> str:
    """Put NodeGraphQt into a folder of its own; the reason when that cannot be done."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder / "peer")]
    packages = [PEER, "Qt.py", "setuptools", "typing_extensions"]
    done = subprocess.run([*command, *packages], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"NodeGraphQt cannot be installed: {done.stderr.strip()[-200:]}"


def cpu_ms(code: str, folder: Path) -> float:
    """User and system time of a process that runs the code, as it says itself; bytecode is cached as for any user.

    Raises:
        RuntimeError: the process did not say it, or the window imported what it must not.
    """
    environment = dict(os.environ, QT_API="pyside6", PYTHONPYCACHEPREFIX=str(folder / "cache"))
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(folder / "peer")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    words = next((line.split() for line in done.stdout.splitlines() if line.startswith("CPU ")), [])
    if len(words) != 2:
        raise RuntimeError(f"no figure: {' '.join(words)} {done.stderr.strip()[-300:]}")
    return float(words[1])
