"""`gradstudio train --trust FILE …`: the training script of a document under torchrun, here, on hosts or by Slurm.

No Qt, no torch here.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import IO

import msgspec

from gradstudio.errors import GradStudioError
from gradstudio.protocol.errors import BadHost, SlurmRefused
from gradstudio.protocol.torchrun import torchrun_entry
from gradstudio.protocol.torchrun.rendezvous import options_problem
from gradstudio.protocol.torchrun.script_options import judge_options
from gradstudio.protocol.torchrun.training_end import end_training, handled_ends, outlive_starter, say_ending
from gradstudio.protocol.torchrun.training_lines import LineReader, TrainLine
from gradstudio.temporary_folders import TemporaryFolder

FAILED = 1
USAGE = 2
UNREADABLE = 4
INTERRUPTED = 130
METRICS = "metrics.jsonl"
_READ_BYTES = 1 << 16
SUFFIX = ".safetensors"
RESTARTS = "--max-restarts"
RESUME = "--resume"
PLACES = ("--checkpoint", "--log-dir")
A_STORE_EACH = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""For torchrun, which else keeps one store: in it, those that are started again find where those that died listened."""
TORCHRUN = (sys.executable, "-P", torchrun_entry.__file__)
"""Ends when its standard input does, so also when this process is killed."""
THERE = (
    "{file} is there already, of an older training. Go on from it with -- --resume auto, or take it away: "
    "--max-restarts goes on from the last checkpoint of this training."
)
NO_TRUST = (
    "Training runs the exported script, as any other Python: without the walls around a run. "
    "If you trust {file}, say so with --trust, before the file."
)


def add_train(parser: argparse.ArgumentParser) -> None:
    """The options of `train`; what follows the file is torchrun's."""
    parser.add_argument("--trust", action="store_true", help="yes, run the program as Python, without walls")
    words = "where the script is written and its checkpoint is kept (default: FILE-train, beside FILE)"
    parser.add_argument("-o", dest="output", metavar="FOLDER", help=words)
    of_hosts = parser.add_argument_group("on hosts")
    words = "run it on these hosts together, one torchrun on each: their names, as `gradstudio hosts list` has them"
    of_hosts.add_argument("--hosts", metavar="A,B", help=words)
    words = "yes, send more than 100 MB of data where the hosts lack them"
    of_hosts.add_argument("--send", action="store_true", help=words)
    of_hosts.add_argument("--config-dir", metavar="FOLDER", help="another folder of settings, with its hosts")
    of_slurm = parser.add_argument_group("by Slurm")
    words = "write a script for sbatch instead; --nnodes and --nproc-per-node, behind the file, are its machines"
    of_slurm.add_argument("--slurm", metavar="FILE.sbatch", help=words)
    of_slurm.add_argument("--submit", action="store_true", help="submit it, and print the number of the job")
    of_slurm.add_argument("--time", default="01:00:00", help="the longest that it takes (default: 01:00:00)")
    of_slurm.add_argument("--partition", default="", help="of the cluster (default: its own)")
    of_slurm.add_argument("--gpus", type=int, default=0, metavar="N", help="GPUs of each machine (default: none)")
    of_slurm.add_argument("--setup", default="", metavar="LINE", help="runs there before, like 'module load cuda'")
    parser.add_argument("--json", action="store_true", help="an object a line for what is printed, and for metrics")
    parser.add_argument("--attached", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("file", metavar="FILE")
    words = "options of torchrun (--nproc-per-node 4, --nnodes …, --rdzv-endpoint …), and behind -- those of the script"
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help=words)


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """The options of `sweep`, which `sweep_command` carries out."""
    parser.add_argument("file", metavar="FILE")
    words = (
        "a literal and its values: lr=0.1,0.01 or from:to:count, from:to:count:log; several make a grid. "
        "For optuna also from:to, from:to:log"
    )
    parser.add_argument("--set", dest="settings", metavar="NAME=VALUES", action="append", required=True, help=words)
    words = "every combination (grid, the default), or what optuna proposes, where it is installed"
    parser.add_argument("--search", choices=("grid", "optuna"), default="grid", help=words)
    words = "so many trainings with optuna (default: 20)"
    parser.add_argument("--trials", type=int, metavar="N", help=words)
    words = "so many at once (default: one for each two cores)"
    jobs = max((os.cpu_count() or 1) // 2, 1)
    parser.add_argument("--jobs", type=int, default=jobs, metavar="N", help=words)
    words = "judge each by this figure of the program, val_loss or accuracy (default: loss, the one it learns from)"
    parser.add_argument("--by", metavar="FIGURE", default="", help=words)
    parser.add_argument("--all", action="store_true", help="let each come to its end, however it stands")
    parser.add_argument("--trust", action="store_true", help="yes, run the Python in FILE that is not drawn, too")
    parser.add_argument("--json", action="store_true", help="an object a line for each training that begins or ends")
    parser.add_argument("--runs", metavar="FOLDER", help="where the runs are kept (default: NAME.runs beside FILE)")
    parser.add_argument("--stands-for", metavar="DOCUMENT", help=argparse.SUPPRESS)
    parser.add_argument("--attached", action="store_true", help=argparse.SUPPRESS)


def train(options: argparse.Namespace) -> int:
    """Write the script and start it; torchrun's exit code, 0 or 1. 2: the script does not take an option."""
    from gradstudio.document.errors import CheckpointThere, refusal_text
    from gradstudio.document.opened_graph import Unreadable, open_graph
    from gradstudio.document.python.python_export import export_failure, write_training
    from gradstudio.program.forms.training.distributed_training import RUNS_AS_WRITTEN

    if not options.trust and not (options.slurm and not options.submit):
        print(NO_TRUST.format(file=options.file), file=sys.stderr)
        return UNREADABLE
    if options.attached and (code := outlive_starter()) is not None:
        return code
    of_torchrun, of_script = options.rest, options.of_script
    if not options.slurm and (wrong := options_problem(of_torchrun)):
        print(wrong, file=sys.stderr)
        return USAGE
    file = Path(options.file)
    folder = Path(options.output) if options.output else file.with_name(f"{file.stem}-train")
    script = folder / f"{file.stem}.py"
    try:
        graph = open_graph(options.file)
        folder.mkdir(parents=True, exist_ok=True)
        is_itself = write_training(graph, script)
        if is_itself:
            (print_line if options.json else print_words)(TrainLine(text=RUNS_AS_WRITTEN))
        elif begins_again(of_torchrun):
            of_script = with_resume(of_script, script.with_suffix(SUFFIX))
        is_judged = not is_itself and not (options.hosts and names_places(of_script))
        if is_judged and (code := judge_options(script, of_script)) is not None:
            return code
    except Unreadable as error:
        print(refusal_text(options.file, error.others, error), file=sys.stderr)
        return UNREADABLE
    except CheckpointThere as error:
        print(error, file=sys.stderr)
        return FAILED
    except (OSError, GradStudioError) as error:
        print(export_failure(error, script, f"{options.file} has no training"), file=sys.stderr)
        return FAILED
    try:
        if options.slurm:
            return write_slurm(options, script, of_torchrun, of_script)
        if options.hosts:
            return train_on_hosts(options, script, of_torchrun, of_script)
    except GradStudioError as error:
        print(error, file=sys.stderr)
        return USAGE if isinstance(error, BadHost | SlurmRefused) else FAILED
    return run_script(script, of_torchrun, of_script, tells=options.json)


def write_slurm(options: argparse.Namespace, script: Path, of_torchrun: list[str], of_script: list[str]) -> int:
    """Write the script for `sbatch`, and submit it where that is wanted; 0.

    Raises:
        SlurmRefused, CannotSave: it is no job, is not taken, or cannot be written.
    """
    from gradstudio.document.atomic_write import write_file
    from gradstudio.protocol.torchrun import slurm_script

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--nnodes", "--nnode", type=int, default=1)
    parser.add_argument("--nproc-per-node", "--nproc_per_node", type=int, default=max(options.gpus, 1))
    try:
        known, others = parser.parse_known_args(of_torchrun)
    except argparse.ArgumentError as error:
        raise SlurmRefused(f"{error}; Slurm gives a number of machines and of processes.") from error
    if own := [one for one in others if one.replace("_", "-").startswith("--rdzv")]:
        raise SlurmRefused(f"{own[0]}: where processes meet is told by Slurm; leave it away.")
    job = slurm_script.SlurmJob(
        known.nnodes, known.nproc_per_node, options.gpus, options.time, options.partition, options.setup, tuple(others)
    )
    target = Path(options.slurm)
    write_file(target, slurm_script.slurm_script(job, script.resolve(), of_script).encode())
    print(f"{target}: sbatch {target}" if not options.submit else f"{target}: job {slurm_script.submit(target)}")
    return 0


def train_on_hosts(options: argparse.Namespace, script: Path, of_torchrun: list[str], of_script: list[str]) -> int:
    """Train on several hosts together; what was learnt comes back beside the script. 0, or 1 where one fails.

    Raises:
        BadHost, HostFailed: there is no such host, or no place where they meet.
    """
    from gradstudio.document.atomic_write import write_file
    from gradstudio.protocol.hosts.host_book import HostBook
    from gradstudio.protocol.messages.hosting import TrainThere
    from gradstudio.protocol.torchrun.host_training import HostTrainings, files_of, meeting_point
    from gradstudio.protocol.torchrun.rendezvous import new_key

    book = HostBook(Path(options.config_dir) if options.config_dir else None)
    hosts = [book.find(name) for name in dict.fromkeys(options.hosts.split(","))]
    names = {one.replace("_", "-").split("=", 1)[0] for one in of_torchrun}
    key = new_key()
    usual = {"--nnodes": str(len(hosts)), "--rdzv-backend": "c10d", "--rdzv-id": key}
    if "--rdzv-endpoint" not in names:
        usual["--rdzv-endpoint"] = meeting_point(hosts)
    words = [part for name, value in usual.items() if name not in names for part in (name, value)]
    places, files = files_of(script, [script.with_suffix(SUFFIX)])
    order = TrainThere(
        name=key,
        files=places,
        script=script.name,
        of_torchrun=(*words, *of_torchrun),
        of_script=tuple(of_script),
        lines=metrics_file(script, of_script).as_posix(),
        names_ranks=not options.json,
    )
    trainings = HostTrainings(dict.fromkeys(hosts, order), files, may_send=options.send)
    hear = print_line if options.json else print_words
    is_ended = threading.Event()

    def end(number: int, _frame: object) -> None:
        trainings.end(at_once=is_ended.is_set())
        if not is_ended.is_set():
            is_ended.set()
            say_ending(number)

    with handled_ends(end):
        trainings.run(hear, lambda name, data: write_file(script.with_name(name), data))
    if trainings.failure:
        hear(TrainLine(text=trainings.failure))
    if is_ended.is_set():
        return INTERRUPTED
    return FAILED if trainings.failure else 0


def names_places(of_script: list[str]) -> bool:
    """Whether a person has said where the script reads and writes, which may be a place on hosts alone."""
    return any(one.split("=", 1)[0] in PLACES for one in of_script)


def metrics_file(script: Path, of_script: list[str]) -> Path:
    """Where a training script writes its metrics, seen from its folder."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--log-dir", type=Path, default=Path(f"{script.stem}-log"))
    folder: Path = parser.parse_known_args(of_script)[0].log_dir
    return folder / METRICS


def print_line(line: TrainLine) -> None:
    """For who reads JSON."""
    _print(msgspec.json.encode(line).decode())


def print_words(line: TrainLine) -> None:
    """For a person, who sees metrics as the script prints them."""
    if line.text:
        _print(f"{line.place}: {line.text}" if line.place else line.text)


def _print(text: str) -> None:
    """Where nobody reads it any more, this is to end, as by a signal: what is learnt is still kept."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        signal.raise_signal(signal.SIGTERM)


def begins_again(of_torchrun: list[str]) -> bool:
    """Whether torchrun is to start all processes again when one has failed."""
    words = [word for one in of_torchrun for word in one.replace("_", "-").split("=", 1)]
    return any(name == RESTARTS and value != "0" for name, value in pairwise(words))


def with_resume(of_script: list[str], checkpoint: Path) -> list[str]:
    """The options of a script that goes on from its last checkpoint when it is started again.

    Raises:
        CheckpointThere: an older training has left one, and nobody has said that it is to go on.
    """
    from gradstudio.document.errors import CheckpointThere

    if any(one.split("=")[0] == RESUME for one in of_script):
        return of_script
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--checkpoint", type=Path, default=checkpoint)
    checkpoint = checkpoint.parent / parser.parse_known_args(of_script)[0].checkpoint
    if checkpoint.exists():
        raise CheckpointThere(THERE.format(file=checkpoint))
    return [*of_script, RESUME, "auto"]


def run_script(script: Path, of_torchrun: list[str], of_script: list[str], *, tells: bool = False) -> int:
    """Run a script under torchrun, in its folder; Ctrl+C, SIGTERM and SIGHUP end all of its processes.

    torchrun is a group of its own, so that it hears of Ctrl+C once, whoever that was sent to. Its folder for logs,
    which it leaves behind when it is interrupted, is one that goes with this. `tells`: what is printed and metrics are
    printed as lines of JSON.
    """
    environment = {**os.environ, **(A_STORE_EACH if begins_again(of_torchrun) else {})}
    follows = [torchrun_entry.FOLLOW, str(script.parent / metrics_file(script, of_script))] if tells else []
    said = (subprocess.PIPE, subprocess.STDOUT) if tells else (None, None)
    with TemporaryFolder("train") as logs:
        of_torchrun = torchrun_entry.with_logs(of_torchrun, logs)
        command = [*TORCHRUN, *follows, *of_torchrun, script.name, *of_script]
        with (
            handled_ends(_interrupt),
            subprocess.Popen(
                command,
                cwd=script.parent,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=said[0],
                stderr=said[1],
                process_group=0,
            ) as process,
        ):
            try:
                if process.stdout is not None:
                    _tell(process.stdout)
                code = process.wait()
            except KeyboardInterrupt as interrupt:
                end_training(process, *interrupt.args)
                raise
    return FAILED if code else 0


def _tell(stream: IO[bytes]) -> None:
    reader = LineReader()
    while data := os.read(stream.fileno(), _READ_BYTES):
        for line in reader.feed(data):
            if isinstance(line, TrainLine):
                print_line(line)


def _interrupt(number: int, _frame: object) -> None:
    raise KeyboardInterrupt(number)
