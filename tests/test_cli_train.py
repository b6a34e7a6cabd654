"""Training from the command line: the exported script, under real torchrun, with as many processes as are asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.train_command import split

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(16, 3)
target = x.sum(dim=1, keepdim=True)
fc = nn.Linear(3, 1)
prediction = fc(x)
loss = nn.functional.mse_loss(prediction, target)
loss.backward()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "line.py"
    path.write_text(PROGRAM)
    return path


def test_what_follows_two_dashes_is_the_scripts() -> None:
    assert split(["--nproc-per-node", "2"]) == (["--nproc-per-node", "2"], [])
    assert split(["--nnodes", "1", "--", "--steps", "3"]) == (["--nnodes", "1"], ["--steps", "3"])


def test_nothing_runs_without_a_yes(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(program), "--nproc-per-node", "2"]) == 4
    assert "--trust" in capsys.readouterr().err
    assert list(program.parent.iterdir()) == [program]


def test_a_file_that_is_no_program_is_said_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.gsg").write_text("{")
    assert main(["train", "--trust", str(tmp_path / "bad.gsg")]) == 4
    assert "bad.gsg" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_of_torchrun_train_and_their_script_stays(program: Path) -> None:
    command = [sys.executable, "-m", "gradstudio", "train", "--trust", str(program), "--nproc-per-node", "2"]
    command += ["--log-dir", str(program.parent / "logs"), "--tee", "3", "--", "--device", "cpu", "--steps", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "step 3/3  loss " in done.stdout
    ranks = [path.parent.name for path in (program.parent / "logs").glob("*/attempt_0/*/stdout.log")]
    assert sorted(ranks) == ["0", "1"]
    folder = program.parent / "line-train"
    assert sorted(path.name for path in folder.iterdir()) == ["line.py", "line.safetensors"]


@pytest.mark.slow
def test_a_training_that_fails_ends_with_one(program: Path) -> None:
    command = [sys.executable, "-m", "gradstudio", "train", "--trust", str(program), "--nproc-per-node", "1"]
    done = subprocess.run([*command, "--", "--nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "--nonsense" in done.stderr
