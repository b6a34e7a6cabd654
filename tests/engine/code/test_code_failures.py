"""An error in undrawn Python is told at its card, with the line of the file, however the run came there."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main

IN_A_FUNCTION = """import torch
import json

def load(text, *rest):
    data = json.loads(text)

    return torch.tensor(data["b"])

x = torch.ones(3)
t = load('{"a": 1}')
"""
IN_A_DEFINITION = """import torch

def load(values):
    first = torch.tensor(values[0])

    data = dict((k, v) for k, v in enumerate(values))
    found = dict((k, data[k]) for k in "b")
    return first

x = torch.ones(3)
t = load([1, 2])
"""
IN_A_DATASET = """import torch
from torch.utils.data import Dataset, DataLoader

class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return [1.0, 2.0, 3.0][i]

x = torch.zeros(1)
for batch in DataLoader(Numbers(), batch_size=2):
    x = x + batch.sum()
"""
BY_ITSELF = """import torch

x = torch.ones(2)


try:
    y = {}
    y["c"]
finally:
    z = 1
"""


@pytest.mark.parametrize("options", [[], ["--trace"]], ids=["plain", "traced"])
@pytest.mark.parametrize(
    ("text", "card", "line", "words", "bound"),
    [
        (IN_A_FUNCTION, "load", 7, "KeyError: 'b'", "x"),
        (IN_A_DEFINITION, "t/data, found", 7, "KeyError: 'b'", "x"),
        (IN_A_DATASET, "Numbers", 9, "IndexError: list index out of range", "x"),
        (BY_ITSELF, "y, z", 8, "KeyError: 'c'", "x"),
    ],
    ids=["function", "definition", "dataset", "statements"],
)
def test_it_is_told_with_its_line(
    text: str,
    card: str,
    line: int,
    words: str,
    bound: str,
    options: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "program.py"
    path.write_text(text)
    assert main(["run", "--trust", "--json", *options, str(path)]) == 1
    (report,) = map(json.loads, capsys.readouterr().out.splitlines())
    error = report["error"]
    assert error["line"] == line
    assert f"{error['type']}: {error['message']}" == words
    assert card.startswith(error["node"])
    assert bound in report["nodes"], "what ran before it has its values"
