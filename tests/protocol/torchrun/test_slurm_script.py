"""The script for sbatch: a shell reads it, what is no job is refused, and Slurm's answers are heard."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from gradstudio.protocol.errors import SlurmRefused
from gradstudio.protocol.torchrun.slurm_script import SlurmJob, slurm_script, submit


def checked(job: SlurmJob, script: Path, of_script: list[str]) -> str:
    """The text, which bash reads."""
    text = slurm_script(job, script, of_script)
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert not done.returncode, done.stderr
    return text


def test_what_is_asked_of_slurm_stands_in_its_lines() -> None:
    job = SlurmJob(nodes=2, per_node=4, gpus=4, time="1-12", partition="gpu", setup="module load cuda")
    text = checked(job, Path("/data/a run/net.py"), ["--epochs", "3", "--seed", "it's 1"])
    asked = dict(line.removeprefix("#SBATCH --").split("=", 1) for line in text.splitlines() if "#SBATCH" in line)
    assert asked == {
        "job-name": "net", "nodes": "2", "ntasks-per-node": "1", "cpus-per-task": "4", "gpus-per-node": "4",
        "time": "1-12", "partition": "gpu", "output": '"/data/a run/net-%j.log"',
    }  # fmt: skip
    assert "module load cuda\ncd '/data/a run'\n" in text
    assert text.rstrip().endswith(shlex.join(["net.py", "--epochs", "3", "--seed", "it's 1"]))
    assert "--nnodes 2 --nproc-per-node 4" in text and "srun torchrun" in text


def test_what_is_not_asked_for_has_no_line() -> None:
    text = checked(SlurmJob(time=""), Path("/data/net.py"), [])
    assert not [word for word in ("--gpus", "--time", "--partition") if word in text]


def test_a_job_goes_on_where_scontrol_tells_the_first_machine_before_the_others(tmp_path: Path) -> None:
    """Whoever reads its first line alone ends it by SIGPIPE, and with it the job, without a word."""
    slow = '#!/bin/bash\nfor host in one two three; do echo "$host"; sleep 0.2; done\n'
    for name, text in {"scontrol": slow, "srun": '#!/bin/bash\necho "$@"\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    text = checked(SlurmJob(nodes=3), tmp_path / "net.py", [])
    given = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    job = os.environ | given | {"SLURM_JOB_ID": "20007", "SLURM_JOB_NODELIST": "[one,two,three]"}
    done = subprocess.run(["bash"], input=text, text=True, capture_output=True, check=False, env=job)
    assert done.returncode == 0, done
    assert "--rdzv-endpoint one:20007 net.py" in done.stdout


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (SlurmJob(nodes=0), "nodes"),
        (SlurmJob(per_node=0), "per_node"),
        (SlurmJob(gpus=-1), "gpus"),
        (SlurmJob(time="an hour"), "time"),
        (SlurmJob(time="1:2"), "time"),
        (SlurmJob(partition="gpu\n#SBATCH --wrap=x"), "partition"),
    ],
)
def test_what_is_no_job_is_refused_at_its_field(job: SlurmJob, field: str) -> None:
    assert list(job.problems()) == [field]
    with pytest.raises(SlurmRefused):
        slurm_script(job, Path("/net.py"), [])


@pytest.mark.parametrize(
    ("answer", "job"),
    [("echo 1234", "1234"), ("echo '77;cluster'", "77"), ("echo 'sbatch: error: no such partition' >&2; exit 1", "")],
)
def test_slurms_answer_is_the_number_of_the_job_or_why_not(
    answer: str, job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "sbatch"
    program.write_text(f'#!/bin/sh\n[ "$1" = --parsable ] || exit 9\n{answer}\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    if job:
        assert submit(tmp_path / "net.sbatch") == job
        return
    with pytest.raises(SlurmRefused, match="no such partition"):
        submit(tmp_path / "net.sbatch")


def test_where_no_slurm_is_the_script_is_to_be_taken_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmRefused, match="There is no sbatch here"):
        submit(tmp_path / "net.sbatch")
