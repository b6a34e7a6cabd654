"""What was learnt where the watched figure was best is kept, whichever turn that was, as torch would save it there."""

import io
import math

import pytest
import torch
from safetensors.torch import load as load_bytes

from gradstudio.engine.turns import sampled_loop
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.progress import CheckpointKept
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench

HEAD = """import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(24, 4)
t = torch.randint(0, 3, (24,))
x_val = torch.randn(12, 4)
t_val = torch.randint(0, 3, (12,))
net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Dropout(0.2), nn.Linear(16, 3))
opt = optim.Adam(net.parameters(), lr=0.05)
"""
STEP = """
    net.train()
    opt.zero_grad()
    loss = F.cross_entropy(net(x), t)
    loss.backward()
    opt.step()
"""
BATCHES = """
    net.train()
    for rows in torch.arange(24).split(8):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[rows]), t[rows])
        loss.backward()
        opt.step()
"""
TEST = """
    net.eval()
    with torch.no_grad():
        scores = net(x_val)
        val_loss = F.cross_entropy(scores, t_val)
        accuracy = (scores.argmax(1) == t_val).float().mean()
"""
TURNS = {"recorded whole": ("range(20)", STEP), "by sample": ("range(150)", STEP), "epochs": ("range(12)", BATCHES)}


def sent(bench: Bench, text: str, most_bytes: int = 1 << 24) -> list[CheckpointKept]:
    bench.load(compile_graph(read_script(text).graph))
    assert bench.engine.do(Do(verb="run", samples_turns=True, keeps_bytes=most_bytes)).outcome == "done"
    return [event for event in bench.events if isinstance(event, CheckpointKept) and event.figure]


def oracle(text: str, figure: str, *, rises: bool) -> tuple[int, float, dict[str, torch.Tensor]]:
    """Plain torch, saving where the figure is better than ever before."""
    saves = f"    keep({figure}.item(), net)\n"
    best, turn = -math.inf if rises else math.inf, 0
    kept, number = io.BytesIO(), 0

    def keep(value: float, net: torch.nn.Module) -> None:
        nonlocal best, turn, kept, number
        number += 1
        if value > best if rises else value < best:
            best, turn, kept = value, number, io.BytesIO()
            torch.save(net.state_dict(), kept)

    exec(text + saves, {"keep": keep})
    kept.seek(0)
    return turn, best, torch.load(kept)


@pytest.mark.parametrize("figure", ["val_loss", "accuracy"])
@pytest.mark.parametrize("turns", TURNS)
def test_the_best_is_what_plain_torch_saves_there(bench: Bench, turns: str, figure: str) -> None:
    numbers, step = TURNS[turns]
    text = f"{HEAD}for turn in {numbers}:{step}{TEST}".replace("val_loss", "val_loss" if figure == "val_loss" else "z")
    *_, newest = sent(bench, text)
    turn, best, state = oracle(text, figure, rises=figure == "accuracy")
    assert (newest.figure, newest.turns, newest.value, newest.rises) == (figure, turn, best, figure == "accuracy")
    assert turn < int(numbers[6:-1]), "the end is not the best, or this says nothing"
    tensors = load_bytes(newest.data)
    assert all(torch.equal(tensors[f"state.net.{name}"], value) for name, value in state.items())


def test_it_is_sent_now_and_then_and_the_last_at_the_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEAD}for turn in range(40):{STEP}{TEST}"
    assert len(sent(bench, text)) == 1
    monkeypatch.setattr("gradstudio.engine.turns.checkpoints.best_checkpoint.EVERY_S", 0.0)
    values = [one.value for one in sent(Bench(), text)]
    assert len(values) > 1 and values == sorted(values, reverse=True)


def test_a_loss_that_is_learnt_from_is_not_watched_and_nothing_is_made_of_what_is_too_large(bench: Bench) -> None:
    assert sent(bench, f"{HEAD}for turn in range(20):{STEP}") == []
    assert sent(Bench(), f"{HEAD}for turn in range(20):{STEP}{TEST}", most_bytes=100) == []
    assert sent(Bench(), f"{HEAD}for turn in range(20):{STEP}{TEST}", most_bytes=0) == []


@pytest.fixture(autouse=True)
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples in between come by the clock: none does."""
    monkeypatch.setattr(sampled_loop, "TELL_S", 1e9)
