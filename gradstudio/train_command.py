"""`gradstudio train --trust FILE …`: the training script of a document under torchrun. No Qt, no torch here."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from gradstudio.errors import GradStudioError

FAILED = 1
UNREADABLE = 4
FORM = "train"
TORCHRUN = (sys.executable, "-m", "torch.distributed.run")
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
    words = "a literal and its values: lr=0.1,0.01 or from:to:count, from:to:count:log; several make a grid"
    parser.add_argument("--set", dest="settings", metavar="NAME=VALUES", action="append", required=True, help=words)
    words = "so many at once (default: one for each two cores)"
    jobs = max((os.cpu_count() or 1) // 2, 1)
    parser.add_argument("--jobs", type=int, default=jobs, metavar="N", help=words)
    parser.add_argument("--all", action="store_true", help="let each come to its end, however its loss stands")
    parser.add_argument("--trust", action="store_true", help="yes, run the Python in FILE that is not drawn, too")
    parser.add_argument("--json", action="store_true", help="an object a line for each training that begins or ends")
    parser.add_argument("--runs", metavar="FOLDER", help="where the runs are kept (default: NAME.runs beside FILE)")
    parser.add_argument("--stands-for", metavar="DOCUMENT", help=argparse.SUPPRESS)
    parser.add_argument("--attached", action="store_true", help=argparse.SUPPRESS)


def train(options: argparse.Namespace) -> int:
    """Write the script and start it; torchrun's exit code, 0 or 1."""
    from gradstudio.document.errors import refusal_text
    from gradstudio.document.opened_graph import Unreadable, open_graph
    from gradstudio.document.python.python_export import export_failure, write_export

    if not options.trust:
        print(NO_TRUST.format(file=options.file), file=sys.stderr)
        return UNREADABLE
    file = Path(options.file)
    folder = Path(options.output) if options.output else file.with_name(f"{file.stem}-train")
    script = folder / f"{file.stem}.py"
    try:
        graph = open_graph(options.file)
        folder.mkdir(parents=True, exist_ok=True)
        write_export(graph, script, FORM)
    except Unreadable as error:
        print(refusal_text(options.file, error.others, error), file=sys.stderr)
        return UNREADABLE
    except (OSError, GradStudioError) as error:
        print(export_failure(error, script, f"{options.file} has no training"), file=sys.stderr)
        return FAILED
    return run_script(script, *split(options.rest))


def split(rest: list[str]) -> tuple[list[str], list[str]]:
    """What is torchrun's, and behind ``--`` what is the script's."""
    if "--" not in rest:
        return rest, []
    place = rest.index("--")
    return rest[:place], rest[place + 1 :]


def run_script(script: Path, of_torchrun: list[str], of_script: list[str]) -> int:
    """Run a script under torchrun, in its folder; Ctrl+C reaches all of its processes."""
    command = [*TORCHRUN, *of_torchrun, script.name, *of_script]
    with subprocess.Popen(command, cwd=script.parent) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()  # it was told, too, and ends its workers
            raise
    return FAILED if code else 0
