"""Text both ways, 1,000 statements: CPU milliseconds to export them, and to take up a changed line of their text."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from gradstudio.document.python.merge_edits import merge
from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import Graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code, write_script

EXPORT_MS = 50
STATEMENTS = 1000
Row = dict[str, Any]


def measure() -> list[Row]:
    """Medians of nine; every time another graph, so that nothing is known of it."""
    plain, nested = residual(nested=False), residual(nested=True)
    return [
        *(_export(text) for text in (plain, nested)),
        *(_merge(text) for text in (plain, nested)),
    ]


def residual(nested: bool) -> str:
    """A residual net as a text of 1,000 statements: one operator each, or three within one another."""
    lines = ["import torch", "import torch.nn.functional as F", "", "x0 = torch.randn(4, 8)"]
    for k in range((STATEMENTS - 1) // (2 if nested else 3)):
        if nested:
            lines.append(f"w{k} = torch.randn(8, 8, requires_grad=True)")
            lines.append(f"x{k + 1} = F.relu(x{k} @ w{k}) + x{k}")
        else:
            lines += [f"h{k} = x{k} * 0.5", f"r{k} = F.relu(h{k})", f"x{k + 1} = r{k} + x{k}"]
    return "\n".join(lines) + "\n"


def _export(text: str) -> Row:
    times = [_took(write_script, graph) for graph in [read_script(text).graph for _ in range(9)]]
    return _row("export", text, read_script(text).graph, statistics.median(times), EXPORT_MS)


def _merge(text: str) -> Row:
    """From a text with one number changed to the edits of the canvas; what was printed is known, as in the window."""
    graph, times = read_python(text).graph, []
    code = write_code(graph)[0]
    at = code.index("x250")
    for k in range(9):
        line_end = code.index("\n", at)
        edited = f"{code[:line_end]} + {k}{code[line_end:]}"
        times.append(_took(lambda edited=edited: merge(graph, edited)))
    return _row("a changed line to edits", text, graph, statistics.median(times), None)


def _took(work: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)
    return (time.process_time() - start) * 1000


def _row(name: str, text: str, graph: Graph, measured: float, goal: int | None) -> Row:
    count = sum(bool(line) and not line.startswith("import") for line in text.split("\n"))
    ok = None if goal is None else measured <= goal
    compared = "CPU time, median of 9"
    title = f"{name}, {count:,} statements of {len(graph.nodes):,} nodes"
    return {"name": title, "measured": measured, "goal": goal, "unit": "ms", "ok": ok, "compared_with": compared}
