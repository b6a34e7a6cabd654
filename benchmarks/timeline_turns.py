"""100,000 turns of a loop on the timeline: CPU milliseconds of each time that old turns are let go."""

import statistics
import time
from typing import Any

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.timeline.run_timeline import Timeline

TURNS, NODES = 100_000, tuple(map(ItemId, "abcd"))
GOAL_MS = 4
HEAD = 10
"""So many of the first and of the last times are compared."""


def measure() -> list[dict[str, Any]]:
    """The first times and the last ones: whether it grows."""
    timeline, times = Timeline(), list[float]()
    value = (TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2, 3))),)
    for turn in range(TURNS):
        timeline.add_rows(Row(step=turn, node=node, outputs=value, turns=(turn,)) for node in NODES)
        begun = time.thread_time()
        if timeline.trim() is not None:
            times.append((time.thread_time() - begun) * 1000)
    return [_row("first", times[:HEAD]), _row("last", times[-HEAD:])]


def _row(which: str, times: list[float]) -> dict[str, Any]:
    measured = statistics.median(times)
    return {
        "name": f"timeline: one trim, the {which} of 100,000 turns",
        "measured": round(measured, 2),
        "goal": GOAL_MS,
        "unit": "ms",
        "ok": measured <= GOAL_MS,
        "compared_with": f"CPU time, median of {HEAD}",
    }
