"""Text both ways, 1,000 statements: CPU milliseconds to read them, to export, and to take up a changed line."""

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
OPEN_MS = 1000
STATEMENTS = 1000
Row = dict[str, Any]


def measure() -> list[Row]:
    """Medians of nine; every time another graph, so that nothing is known of it."""
    plain, nested = residual(nested=False), residual(nested=True)
    return [
        *(_export(text) for text in (plain, nested)),
        *(_merge(text) for text in (plain, nested)),
        _open(script_with_code()),
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


def script_with_code() -> str:
    """A script as people write them, 1,000 lines: half of its lines are nothing that a canvas draws."""
    parts = (STATEMENTS - _HEAD.count("\n")) // _PART.count("\n")
    return _HEAD + "".join(_PART.replace("_K", f"_{k}") for k in range(parts))


_HEAD = """\
import argparse
import time
import torch
from torch import nn

parser = argparse.ArgumentParser()
"""
_PART = """
parser.add_argument("--lr_K", default=0.1, type=float)
args_K = parser.parse_args([])

class Meter_K:
    def __init__(self, name):
        self.name, self.total = name, 0

    def update(self, value):
        self.total += value

class Net_K(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))

def train_K(model, optimizer, meter, epochs):
    for epoch in range(epochs):
        start = time.time()
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(time.time() - start)

net_K = Net_K()
opt_K = torch.optim.SGD(net_K.parameters(), lr=0.1)
train_K(net_K, opt_K, Meter_K("time"), 2)
x_K = torch.randn(8, 4)
for epoch in range(3):
    loss_K = net_K(x_K).pow(2).mean()
    loss_K.backward()
    opt_K.step()
    if epoch % 2 == 0:
        print(f"{epoch}: {loss_K.item():.4f}")
torch.save(net_K.state_dict(), "net.pt")
"""


def _open(text: str) -> Row:
    times = [_took(lambda k=k: read_script(f"{text}# {k}\n", keeps_code=True)) for k in range(5)]
    row = _row("open", text, read_script(text, keeps_code=True).graph, statistics.median(times), OPEN_MS)
    count = text.count("\n")
    return {**row, "name": f"open {count:,} lines, part of them code", "compared_with": "CPU time, median of 5"}


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
