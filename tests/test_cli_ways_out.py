"""Ways out that the command line offers of a run: those of the cause alone, by the names of the program."""

import pytest

from gradstudio.cli import main

UNPACKED = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
for features, prices in [(torch.randn(4, 3), torch.randn(4))]:
    loss = nn.functional.mse_loss(model(features), prices)
    loss.backward()
"""
CARRIED = """
import argparse
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4)
        self.head = nn.Linear(4, 1)

    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return self.head(out), hidden


def train(model, x, y, args):
    hidden = (torch.zeros(1, args.batch, 4), torch.zeros(1, args.batch, 4))
    for i in range(6):
        model.zero_grad()
        out, hidden = model(x[i], hidden)
        loss = ((out - y[i]) ** 2).mean()
        loss.backward()


parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=2)
train(Model(), torch.randn(6, 5, 2, 3), torch.randn(6, 5, 2, 1), parser.parse_args([]))
"""
FROZEN = """
import torch
from torch import nn


class EMA:
    def __init__(self, model):
        self.shadow = model
        for p in self.shadow.parameters():
            p.requires_grad_(False)


def train(model, loader):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        total += loss.item()
    return total


model = nn.Linear(3, 1)
ema = EMA(model)
train(model, [(torch.randn(4, 3), torch.randn(4, 1)), (torch.randn(4, 3), torch.randn(4, 1))])
"""


def told_of(capsys: pytest.CaptureFixture[str], path, text: str) -> str:
    """What is said of a run."""
    path.write_text(text)
    main(["run", str(path), "--trust", "--problems"])
    return capsys.readouterr().out


def test_of_several_names_that_one_statement_binds_a_way_out_names_the_one_that_is_meant(capsys, tmp_path) -> None:
    assert "→ Give prices the input's shape (reshape(4, 1))" in told_of(capsys, tmp_path / "p.py", UNPACKED)


def test_a_state_that_is_carried_with_its_graph_is_not_kept_by_retain_graph(capsys, tmp_path) -> None:
    told = told_of(capsys, tmp_path / "p.py", CARRIED)
    assert "hidden brings its graph along from turn to turn" in told
    assert "→ Carry its detach() into the next turn" in told and "(retain_graph=True)" not in told


def test_what_a_loop_carries_beside_the_loss_does_not_cut_it(capsys, tmp_path) -> None:
    told = told_of(capsys, tmp_path / "p.py", FROZEN)
    assert "Nothing that loss was computed from requires grad" in told
    assert "`p.requires_grad_(False)` freezes parameters" in told
    assert "Take item away" not in told and "loss.item()" not in told
