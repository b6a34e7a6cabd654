"""Programs run as Python runs a file, each in a fork of one process that has loaded torch: to load it takes seconds."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from gradstudio.protocol.ranks import rank_engine

FILE, PRINTED, ERRORS = "program.py", "printed.txt", "errors.txt"
_SERVE = f"""
import importlib, json, os, runpy, sys, traceback
for name in sys.argv[1:]:
    importlib.import_module(name)

def start(folder, environment, errors):
    child = os.fork()
    if child:
        return child
    os.chdir(folder)
    os.environ.update(environment)
    for number, file in (1, "{PRINTED}"), (2, errors):
        os.dup2(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND), number)
    sys.argv, sys.path[0], code = ["{FILE}"], folder, 1
    try:
        held = runpy.run_path("{FILE}", run_name="__main__")  # a group of processes that is let go waits for the others
        code = 0
    except SystemExit:
        raise  # Python itself makes a code and words of it
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

for line in sys.stdin:
    children = [start(*program) for program in json.loads(line)]
    print(json.dumps([os.waitpid(child, 0)[1] for child in children]), flush=True)
"""


@dataclass(frozen=True)
class End:
    """How a program ended.

    Attributes:
        code: its exit code; below zero: the signal that killed it.
        printed: what it printed, with its errors where they were not asked for apart.
    """

    code: int
    printed: str


def of_torchrun(count: int) -> list[dict[str, str]]:
    """The variables that torchrun sets for each of so many processes."""
    port = str(rank_engine.free_port())
    return [{**rank_engine.environment(rank, count), "MASTER_PORT": port} for rank in range(count)]


class ProgramRuns:
    """The process that forks; it ends with its block."""

    def __init__(self, *loaded: str) -> None:
        """Have these modules loaded, beside torch."""
        self._loaded = ("torch", *loaded)

    def __enter__(self) -> "ProgramRuns":
        pipe, words = subprocess.PIPE, [sys.executable, "-c", _SERVE, *self._loaded]
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def printed(self, text: str, folder: Path) -> str:
        """What the program prints, in a folder of its own choice.

        Raises:
            AssertionError: it fails; with what it has printed.
        """
        end = self.end(text, folder)
        assert end.code == 0, f"{end.printed}\nended with code {end.code}"
        return end.printed

    def end(self, text: str, folder: Path) -> End:
        """How the program ends, in a folder of its own choice."""
        (end,) = self._ends(text, [folder], [{}], PRINTED)
        return end

    def end_together(self, text: str, folder: Path, environments: Sequence[Mapping[str, str]]) -> list[End]:
        """How the program ends that runs beside itself, once with each of these variables; errors apart."""
        folders = [folder / str(number) for number, _ in enumerate(environments)]
        for one in folders:
            one.mkdir()
        return self._ends(text, folders, environments, ERRORS)

    def as_ranks(self, text: str, folder: Path, count: int = 2) -> str:
        """What the program prints in so many processes of one folder, each told by variables what torchrun tells it.

        Raises:
            AssertionError: one fails; with what it has said.
        """
        ends = self._ends(text, [folder] * count, of_torchrun(count), ERRORS)
        assert not any(end.code for end in ends), (folder / ERRORS).read_text()
        return ends[0].printed

    def _ends(
        self, text: str, folders: Sequence[Path], environments: Sequence[Mapping[str, str]], errors: str
    ) -> list[End]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        for folder in folders:
            (folder / FILE).write_text(text)
            (folder / PRINTED).write_text("")
        asked = [(str(folder), dict(one), errors) for folder, one in zip(folders, environments, strict=True)]
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        codes = [os.waitstatus_to_exitcode(status) for status in json.loads(self._process.stdout.readline())]
        return [End(code, (folder / PRINTED).read_text()) for code, folder in zip(codes, folders, strict=True)]
