"""The names in the JSON of a run are those of the program, as Python has them at its end."""

import json
import runpy
from pathlib import Path
from types import ModuleType

import pytest

from gradstudio.cli import main

TEXT = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(2, width)

    def forward(self, x):
        return self.fc(x)


def unused(a):
    inner = a + 1
    return inner


def count():
    global total
    total = 3


class Meter:
    rate = 0.5


torch.manual_seed(0)
net = Net(3)
size = sum(p.numel() for p in net.parameters())
squares = [k * k for k in range(3)]
for i, (a, b) in enumerate(zip(squares, squares)):
    last = a + b
x = torch.ones(2)
x = net(x)
x.sum().backward()
count()
f = lambda z: z * 2
y, _ = torch.ones(2, 2).max(1)
print(size)
"""


@pytest.mark.parametrize("options", [[], ["--trace"]], ids=["plain", "traced"])
def test_they_are_pythons(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text(TEXT)
    assert main(["run", "--trust", "--json", *options, str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    found = runpy.run_path(str(path), run_name="__main__")
    wanted = {name for name, value in found.items() if not name.startswith("__") and not isinstance(value, ModuleType)}
    assert set(told["nodes"]) - {"torch", "nn"} == wanted
    assert told["nodes"]["Net"]["outputs"][0]["class"] == "type"
    assert told["nodes"]["unused"]["outputs"][0]["class"] == "function"
    assert told["nodes"]["size"]["outputs"][0]["value"] == found["size"]
    assert "backward_1" in told["statements"]
    assert told["nodes"].keys().isdisjoint(told["statements"])
