"""What reading a text that is kept as code may cost, in calls: few passes, and no more a line in a long text."""

import ast
import sys
from collections import Counter
from functools import cache
from types import CodeType, FrameType

import pytest

from gradstudio.graph.groups.definitions import all_ids
from gradstudio.program.reading.desugar.rewriter import desugar
from gradstudio.program.reading.reader import read_script
from gradstudio.program.reading.syntax_queries import walk

PASSES = 3
"""One to hear what is refused, one to see what that leaves in doubt, and the last."""
WALKS = 16
"""How often each part of a text is looked at by walks through all of something, in all passes together."""
HEAD = """\
import argparse
import time
import torch
from torch import nn

parser = argparse.ArgumentParser()
"""
PART = """
parser.add_argument("--lr_K", default=0.1, type=float)
args_K = parser.parse_args([])
device_K = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net_K = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device_K)
opt_K = torch.optim.SGD(net_K.parameters(), lr=args_K.lr_K)
seen_K = {name: [] for name in ("loss", "acc")}

for epoch in range(3):
    start_K = time.time()
    loss_K = net_K(torch.randn(8, 4)).pow(2).mean()
    loss_K.backward()
    opt_K.stepp()
    seen_K["loss"].append(loss_K.item())
torch.save(net_K.state_dict(), "m.pt")
halff_K = torch.reluu(loss_K)


def report_K(values, *rest):
    total = sum(values)
    return [one / total for one in values]


class Meter_K:
    def __init__(self):
        self.total = 0

    def update(self, value):
        self.total += value
"""


def text_of(parts: int) -> str:
    return HEAD + "".join(PART.replace("_K", f"_{k}") for k in range(parts))


@cache
def calls_of(text: str) -> Counter[CodeType]:
    """How often each function of Python is called while the text is read."""
    found: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found[frame.f_code] += 1

    sys.setprofile(count)
    try:
        read_script(text, keeps_code=True)
    finally:
        sys.setprofile(None)
    return found


@pytest.fixture(scope="module", autouse=True)
def _what_is_built_once() -> None:
    read_script(text_of(1), keeps_code=True)


def test_a_text_is_read_a_few_times() -> None:
    assert calls_of(text_of(2))[desugar.__code__] <= PASSES
    assert calls_of(text_of(16))[desugar.__code__] <= PASSES


def test_a_text_four_times_as_long_takes_four_times_the_calls() -> None:
    short, long = (calls_of(text_of(parts)).total() for parts in (4, 16))
    assert long < 4.5 * short


def test_no_part_of_a_text_is_looked_at_again_and_again() -> None:
    text = text_of(4)
    assert calls_of(text)[walk.__code__] < WALKS * sum(1 for _ in ast.walk(ast.parse(text)))


def test_where_code_may_do_anything_a_text_is_read_once_and_each_stretch_of_it_once() -> None:
    assert calls_of("exec('n = 2')\nn = 3\n")[desugar.__code__] == 1
    assert calls_of("import torch\nexec('n = 2')\nx = torch.ones(2)\ny = torch.relu(x)\n")[desugar.__code__] == 2


def test_functions_in_code_without_torch_are_looked_at_no_further() -> None:
    drawn = "def scored(values, *rest):\n    print(rest)\n    return torch.tanh(values)\n"
    assert calls_of(text_of(2))[all_ids.__code__] == 0
    assert calls_of(text_of(2) + drawn)[all_ids.__code__] == 1
