"""A decision boundary on a card while a network learns: what it costs the training, and how often it is drawn.

In the engine, every event encoded; what the window does with the pictures is in another process, and not counted.
"""

import statistics
import time
from collections import Counter
from typing import Any

import torch

from gradstudio.engine.audit_wall import wall
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.verbs import Engine
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.charts import SIDE, BoundaryDrawn, WantedChart
from gradstudio.protocol.messages.requests import Do

PAIRS = 2
GOAL, PICTURES_A_SECOND = 1.10, 15.0
TEXT = """import torch
import torch.nn.functional as F
from torch import nn, optim

torch.manual_seed(0)
angle = torch.rand(300) * 9
x = torch.stack((angle * torch.cos(angle), angle * torch.sin(angle)), dim=1) / 9
y = (torch.arange(300) % 2).float().unsqueeze(1)
net = nn.Sequential(nn.Linear(2, {width}), nn.Tanh(), nn.Linear({width}, {width}), nn.Tanh(), nn.Linear({width}, 1))
opt = optim.Adam(net.parameters(), lr=0.01)
for t in range({steps}):
    prediction = net(x)
    loss = F.binary_cross_entropy_with_logits(prediction, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
SIZES = ((8, 2500), (64, 2000))
"""Width of both layers, and turns, so that a run takes some seconds."""


def measure() -> list[dict[str, Any]]:
    """Networks small and larger: of the larger ones the pictures are coarser while they learn."""
    torch.set_num_threads(1)
    exec(TEXT.format(width=4, steps=1), {})  # what torch loads with the first step
    wall.build()
    return [row for width, steps in SIZES for row in of_network(width, steps)]


def of_network(width: int, steps: int) -> list[dict[str, Any]]:
    """Two figures: CPU time with pictures by that without, and pictures a second of CPU time."""
    graph = read_script(TEXT.format(width=width, steps=steps)).graph
    card = next(node.id for node in graph.nodes.values() if node.names == ("prediction",))
    pictures: list[BoundaryDrawn] = []

    def send(message: Any) -> None:
        encode(message)
        if isinstance(message, BoundaryDrawn):
            pictures.append(message)

    made = Engine(send, lambda: False)
    made.load(Loaded("bench", 1, compile_graph(graph)))
    ratios, rates, sides = list[float](), list[float](), Counter[int]()
    for round_number in range(PAIRS + 1):
        alone = seconds_of_run(made, ())
        pictures.clear()
        drawn = seconds_of_run(made, ((ItemId(card), "boundary"),))
        if round_number:
            ratios.append(drawn / alone)
            live = pictures[:-1]  # the last one is drawn at the end, as fine as it can be
            rates.append(len(live) / drawn)
            sides.update(picture.side for picture in live)
    side = sides.most_common(1)[0][0] if sides else 0
    name = f"live boundary, layers of {width}, {alone / steps * 1e3:.2g} ms a step"
    compared = f"{steps} steps, median of {PAIRS} interleaved rounds, CPU time of one thread"
    cost, rate = statistics.median(ratios), statistics.median(rates)
    return [
        {
            "name": f"{name}: with / without",
            "measured": cost,
            "goal": GOAL,
            "unit": "x",
            "ok": cost <= GOAL,
            "compared_with": compared,
        },
        {
            "name": f"{name}: pictures of {side} × {side} a second",
            "measured": rate,
            "goal": PICTURES_A_SECOND if side == SIDE else None,
            "unit": "",
            "ok": rate >= 0.9 * PICTURES_A_SECOND if side == SIDE else None,
            "compared_with": f"{compared}; finer ones would cost more",
        },
    ]


def seconds_of_run(made: Engine, charts: tuple[WantedChart, ...]) -> float:
    """CPU seconds of a training from nothing with these charts."""
    begun = time.process_time()
    assert made.do(Do(verb="run", restart=True, samples_turns=True, charts=charts)).outcome == "done"
    return time.process_time() - begun
