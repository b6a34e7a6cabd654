"""Opening a file of 1,000 nodes and 2,000 wires: CPU milliseconds from bytes to graph."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._graphs import random_dag
from gradstudio.document.file import load, save


def measure() -> list[dict[str, Any]]:
    """The median of nine loads, the catalogue loaded before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.gsg"
        save(random_dag(1000), path)
        load(path)
        times = []
        for _ in range(9):
            start = time.process_time()
            load(path)
            times.append((time.process_time() - start) * 1000)
    measured = statistics.median(times)
    return [
        {
            "name": "open a file, 1,000 nodes / 2,000 wires",
            "measured": measured,
            "goal": 300,
            "unit": "ms",
            "ok": measured <= 300,
            "compared_with": "CPU time, median of 9",
        }
    ]
