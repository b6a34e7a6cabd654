"""Training from the command line: the exported script, under real torchrun, with as many processes as are asked for."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gradstudio import train_command
from gradstudio.cli import main
from gradstudio.document.errors import CheckpointThere
from gradstudio.protocol.torchrun import torchrun_entry
from gradstudio.train_command import begins_again, with_resume
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

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


def test_nothing_runs_without_a_yes(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(program), "--nproc-per-node", "2"]) == 4
    assert "--trust" in capsys.readouterr().err
    assert list(program.parent.iterdir()) == [program]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nproc-per-node", "four"], "--nproc-per-node “four” is no number of processes: from 1, or gpu.\n"),
        (["--nproc_per_node=0"], "--nproc_per_node “0” is no number of processes: from 1, or gpu.\n"),
        (["--nnodes", "0"], "--nnodes “0”: from 1 to 10,000, MIN:MAX in this order.\n"),
    ],
)
def test_an_option_that_is_no_number_is_named_before_anything_is_written(
    words: list[str], said: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--trust", str(program), *words]) == 2
    assert capsys.readouterr().err == said
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


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--nonsense"], 2, "line.py: error: unrecognized arguments: --nonsense\n"),
        (["--steps", "0"], 2, "line.py: error: argument --steps: 0 is no whole number from 1\n"),
        (["--resume"], 2, "line.py: error: there is no line.safetensors to go on from\n"),
        (["--help"], 0, ""),
    ],
)
@pytest.mark.parametrize("of_torchrun", [["--nproc-per-node", "2"], []])
def test_the_scripts_own_words_about_its_options_come_before_torchrun(
    words: list[str], code: int, said: str, of_torchrun: list[str], program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--trust", str(program), *of_torchrun, "--", *words]) == code
    told = capfd.readouterr()
    assert (told.err or told.out).startswith("usage: line.py [-h] [--steps STEPS]") and told.err.endswith(said)
    assert "all, resumed ones included" in told.out or code
    assert "torch" not in told.err


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_are_forks")
def test_a_training_that_fails_ends_with_one(program: Path) -> None:
    command = [sys.executable, "-m", "gradstudio", "train", "--trust", str(program), "--nproc-per-node", "1"]
    done = subprocess.run([*command, "--", "--device", "abacus"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "abacus" in done.stderr and "[rank" not in done.stderr, "one alone needs no number"


@pytest.mark.parametrize(
    ("options", "is_so"),
    [
        (["--max-restarts", "3"], True),
        (["--nnodes", "1", "--max_restarts=2"], True),
        (["--max-restarts", "0"], False),
        (["--nproc-per-node", "2"], False),
    ],
)
def test_whether_torchrun_starts_again_is_read_off_its_options(options: list[str], is_so: bool) -> None:
    assert begins_again(options) is is_so


def test_what_starts_again_goes_on_from_its_own_checkpoint_alone(tmp_path: Path) -> None:
    checkpoint = tmp_path / "net.safetensors"
    assert with_resume(["--lr", "0.1"], checkpoint) == ["--lr", "0.1", "--resume", "auto"]
    checkpoint.write_bytes(b"")
    assert with_resume(["--resume", "auto"], checkpoint) == ["--resume", "auto"]
    assert with_resume(["--checkpoint", "other"], checkpoint) == ["--checkpoint", "other", "--resume", "auto"]
    with pytest.raises(CheckpointThere, match=r"net\.safetensors is there already"):
        with_resume([], checkpoint)


ENDLESS = """
import torch
from torch import nn, optim

torch.manual_seed(0)
x = torch.randn(64, 3)
y = x.sum(dim=1, keepdim=True)
net = nn.Linear(3, 1)
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
opt = optim.SGD(net.parameters(), lr=0.01)
for epoch in range(4000):
    for xb, yb in loader:
        loss = (net(xb) - yb).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_are_forks")
def test_a_rank_that_is_killed_is_started_again_and_the_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    program = tmp_path / "net.py"
    program.write_text(ENDLESS)
    checkpoint, lines = tmp_path / "net-train" / "net.safetensors", tmp_path / "net-train" / "metrics.jsonl"
    command = [sys.executable, "-m", "gradstudio", "train", "--trust", str(program)]
    command += ["--nproc-per-node", "2", "--max-restarts", "1", "--", "--device", "cpu", "--epochs", "4000"]
    command += ["--log-dir", str(lines.parent)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_until("a checkpoint", checkpoint.exists)
        first = ranks_of(process.pid)
        assert len(first) == 2
        first[1].send_signal(signal.SIGKILL)
        wait_until("others", lambda: len(now := ranks_of(process.pid)) == 2 and not set(now) & set(first))
        before = checkpoint.stat().st_mtime
        wait_until("another checkpoint", lambda: checkpoint.stat().st_mtime > before)
        second = ranks_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.wait(PATIENCE_SECONDS)
    finally:
        psutil.wait_procs(end_all(process.pid))
    steps = [int(line.split('"step": ')[1].split(",")[0]) for line in lines.read_text().splitlines()]
    assert steps == list(range(1, len(steps) + 1)), "it went on behind the checkpoint, and no epoch is missing"
    assert not [one for one in (*first, *second) if one.is_running()]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
@pytest.mark.parametrize("hangs", [False, True])
def test_who_is_told_alone_to_end_ends_all_ranks_and_leaves_no_folder(
    number: signal.Signals, hangs: bool, tmp_path: Path
) -> None:
    """A rank that hears nothing (it hangs in code that is no Python, say) is killed; a fork would still run."""
    program = tmp_path / "net.py"
    program.write_text(ENDLESS)
    script = tmp_path / "net-train" / "net.py"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "gradstudio", "train", "--trust", str(program), "--nproc-per-node", "2"]
    with contextlib.nullcontext() if hangs else engine_forks.ranks():
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(temporary)}
    process = subprocess.Popen(
        [*command, "--", "--device", "cpu", "--epochs", "4000"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until("a checkpoint", script.with_suffix(".safetensors").exists)
        ranks = ranks_of(process.pid)
        assert len(ranks) == 2 and has_folder(temporary)
        if hangs:
            ranks[1].suspend()
        process.send_signal(number)
        assert process.wait(PATIENCE_SECONDS) == 130
        assert not [one for one in ranks if one.is_running()]
        assert not has_folder(temporary)
    finally:
        psutil.wait_procs(end_all(process.pid))


@contextlib.contextmanager
def pressed_twice(begun: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[list[str]]:
    """Meanwhile a person presses Ctrl+C when a file is there, and again when it is answered: what was said by then."""
    said: list[str] = []

    def press_twice() -> None:
        wait_until("it runs", begun.exists)
        os.kill(os.getpid(), signal.SIGINT)
        wait_until("it is said", lambda: said.append(capfd.readouterr().err) or any(said))
        os.kill(os.getpid(), signal.SIGINT)

    person = threading.Thread(target=press_twice)
    person.start()
    yield said
    person.join()


DEAF = """
import pathlib, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
pathlib.Path("begun").touch()
signal.pause()
"""


def test_what_is_waited_for_is_said_and_a_second_ctrl_c_ends_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train_command, "TORCHRUN", (sys.executable, "-c", DEAF))
    monkeypatch.setattr(torchrun_entry, "GRACE_S", 86400.0)
    with pressed_twice(tmp_path / "begun", capfd) as said, pytest.raises(KeyboardInterrupt):
        train_command.run_script(tmp_path / "net.py", [], [])
    assert "keep a checkpoint" in "".join(said) and "Ctrl+C again ends them at once" in "".join(said)


@pytest.mark.slow
def test_a_command_that_is_killed_leaves_no_process_behind(tmp_path: Path) -> None:
    """Nothing of it can run any more: torchrun sees it by the end of the pipe between them."""
    program = tmp_path / "net.py"
    program.write_text(ENDLESS)
    command = [sys.executable, "-m", "gradstudio", "train", "--trust", str(program), "--nproc-per-node", "2"]
    process = subprocess.Popen(
        [*command, "--", "--device", "cpu", "--epochs", "4000"],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    started: list[psutil.Process] = []
    try:
        wait_until("a checkpoint", (tmp_path / "net-train" / "net.safetensors").exists)
        started = psutil.Process(process.pid).children(recursive=True)
        ranks = ranks_of(process.pid)
        assert len(ranks) == 2
        ranks[1].suspend()  # it would hear of no signal
        process.kill()
        process.wait()
        wait_until("their end", lambda: not any(map(is_alive, started)))
    finally:
        psutil.wait_procs([one for one in started if not end_one(one)])


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def end_one(process: psutil.Process) -> bool:
    """Kill it, if it lives; whether it had ended."""
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return True
    return False


def has_folder(temporary: Path) -> bool:
    return any(one.name.startswith(("torchelastic_", "gradstudio-train-")) for one in temporary.iterdir())


def end_all(command: int) -> list[psutil.Process]:
    """What a command is and has started, killed; none that has ended."""
    if not psutil.pid_exists(command):
        return []
    found = [psutil.Process(command), *psutil.Process(command).children(recursive=True)]
    for one in found:
        one.kill()
    return found


def ranks_of(command: int) -> list[psutil.Process]:
    """The processes that torchrun has started for a command, and that are alive."""
    agents = psutil.Process(command).children()
    return [one for agent in agents for one in agent.children() if _is_script(one)]


def _is_script(process: psutil.Process) -> bool:
    try:
        return "net.py" in process.cmdline()
    except psutil.Error:
        return False  # it has ended
