"""TorchLens on the same networks as `engine_trace`, side by side in one run: a ratio of CPU time.

It is no dependency of GradStudio. Install it to measure: `.venv/bin/python -m pip install torchlens==2.36`.
"""

import importlib.util
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import torch
from torch import nn

from benchmarks._networks import Network, block, leaves_by_hand, mlp, toy
from benchmarks.engine_trace import by_hand, ratio, traced

PAIRS = 5
MISSING = "torchlens is not installed; see the head of benchmarks/engine_peers.py"


def measure() -> list[dict[str, Any]]:
    """For each network ours and TorchLens's ratio to the same written by hand."""
    networks = [("MLP 784-512-512-10", mlp(), 3), ("transformer block", block(), 1), ("eleven operators", toy(), 30)]
    if importlib.util.find_spec("torchlens") is None:
        return [_row(f"TorchLens / by hand, {title}", None, MISSING) for title, *_ in networks]
    torch.set_num_threads(1)
    rows = []
    for title, network, inner in networks:
        rows.append(
            _row(
                f"GradStudio with statistics / by hand, {title}", ratio(traced(network), by_hand(network), inner, PAIRS)
            )
        )
        rows.append(_row(f"TorchLens / by hand, {title}", ratio(logged(network), by_hand(network), 1, PAIRS)))
    return rows


class Whole(nn.Module):
    """A network whose leaves that require grad are its parameters."""

    def __init__(self, network: Network) -> None:
        """Take its leaves; the first is the input."""
        super().__init__()
        self.function = network[2]
        self.leaves = leaves_by_hand(network)
        self.weights = nn.ParameterList([leaf.detach() for leaf in self.leaves[1:] if leaf.requires_grad])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The loss."""
        weights = iter(self.weights)
        return self.function(x, *[next(weights) if leaf.requires_grad else leaf for leaf in self.leaves[1:]])


def logged(network: Network) -> Callable[[], None]:
    """Forward logged with every activation and gradient, then the backward."""
    import torchlens

    model = Whole(network)
    options = torchlens.options.CaptureOptions(layers_to_save="all", save_grads="all", backward_ready=True)
    x = model.leaves[0].detach().requires_grad_(model.leaves[0].requires_grad)

    def run() -> None:
        model.zero_grad()
        with redirect_stdout(io.StringIO()):
            trace = torchlens.trace(model, x, capture=options)
            trace.log_backward(trace[trace.output_layers[0]].out)

    return run


def _row(name: str, measured: float | None, reason: str = "") -> dict[str, Any]:
    compared = f"CPU time of one thread, median of {PAIRS} interleaved pairs"
    return {
        "name": name, "measured": measured, "goal": None, "unit": "x", "ok": None, "compared_with": compared, "reason": reason,  # noqa: E501
    }  # fmt: skip
