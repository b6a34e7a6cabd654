"""`gradstudio run --keep` is killed in the middle, and `--continue` ends with the bits of plain torch."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from safetensors import safe_open

from gradstudio.cli import main
from gradstudio.document.runs.kept_run import PARAMETERS, KeptRun, kept_runs, write_record
from gradstudio.document.runs.run_writer import learnt_curves, own_turns
from tests.helpers import engine_forks
from tests.helpers.program_runs import ProgramRuns

PROGRAM = """import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(96, 6)
t = torch.randint(0, 3, (96,))
data = torch.utils.data.TensorDataset(x, t)
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
opt = optim.Adam(net.parameters(), lr=0.01)
plan = optim.lr_scheduler.StepLR(opt, step_size=50, gamma=0.9)
best = 1000.0
for epoch in range(100000):
    net.train()
    total = 0.0
    for xb, tb in loader:
        opt.zero_grad()
        loss = F.cross_entropy(net(xb), tb)
        loss.backward()
        opt.step()
        total += loss.item()
    plan.step()
    if total < best:
        best = total
"""
ORACLE = """
import numpy
names = {{}}
text = open({file!r}).read().replace("range(100000)", "range({epochs})")
exec(text.replace("opt.step()", "opt.step(); globals().setdefault('losses', []).append(loss.item())"), names)
numpy.savez("plain.npz", losses=names["losses"], **{{k: v.numpy() for k, v in names["net"].state_dict().items()}})
"""
PLAIN_BEST = """
    import numpy
    if val_loss.item() < globals().get("least", 1e9):
        least = val_loss.item()
        state = {name: value.numpy() for name, value in net.state_dict().items()}
        numpy.savez("plain.npz", value=least, turn=epoch + 1, **state)
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def newest(folder: Path) -> KeptRun | None:
    return next(kept_runs(folder), None)


def train_and_kill(file: Path, *options: str, behind: int) -> KeptRun:
    """Run until there is a checkpoint behind a turn, and kill the command."""
    pause, folder = threading.Event(), file.with_suffix(".runs")
    words = [sys.executable, "-m", "gradstudio", "run", str(file), *options]
    with (
        engine_forks.everywhere(),
        subprocess.Popen(words, env={**os.environ, **ONE_THREAD}, stdout=subprocess.DEVNULL) as process,
    ):
        while (run := newest(folder)) is None or run.learnt_turns <= behind:
            assert process.poll() is None and not pause.wait(0.05)
        engines = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    psutil.wait_procs(engines, timeout=60)
    run = newest(folder)
    assert run is not None
    return run


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    with ProgramRuns() as runs:
        yield runs


def test_killed_twice_it_is_what_plain_torch_learns(tmp_path: Path, python: ProgramRuns) -> None:
    file = tmp_path / "net.py"
    file.write_text(PROGRAM)
    first = train_and_kill(file, "--keep", behind=0)
    assert first.state == "ended" and first.can_go_on
    second = train_and_kill(file, "--continue", behind=first.learnt_turns)
    assert second.id == first.id and second.learnt_turns > first.learnt_turns
    with safe_open(second.folder / "parameters.safetensors", "np") as kept:
        epochs = second.learnt_turns // 12
        assert second.learnt_turns % 12 == 0
        python.printed(ORACLE.format(file=str(file), epochs=epochs), tmp_path)
        with np.load(tmp_path / "plain.npz") as read:
            plain = dict(read)
        learnt = [name for name in kept.keys() if name.startswith("state.net.")]  # noqa: SIM118 - no mapping
        assert len(learnt) == 9
        for name in learnt:
            assert np.array_equal(kept.get_tensor(name), plain[name.removeprefix("state.net.")]), name
    steps, values = second.curves()["loss"]
    turns = second.learnt_turns
    assert np.array_equal(steps[:turns], np.arange(turns))
    assert np.array_equal(values[:turns], plain["losses"].astype(np.float32).astype(float))


def test_a_training_that_comes_to_its_end_is_kept_as_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "short.py"
    file.write_text(PROGRAM.replace("100000", "3"))
    assert main(["run", str(file), "--keep"]) == 0
    run = newest(tmp_path / "short.runs")
    assert run is not None and (run.state, run.record.turns, run.learnt_turns) == ("finished", 36, 36)
    assert main(["run", str(file), "--continue"]) == 1
    assert "no run that can go on" in capsys.readouterr().out


def test_the_best_that_is_kept_is_of_the_turn_where_it_was(tmp_path: Path, python: ProgramRuns) -> None:
    file, figure = tmp_path / "tested.py", "    val_loss = ((net(torch.ones(5, 6)) - 0.5) ** 2).mean()\n"
    text = PROGRAM.replace("100000", "9").rstrip() + "\n" + figure
    file.write_text(text)
    assert main(["run", str(file), "--keep"]) == 0
    run = newest(tmp_path / "tested.runs")
    assert run is not None
    python.printed(f"{text}{PLAIN_BEST}", tmp_path)
    with np.load(tmp_path / "plain.npz") as read, safe_open(run.folder / "best.safetensors", "np") as best:
        assert (run.best_figure, run.record.best_turns) == (float(read["value"]), int(read["turn"]))
        for name in read.keys() - {"value", "turn"}:
            assert np.array_equal(best.get_tensor(f"state.net.{name}"), read[name]), name


def test_a_figure_of_an_epoch_is_kept_at_the_turn_where_the_epoch_ends(tmp_path: Path) -> None:
    """Twelve batches an epoch: losses and validation have one axis; so they have behind *Continue*."""
    file = tmp_path / "net.py"
    file.write_text(PROGRAM.replace("100000", "5") + "    val_loss = F.cross_entropy(net(x), t)\n")
    run = a_run_that_was_cut_off(file)
    curves = run.curves()
    assert curves["loss"][0].tolist() == list(range(60)) and curves["val_loss"][0].tolist() == [11, 23, 35, 47, 59]
    assert run.record.each["val_loss"] == 12 and run.record.learnt["val_loss"] == run.record.learnt["loss"] == 60
    turns, values = own_turns(run, learnt_curves(run))["val_loss"]
    assert turns.tolist() == [0, 1, 2, 3, 4] and values.tolist() == curves["val_loss"][1].tolist()


def test_a_run_that_is_not_asked_to_keep_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "short.py"
    file.write_text(PROGRAM.replace("100000", "3"))
    assert main(["run", str(file)]) == 0
    assert [one.name for one in tmp_path.iterdir()] == ["short.py"]


def a_run_that_was_cut_off(file: Path) -> KeptRun:
    """As it stands where its writer was killed behind a checkpoint."""
    assert main(["run", str(file), "--keep"]) == 0
    run = newest(file.with_suffix(".runs"))
    assert run is not None
    run.record.state = "ended"
    write_record(run.folder, run.record)
    return run


def test_another_program_does_not_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.py"
    file.write_text(PROGRAM.replace("100000", "3"))
    run = a_run_that_was_cut_off(file)
    before = {one.name: one.read_bytes() for one in run.folder.iterdir()}
    file.write_text(PROGRAM.replace("100000", "3").replace("0.01", "0.02"))
    assert main(["run", str(file), "--continue"]) == 1
    said = capsys.readouterr().out
    assert "is not the program that was cut off" in said and str(run.folder / "program.py") in said
    assert {one.name: one.read_bytes() for one in run.folder.iterdir()} == before


def test_a_link_for_what_was_learnt_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.py"
    file.write_text(PROGRAM.replace("100000", "3"))
    run = a_run_that_was_cut_off(file)
    (run.folder / PARAMETERS).replace(tmp_path / "elsewhere")
    (run.folder / PARAMETERS).symlink_to(tmp_path / "elsewhere")
    assert main(["run", str(file), "--continue"]) == 1
    assert "no run that can go on" in capsys.readouterr().out


def test_a_disk_that_refuses_ends_the_keeping_and_not_the_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "short.py"
    file.write_text(PROGRAM.replace("100000", "3"))
    (tmp_path / "short.runs").write_text("no folder")
    assert main(["run", str(file), "--keep"]) == 0
    said = capsys.readouterr()
    assert "\nbest " in said.out and said.err.count("not kept any more") == 1


def test_a_run_that_is_refused_has_not_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its checkpoint is of the last turn: nothing is left to do, and nothing was wrong with what it had learnt."""
    file = tmp_path / "short.py"
    file.write_text(PROGRAM.replace("100000", "3"))
    run = a_run_that_was_cut_off(file)
    assert main(["run", str(file), "--continue"]) == 1
    assert "behind turn 3, and the loop has 3" in capsys.readouterr().out
    found = newest(file.with_suffix(".runs"))
    assert found is not None and found.id == run.id and found.can_go_on
