"""What `with gradstudio.record(FILE)` costs a step of a training: inside the step, and with the file written."""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gradstudio

PAIRS = 7
GOAL = 2.0


class Block(nn.Module):
    """A transformer's block: attention and a small network, each behind a norm."""

    def __init__(self, width: int, heads: int) -> None:
        """With so many heads."""
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        """Of `(batch, time, width)`."""
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        hidden: Tensor = self.down(F.gelu(self.up(self.norm2(x))))
        return x + hidden


def measure() -> list[dict[str, Any]]:
    """Two rows a network."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows: list[dict[str, Any]] = []
    for name, model, x, y in _networks():
        inside, whole, written_ms = _costs(model, x, y)
        compared = f"CPU time of one thread, median of {PAIRS} interleaved pairs"
        rows.append(_row(f"recorded step / step, {name}", inside, GOAL, "x", compared))
        rows.append(_row(f"recorded step with its file / step, {name}", whole, GOAL, "x", compared))
        rows.append(_row(f"writing the file, {name}", written_ms, None, "ms", "what is left of the difference"))
    return rows


def _networks() -> list[tuple[str, nn.Module, Tensor, Tensor]]:
    mlp = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    cnn = nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(64 * 64, 10)),
    )
    block = nn.Sequential(Block(128, 4), Block(128, 4), nn.Linear(128, 10))
    labels = torch.randint(0, 10, (64,))
    return [
        ("MLP 784-512-512-10, batch 64", mlp, torch.randn(64, 784), labels),
        ("CNN of two convolutions, 64 pictures 3 x 32 x 32", cnn, torch.randn(64, 3, 32, 32), labels),
        ("two transformer blocks, 8 x 64 x 128", block, torch.randn(8, 64, 128), torch.randint(0, 10, (8, 64))),
    ]


def _costs(model: nn.Module, x: Tensor, y: Tensor) -> tuple[float, float, float]:
    """Of a step inside a record against one alone, with the writing against one alone, and of the writing in ms."""
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> None:
        optimizer.zero_grad()
        out = model(x)
        F.cross_entropy(out.flatten(0, -2), y.flatten()).backward()
        optimizer.step()

    alone, inside, whole = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.gsg"
        for _ in range(PAIRS + 1):
            alone.append(_cpu_s(step))
            began = time.process_time()
            with gradstudio.record(path):
                inside.append(_cpu_s(step))
            whole.append(time.process_time() - began)
    base = statistics.median(alone[1:])
    step_s, all_s = statistics.median(inside[1:]), statistics.median(whole[1:])
    return step_s / base, all_s / base, (all_s - step_s) * 1e3


def _cpu_s(run: Callable[[], None]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def _row(name: str, measured: float, goal: float | None, unit: str, compared: str) -> dict[str, Any]:
    ok = None if goal is None else measured <= goal
    return {"name": name, "measured": measured, "goal": goal, "unit": unit, "ok": ok, "compared_with": compared}
