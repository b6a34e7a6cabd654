"""The command line tells what is inside calls of groups."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main

pytestmark = pytest.mark.feature(40)

TEXT = """import torch


def scale(a, k=2.0):
    b = a * k
    return b @ {b}


w = torch.ones(2, 3, requires_grad=True)
y = scale(w)
y.sum().backward()
"""


@pytest.mark.parametrize("flags", [[], ["--trace"]])
def test_an_error_inside_a_group_has_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    path = tmp_path / "one.py"
    path.write_text(TEXT.replace("{b}", "b"))
    assert main(["run", str(path), "--json", *flags]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["node"], error["line"], error["type"]) == ("y/matmul_1", 6, "RuntimeError")


def test_a_trace_lists_what_is_inside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.py"
    path.write_text(TEXT.replace("{b}", "b.T"))
    assert main(["run", str(path), "--json", "--trace"]) == 0
    report = json.loads(capsys.readouterr().out)
    forward = [row["node"] for row in report["trace"] if "step" in row]
    assert forward == ["w", "y/@inputs", "y/b", "y/T_1", "y/matmul_1", "y", "sum_1", "backward_1"]
    inner = next(row for row in report["trace"] if row["node"] == "y/b")
    assert inner["outputs"][0]["value"] == [[2.0] * 3] * 2
    assert "y/b" in [row["node"] for row in report["trace"] if row.get("autograd") == "MulBackward0"]


SPACED = """import torch
from torch import nn
# a class, and much room



class Net(nn.Module):

    def __init__(self, width):
        super().__init__()

        # its only layer
        self.fc = nn.Linear(width, width)

    def forward(self, x):


        h = self.fc(x)

        print(h.shape)
        z = h @ torch.ones(
            7)
        return z


net = Net(2)
y = net(torch.ones(1, 2))
"""


@pytest.mark.parametrize("flags", [[], ["--trace"]])
def test_lines_inside_a_group_are_those_of_the_text_that_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    path = tmp_path / "one.py"
    path.write_text(SPACED)
    assert main(["run", str(path), "--json", *flags]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["error"]["node"], report["error"]["line"]) == ("y/z", 21)
    assert [one["line"] for one in report["printed"]] == [20]
    path.write_text(SPACED.replace("nn.Linear(width, width)", "nn.Linear(width, 'two')"))
    assert main(["run", str(path), "--json", *flags]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["line"] == 13
