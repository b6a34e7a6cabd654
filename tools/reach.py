"""How much of other people's programs is drawn, and whether it runs as Python does.

    python -m tools.reach FOLDER_OR_GIT_DIRECTORY...          a row a file, and the sum
    python -m tools.reach --run 60 SOURCE...                  those that Python finishes in a minute are compared, too
    python -m tools.reach --page SOURCE...                    the table of docs/reach.md, with the worst ten

A source is a folder with Python files, or the git directory of a repository, whose newest commit is taken. Files
that do not import torch are left out. Nothing of them is kept.
"""

import argparse
import ast
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType

import msgspec

from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.requests import Trust

USES_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)
FEW = 5
"""A share of fewer calls says little of a file: it is none of the worst."""
WORST = 10
_COLUMNS = (
    *("source", "files", "open", "equal / that Python ends", "lines", "on cards of code", "calls of torch", "drawn"),
    "CPU seconds per 1,000 lines",
)
PATIENCE = 10
"""So many times the limit a comparison may take on a clock: Python runs three times, and the engine once."""


class Row(msgspec.Struct):
    """One file.

    Attributes:
        lines: of the file, and `code` those on cards of code.
        calls: of torch in its text, and `drawn` those that are nodes.
        seconds: of a processor, to read it.
        equal: whether it has the variables, gradients and prints of Python; None where that was not asked, or where
            Python does not come to its end.
        note: why.
    """

    source: str
    file: str
    opens: bool = True
    lines: int = 0
    code: int = 0
    calls: int = 0
    drawn: int = 0
    seconds: float = 0.0
    equal: bool | None = None
    note: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m tools.reach", description=__doc__)
    parser.add_argument("sources", nargs="+", help="folders, or git directories of repositories")
    parser.add_argument(
        "--run", type=float, default=0.0, metavar="SECONDS", help="compare what Python ends in so much CPU"
    )
    parser.add_argument("--page", action="store_true", help="print the table of the documentation")
    parser.add_argument("--compare", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.compare:
        print(json.dumps(compared(Path(asked.sources[0]), asked.run)))
        return 0
    rows = [row for source in asked.sources for row in measured(Path(source), asked.run, quiet=asked.page)]
    print(page(rows) if asked.page else summary(rows))
    return 0


def measured(source: Path, limit: float, *, quiet: bool) -> Iterator[Row]:
    """A row for each file of a source that uses torch."""
    with folder_of(source) as folder:
        name = source_name(source)
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if not USES_TORCH.search(text):
                continue
            row = measure(text, Row(name, str(path.relative_to(folder))))
            if limit and row.opens:
                row.equal, row.note = in_a_process(path, limit)
            if not quiet:
                print(line_of(row), flush=True)
            yield row


@contextlib.contextmanager
def folder_of(source: Path) -> Iterator[Path]:
    """The files of a source; those of a repository lie in a folder that goes again."""
    if not (source / "objects").is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in _git(source, "ls-tree", "-rz", "--name-only", "HEAD").decode().split("\0"):
            if name.endswith(".py"):
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_git(source, "show", f"HEAD:{name}"))
        yield Path(folder)


def _git(source: Path, *words: str) -> bytes:
    return subprocess.run(["git", f"--git-dir={source}", *words], capture_output=True, check=True).stdout


def source_name(source: Path) -> str:
    """What a source is called: ``karpathy/nanoGPT`` of a folder karpathy+nanoGPT, or of one in it."""
    known = next((part for part in reversed(source.resolve().parts) if "+" in part), source.resolve().name)
    return known.replace("+", "/")


def measure(text: str, row: Row) -> Row:
    """Read a text and count."""
    row.lines = len(text.splitlines())
    began = time.process_time()
    try:
        graph = read_script(text, keeps_code=True).graph
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a file that does not open
        row.opens, row.note = False, f"{type(error).__name__}: {error}"[:200]
        return row
    row.seconds = time.process_time() - began
    codes = codes_of(graph)
    known = torch_names(ast.parse(text))
    row.code = sum(code.count("\n") + 1 for code in codes)
    row.calls = torch_calls([text], known)
    row.drawn = row.calls - torch_calls(codes, known)
    return row


def codes_of(graph: Graph) -> list[str]:
    """The texts on its cards of code, those inside of definitions among them."""
    graphs = (graph, *(definition.graph for definition in graph.definitions.values()))
    return [code_of(node) for one in graphs for node in one.nodes.values() if is_code(node)]


def torch_names(tree: ast.Module) -> set[str]:
    """The names that imports bind to torch, a part of it, or what is in one."""
    found: set[str] = set()
    for part in ast.walk(tree):
        if isinstance(part, ast.Import):
            found |= {one.asname or "torch" for one in part.names if one.name.partition(".")[0] == "torch"}
        elif isinstance(part, ast.ImportFrom) and (part.module or "").partition(".")[0] == "torch" and not part.level:
            found |= {one.asname or one.name for one in part.names}
    return found


def torch_calls(texts: Iterable[str], known: set[str]) -> int:
    """How many calls in texts begin at one of the names: ``nn.Linear(…)``."""
    return sum(
        root_of(part.func) in known
        for text in texts
        for part in ast.walk(ast.parse(text))
        if isinstance(part, ast.Call)
    )


def root_of(node: ast.expr) -> str:
    """The name that an expression begins at; "" when it begins at none."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


# ------------------------------------------------------------------ as Python does


def in_a_process(path: Path, limit: float) -> tuple[bool | None, str]:
    """Whether a file runs here as in Python, and what is different; asked in a process of its own."""
    command = [sys.executable, "-m", "tools.reach", "--compare", "--run", str(limit), str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit * PATIENCE, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
        )  # fmt: skip
        equal, note = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, json.JSONDecodeError, IndexError):
        return None, "did not end"
    return equal, note


class OutOfTimeError(BaseException):
    """A program of somebody's took longer than it was given."""


def compared(path: Path, limit: float) -> tuple[bool | None, str]:
    """Whether a file has here the variables, gradients and prints that it has in Python.

    What differs between two runs of Python itself (times, addresses, numbers without a seed) is left out.
    """
    from tests.corpus.running import by_engine, by_python, differences

    text = path.read_text(encoding="utf-8", errors="replace")
    sys.path.insert(0, str(path.parent))
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        first = by_python(text, str(path), 0, as_main=True)
    except BaseException as error:  # noqa: BLE001 - of a program that may raise anything
        return None, f"Python: {type(error).__name__}: {error}"[:120]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if first.exit_code:
        return None, f"Python: SystemExit: {first.exit_code}"[:120]
    graph = read_script(text, keeps_code=True).graph
    program = compile_graph(graph)
    trust = Trust(code_digest(program), str(path), str(path.parent)) if program.codes else None
    try:
        with EngineProcess((*COMMAND, RUNS_CODE) if trust else None) as engine:
            engine.wait_until_ready()
            here, outcome = by_engine(engine, graph, str(path), trust=trust)
    except EngineDied as error:
        return False, str(error)[:120]
    if outcome.failed is not None:
        return False, f"{outcome.failed.address}: {outcome.failed.message}"[:120]
    runs = [by_python(text, str(path), outcome.report.seed, as_main=True) for _ in range(2)]
    moving = set(differences(*runs))
    wrong = [
        one for one in differences(runs[0], here) if one.partition(":")[0] not in {m.partition(":")[0] for m in moving}
    ]
    same = [runs[0].printed.split() == runs[1].printed.split(), runs[0].printed.split() == here.printed.split()]
    if same == [True, False]:
        wrong.append("prints")
    return not wrong, "; ".join(wrong)[:120] if wrong else f"{len(first.variables)} variables"


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise OutOfTimeError(f"more than the time it was given ({number})")


# ------------------------------------------------------------------ the table


def line_of(row: Row) -> str:
    """One file in a line."""
    share = f"{row.drawn}/{row.calls}"
    equal = {None: "", True: "equal", False: "differs"}[row.equal]
    words = f"{equal} {row.note}".strip()
    return f"{row.code:5d}/{row.lines:5d}  {share:>9}  {row.seconds:6.2f} s  {row.source}/{row.file}  {words}"


def summary(rows: Sequence[Row]) -> str:
    """All files in a line."""
    return "\n".join([_sum("all", rows), *_told(rows)])


def page(rows: Sequence[Row]) -> str:
    """The table of the documentation: a row a source, and the worst ten files."""
    head = " | ".join(_COLUMNS)
    lines = [f"| {head} |", "|---|" + "--:|" * (len(_COLUMNS) - 1)]
    for source in dict.fromkeys(row.source for row in rows):
        lines.append(_cells(source, [row for row in rows if row.source == source]))
    lines.append(_cells("**all**", rows))
    worst = sorted((row for row in rows if row.calls >= FEW), key=lambda row: (row.drawn / row.calls, -row.calls))
    lines += ["", "| the worst ten | drawn | lines of code |", "|---|--:|--:|"]
    lines += [
        f"| {row.source}: {row.file} | {row.drawn} of {row.calls} | {row.code} of {row.lines} |"
        for row in worst[:WORST]
    ]
    return "\n".join([*lines, "", *_told(rows)])


def _cells(name: str, rows: Sequence[Row]) -> str:
    done = [row for row in rows if row.equal is not None]
    lines = sum(row.lines for row in rows)
    calls = sum(row.calls for row in rows)
    drawn = sum(row.drawn for row in rows)
    equal = f"{sum(bool(row.equal) for row in done)} / {len(done)}" if done else "–"
    share = f"{drawn / calls:.0%}" if calls else "–"
    seconds = 1000 * sum(row.seconds for row in rows) / max(lines, 1)
    opened = sum(row.opens for row in rows)
    code = sum(row.code for row in rows)
    return f"| {name} | {len(rows)} | {opened} | {equal} | {lines:,} | {code:,} | {calls:,} | {share} | {seconds:.2f} |"


def _sum(name: str, rows: Sequence[Row]) -> str:
    return _cells(name, rows).replace("|", " ").strip()


def _told(rows: Sequence[Row]) -> list[str]:
    """What does not open, and what differs."""
    shut = [f"does not open: {row.source}: {row.file}: {row.note}" for row in rows if not row.opens]
    return [*shut, *(f"differs: {row.source}: {row.file}: {row.note}" for row in rows if row.equal is False)]


if __name__ == "__main__":
    sys.exit(main())
