"""A recorded backward against a plain one on the same kind of graph: a ratio of CPU time.

Recorded: walked, hooked, run, its autograd nodes, wires and gradients outlined or summarised.
"""

import gc
import statistics
import time
from typing import Any

import torch

from benchmarks._networks import Network, block, leaves_by_hand, mlp
from benchmarks.engine_trace import COMPARED, PAIRS, prepared
from gradstudio.engine.backward.backward_recording import Recording
from gradstudio.engine.verbs import Engine
from gradstudio.protocol.messages.requests import Do

GOAL = 1.5


def measure() -> list[dict[str, Any]]:
    """The MLP and the block, with gradients as references and with their statistics."""
    torch.set_num_threads(1)
    networks = [("MLP 784-512-512-10", mlp()), ("transformer block", block())]
    return [row(title, network, only) for title, network in networks for only in (True, False)]


def row(title: str, network: Network, references: bool) -> dict[str, Any]:
    """The median of interleaved pairs."""
    measured = ratio(network, references)
    name = f"recorded backward{'' if references else ' with statistics'} / plain, {title}"
    return {
        "name": name, "measured": measured, "goal": GOAL, "unit": "x", "ok": measured <= GOAL, "compared_with": COMPARED,  # noqa: E501
    }  # fmt: skip


def ratio(network: Network, references: bool) -> float:
    """Forward outside the clock, backward inside."""
    engine, leaves = prepared(network)
    ratios = []
    gc.collect()
    gc.disable()
    for pair in range(PAIRS + 1):
        times = {}
        for kind in ("recorded", "plain") if pair % 2 else ("plain", "recorded"):
            times[kind] = recorded(engine, leaves, references) if kind == "recorded" else plain(network)
        ratios.append(times["recorded"] / times["plain"])
        gc.collect()
    gc.enable()
    return statistics.median(ratios[1:])


def recorded(engine: Engine, leaves: list[torch.Tensor], references: bool) -> float:
    """Seconds of a backward under a `Recording`."""
    engine.do(Do(verb="forward"))
    live = engine.live
    assert live is not None
    for leaf in leaves:
        leaf.grad = None
    live.gradients.visible = frozenset() if references else None
    loss = live.namespace["loss"]
    start = time.thread_time()
    with Recording(live.gradients, [loss], 1):
        loss.backward()
    return time.thread_time() - start


def plain(network: Network) -> float:
    """Seconds of torch's own."""
    loss = network[2](*leaves_by_hand(network))
    start = time.thread_time()
    loss.backward()
    return time.thread_time() - start
