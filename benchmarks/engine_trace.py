"""A traced pass, forward and backward, against the same PyTorch written by hand: a ratio of CPU time.

Values, the gradient of every intermediate, incoming and outgoing gradients of every autograd node and
along every wire, put into frames: all that a window would receive. "References": without statistics,
each tensor told by dtype and shape and held so that its numbers can follow; that they follow when the engine
is idle is not counted. "Statistics": with
min, max, mean, RMS, exact values and previews of all of them. "50 in view": with those of 50 nodes.
"""

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks._networks import Network, block, chain, leaves_by_hand, mlp, program, toy
from gradstudio.engine.audit_wall import wall
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.verbs import Engine
from gradstudio.graph.model import ItemId
from gradstudio.protocol.framing import frame_parts
from gradstudio.protocol.messages.requests import Do

PAIRS = 15
IN_VIEW = 50
COMPARED = f"CPU time of one thread, median of {PAIRS} interleaved pairs"


def measure() -> list[dict[str, Any]]:
    """A row for each network, with and without statistics."""
    torch.set_num_threads(1)
    networks = [
        ("MLP 784-512-512-10", mlp(), 3, 1.3, 1.5),
        ("transformer block", block(), 1, 1.5, 2.0),
        ("eleven operators on 4 x 3", toy(), 30, 2.0, 4.0),
        ("chain of 1,000 operators on 64 x 32", chain(), 1, None, 4.0),
    ]
    rows = []
    for title, network, inner, bare, full in networks:
        if bare is not None:
            rows.append(row(f"references / by hand, {title}", network, inner, bare, "visible", 0))
        rows.append(row(f"statistics / by hand, {title}", network, inner, full, "all", 0))
    in_view = row(f"{IN_VIEW} in view / by hand, {networks[-1][0]}", chain(), 1, 1.4, "visible", IN_VIEW)
    return [*rows, in_view]


def row(name: str, network: Network, inner: int, goal: float, summaries: Any, in_view: int) -> dict[str, Any]:
    """The median of interleaved pairs."""
    measured = ratio(traced(network, summaries, in_view), by_hand(network), inner)
    return {
        "name": name, "measured": measured, "goal": goal, "unit": "x", "ok": measured <= goal, "compared_with": COMPARED,  # noqa: E501
    }  # fmt: skip


def traced(network: Network, summaries: Any = "all", in_view: int = 0) -> Callable[[], None]:
    """A pass by the engine: Forward and Backward, every event encoded."""
    engine, leaves = prepared(network)
    visible = tuple(ItemId(f"n{place}") for place in range(in_view))

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        engine.runner.let_go()
        engine.do(Do(verb="forward", summaries=summaries, visible=visible))
        assert engine.do(Do(verb="backward", summaries=summaries, visible=visible)).outcome == "done"

    return run


def prepared(network: Network) -> tuple[Engine, list[torch.Tensor]]:
    """An engine that has run the network once, and its leaves; behind the wall, as every engine is."""
    wall.build()
    engine = Engine(lambda message: frame_parts(message) and None, lambda: False)
    compiled = program(network)
    engine.load(Loaded("bench", 1, compiled))
    assert engine.do(Do(verb="run")).outcome == "done"
    assert engine.live is not None
    return engine, [engine.live.namespace[name] for name, _ in network[0]]


def by_hand(network: Network) -> Callable[[], None]:
    """The same pass as a person writes it."""
    leaves, function = leaves_by_hand(network), network[2]

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        function(*leaves).backward()

    return run


def ratio(ours: Callable[[], None], theirs: Callable[[], None], inner: int, pairs: int = PAIRS) -> float:
    """Median of ours / theirs over interleaved pairs, each first in every other one."""
    ours()
    theirs()
    gc.collect()
    gc.disable()
    ratios = []
    for pair in range(pairs):
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
