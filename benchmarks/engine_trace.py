"""A traced pass, forward and backward, against the same PyTorch written by hand: a ratio of CPU time.

Values, the gradient of every intermediate, incoming and outgoing gradients of every autograd node,
their statistics and previews, put into frames: all that a window would receive.
"""

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks._networks import Network, block, leaves_by_hand, mlp, program
from gradstudio.engine.live import Loaded
from gradstudio.engine.source import prepare
from gradstudio.engine.verbs import Engine
from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages import Do

GOAL = 2.0
PAIRS = 15


def measure() -> list[dict[str, Any]]:
    """One row for the MLP and one for the transformer block."""
    torch.set_num_threads(1)
    return [
        row("traced run / PyTorch by hand, MLP 784-512-512-10", mlp(), 3),
        row("traced run / PyTorch by hand, transformer block", block(), 1),
    ]


def row(name: str, network: Network, inner: int) -> dict[str, Any]:
    """The median of interleaved pairs."""
    measured = ratio(traced(network), by_hand(network), inner)
    compared = f"CPU time of one thread, median of {PAIRS} interleaved pairs"
    return {
        "name": name, "measured": measured, "goal": GOAL, "unit": "x", "ok": measured <= GOAL, "compared_with": compared,  # noqa: E501
    }  # fmt: skip


def traced(network: Network) -> Callable[[], None]:
    """A pass by the engine: Forward and Backward, every event encoded."""
    engine = Engine(lambda message: encode(message) and None, lambda: False)
    compiled = program(network)
    engine.load(Loaded("bench", 1, compiled, prepare(compiled)))
    assert engine.do(Do(verb="run")).outcome == "done"

    def run() -> None:
        engine.do(Do(verb="zero_grad"))
        engine.do(Do(verb="forward"))
        assert engine.do(Do(verb="backward")).outcome == "done"

    return run


def by_hand(network: Network) -> Callable[[], None]:
    """The same pass as a person writes it."""
    leaves, function = leaves_by_hand(network), network[2]

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        function(*leaves).backward()

    return run


def ratio(ours: Callable[[], None], theirs: Callable[[], None], inner: int) -> float:
    """Median of ours / theirs over interleaved pairs, each first in every other one."""
    ours()
    theirs()
    gc.collect()
    gc.disable()
    ratios = []
    for pair in range(PAIRS):
        order = (ours, theirs) if pair % 2 else (theirs, ours)
        times = {function: cpu_time(function, inner) for function in order}
        ratios.append(times[ours] / times[theirs])
        gc.collect()
    gc.enable()
    return statistics.median(ratios)


def cpu_time(function: Callable[[], None], inner: int) -> float:
    """Seconds of this thread for `inner` calls."""
    start = time.thread_time()
    for _ in range(inner):
        function()
    return time.thread_time() - start
