"""The editor with 1,000 and 10,000 nodes: building, painting, gestures, memory, legality, undo.

CPU time, offscreen or on the platform that QT_QPA_PLATFORM names.
The same graph is built, loaded and painted by NodeGraphQt in turns with ours, its cycle check off: with it on, it
never ends. It is no dependency: it is put into a folder of its own, where that can be done.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.window_start import install_peer

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).parent.parent
ROUNDS = 2
LIMIT_S = 300
PARTS = ("ours", "large", "memory", "gestures", "rules", "history")
GOALS = {
    "build by API, one entry": 160,
    "a gesture that adds": None,
    "a gesture that wires": None,
    "open a file and show it": 150,
    "first full paint": 40,
    "full repaint, fit": 27,
    "full repaint, 100 %": 11,
    "drag step, fit": 4,
    "drag step, 100 %": 4,
    "wheel step, 100 %": 9,
    "new values on all nodes, 100 %": 35,
    "10,000 nodes: pan frame": 8,
    "10,000 nodes: zoom frame": 8,
    "10,000 nodes: drag frame": 8,
    "10,000 nodes: sharp fit frame": 120,
    "memory over the empty canvas": 45,
    "legality of a wire, 1,000 residual blocks": 5,
    "10,000 edits: documents that differ after undo and redo": 0,
    "10,000 edits: memory grown by undoing and redoing all again": 5,
}
UNITS = {"memory over the empty canvas": "MB", "10,000 edits: documents that differ after undo and redo": ""}


def measure() -> list[dict[str, Any]]:
    """Every part in processes of their own, in turns with the peer; medians."""
    found: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        reason = install_peer(Path(folder))
        for _ in range(ROUNDS):
            for part in PARTS[:3]:
                _gather(found, part)
            if not reason:
                _gather(theirs, "peer", Path(folder) / "peer")
    for part in PARTS[3:]:
        _gather(found, part)
    ours = {name: statistics.median(values) for name, values in found.items()}
    peer = {name: statistics.median(values) for name, values in theirs.items()}
    return [_row(name, value, peer.get(name)) for name, value in ours.items()]


def _gather(into: dict[str, list[float]], part: str, folder: Path | None = None) -> None:
    command = [sys.executable, "-m", "benchmarks._editor", part]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, filter(None, (ROOT, folder)))), QT_API="pyside6")
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            for name, value in json.loads(line).items():
                into.setdefault(name, []).append(value)
    if done.returncode and part != "peer":
        raise RuntimeError(f"{part}: {(done.stderr.strip().splitlines() or ['it failed without a word'])[-1]}")


def _row(name: str, measured: float, peer: float | None) -> dict[str, Any]:
    goal = GOALS[name]
    beside = f"NodeGraphQt {peer:,.0f}, {peer / measured:.0f} x" if peer and measured else ""
    return {
        "name": f"editor: {name}",
        "measured": round(measured, 2),
        "goal": goal,
        "unit": UNITS.get(name, "MB" if "memory" in name else "ms"),
        "ok": None if goal is None else measured <= goal,
        "compared_with": beside,
    }


if __name__ == "__main__":
    begin = time.monotonic()
    for row in measure():
        print(row)
    print(f"{time.monotonic() - begin:.0f} s")
