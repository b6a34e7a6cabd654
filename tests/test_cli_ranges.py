"""What a sentence says of a value is what it was at that moment, not when it was made."""

from pathlib import Path

import pytest

from gradstudio.cli import main

TRAINED = """\
import torch

W = torch.zeros(1, requires_grad=True)
for t in range(4):
    loss = (W + 3.0).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        W -= 0.5 * W.grad
    W.grad = None
y = torch.log(W)
"""


def test_a_trained_leaf_goes_in_with_its_value_of_the_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.py"
    path.write_text(TRAINED)
    main(["run", str(path), "--problems"])
    said = capsys.readouterr().out
    assert "W is -3" in said
    assert "W is 0" not in said


@pytest.mark.parametrize(
    ("made", "step"),
    [
        ("optimizer = torch.optim.SGD([W], lr=0.5)", "    optimizer.step()"),
        ("d = W.data", "    d.copy_(d - 0.5 * W.grad)"),
        ("a = 1", "    W.data = W.data - 0.5 * W.grad"),
    ],
)
def test_so_does_a_leaf_that_no_statement_gives_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: str, step: str
) -> None:
    text = TRAINED.replace("    with torch.no_grad():\n        W -= 0.5 * W.grad", step)
    path = tmp_path / "program.py"
    path.write_text(text.replace("for t", f"{made}\nfor t"))
    main(["run", str(path), "--problems"])
    said = capsys.readouterr().out
    assert "W is -3" in said, said
    assert "W is 0" not in said
