"""Files and loaders of data behind the walls: what computes is let through, and nothing else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gradstudio.cli import main
from gradstudio.engine import access
from gradstudio.engine.errors import AccessRefused

NAMES = {"torch": torch, "nn": nn, "np": np}
HEAD = "import torch\nx = torch.arange(6)\nd = torch.utils.data.TensorDataset(x)\n"


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = dict(NAMES)
    access.execute(access.statements(HEAD + text), names)
    return names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("torch.save(x, 'canary')\n", "reaches files"),
        ("torch.load('canary')\n", "reaches files"),
        ("torch.load('canary', weights_only=False)\n", "reaches files"),
        ("f = torch.save\n", "reaches files"),
        ("q = torch.utils.data.DataLoader(d, num_workers=2)\n", "processes"),
        ("q = torch.utils.data.DataLoader(d, 1, None, None, None, 2)\n", "processes"),
        ("q = torch.utils.data.DataLoader(d, num_workers=x[1])\n", "processes"),
        ("q = torch.utils.data.DataLoader(d, num_workers=True)\n", "processes"),
        ("q = torch.utils.data.DataLoader(d)\nq.num_workers = 2\n", "may write"),
        ("q = torch.utils.data.DataLoader(d, collate_fn=torch.stack)\n", "is called"),
        ("q = torch.utils.data.DataLoader(d)\nw = q.worker_init_fn\n", "may use"),
        ("q = torch.utils.data.DataLoader(d)\nw = q.collate_fn\n", "may use"),
        ("q = d.tensors\nw = d.__getitem__\n", "may use"),
    ],
)  # fmt: skip
def test_what_reaches_farther_is_refused(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AccessRefused, match=words):
        run(text)
    assert not (tmp_path / "canary").exists()


def test_a_loader_without_workers_gives_its_batches() -> None:
    names = run("q = torch.utils.data.DataLoader(d, batch_size=4, num_workers=0)\nb = list(q)\nn = q.batch_size\n")
    assert [[one.tolist() for one in batch] for batch in names["b"]] == [[[0, 1, 2, 3]], [[4, 5]]]
    assert names["n"] == 4


@pytest.mark.parametrize(
    "line",
    [
        "torch.save(x, 'canary')",
        "y = torch.load('canary')",
        "q = torch.utils.data.DataLoader(d, num_workers=1)",
        "for (z,) in torch.utils.data.DataLoader(d, num_workers=int(x[1])):\n    w = z + 1",
    ],
)
def test_a_program_that_reaches_files_or_starts_processes_needs_a_yes(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.py"
    path.write_text(f"{HEAD}{line}\n")
    assert main(["run", str(path)]) == 4
    assert "--trust" in "".join(capsys.readouterr())
    assert not (tmp_path / "canary").exists()
    assert main(["check", str(path)]) == 0
    assert not (tmp_path / "canary").exists()


def test_what_was_saved_is_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    text = (
        "torch.save({'x': x}, 'x.pt')\ny = torch.load('x.pt', weights_only=True)\nprint(y['x'] + 1)\n"
        "for (z,) in torch.utils.data.DataLoader(d, batch_size=3, num_workers=1):\n    print(z)\n"
    )
    path.write_text(HEAD + text)
    assert main(["run", "--trust", str(path)]) == 0
    assert capsys.readouterr().out.split("\n")[-4:-1] == [
        "tensor([1, 2, 3, 4, 5, 6])", "tensor([0, 1, 2])", "tensor([3, 4, 5])",
    ]  # fmt: skip
