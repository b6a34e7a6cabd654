"""The `sbatch` script of a training: machines of Slurm on which torchrun runs it together, one torchrun on each."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

import msgspec

from gradstudio.protocol.errors import SlurmRefused
from gradstudio.protocol.torchrun.rendezvous import MOST_MACHINES, TORCHRUN

SBATCH: Final = "sbatch"
SUFFIX: Final = ".sbatch"
ANSWER_S: Final = 60
_TIME: Final = re.compile(r"\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+(:\d\d){0,2}")
_PARTITION: Final = re.compile(r"[A-Za-z0-9_.,-]*")
_JOB: Final = re.compile(r"(\d+)(;[\w.-]+)?")
_OPTIONS: Final = {
    "nodes": "--nnodes",
    "per_node": "--nproc-per-node",
    "gpus": "--gpus",
    "time": "--time",
    "partition": "--partition",
}
"""What the command line calls the fields of a job."""
_TEXT: Final = """#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
{others}#SBATCH --output={log}

set -euo pipefail
{setup}cd {folder}

# One torchrun on each machine; all meet on the first, at a port that is this job's.
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)
port=$((20000 + SLURM_JOB_ID % 20000))

srun {torchrun} \\
    --nnodes {nodes} --nproc-per-node {per_node} \\
    --rdzv-id "$SLURM_JOB_ID" --rdzv-backend c10d --rdzv-endpoint "$first:$port" \\
    {script}
"""


class SlurmJob(msgspec.Struct, frozen=True):
    """What is asked of Slurm.

    Attributes:
        nodes: machines; `per_node`: processes on each, which are processors too.
        gpus: GPUs of each machine; 0: none is asked for.
        time: the longest that it takes, as Slurm writes it; "": that of the partition.
        partition: ""; that of the cluster.
        setup: lines of a shell that run before: ``module load cuda``.
        options: of torchrun, beside those that say where processes meet.
    """

    nodes: int = 1
    per_node: int = 1
    gpus: int = 0
    time: str = "01:00:00"
    partition: str = ""
    setup: str = ""
    options: tuple[str, ...] = ()

    def problems(self) -> dict[str, str]:
        """What is wrong, by the name of the field."""
        found: dict[str, str] = {}
        for name, number in (("nodes", self.nodes), ("per_node", self.per_node)):
            if not 1 <= number <= MOST_MACHINES:
                found[name] = f"{number}: a whole number from 1 to {MOST_MACHINES:,}."
        if not 0 <= self.gpus <= MOST_MACHINES:
            found["gpus"] = f"{self.gpus}: a whole number from 0."
        if self.time and not _TIME.fullmatch(self.time):
            found["time"] = f"“{self.time}” is no time of Slurm: 90 (minutes), 02:00:00, or 1-12 (days-hours)."
        if not _PARTITION.fullmatch(self.partition):
            found["partition"] = f"“{self.partition}” is no name of a partition."
        return found


def slurm_script(job: SlurmJob, script: Path, of_script: list[str]) -> str:
    """The text, for a training script that all machines find where it lies.

    Raises:
        SlurmRefused: something of the job is none; says what.
    """
    if problems := job.problems():
        raise SlurmRefused("\n".join(f"{_OPTIONS[name]} {words}" for name, words in problems.items()))
    wanted = {
        "cpus-per-task": str(job.per_node),
        "gpus-per-node": str(job.gpus or ""),
        "time": job.time,
        "partition": job.partition,
    }
    setup = job.setup.strip()
    return _TEXT.format(
        name=re.sub(r"[^A-Za-z0-9_.-]", "_", script.stem),
        nodes=job.nodes,
        per_node=job.per_node,
        others="".join(f"#SBATCH --{name}={value}\n" for name, value in wanted.items() if value),
        log=_in_directive(script.with_name(f"{script.stem}-%j.log")),
        setup=f"{setup}\n" if setup else "",
        folder=shlex.quote(str(script.parent)),
        torchrun=TORCHRUN,
        script=shlex.join([*job.options, script.name, *of_script]),
    )


def submit(script: Path) -> str:
    """Give Slurm an `sbatch` script; the number of its job.

    Raises:
        SlurmRefused: it does not take it; in Slurm's words.
    """
    try:
        command = [SBATCH, "--parsable", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_S, check=False)
    except FileNotFoundError as error:
        raise SlurmRefused(
            f"There is no {SBATCH} here. Copy {script} to where Slurm is, and submit it there."
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmRefused(f"Slurm does not answer: {error}") from error
    found = _JOB.fullmatch(done.stdout.strip())
    if done.returncode or found is None:
        raise SlurmRefused(f"Slurm did not take {script.name}: {(done.stderr or done.stdout).strip()}")
    return found.group(1)


def _in_directive(path: Path) -> str:
    """A path in a line of `#SBATCH`, which no shell reads; a space needs quotes."""
    text = str(path)
    return f'"{text}"' if " " in text else text


def has_slurm() -> bool:
    """Whether jobs can be submitted from here."""
    return shutil.which(SBATCH) is not None
