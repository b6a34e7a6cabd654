"""`gradstudio train --trust FILE …`: the training script of a document under torchrun. No Qt, no torch here."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from gradstudio.errors import GradStudioError
from gradstudio.protocol.torchrun import torchrun_entry

FAILED = 1
UNREADABLE = 4
FORM = "train"
AS_IT_STANDS = "script"
"""The form of a program that joins its processes itself."""
SUFFIX = ".safetensors"
RESTARTS = "--max-restarts"
RESUME = "--resume"
A_STORE_EACH = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""For torchrun, which else keeps one store: in it, those that are started again find where those that died listened."""
LOGS = "--log-dir"
ENDS = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))
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
    """Write the script and start it; torchrun's exit code, 0 or 1."""
    from gradstudio.document.errors import CheckpointThere, refusal_text
    from gradstudio.document.opened_graph import Unreadable, open_graph
    from gradstudio.document.python.python_export import export_failure, write_export
    from gradstudio.program.forms.training.distributed_training import joins_processes

    if not options.trust:
        print(NO_TRUST.format(file=options.file), file=sys.stderr)
        return UNREADABLE
    file = Path(options.file)
    folder = Path(options.output) if options.output else file.with_name(f"{file.stem}-train")
    script = folder / f"{file.stem}.py"
    of_torchrun, of_script = split(options.rest)
    try:
        graph = open_graph(options.file)
        folder.mkdir(parents=True, exist_ok=True)
        if joins_processes(graph, stem=script.stem):
            write_export(graph, script, AS_IT_STANDS, report=False)
        else:
            write_export(graph, script, FORM)
            if begins_again(of_torchrun):
                of_script = with_resume(of_script, script.with_suffix(SUFFIX))
    except Unreadable as error:
        print(refusal_text(options.file, error.others, error), file=sys.stderr)
        return UNREADABLE
    except CheckpointThere as error:
        print(error, file=sys.stderr)
        return FAILED
    except (OSError, GradStudioError) as error:
        print(export_failure(error, script, f"{options.file} has no training"), file=sys.stderr)
        return FAILED
    return run_script(script, of_torchrun, of_script)


def split(rest: list[str]) -> tuple[list[str], list[str]]:
    """What is torchrun's, and behind ``--`` what is the script's."""
    if "--" not in rest:
        return rest, []
    place = rest.index("--")
    return rest[:place], rest[place + 1 :]


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


def run_script(script: Path, of_torchrun: list[str], of_script: list[str]) -> int:
    """Run a script under torchrun, in its folder; Ctrl+C, SIGTERM and SIGHUP end all of its processes.

    torchrun is a group of its own, so that it hears of Ctrl+C once, whoever that was sent to. Its folder for logs,
    which it leaves behind when it is interrupted, is one that goes with this.
    """
    environment = {**os.environ, **(A_STORE_EACH if begins_again(of_torchrun) else {})}
    with tempfile.TemporaryDirectory(prefix="gradstudio-train-") as logs:
        of_torchrun = of_torchrun if has_logs(of_torchrun) else [LOGS, logs, *of_torchrun]
        command = [*TORCHRUN, *of_torchrun, script.name, *of_script]
        before = [(number, signal.signal(number, _interrupt)) for number in ENDS]
        try:
            with subprocess.Popen(
                command, cwd=script.parent, env=environment, stdin=subprocess.PIPE, process_group=0
            ) as process:
                try:
                    code = process.wait()
                except KeyboardInterrupt:
                    end_training(process)
                    raise
        finally:
            for number, handler in before:
                signal.signal(number, handler)
    return FAILED if code else 0


def has_logs(of_torchrun: list[str]) -> bool:
    """Whether a person has said where torchrun is to keep logs."""
    return any(one.replace("_", "-").split("=", 1)[0] == LOGS for one in of_torchrun)


def end_training(process: "subprocess.Popen[bytes]") -> None:
    """Have torchrun end its processes, which finish a step and keep a checkpoint; who takes long is killed."""
    import psutil  # a training that comes to its end needs it not

    started = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    try:
        process.send_signal(signal.SIGINT)
        process.wait(torchrun_entry.GRACE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
    for one in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(started, timeout=torchrun_entry.GRACE_S)


def _interrupt(number: int, _frame: object) -> None:
    raise KeyboardInterrupt(number)
