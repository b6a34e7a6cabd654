"""Training by Slurm and on hosts from the command line: real torchrun behind a stub of Slurm, and behind real ssh."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import psutil
import pytest
from safetensors.numpy import load_file

from gradstudio.cli import main
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.torchrun.training_lines import TrainLine
from tests.helpers import engine_forks, ssh_server
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.test_cli_train import ENDLESS, end_one, is_alive, pressed_twice

PROGRAM = ENDLESS.replace("4000", "3")
SBATCH = """#!/bin/bash
[ "$1" = --parsable ] && shift
export SLURM_JOB_ID={job} SLURM_JOB_NODELIST=localhost[1-2]
( bash "$1"; echo "ended with $?" ) > {log} 2>&1 &
echo "4711;stub"
"""
SRUN = """#!/bin/bash
SLURM_NODEID=0 "$@" & first=$!
SLURM_NODEID=1 "$@" & second=$!
wait $first && wait $second
"""
SCONTROL = """#!/bin/bash
[ "$1 $2 $3" = "show hostnames localhost[1-2]" ] && printf 'localhost\\nlocalhost\\n'
"""
TORCHRUN = f"""#!/bin/bash
exec {sys.executable} -m torch.distributed.run "$@"
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(PROGRAM)
    return path


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return int(one.getsockname()[1])


def parameters(folder: Path) -> dict[str, bytes]:
    """What a training has learnt, to the last bit."""
    found = load_file(folder / "net.safetensors")
    learnt = {name: value.tobytes() for name, value in found.items() if name.startswith("state.")}
    assert len(learnt) == 2
    return learnt


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "gradstudio", "train", "--trust", *words]


@pytest.fixture(scope="module")
def learnt_here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """By two processes of this machine."""
    program = tmp_path_factory.mktemp("here") / "net.py"
    program.write_text(PROGRAM)
    folder = program.parent / "here"
    words = ["-o", str(folder), str(program), "--nproc-per-node", "2", "--", "--device", "cpu"]
    with engine_forks.ranks():
        done = subprocess.run(command(*words), check=True, capture_output=True, text=True)
    assert "\n[rank 0] epoch 3/3  loss " in done.stdout
    return parameters(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_are_forks")
def test_a_job_of_slurm_learns_what_two_processes_here_learn(
    program: Path, monkeypatch: pytest.MonkeyPatch, learnt_here: dict[str, bytes]
) -> None:
    stubs, log = program.parent / "bin", program.parent / "log"
    stubs.mkdir()
    job = SBATCH.format(job=os.getpid(), log=log)
    for name, text in {"sbatch": job, "srun": SRUN, "scontrol": SCONTROL, "torchrun": TORCHRUN}.items():
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{stubs}{os.pathsep}{os.environ['PATH']}")
    target = program.parent / "job.sbatch"
    words = ["--slurm", str(target), "--submit", str(program), "--nnodes", "2", "--", "--device", "cpu"]
    done = subprocess.run(command(*words), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{target}: job 4711\n"
    wait_until("the end of the job", lambda: log.exists() and "ended with" in log.read_text())
    assert "epoch 3/3  loss " in log.read_text() and log.read_text().endswith("ended with 0\n"), log.read_text()
    assert parameters(program.parent / "net-train") == learnt_here


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nnodes", "0"], "--nnodes 0: a whole number from 1"),
        (["--nnodes", "1:4"], "1:4"),
        (["--rdzv-endpoint", "a:1"], "leave it away"),
    ],
)
def test_what_is_no_job_is_said_and_nothing_is_submitted(
    words: list[str], said: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = program.parent / "job.sbatch"
    assert main(["train", "--slurm", str(target), str(program), *words]) == 2
    assert said in capsys.readouterr().err and not target.exists()


def test_a_job_is_written_without_a_yes_but_not_submitted(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = program.parent / "job.sbatch"
    assert main(["train", "--slurm", str(target), "--submit", str(program)]) == 4
    assert not target.exists()
    assert main(["train", "--slurm", str(target), "--gpus", "4", str(program)]) == 0
    assert "--gpus-per-node=4" in target.read_text() and "--nproc-per-node 4" in target.read_text()
    capsys.readouterr()


@pytest.fixture
def hosts(ranks_are_forks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of settings with two hosts: by a real ssh server, and by a command."""
    if reason := ssh_server.why_not():
        pytest.skip(reason)
    server = ssh_server.SshServer(tmp_path / "ssh")
    monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "settings"
    folder.mkdir()
    book = HostBook(folder)
    python = f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}{os.pathsep}{os.getcwd()} {sys.executable}"
    book.add(Host("far", server.destination, python=python))
    book.add(Host("shell", command="sh -c {engine}", python=python))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def on_hosts(settings: Path, program: Path, *of_script: str, tells: tuple[str, ...] = ("--json",)) -> list[str]:
    where = ["--rdzv-endpoint", f"127.0.0.1:{free_port()}"]
    words = [*tells, "--hosts", "far,shell", "--config-dir", str(settings), str(program), *where]
    return command(*words, "--", "--device", "cpu", *of_script)


@pytest.mark.slow
def test_two_hosts_learn_what_two_processes_here_learn_and_send_it_back(
    hosts: Path, program: Path, learnt_here: dict[str, bytes]
) -> None:
    done = subprocess.run(on_hosts(hosts, program), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [msgspec.json.decode(line, type=TrainLine) for line in done.stdout.splitlines()]
    turns = [line.metrics for line in lines if line.metrics]
    assert [turn["step"] for turn in turns] == [1, 2, 3] and all(turn["loss"] for turn in turns)
    said = [line for line in lines if line.text.startswith("epoch 3/3")]
    assert len(said) == 1 and said[0].place in ("far", "shell")
    assert parameters(program.parent / "net-train") == learnt_here


def test_a_second_ctrl_c_ends_what_leads_to_hosts_at_once_and_is_not_said_again(
    program: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deaf.sh").write_text(f"touch {tmp_path / 'begun'}; exec sleep 86400")
    HostBook(tmp_path).add(Host("deaf", command=f"sh {tmp_path / 'deaf.sh'}"))
    with pressed_twice(tmp_path / "begun", capfd) as said:
        assert main(["train", "--trust", "--hosts", "deaf", "--config-dir", str(tmp_path), str(program)]) == 130
    said.append(capfd.readouterr().err)
    assert "".join(said).count("Ctrl+C again ends them at once") == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["interrupt", "kill", "rank", "window"])
def test_where_one_ends_all_end(hosts: Path, tmp_path: Path, how: str) -> None:
    """The command is told to end, or is killed outright, or a rank on a host is; then it tells words to a person.

    Or the window is gone that started it and has read what it said.
    """
    program = tmp_path / "net.py"
    program.write_text(ENDLESS)
    tells = {"rank": (), "window": ("--json", "--attached")}.get(how, ("--json",))
    process = subprocess.Popen(
        on_hosts(hosts, program, "--epochs", "4000", tells=tells),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    started: list[psutil.Process] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if '"step":2' in line.replace(" ", "") or re.fullmatch(r"(far|shell): \[rank 0\] epoch 2/4000  .*\n", line):
                break
        below = psutil.Process(process.pid).children(recursive=True)
        started = [one for one in below if not engine_forks.forks_others(one.cmdline())]
        ranks = [one for one in started if "net.py" in one.cmdline()[-6:] and "torch" not in " ".join(one.cmdline())]
        assert len(ranks) >= 2, [one.cmdline() for one in started]
        if how == "interrupt":
            process.send_signal(signal.SIGINT)
        elif how in ("kill", "window"):
            process.kill()
        else:
            ranks[-1].kill()
        if how == "window":
            process.stdout.close()
        rest = "" if how == "window" else process.stdout.read()
        code = process.wait(PATIENCE_SECONDS)
        wait_until("their end", lambda: not any(map(is_alive, started)))
        assert code == {"interrupt": 130, "kill": -signal.SIGKILL, "window": -signal.SIGKILL, "rank": 1}[how]
        if how == "rank":
            assert "it ends on all hosts" in rest
        if how in ("interrupt", "window"):
            assert parameters(tmp_path / "net-train"), "a checkpoint of the step that was finished has come back"
    finally:
        psutil.wait_procs([one for one in started if not end_one(one)])
        process.kill()
        process.wait()
        process.stdout.close()
