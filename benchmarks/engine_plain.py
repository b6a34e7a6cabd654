"""A plain run of a compiled program, from nothing, against the same PyTorch written by hand.

Both make the leaves, run forward and backward; the engine also says what it did.
"""

from collections.abc import Callable
from typing import Any

import torch

from benchmarks._networks import Network, leaves_by_hand, mlp, program
from benchmarks.engine_trace import PAIRS, ratio
from gradstudio.engine.audit_wall import wall
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.verbs import Engine
from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.requests import Do

GOAL = 1.08


def measure() -> list[dict[str, Any]]:
    """One row, for the MLP."""
    torch.set_num_threads(1)
    measured = ratio(plain(mlp()), by_hand(mlp()), 3)
    name = "plain run / PyTorch by hand, MLP 784-512-512-10"
    compared = f"CPU time of one thread, median of {PAIRS} interleaved pairs"
    return [
        {
            "name": name,
            "measured": measured,
            "goal": GOAL,
            "unit": "x",
            "ok": measured <= GOAL,
            "compared_with": compared,
        }
    ]


def plain(network: Network) -> Callable[[], None]:
    """Run without a trace, as the command line does; behind the wall, as every engine is."""
    wall.build()
    engine = Engine(lambda message: encode(message) and None, lambda: False)
    compiled = program(network)
    engine.load(Loaded("bench", 1, compiled))

    def run() -> None:
        assert engine.do(Do(verb="run", trace=False)).outcome == "done"

    return run


def by_hand(network: Network) -> Callable[[], None]:
    """The same as a person writes it, leaves included."""

    def run() -> None:
        torch.manual_seed(0)
        network[2](*leaves_by_hand(network)).backward()

    return run
