"""Wall seconds from the command to a window that has answered a click, on a virtual X display with a window manager.

The pointer comes from outside: xdotool clicks a card as soon as the window says that it has painted one; the answer is
the picture in which the card is selected. `cold`: what the window reads was taken out of the system's cache before, as
far as no other process holds it.
"""

import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "02_two_paths.gsg"
NEEDED = ("Xvfb", "openbox", "xdotool")
ROUNDS = 5
"""The first one only fills the caches and is not counted."""
GOAL_S, COLD_GOAL_S = 1.0, 2.0

STARTED = """
import os, sys
from gradstudio.ui.app import library_imports; library_imports.load()
from gradstudio.ui.app.window import window_frame
def said():
    from PySide6.QtCore import QPoint
    from gradstudio.ui.canvas.view import CanvasView
    paint = CanvasView.paintEvent
    told = []
    def painted(canvas, event):
        paint(canvas, event)
        if canvas.attention.selection:
            print("ANSWERED", flush=True)
        elif canvas.scene.graph.nodes and not told:
            box = canvas.scene.placement.box(canvas.scene.stack.ids[0])
            x, y = canvas.camera.to_view(box.x + 40, box.y + 10)
            at = canvas.viewport().mapToGlobal(QPoint(round(x), round(y)))
            told.append(print("AT", at.x(), at.y(), flush=True))
    CanvasView.paintEvent = painted
build = window_frame.Frame.__init__
def built(frame, *arguments):
    build(frame, *arguments)
    frame.first_painted.connect(said)
window_frame.Frame.__init__ = built
from gradstudio.cli import main
sys.exit(main(sys.argv[1:]))
"""


def measure() -> list[dict[str, object]]:
    """Two rows: with warm caches, and with cold ones."""
    rows = ("window: command to answered click", GOAL_S, False), ("window: the same, cold", COLD_GOAL_S, True)
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing or sys.platform != "linux":
        reason = f"it needs Linux and {', '.join(missing or NEEDED)}"
        return [_row(name, goal, None, reason) for name, goal, _ in rows]
    with tempfile.TemporaryDirectory() as folder, _display() as display:
        _answer_s(display, Path(folder))
        return [
            _row(name, goal, [_answer_s(display, Path(folder), cold=cold) for _ in range(ROUNDS)])
            for name, goal, cold in rows
        ]


def _row(name: str, goal: float, times: list[float] | None, reason: str = "") -> dict[str, object]:
    made: dict[str, object] = {"name": name, "goal": goal, "unit": "s"}
    if times is None:
        return made | {"measured": None, "ok": None, "compared_with": "", "reason": reason}
    middle = statistics.median(times)
    compared = f"wall, median of {len(times)}, least {min(times):.2f}, load {os.getloadavg()[0]:.1f}"
    return made | {"measured": middle, "ok": middle <= goal, "compared_with": compared}


@contextmanager
def _display() -> Iterator[dict[str, str]]:
    """The environment of programs on a display of its own."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1720x1040x24", "-nolisten", "tcp"]
    silent = subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=silent, stderr=silent, pass_fds=(writing,))
    os.close(writing)
    with os.fdopen(reading) as answer:
        environment = {**os.environ, "DISPLAY": f":{answer.readline().strip()}", "QT_QPA_PLATFORM": "xcb"}
    manager = subprocess.Popen(["openbox"], env=environment, stdout=silent, stderr=silent)
    try:
        yield environment
    finally:
        for process in (manager, server):
            process.terminate()
            process.wait()


def _answer_s(display: dict[str, str], folder: Path, *, cold: bool = False) -> float:
    """From the command to the picture that answers a click.

    Raises:
        RuntimeError: the window ended before.
    """
    if cold:
        _forget_files()
    environment = {**display, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", STARTED, str(EXAMPLE), "--config-dir", tempfile.mkdtemp(dir=folder)]
    start = time.monotonic()
    with subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE) as window:
        assert window.stdout is not None
        try:
            for line in window.stdout:
                kind, *place = line.split()
                if kind == "AT":
                    subprocess.run(["xdotool", "mousemove", *place, "click", "1"], env=environment, check=True)
                if kind == "ANSWERED":
                    return time.monotonic() - start
        finally:
            window.kill()
    raise RuntimeError("the window ended before it answered")


def _forget_files() -> None:
    """Take what Python, Qt and the program read out of the system's cache."""
    folders = {ROOT / "gradstudio", ROOT / "resources", Path(sysconfig.get_path("stdlib"))}
    packages = Path(sysconfig.get_path("platlib"))
    folders |= {packages / name for name in ("PySide6", "shiboken6", "numpy", "msgspec")}
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
