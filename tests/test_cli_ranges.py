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
