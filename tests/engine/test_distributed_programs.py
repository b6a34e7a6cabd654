"""A training that was distributed learns the same on the ranks of the window and under torchrun, to the last bit."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from safetensors.numpy import load
from safetensors.torch import load_file

from gradstudio.cli import main
from gradstudio.document.python.python_export import write_training
from gradstudio.document.runs.kept_run import KeptRun, kept_runs
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.forms.training.distributed_training import Way, distributed
from gradstudio.program.reading.reader import read_script
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.helpers.program_runs import ProgramRuns
from tests.program.forms.training.test_distributed_training import EPOCHS

RANKS = 2
SHOWN = """
import json as _json
def _whole(p):
    p = p.detach()
    return getattr(p, "full_tensor", lambda: p)()
_found = {name: _whole(p).tolist() for name, p in model.named_parameters()}
if rank == 0:
    open("learnt.json", "w").write(_json.dumps([_found, loss.item()]))
torch.distributed.destroy_process_group()
"""
END = "torch.distributed.destroy_process_group()\n"


def torchrun(folder: Path, text: str) -> str:
    """What a program prints that plain torch runs as ranks, in this folder."""
    (folder / "whole.py").write_text(text)
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS), "whole.py"]
    with engine_forks.ranks():
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    """Ranks of torch alone, which is loaded once."""
    with ProgramRuns("torch.distributed.fsdp", "torch._dynamo") as runs:
        yield runs


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_ranks_of_the_window_and_torchrun_learn_the_same(
    way: Way, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, python: ProgramRuns
) -> None:
    """One of them by torchrun itself, which loads torch for itself; each rank is a fork."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    text = distributed(read_script(EPOCHS, keeps_code=True).graph, way)
    (tmp_path / "net.py").write_text(text)
    with engine_forks.everywhere():
        assert main(["run", "--trust", "--processes", str(RANKS), "--json", str(tmp_path / "net.py")]) == 0
    (told,) = json.loads(f"[{capsys.readouterr().out.strip()}]")
    assert END in text
    alone = text.replace(END, SHOWN)
    printed = torchrun(tmp_path, alone) if way == "ddp" else python.as_ranks(alone, tmp_path)
    learnt, loss = json.loads((tmp_path / "learnt.json").read_text())
    assert told["nodes"]["loss"]["outputs"][0]["value"] == loss
    model = told["nodes"]["model"]["outputs"][0]["parameters"]
    assert {name: one["value"] for name, one in model.items()} == learnt
    assert [line for line in printed.splitlines() if line] == [
        line for one in told["printed"] for line in one["text"].replace("[rank 0] ", "").splitlines()
    ], "one process alone prints"


LONG = EPOCHS.replace("range(3)", "range(400)").replace("batch_size=5", "batch_size=10")
LONG = LONG.replace('    print("loss", loss.item())\n    print(whole.shape)\n', "")

# Written at once: torchrun's ranks share one output, in which a `print` is several writes.
RANK_SAYS = "import os\nos.write(1, f'rank {rank} {loss.item()!r}\\n'.encode())"


@pytest.mark.slow
def test_a_training_on_fsdp2_runs_to_its_end_where_no_checkpoint_can_be_taken(
    tmp_path: Path, python: ProgramRuns
) -> None:
    text = distributed(read_script(LONG.replace("range(400)", "range(40)"), keeps_code=True).graph, "fsdp")
    file = tmp_path / "net.py"
    file.write_text(text)
    with engine_forks.everywhere():
        started = command(["run", "--trust", "--processes", str(RANKS), "--keep", str(file)])
    assert started.wait(PATIENCE_SECONDS) == 0
    kept = newest(file.with_suffix(".runs"))
    assert kept is not None and kept.state == "finished" and END in text
    printed = python.as_ranks(text.replace(END, f"{RANK_SAYS}\n{END}"), tmp_path)
    assert f"rank 0 {float(kept.curves()['loss'][1][-1])!r}\n" in printed


HANGS = """# a comment, which no program has
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(3)
if dist.get_rank() == 0:
    dist.barrier()
dist.all_reduce(x)
dist.all_reduce(x)
"""


def test_ranks_that_wait_for_one_another_are_named_while_they_wait(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    words = [sys.executable, "-m", "gradstudio", "run", "--trust", "--processes", str(RANKS), "hangs.py"]
    with open(tmp_path / "said.txt", "w") as said, engine_forks.everywhere():
        process = subprocess.Popen(words, cwd=tmp_path, stdout=said, stderr=said)
    try:
        wait_until("the words", lambda: "Ranks wait" in (tmp_path / "said.txt").read_text())
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)
    told = (tmp_path / "said.txt").read_text()
    first, second = "line 8 (torch.distributed.barrier())", "line 9 (torch.distributed.all_reduce(x))"
    assert f"rank 0 is at {first}; rank 1 is at {second}. Ctrl+C ends them." in told, told


def newest(folder: Path) -> KeptRun | None:
    return next(kept_runs(folder), None)


def ranks_of(command: int) -> list[psutil.Process]:
    """The engines of the ranks that a command has started."""
    return [one for one in psutil.Process(command).children(recursive=True) if "--rank=" in one.cmdline()[-1]]


@pytest.mark.slow
def test_a_rank_that_dies_takes_the_run_with_it_and_it_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """Ended by the kill of one, continued: the curve and the model are those of a run that nobody has cut off."""
    with engine_forks.everywhere():
        losses, models = whole_and_killed(tmp_path)
    (steps, whole), (_, continued) = losses
    assert np.array_equal(steps, np.arange(400.0 * 4)) and np.array_equal(whole, continued)
    assert models[0].keys() == models[1].keys() and len(models[0]) == 4
    assert all(np.array_equal(models[0][key], models[1][key]) for key in models[0])


def whole_and_killed(folder: Path) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[dict[str, np.ndarray]]]:
    """The curve of the loss and the model, of a run that nobody cuts off and of one that is killed and goes on."""
    text = distributed(read_script(LONG, keeps_code=True).graph)
    losses, models = [], []
    for name in ("whole", "killed"):
        file = folder / f"{name}.py"
        file.write_text(text)
        run = ["run", "--trust", "--processes", str(RANKS), str(file)]
        if name == "killed":
            kill_one(file, run)
            cut_off = newest(file.with_suffix(".runs"))
            assert cut_off is not None and cut_off.state == "ended" and cut_off.can_go_on
            assert "Rank 1 was killed by SIGKILL" in cut_off.record.reason
        assert command([*run, "--continue" if name == "killed" else "--keep"]).wait(PATIENCE_SECONDS) == 0
        kept = newest(file.with_suffix(".runs"))
        assert kept is not None and kept.state == "finished"
        losses.append(kept.curves()["loss"])
        models.append({key: one for key, one in load(kept.parameters()).items() if key.startswith("state.model.")})
    return losses, models


def command(words: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-m", "gradstudio", *words], env=environment, stdout=quiet, stderr=quiet)


def kill_one(file: Path, run: list[str]) -> None:
    """Run until there is a checkpoint, and kill the second rank; no process is left."""
    process = command([*run, "--keep"])
    wait_until("a checkpoint", lambda: (kept := newest(file.with_suffix(".runs"))) is not None and kept.learnt_turns)
    ranks = ranks_of(process.pid)
    ranks[1].send_signal(signal.SIGKILL)
    assert process.wait(PATIENCE_SECONDS) == 1
    assert not [one for one in ranks if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


ADDED = """import torch
from torch import nn
torch.manual_seed(3)
X = torch.randn(47, 3)
y = (X[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
loss = nn.functional.cross_entropy(net(X), y)
"""
SCRIPT = """import runpy
import sys

sys.argv = ["script.py", "--device", "cpu"]
runpy.run_path("script.py", run_name="__main__")
"""
KEPT = "if torch.distributed.get_rank() == 0:\n    torch.save(net.state_dict(), 'learnt.pt')\n"


@pytest.mark.slow
def test_what_is_shared_out_on_the_canvas_learns_what_the_training_script_learns(
    tmp_path: Path, python: ProgramRuns
) -> None:
    """Both share out each batch, whose last is smaller, and draw the same order, so that they make the same steps."""
    text = with_training(read_script(ADDED).graph, lambda _value: None).text.replace("range(20)", "range(3)")
    graph = read_script(text, keeps_code=True).graph
    write_training(graph, tmp_path / "script.py")
    assert "def share_out" in (tmp_path / "script.py").read_text(), "one that several processes share"
    python.as_ranks(distributed(graph).replace(END, KEPT + END), tmp_path)
    python.as_ranks(SCRIPT, tmp_path)
    learnt = torch.load(tmp_path / "learnt.pt")
    found = load_file(tmp_path / "script.safetensors")
    assert len(learnt) == 9
    assert all(torch.equal(found[f"state.net.{name}"], value) for name, value in learnt.items())
