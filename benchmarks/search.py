"""Finding an operator: milliseconds to load the catalogue, to build the index, and for a keystroke of many queries."""

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from gradstudio.operators.catalogue.loader import load

QUERIES = Path(__file__).parent.parent / "tests" / "operators" / "search_queries.txt"
KEYSTROKE_MS, LOAD_MS = 15, 50
PREFERRED = ("torch.matmul", "torch.nn.functional.relu", "operator.add")
LOAD = """
import time
from gradstudio.operators.catalogue import loader as catalogue
start = time.perf_counter()
catalogue.load()
print((time.perf_counter() - start) * 1000)
"""


def measure() -> list[dict[str, Any]]:
    """Loads are of fresh processes; keystrokes are all beginnings of all queries."""
    loads = [float(subprocess.check_output([sys.executable, "-c", LOAD])) for _ in range(9)]
    catalogue = load()
    start = time.process_time()
    index = catalogue.index
    built = (time.process_time() - start) * 1000
    times = []
    for typed in beginnings():
        start = time.process_time()
        if not index.find(typed, preferred=PREFERRED):
            index.nearest(typed)
        times.append((time.process_time() - start) * 1000)
    times.sort()
    rows, asked = f"{len(catalogue)} rows", f"{len(times)} keystrokes over {len(catalogue)} rows, CPU time"
    return [
        row("load the catalogue, fresh process", statistics.median(loads), LOAD_MS, f"median of 9, {rows}"),
        row("build the search index, once, after the first paint", built, None, rows),
        row("search, a keystroke: the slowest", times[-1], KEYSTROKE_MS, asked),
        row("search, a keystroke: 99 of 100", times[len(times) * 99 // 100], KEYSTROKE_MS, asked),
    ]


def beginnings() -> list[str]:
    """What stands in the field after each keystroke of each query."""
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    typed = [line.rpartition(" = ")[0] for line in lines if line and not line.startswith("# ")]
    return [query[:length] for query in typed for length in range(1, len(query) + 1)]


def row(name: str, measured: float, goal: int | None, compared: str) -> dict[str, Any]:
    """One figure in milliseconds."""
    ok = None if goal is None else measured <= goal
    return {"name": name, "measured": measured, "goal": goal, "unit": "ms", "ok": ok, "compared_with": compared}
